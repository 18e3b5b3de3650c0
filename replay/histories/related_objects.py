"""Objects that a name may have meant, and objects that belong to an object: by name and owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from ...engine.events import OwnerName, Reference, is_owner
from ...engine.log.store import LogStore, Query
from ...engine.state.event_columns import distinct
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName

OWNERS = frozenset(
    {
        *(("batch.volcano.sh", kind) for kind in ("Job", "CronJob")),
        *(("batch", kind) for kind in ("Job", "CronJob")),
        *(("apps", kind) for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")),
        ("flow.volcano.sh", "JobFlow"),
    }
)
"""Kinds whose objects create others, which are named after them."""

_OWNED = frozenset(
    {
        *(("", "Pod"), ("scheduling.volcano.sh", "PodGroup"), ("apps", "ReplicaSet")),
        *(("batch.volcano.sh", "Job"), ("batch", "Job")),
    }
)


class NameSuggestions(msgspec.Struct, frozen=True, kw_only=True):
    """What may be meant by a name that no object in the log has.

    :param begin: objects of the kind whose names begin with it.
    :param owned: objects of the kind that belong to an object of that name.
    :param elsewhere: objects of the kind with the name in other namespaces.
    :param others: objects of other kinds that have the name.
    :param near: objects of the kind with similar names.
    """

    begin: list[Reference] = []
    owned: list[Reference] = []
    elsewhere: list[Reference] = []
    others: list[Reference] = []
    near: list[Reference] = []

    def __bool__(self) -> bool:
        return any(msgspec.structs.astuple(self))


def meant(store: LogStore, named: ObjectName, namespace: str, moment: Moment) -> NameSuggestions:
    """Return the objects that may have been meant by a name that the log does not hold.

    :param namespace: empty for kinds without one.
    """
    known = known_objects(store, moment)
    of_kind = [
        reference
        for reference in known
        if (reference.group, reference.kind) == (named.group, named.kind)
    ]
    here = [reference for reference in of_kind if reference.namespace == namespace]
    begin = [
        reference
        for reference in here
        if reference.name.startswith(named.name) and reference.name != named.name
    ]
    owned: list[Reference] = []
    if not begin and (named.group, named.kind) in _OWNED:
        owned = list(_of_owner(store, moment, named, here))
    near: list[Reference] = []
    if not begin and not owned:
        names = sorted({reference.name for reference in here})
        close = {*get_close_matches(named.name, names, n=4, cutoff=0.7)} - {named.name}
        near = [reference for reference in here if reference.name in close]
    return NameSuggestions(
        begin=_one_each(begin),
        owned=_one_each(owned),
        elsewhere=_one_each(
            reference
            for reference in of_kind
            if reference.name == named.name and reference.namespace != namespace
        ),
        others=_one_each(
            reference
            for reference in known
            if reference.name == named.name
            and (reference.group, reference.kind) != (named.group, named.kind)
            # Objects without a namespace always count, and all others if the question names none.
            and reference.namespace in {"", namespace or reference.namespace}
            and reference.kind != "Event"
        ),
        near=_one_each(near),
    )


def known_objects(store: LogStore, moment: Moment) -> list[Reference]:
    """Return all objects that the log mentions by a moment, existing or not, in order."""
    window = moment.window()
    numbers: set[int] = set()
    for chunk in store.scan(window):
        numbers.update(distinct(chunk.objects).tolist())
    references = store.references(sorted(numbers)).values()
    return sorted(reference for reference in references if reference.kind and reference.name)


def belonging(
    store: LogStore, owner: Reference, uids: Sequence[str], moment: Moment
) -> list[Reference]:
    """Return the objects that belong to an object by ownerReferences, directly or indirectly.

    Candidates are objects in its namespace whose names begin with the owner's name, as those of
    pods do, or contain its uid.

    :param uids: those of the objects that had the owner's name.
    """
    if (owner.group, owner.kind) not in OWNERS or not uids:
        return []
    candidates = [
        known_object
        for known_object in known_objects(store, moment)
        if (known_object.group, known_object.kind) in _OWNED
        and known_object.namespace == owner.namespace
        and (
            known_object.name.startswith(f"{owner.name}-")
            or any(uid in known_object.name for uid in uids)
        )
        and known_object.uid not in uids
    ]
    owners = {reference: _named(refs) for reference, refs in _owners(store, moment, candidates)}
    known = [msgspec.structs.replace(owner, uid=uid) for uid in uids]
    rest, references = candidates, list[Reference]()
    # One level of owners a round: a Deployment owns pods only through its ReplicaSets.
    while new := [reference for reference in rest if _has_owner(owners.get(reference, ()), known)]:
        known += new
        references += new
        rest = [reference for reference in rest if reference not in new]
    return sorted(references)


def _named(references: Iterable[Mapping[str, Any]]) -> list[OwnerName]:
    parts = ("apiVersion", "kind", "name", "uid")
    return [
        OwnerName(*(str(reference.get(part) or "") for part in parts)) for reference in references
    ]


def _has_owner(named: Iterable[OwnerName], owners: Sequence[Reference]) -> bool:
    return any(is_owner(reference, each) for each in named for reference in owners)


def _of_owner(
    store: LogStore, moment: Moment, named: ObjectName, objects: Sequence[Reference]
) -> Iterator[Reference]:
    """Yield the objects that have an owner with this name."""
    for reference, refs in _owners(store, moment, objects):
        if any(each.get("name") == named.name for each in refs):
            yield reference


def _owners(
    store: LogStore, moment: Moment, objects: Iterable[Reference]
) -> Iterator[tuple[Reference, list[Mapping[str, Any]]]]:
    """Yield the ownerReferences of objects, from one of their versions."""
    wanted = set(objects)
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        objects=tuple(sorted({(reference.group, reference.kind) for reference in wanted})),
    )
    if not wanted:
        return
    for recorded in store.read(query):
        reference = recorded.event.reference
        if reference in wanted and b'"ownerReferences"' in recorded.event.payload:
            # Owners are set when an object is made, so one version that has some is enough.
            wanted.discard(reference)
            yield reference, _owner_references(recorded.event.payload)
            if not wanted:
                return


def _owner_references(payload: bytes) -> list[Mapping[str, Any]]:
    document = msgspec.json.decode(payload)
    metadata = document.get("metadata") if isinstance(document, dict) else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    if not isinstance(owners, list):
        return []
    return [
        owner for owner in owners if isinstance(owner, dict) and isinstance(owner.get("uid"), str)
    ]


def _one_each(references: Iterable[Reference]) -> list[Reference]:
    """Return objects without uids, each name once."""
    names = {msgspec.structs.replace(reference, uid="") for reference in references}
    return sorted(names)
