"""What the arguments of ``get`` and ``describe`` ask for, and what there is of it at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...engine.errors import ObjectNotFound
    from ...engine.state.truth import Entry
    from ..field_selectors import FieldSelector
    from ..kinds import GroupKind
    from ..log import Log
    from ..moment import Moment


class Wanted(NamedTuple):
    """Objects of one kind that were asked for; no names means all.

    :param category: asked for as one of many kinds: that there is none of it need not be said.
    """

    kind: GroupKind
    names: tuple[str, ...] = ()
    category: bool = False


class Found(NamedTuple):
    """What there is of one kind."""

    kind: GroupKind
    entries: list[Entry]


class Look(NamedTuple):
    """Where to look, and which objects count.

    :param place: the namespace; None is all.
    :param selector: labels. :param fields: fields, see :mod:`..field_selectors`.
    :param beginnings: a name that nothing has stands for all that begin so.
    """

    log: Log
    moment: Moment
    place: str | None
    selector: str = ""
    fields: str = ""
    beginnings: bool = False


def wanted_of(resources: Sequence[str], look: Look) -> list[Wanted]:
    """Read arguments: kinds, or one kind with names, or any number of ``KIND/NAME``.

    :raises UsageError: they are neither, or no kind is called so.
    """
    from ...engine.errors import UsageError
    from ..kinds import kinds_named, object_named

    known = look.log.truth(look.moment).kinds()
    if any("/" in text for text in resources):
        _refuse_mixture(resources)
        named = [object_named(text, known) for text in resources]
        return [
            Wanted(kind, tuple(dict.fromkeys(one.name for one in some)))
            for kind, some in groupby(named, key=lambda one: (one.group, one.kind))
        ]
    kinds = kinds_named(resources[0], known)
    if not kinds:
        raise UsageError(f"{resources[0]!r} names no kind", now="as in: plinian get pods,nodes")
    names = tuple(dict.fromkeys(resources[1:]))
    if len(kinds) != 1 and names:
        raise UsageError(
            "names can follow one kind only", now="write KIND/NAME for each object instead"
        )
    return [Wanted(kind, names, category=len(kinds) > 1) for kind in kinds]


def _refuse_mixture(resources: Sequence[str]) -> None:
    from ...engine.errors import UsageError

    alone = [text for text in resources if "/" not in text]
    if alone:
        raise UsageError(
            f"{alone[0]!r} stands beside KIND/NAME, and is none",
            now="write KIND/NAME for each object, or one kind with names after it",
        )


def look_for(look: Look, wanted: Sequence[Wanted]) -> tuple[list[Found], list[ObjectNotFound]]:
    """Return what is there of each kind, and an error for each name that is not.

    :raises UsageError: a selector cannot be read, or stands beside names; or a name may be that of
        several objects.
    """
    from ...engine.errors import UsageError

    if any(one.names for one in wanted) and (look.selector or look.fields):
        raise UsageError(
            "names and a selector do not go together", now="leave out the one or the other"
        )
    _check_fields(look, wanted)
    found: list[Found] = []
    missing: list[ObjectNotFound] = []
    for kind, names, _ in wanted:
        entries = look.log.entries(
            kind, at=look.moment, namespace=look.place, selector=look.selector, fields=look.fields
        )
        if names:
            entries, faults = _by_name(look, kind, names, entries)
            missing += faults
        found.append(Found(kind, entries))
    return found, missing


def _by_name(
    look: Look, kind: GroupKind, names: Sequence[str], entries: Sequence[Entry]
) -> tuple[list[Entry], list[ObjectNotFound]]:
    """Return the objects of some names in the order of these, and an error for each that is not."""
    from ..names import name_at, not_found

    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        by_name.setdefault(entry.reference.name, []).append(entry)
    found: dict[str, list[Entry]] = {}
    missing = []
    for name in names:
        full = name_at(look.log, kind, name, look.place, look.moment)
        begun = [one for one in sorted(by_name) if look.beginnings and one.startswith(name)]
        if full in by_name:
            found[full] = by_name[full]
        elif begun:
            found |= {one: by_name[one] for one in begun}
        else:
            missing.append(not_found(look.log, kind, name, look.place, look.moment))
    return [entry for some in found.values() for entry in some], missing


def _check_fields(look: Look, wanted: Sequence[Wanted]) -> None:
    """Refuse a field that none of the kinds has: it may be misspelt, and would find nothing."""
    from ..field_selectors import no_such_field, parse_field_selector

    if not look.fields:
        return
    selector: FieldSelector = parse_field_selector(look.fields)
    kinds = [kind for kind, _, _ in wanted]

    def documents(kind: GroupKind) -> Iterator[dict[str, Any]]:
        entries = look.log.entries(kind, at=look.moment)
        return look.log.documents(entries, branch=look.moment.branch)

    present = [kind for kind in kinds if look.log.entries(kind, at=look.moment)]
    unknown = [selector.unknown(kind, partial(documents, kind)) for kind in present]
    if unknown and all(unknown):
        samples = [document for kind in present for document in documents(kind)]
        raise no_such_field(unknown[0], present, samples)
