"""Selecting events: kinds, objects and bounds from the command line, as fields of a query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.events import KINDS
from ...engine.kubernetes.resources import CLUSTER_SCOPED, plural_of
from ...engine.log import TimeCut
from ..objects.kind_names import ObjectName
from ..truth.points import Point
from .given_names import is_known, name_in_log, never_known
from .log import Log
from .meant_objects import Meaning, object_meant

_UID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")


def known_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Check event kinds, so that a misspelt one does not give an empty answer.

    :param kinds: as in ``pod.bound``, ``pod.*`` or ``*.deleted``; one text may have several,
        separated by commas.
    :raises UsageError: there is no such kind.
    """
    wanted = [kind for text in kinds for kind in text.split(",") if kind]
    nouns = {name.partition(".")[0] for name in KINDS}
    known: list[str] = []
    for kind in wanted:
        noun, _, rest = kind.partition(".")
        # A query itself understands ``pod.*``; other patterns become all kinds that they stand for.
        if kind in KINDS or (rest == "*" and noun in nouns):
            known.append(kind)
            continue
        matches = [name for name in KINDS if fnmatchcase(name, kind)] if "*" in kind else []
        if not matches:
            close = get_close_matches(kind, [*KINDS, *(f"{noun}.*" for noun in sorted(nouns))], n=3)
            guess = f"did you mean {' or '.join(close)}?"
            raise UsageError(
                f"no event kind {kind!r}",
                now=guess if close else "as in pod.bound, pod.* or *.deleted",
            )
        known += matches
    return tuple(dict.fromkeys(known))


def about(
    log: Log, objects: Sequence[str], namespace: str | None = None, *, follow: bool = False
) -> dict[str, Any]:
    """Return the fields of a query for objects: kinds, one named object, or one uid.

    A name alone is an object if no kind is called so.

    :param follow: an object that the log does not hold may still appear.
    :raises UsageError: several names are given, one that several objects have, or one that is
        neither a kind nor an object.
    :raises ObjectNotFound: the log never held the object.
    """
    if not objects:
        return {}
    names = [text for text in objects if "/" in text or _UID.fullmatch(text)]
    if names and len(objects) > 1:
        raise UsageError(
            "--object accepts one name or uid, or any number of kinds",
            now="give one object at a time, or only kinds",
        )
    named = None
    if not names:
        try:
            return {"objects": tuple(map(log.kind, objects))}
        except UsageError as fault:
            named = _named_alone(log, objects, namespace, fault)
    if named is None and _UID.fullmatch(names[0]):
        return {"uid": names[0].lower()}
    named = named or log.object(names[0])
    pair, name = (named.group, named.kind), named.name
    namespace = named.place(namespace, None)
    name = name_in_log(log, pair, name, namespace)
    if not follow and not is_known(log, pair, name, namespace):
        raise ObjectNotFound(
            f'the log holds no {plural_of(*pair)} "{name}"',
            now=never_known(log, pair, name, namespace),
        )
    fields: dict[str, Any] = {"objects": (pair,), "name": name}
    if pair in CLUSTER_SCOPED:
        # The chosen namespace is that of other kinds: with it nothing would be found.
        return fields | {"namespace": ""}
    return fields | ({"namespace": namespace} if named.namespace else {})


def _named_alone(
    log: Log, objects: Sequence[str], namespace: str | None, fault: UsageError
) -> ObjectName:
    """Return the object that a text names which is no kind.

    :param fault: that it is no kind; raised if it is no object, either.
    """
    if len(objects) > 1:
        raise fault
    try:
        meaning = Meaning("plinian events", ever=True)
        return object_meant(log, objects[0], log.moment(), namespace, meaning)
    except ObjectNotFound:
        raise fault from None


def bounds(log: Log, since: Point | None, until: Point | None, after: str | None) -> dict[str, Any]:
    """Return the fields of a query for its bounds: a point bounds positions, revisions or times.

    :param since: the first point included. :param until: the last.
    :param after: ``@POSITION``; only events appended after it.
    :raises PointUnknown: one is not a moment of the log.
    """
    positions: list[int | None] = [None, None]
    revisions: list[int | None] = [None, None]
    happened: list[TimeCut | None] = [None, None]
    for side, text in enumerate((since, until)):
        if text is None:
            continue
        moment = log.moment(text)
        if moment.time is not None:
            # An event at exactly this time is within both bounds.
            last = log.clock(moment).revision_at(moment.time - 1) + 1
            happened[side] = TimeCut(moment.revision or 0 if side else last, moment.time)
        elif moment.revision is not None:
            revisions[side] = moment.revision
        else:
            positions[side] = moment.known
    fields: dict[str, Any] = {"revisions": tuple(revisions), "happened": tuple(happened)}
    # ``since`` includes its position, and ``after`` of a query excludes it.
    first = max(0, (positions[0] or 1) - 1)
    if after is not None:
        first = max(first, log.moment(after if after.startswith("@") else f"@{after}").known)
    return fields | {"after": first, "until": positions[1]}
