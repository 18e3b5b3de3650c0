"""Versions of which inputs hold two contents: which one counts, and which objects rest on one.

The greatest content counts, compared as canonical JSON, byte by byte. So the choice does not depend
on the order of inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import msgspec

from ...engine.events import KINDS, Effect, Event, Reference
from ...engine.log.store import LogStore, Query
from ...engine.state.event_columns import NO_ORIGIN
from ...engine.state.fold import FoldRecord
from ..objects.kind_names import plain_name
from .moment import Moment
from .store_key import StoreKey

Version = tuple[Reference, int]
"""An object and its revision."""

_FEW = 3


class Contents(msgspec.Struct, frozen=True):
    """The contents of one version, by position, and the position of the one that counts."""

    positions: tuple[int, ...]
    chosen: int


def contradictions(store: LogStore, moment: Moment) -> Mapping[Version, Contents]:
    """Return the versions with several contents, as known at a moment's position."""
    return _found(StoreKey(store), moment.branch, moment.cluster, moment.known)


@lru_cache(maxsize=4)
def _found(opened: StoreKey, branch: str, cluster: str, known: int) -> Mapping[Version, Contents]:
    store = opened.store
    query = Query(branch=branch, cluster=cluster, until=known, kinds=("version.contradicted",))
    payloads: dict[Version, dict[int, bytes]] = {}
    for recorded in store.read(query):
        event = recorded.event
        version = (event.reference, int(event.resource_version))
        payloads.setdefault(version, {})[recorded.position] = event.payload
    for (reference, revision), by_position in payloads.items():
        first = Query(
            branch=branch,
            cluster=cluster,
            until=known,
            objects=((reference.group, reference.kind),),
            namespace=reference.namespace,
            name=reference.name,
            uid=reference.uid,
            revisions=(revision, revision),
        )
        # The content that came first is stored as an ordinary version, with no event that
        # contradicts.
        for recorded in store.read(first):
            if KINDS[recorded.event.kind].effect is Effect.VERSION:
                by_position[recorded.position] = recorded.event.payload
    return MappingProxyType(
        {
            version: Contents(
                tuple(sorted(by_position)), max(by_position, key=lambda at: (by_position[at], -at))
            )
            for version, by_position in payloads.items()
        }
    )


def with_chosen(store: LogStore, moment: Moment, records: Iterable[FoldRecord]) -> list[FoldRecord]:
    """Return records whose versions have the content that counts."""
    contents = contradictions(store, moment)
    return [_chosen(record, contents) for record in records] if contents else [*records]


def _chosen(record: FoldRecord, contents_of: Mapping[Version, Contents]) -> FoldRecord:
    contents = contents_of.get((record.reference, record.revision))
    if contents is None or contents.chosen == record.position:
        return record
    # Origin and fact were read from the content that does not count.
    return msgspec.structs.replace(record, position=contents.chosen, origin=NO_ORIGIN, fact=b"")


def version_text(event: Event) -> str:
    """Return a version as notes name it."""
    return object_version_text(event.reference, event.resource_version)


def object_version_text(about: Reference, revision: int | str) -> str:
    """Return a version of an object as notes name it."""
    name = about.full_name
    return f"{plain_name(about.group, about.kind)} {name} at rv:{revision}"


def contradiction_text(versions: Sequence[str]) -> str:
    """Return a sentence about versions of which inputs hold two contents."""
    few = ", ".join(versions[:_FEW])
    more = f" and {len(versions) - _FEW} more" if len(versions) > _FEW else ""
    return (
        f"inputs contradict each other: {few}{more} came with two contents; the greater one as "
        f"canonical JSON counts (plinian events --kind version.contradicted lists the others)"
    )
