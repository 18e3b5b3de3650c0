"""The object that a person means by a name alone, or by a kind and a name without a namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.kubernetes.resources import (
    CLUSTER_SCOPED,
    RESOURCE_TYPES,
    GroupKind,
    plural_of,
)
from ..objects.kind_names import ObjectName, plain_name
from .given_names import PODGROUP, matching, nearest, owned_by, stem_of

if TYPE_CHECKING:
    from ...engine.events import Reference
    from ..moments.moment import Moment
    from ..truth.log_states import LogStates

_SHOWN = 8


class Meaning(NamedTuple):
    """What may be meant by a name.

    :param command: with which it can be asked about, as in ``plinian why``.
    :param kinds: those of which it answers; without any, all that the log holds.
    :param ever: it answers about objects of any moment, and not only of the one that is asked.
    """

    command: str
    kinds: Sequence[GroupKind] = ()
    ever: bool = False


def object_meant(
    log: LogStates, text: str, moment: Moment, namespace: str | None, meaning: Meaning
) -> ObjectName:
    """Return the object that ``NAME``, ``TYPE/NAME`` or ``TYPE/NAMESPACE/NAME`` names.

    A name alone is of whatever kind has an object of this name, and a namespace that is not given
    is the one that has it. What is not found at all is returned as it was given, in full: those who
    look for it say what there is instead.

    :param namespace: that of the whole command; None if it was not given.
    :raises UsageError: several objects have the name, in several namespaces or of several kinds;
        or the form is wrong.
    :raises ObjectNotFound: no object has a name that was given alone.
    """
    if "/" not in text:
        return _by_name(log, text, moment, namespace, meaning)
    named = log.object(text, moment)
    pair = (named.group, named.kind)
    if named.namespace or namespace or pair in CLUSTER_SCOPED:
        return named
    found = _called(log, pair, named.name, moment, meaning)
    # One object has several references if it was deleted and created again.
    places = sorted({reference.namespace for reference in found})
    if len(places) > 1:
        what = f'{plural_of(*pair)} "{named.name}" exist in {len(places)} namespaces'
        raise _several(what, found, meaning, moment)
    return named._replace(namespace=places[0]) if len(places) == 1 else named


def _by_name(
    log: LogStates, name: str, moment: Moment, namespace: str | None, meaning: Meaning
) -> ObjectName:
    """Return the only object of a name, of whatever kind.

    :raises UsageError: there are several. :raises ObjectNotFound: there is none.
    """
    kinds = meaning.kinds or _kinds(log, moment)
    for ever in (meaning.ever, True):
        found = _of_kinds(log, name, moment, namespace, meaning._replace(kinds=kinds, ever=ever))
        if found:
            break
    each = {(*_pair(reference), reference.namespace, reference.name) for reference in found}
    if len(each) > 1:
        raise _several(f"{len(each)} objects are called {name!r}", found, meaning, moment)
    if not each:
        raise _no_object(log, name, namespace, kinds)
    group, kind, place, full = each.pop()
    return ObjectName(group, kind, full, place)


def _of_kinds(
    log: LogStates, name: str, moment: Moment, namespace: str | None, meaning: Meaning
) -> list[Reference]:
    """Return the objects of a name; those that it only shortens count if no object has it."""
    found = [
        reference
        for pair in meaning.kinds
        for reference in _called(log, pair, name, moment, meaning)
        if pair in CLUSTER_SCOPED or namespace in {None, "", reference.namespace}
    ]
    exact = [reference for reference in found if reference.name == name]
    return exact or found


def _called(
    log: LogStates, pair: GroupKind, text: str, moment: Moment, meaning: Meaning
) -> list[Reference]:
    """Return the objects of a kind, in all namespaces, that a name stands for."""
    if meaning.ever:
        known = log.store.objects_of(*pair, cluster=moment.cluster)
        # Without a uid it is a name that only requests or lines of logs have.
        references = [reference for reference in known if reference.uid]
    else:
        references = [entry.reference for entry in log.entries(pair, at=moment)]
    names = {reference.name for reference in references}
    wanted = matching(text, names) or (owned_by(text, names) if pair == PODGROUP else [])
    return [reference for reference in references if reference.name in wanted]


def _kinds(log: LogStates, moment: Moment) -> list[GroupKind]:
    known = [resource.group_kind for resource in RESOURCE_TYPES]
    return list(dict.fromkeys([*known, *log.truth(moment).kinds()]))


def _pair(reference: Reference) -> GroupKind:
    return reference.group, reference.kind


def _several(what: str, found: Iterable[Reference], meaning: Meaning, moment: Moment) -> UsageError:
    """Return the error for a name of several objects: the command that asks about each."""
    at = "" if moment.revision is None else f" --at {moment.label}"
    commands = list(dict.fromkeys(f"{meaning.command} {_written(each)}{at}" for each in found))
    more = len(commands) - _SHOWN
    shown = [*commands[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return UsageError(what, now="\n".join(["choose one:", *(f"  {line}" for line in shown)]))


def _written(reference: Reference) -> str:
    named = f"{plain_name(*_pair(reference))}/{reference.name}"
    return f"{named} -n {reference.namespace}" if reference.namespace else named


def _no_object(
    log: LogStates, name: str, namespace: str | None, kinds: Collection[GroupKind]
) -> ObjectNotFound:
    """Return the error for a name that no object has, with similar names."""
    near: dict[str, str] = {}
    for pair in kinds:
        for reference in log.store.objects_of(*pair, cluster=log.moment().cluster):
            if reference.uid:
                near.setdefault(reference.name, _written(reference))
    among = sorted({plain_name(*pair) for pair in kinds}) if len(kinds) <= _SHOWN else []
    what = f"no {', '.join(among[:-1])} or {among[-1]}" if len(among) > 1 else "no object"
    if len(among) == 1:
        what = f"no {among[0]}"
    inside = f" in namespace {namespace}" if namespace else ""
    # A PodGroup has the name of its job with a uid, and the job is what people mean.
    near = {
        full: written
        for full, written in near.items()
        if stem_of(full) == full or stem_of(full) not in near
    }
    close = [near[full] for full in nearest(name, list(near))]
    now = f"did you mean {' or '.join(close)}?" if close else "list what exists: plinian get all -A"
    elsewhere = [written for full, written in near.items() if name in {full, stem_of(full)}]
    if elsewhere:
        now = f"there is {' and '.join(elsewhere[:_SHOWN])}"
    return ObjectNotFound(f"the log holds {what} called {name!r}{inside}", now=now)
