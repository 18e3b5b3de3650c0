"""The objects that the arguments of ``get`` and ``describe`` name, as they were at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from .coverage_warnings import note_assumed, warn_unknown
from .shell import note

if TYPE_CHECKING:
    from ...engine.errors import ObjectNotFound
    from ...engine.kubernetes.resources import GroupKind
    from ...engine.state.truth_fold import Entry
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..objects.field_selectors import FieldSelector
    from ..render.columns import Labels


_NEEDED = frozenset(
    {
        *(("", "Pod"), ("batch.volcano.sh", "Job")),
        *(("scheduling.volcano.sh", kind) for kind in ("PodGroup", "Queue")),
    }
)
"""Kinds of the category ``all`` that are warned about if a log records nothing of them."""


class RequestedKind(NamedTuple):
    """Objects of one kind that the arguments name; no names means all.

    :param place: the namespace in the argument; None is the namespace of the whole command.
    :param category: requested only through the category ``all``.
    """

    kind: GroupKind
    names: tuple[str, ...] = ()
    category: bool = False
    place: str | None = None


class FoundObjects(NamedTuple):
    """The objects that exist of one kind."""

    kind: GroupKind
    entries: list[Entry]


class ObjectQuery(NamedTuple):
    """Where to look, and which objects to select.

    :param place: the namespace; None is all.
    :param selector: labels. :param fields: fields, see :mod:`..objects.field_selectors`.
    :param beginnings: a name that no object has selects all objects whose names begin with it.
    :param command: that looks for them, for what is advised.
    """

    log: Log
    moment: Moment
    place: str | None
    selector: str = ""
    fields: str = ""
    beginnings: bool = False
    command: str = "plinian get"


class ObjectFormat(NamedTuple):
    """How to print objects.

    :param output: the form. :param namespaces: also print their namespaces.
    :param events: of a watch: print ADDED, MODIFIED or DELETED for each.
    """

    output: str = ""
    namespaces: bool = False
    no_headers: bool = False
    labels: Labels | None = None
    events: bool = False


def wanted_of(resources: Sequence[str], look: ObjectQuery) -> list[RequestedKind]:
    """Read arguments: kinds, or one kind with names, or any number of ``KIND/NAME``.

    A name may have its namespace before it: ``KIND/NAMESPACE/NAME``.

    :raises UsageError: they are neither, or no kind is called so.
    """
    from ...engine.errors import UsageError
    from ..objects.kind_names import kinds_named, object_named

    known = look.log.truth(look.moment).kinds()
    if any("/" in text for text in resources):
        _refuse_mixture(resources)
        named = [object_named(text, known) for text in resources]
        groups = groupby(
            named,
            key=lambda object_name: (object_name.group, object_name.kind, object_name.namespace),
        )
        return [
            RequestedKind(
                key[:2],
                tuple(dict.fromkeys(object_name.name for object_name in object_names)),
                place=key[2] or None,
            )
            for key, object_names in groups
        ]
    kinds = _kinds_of(resources[0], known, look)
    if not kinds:
        raise UsageError(f"{resources[0]!r} is not a kind", now="as in: plinian get pods,nodes")
    names = tuple(dict.fromkeys(resources[1:]))
    if len(kinds) != 1 and names:
        raise UsageError(
            "names can follow one kind only", now="write KIND/NAME for each object instead"
        )
    # A kind that is also named by itself is missed if it is not there.
    named_by = {part.strip().lower() for part in resources[0].split(",")}
    own = set(kinds_named(",".join(named_by - {"all"}), known))
    return [RequestedKind(kind, names, category=kind not in own) for kind in kinds]


def _kinds_of(text: str, known: Sequence[GroupKind], look: ObjectQuery) -> list[GroupKind]:
    """Return the kinds that a word names.

    :raises UsageError: there is no such kind; says which object has this name, if one has.
    """
    from ...engine.errors import ObjectNotFound, UsageError
    from ..logs.meant_objects import Meaning, object_meant
    from ..objects.kind_names import kinds_named, plain_name

    try:
        return kinds_named(text, known)
    except UsageError as fault:
        meaning = Meaning(look.command, ever=True)
        try:
            meant = object_meant(look.log, text, look.moment, None, meaning)
        except ObjectNotFound:
            raise fault from None
        name = f"{plain_name(meant.group, meant.kind)}/{meant.name}"
        option = f" -n {meant.namespace}" if meant.namespace else ""
        raise UsageError(fault.what, now=f"write {look.command} {name}{option}") from fault


def _refuse_mixture(resources: Sequence[str]) -> None:
    from ...engine.errors import UsageError

    alone = [text for text in resources if "/" not in text]
    if alone:
        raise UsageError(
            f"{alone[0]!r} is not KIND/NAME, but other arguments are",
            now="write KIND/NAME for each object, or one kind followed by names",
        )


def look_for(
    look: ObjectQuery, wanted: Sequence[RequestedKind]
) -> tuple[list[FoundObjects], list[ObjectNotFound]]:
    """Return the objects that exist of each kind, and an error for each name that does not.

    :raises UsageError: a selector cannot be read, or is combined with names; or a name fits several
    objects.
    """
    from ...engine.errors import UsageError

    if any(requested_kind.names for requested_kind in wanted) and (look.selector or look.fields):
        raise UsageError("names and a selector cannot be combined", now="leave out one of them")
    _check_fields(look, wanted)
    found: list[FoundObjects] = []
    missing: list[ObjectNotFound] = []
    for kind, names, _, own in wanted:
        here = look if own is None else look._replace(place=own)
        entries = look.log.entries(
            kind, at=look.moment, namespace=here.place, selector=look.selector, fields=look.fields
        )
        if names:
            entries, faults = _by_name(here, kind, names, entries)
            missing += faults
        found.append(FoundObjects(kind, entries))
    return found, missing


def note_nothing(wanted: Sequence[RequestedKind], place: str | None) -> None:
    """Note on standard error that nothing was found, as kubectl does."""
    from ...engine.kubernetes.resources import CLUSTER_SCOPED

    scoped = place is not None and any(
        requested_kind.kind not in CLUSTER_SCOPED for requested_kind in wanted
    )
    note(f"No resources found{f' in {place} namespace' if scoped else ''}.")


def warn_of_kinds(
    look: ObjectQuery,
    wanted: Sequence[RequestedKind],
    computed: Mapping[GroupKind, tuple[GroupKind, ...]],
    *,
    strict: bool,
) -> None:
    """Warn on standard error which of the requested kinds are not fully known in the namespace.

    Of a category such as ``all``, only kinds that the log records anything of are warned about.

    :param computed: the kinds from which parts of what is shown of a kind are computed.
    :raises NotKnown: something is not known, and ``strict`` is set.
    """
    from ..coverage.computed_kinds import Shown, unknown_in

    place = look.place
    log, moment = look.log, look.moment
    in_log = {*log.truth(moment).kinds(), *log.coverage(moment).kinds(), *_NEEDED}
    unknowns = [
        each
        for requested_kind in wanted
        if not requested_kind.category or requested_kind.kind in in_log
        for each in unknown_in(
            log, moment, Shown(requested_kind.kind, computed, requested_kind.place or place)
        )
    ]
    warn_unknown(list(dict.fromkeys(unknowns)), strict=strict)
    note_assumed(log, moment, [requested.kind for requested in wanted])


def _by_name(
    look: ObjectQuery, kind: GroupKind, names: Sequence[str], entries: Sequence[Entry]
) -> tuple[list[Entry], list[ObjectNotFound]]:
    """Return the objects with these names, in order, and an error for each that does not exist."""
    from ..logs.given_names import name_at, not_found

    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        by_name.setdefault(entry.reference.name, []).append(entry)
    by_full_name: dict[str, list[Entry]] = {}
    missing = []
    for name in names:
        full = name_at(look.log, kind, name, look.place, look.moment)
        begun = [
            candidate
            for candidate in sorted(by_name)
            if look.beginnings and candidate.startswith(name)
        ]
        if full in by_name:
            by_full_name[full] = by_name[full]
        elif begun:
            by_full_name |= {candidate: by_name[candidate] for candidate in begun}
        else:
            missing.append(not_found(look.log, kind, name, look.place, look.moment))
    return [entry for of_name in by_full_name.values() for entry in of_name], missing


def _check_fields(look: ObjectQuery, wanted: Sequence[RequestedKind]) -> None:
    """Refuse a field that none of the kinds has: it may be misspelt and would select nothing."""
    if not look.fields:
        return
    from ..objects.field_selectors import no_such_field, parse_field_selector

    selector: FieldSelector = parse_field_selector(look.fields)
    kinds = [requested_kind.kind for requested_kind in wanted]

    def documents(kind: GroupKind) -> Iterator[dict[str, Any]]:
        entries = look.log.entries(kind, at=look.moment)
        return look.log.documents(entries, branch=look.moment.branch)

    # A kind without objects says nothing about which fields it has.
    present = [kind for kind in kinds if look.log.entries(kind, at=look.moment)]
    unknown = [selector.unknown(kind, partial(documents, kind)) for kind in present]
    if unknown and all(unknown):
        samples = [document for kind in present for document in documents(kind)]
        raise no_such_field(unknown[0], present, samples)
