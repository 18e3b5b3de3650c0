"""Lists that were split into parts, among the inputs of one call or of two: no part is complete.

A page of a list says that it is one. The second part of a split watch file does not: it has the
bookmark that completes the initial list, but lacks the objects in the first part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ...engine.events import Event, canonical_json
from ...engine.events.payloads import WatchFollowed
from ...engine.events.storable import fault_of_text
from ...engine.ingest.reading.formats import InitialList
from ...engine.log.store import LogStore, Query

_A_REST: Final = "completeness of a list: it may be the rest of a split one"

SUMMING_UP: Final = frozenset({"list.observed", "watch.followed"})
"""The kinds of events that need a complete list."""

_DECODE = msgspec.json.Decoder(WatchFollowed).decode


def split_lists(
    runs: Sequence[InitialList], earlier: Sequence[InitialList] = ()
) -> tuple[dict[tuple[str, str, int], str], list[str]]:
    """Return the lists that may be the rest of a split one, and notes about them.

    Another watch of the kind ends before its list is complete, and its objects are not in them.

    :param earlier: lists that the log has the begin of; see :func:`begun_before`.
    :returns: (group, kind, revision) of these lists, with the reason; notes for the summary.
    """
    parts: dict[tuple[str, str, int], str] = {}
    begins = [run for run in runs if run.revision is None]
    notes = [_ends_early(begun) for begun in begins]
    for begun in (*earlier, *begins):
        for rest in runs:
            same = (rest.group, rest.kind) == (begun.group, begun.kind)
            if rest.revision is not None and same and rest.uids.isdisjoint(begun.uids):
                parts[rest.group, rest.kind, rest.revision] = _A_REST
                notes.append(_may_go_on(begun, rest))
    return parts, notes


def begun_before(
    store: LogStore, runs: Sequence[InitialList], *, branch: str, cluster: str
) -> list[InitialList]:
    """Return the lists of the same kinds whose begin is the last that a log has of the kind.

    Their watch ended before the list was complete, and nothing later is about the kind. An input
    that is read again, as an interrupted call stored only a part of it, is not one of them.

    :param runs: the initial lists of the inputs that are about to be appended.
    """
    begun: list[InitialList] = []
    sources = {run.source for run in runs}
    for group, kind in sorted({(run.group, run.kind) for run in runs}):
        if fault_of_text(group) or fault_of_text(kind):
            continue  # No log can hold such a kind.
        query = Query(
            branch=branch, cluster=cluster, objects=((group, kind),), newest_first=True, limit=1
        )
        last = next((recorded.event for recorded in store.read(query)), None)
        if last is None or last.source in sources:
            continue
        if last.kind.endswith(".observed") and last.kind != "list.observed":
            objects = store.objects_of(group, kind, cluster=cluster)
            begun.append(
                InitialList(
                    source=last.source,
                    group=group,
                    kind=kind,
                    uids=frozenset(reference.uid for reference in objects),
                    revision=None,
                )
            )
    return begun


def _ends_early(run: InitialList) -> str:
    count = len(run.uids)
    return (
        f"{run.source}: it ends within its initial list ({count} of kind {run.kind}), before the "
        f"bookmark that completes it; if the file was split, join its parts into one file and "
        f"ingest that"
    )


def _may_go_on(begun: InitialList, rest: InitialList) -> str:
    return (
        f"{rest.source}: its list of kind {rest.kind} at rv:{rest.revision} may be the rest of "
        f"the one that begins in {begun.source}; so objects missing from it do not count as "
        f"deleted"
    )


def without_list(
    event: Event, parts: Mapping[tuple[str, str, int], str]
) -> tuple[Event | None, str]:
    """Return an event without conclusions from a part of a list (None if nothing is left), and why.

    :param event: one of :data:`SUMMING_UP`.
    """
    reference = event.reference
    if event.kind == "list.observed":
        reason = parts.get((reference.group, reference.kind, event.revision or 0), "")
        return (None if reason else event), reason
    followed = _DECODE(event.payload)
    if parts.get((reference.group, reference.kind, followed.since), "") != _A_REST:
        return event, ""
    # The changes of the watch count; only its begin is no complete list.
    changes = msgspec.structs.replace(followed, begin="changes")
    return msgspec.structs.replace(event, payload=canonical_json(changes)), ""
