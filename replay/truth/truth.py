"""The truth at a moment: reads the log, folds its events, and stores checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ...engine.events import Reference
from ...engine.log.store import MAIN, NO_REVISION, Checkpoint, FactBlock, FoldWindow, LogStore
from ...engine.state import VERSION, Entry, Fold, Truth
from ...engine.state.checkpoint import decode_checkpoint, encode_checkpoint
from ...engine.state.clock import Clock
from ...engine.state.event_columns import (
    NO_ORIGIN,
    BlockReader,
    EventColumns,
    EventTimes,
    concatenate,
    encode_block,
    encode_fact,
    no_times,
)
from ...engine.state.extract import extract_fact
from ...engine.state.facts import Fact
from ...engine.state.fold import FoldRecord
from ..moments.contradicting_versions import with_chosen
from ..moments.later_events import has_later_event
from ..moments.later_lists import later_lists
from ..moments.log_clock import (
    clock_of,
    columns_of,
    facts_of,
    placed,
    store_clock,
    times_of,
    when_is,
    without_damage,
)
from ..moments.moment import Moment
from ..moments.read_coverage import store_coverage
from .settled_writes import settled

BLOCK_ROWS = 1024
"""Events in a block of the fact sidecar."""

CHECKPOINT_EVENTS = 25_000
"""The number of events between checkpoints: the most that a seek folds."""

STAGE_EVENTS = 200_000
"""Without a checkpoint near, a fold proceeds in stages of about this many events."""

_TRIES = 4
"""The number of stored states to try, each at half the revision of the one before."""

Progress = Callable[[int, int], None]


def truth_at(
    store: LogStore, moment: Moment, *, use_checkpoints: bool = True, like: Truth | None = None
) -> Truth:
    """Return the state of the cluster at a moment, folded from the nearest checkpoint.

    :param use_checkpoints: False folds from the very beginning (to test that checkpoints make no
        difference).
    :param like: a truth of the same branch; what both have in common is not decoded again.
    """
    reader = BlockReader()
    clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
    unmade = later_lists(store, moment)
    before = min((later_list.revision for later_list in unmade), default=None)
    start = _nearest(store, moment, clock, before) if use_checkpoints else None
    if start is None:
        start = _Start(_empty_fold(store, moment.branch), NO_REVISION, 0)
    fold, after = start.fold, start.revision
    for until in _stages(store, moment, start):
        window = FoldWindow(
            branch=moment.branch,
            cluster=moment.cluster,
            known=moment.known,
            # Checkpoints hold all lists, also those that do not count here.
            after=after,
            until=until,
        )
        columns = _columns(store, window, reader, sidecar=use_checkpoints)
        if unmade:
            columns = columns.without([later_list.position for later_list in unmade])
        last = until == moment.revision
        fold.advance(columns, placed(clock, moment, after=after, until=until, last=last))
        after = until if until is not None else after
    truth = _truth(store, moment, fold, reader)
    truth.own_records(like)
    return truth


def truths_along(store: LogStore, moments: Iterable[Moment]) -> Iterator[Truth]:
    """Yield the state at each of some moments, as :func:`truth_at` gives it; reads the log once.

    A state is valid until the next is requested.

    :param moments: with rising revisions, of one branch and of what was known by one position.
    """
    reader, fold, after = BlockReader(), None, NO_REVISION
    for moment in moments:
        if later_lists(store, moment):  # Its state is not one that the next can continue.
            yield truth_at(store, moment)
            continue
        clock = clock_of(store, branch=moment.branch, cluster=moment.cluster)
        fold = fold or _empty_fold(store, moment.branch)
        window = moment.window(after)
        columns = _columns(store, window, reader)
        fold.advance(columns, placed(clock, moment, after=after, until=moment.revision))
        after = after if moment.revision is None else moment.revision
        yield _truth(store, moment, fold, reader)


def _stages(store: LogStore, moment: Moment, start: _Start) -> list[int | None]:
    """Return the revisions to fold up to in turn, so that memory holds few events."""
    stages = (moment.known - start.known) // STAGE_EVENTS + 1
    if stages == 1:
        return [moment.revision]
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    if extent.first_revision is None or extent.last_revision is None:
        return [moment.revision]
    low, high = max(start.revision, extent.first_revision), extent.last_revision
    if moment.revision is not None:
        high = min(high, moment.revision)
    cuts = {low + (high - low) * stage // stages for stage in range(1, stages)}
    return [*sorted(cut for cut in cuts if low < cut < high), moment.revision]


def _truth(store: LogStore, moment: Moment, fold: Fold, reader: BlockReader) -> Truth:
    def lives_on(record: FoldRecord) -> bool:
        return has_later_event(store, moment, record.reference)

    def raw_facts(records: Sequence[FoldRecord]) -> list[bytes | None]:
        facts: list[bytes | None] = [record.fact or None for record in records]
        stored = [row for row, record in enumerate(records) if record.origin != NO_ORIGIN]
        raws = reader.raw_facts([records[row].origin for row in stored])
        for row, raw in zip(stored, raws, strict=True):
            facts[row] = raw
        return facts

    def fetch(positions: Sequence[int]) -> dict[int, bytes]:
        return dict(store.payloads(positions, moment.branch))

    records = with_chosen(store, moment, settled(store, moment, fold.alive(lives_on)))
    return Truth(records, when=when_is(store, moment), raw_facts=raw_facts, fetch=fetch)


class _Start(NamedTuple):
    """Where a fold continues from: everything up to a revision, known by a position."""

    fold: Fold
    revision: int
    known: int


def _payload_of(store: LogStore, branch: str) -> Callable[[int], bytes]:
    return lambda position: store.payloads([position], branch)[position]


def _empty_fold(store: LogStore, branch: str) -> Fold:
    return Fold(references=store.references, payload=_payload_of(store, branch))


def _nearest(
    store: LogStore, moment: Moment, clock: Clock, before: int | None = None
) -> _Start | None:
    """Return the last stored state up to a moment that agrees with the clock.

    :param before: only one of an earlier revision than this.
    """
    until = moment.revision if before is None else before - 1
    for _ in range(_TRIES):
        window = FoldWindow(
            branch=moment.branch, cluster=moment.cluster, known=moment.known, until=until
        )
        checkpoint = store.nearest_checkpoint(window, VERSION)
        if checkpoint is None:
            return None
        fold, mark = decode_checkpoint(
            checkpoint.data,
            references=store.references,
            payload=_payload_of(store, moment.branch),
        )
        # A later event may have moved one without a revision across this place: the state is
        # another.
        if mark == clock.mark(checkpoint.revision * 2):
            return _Start(fold, checkpoint.revision, checkpoint.known)
        until = checkpoint.revision // 2
    return None


def _columns(
    store: LogStore, window: FoldWindow, reader: BlockReader, *, sidecar: bool = True
) -> EventColumns:
    """Read a window's events as columns: from the sidecar as far as it goes, then from the log."""
    return without_damage(lambda: _read_columns(store, window, reader, sidecar=sidecar))


def _read_columns(
    store: LogStore, window: FoldWindow, reader: BlockReader, *, sidecar: bool
) -> EventColumns:
    parts: list[EventColumns] = []
    reached = 0
    if sidecar:
        reached = store.facts_until(cluster=window.cluster, branch=window.branch, version=VERSION)
        blocks = store.facts(window, VERSION)
        parts.extend(_within(reader.add(block.data), window) for block in blocks)
    # The sidecar ends where it was built last; after that, the log itself is read.
    if reached < window.known:
        parts.extend(columns_of(chunk) for chunk in store.scan(window, after_position=reached))
    return concatenate(parts)


def _within(columns: EventColumns, window: FoldWindow) -> EventColumns:
    """Leave out the rows of a block that are outside the window."""
    revisions = columns.revisions
    keep = (revisions > window.after) | (revisions < 0)
    if window.until is not None:
        keep &= revisions <= window.until
    keep &= columns.positions <= window.known
    return columns if keep.all() else columns.select(keep)


def documents(
    store: LogStore, entries: Sequence[Entry], branch: str = MAIN
) -> list[dict[str, Any]]:
    """Return whole objects in the given order; adds a binding that no version shows."""
    payloads = store.payloads([entry.position for entry in entries], branch)
    return [bound_document(payloads[entry.position], entry.node_bound) for entry in entries]


def bound_document(payload: bytes, node: str) -> dict[str, Any]:
    """Return an object of a version, bound to a node unless that is empty."""
    document: dict[str, Any] = msgspec.json.decode(payload)
    if node:
        document["spec"] = {**(document.get("spec") or {}), "nodeName": node}
    return document


def state_digest(store: LogStore, truth: Truth, branch: str = MAIN) -> str:
    """Return the digest of a state; equal for equal states in any log."""
    from ...engine.state.digest import digest_of  # noqa: PLC0415 -- few commands need digests

    def parts() -> Iterable[tuple[Reference, dict[str, Any], bool]]:
        for group, kind in truth.kinds():
            entries = truth.of(group, kind)
            for start in range(0, len(entries), BLOCK_ROWS):
                block = entries[start : start + BLOCK_ROWS]
                for entry, document in zip(block, documents(store, block, branch), strict=True):
                    yield entry.reference, document, entry.stale

    return digest_of(parts())


def build_index(
    store: LogStore,
    *,
    branch: str = MAIN,
    cluster: str,
    progress: Progress | None = None,
    block_rows: int = BLOCK_ROWS,
    checkpoint_events: int = CHECKPOINT_EVENTS,
) -> None:
    """Bring the fact sidecar, coverage, clock and checkpoints up to the end of the log.

    They only save time: without them every answer is the same.

    :param progress: called with (position reached, last position) now and then.
    :param checkpoint_events: events between two checkpoints, about.
    """
    _build_facts(store, branch=branch, cluster=cluster, progress=progress, rows=block_rows)
    store_coverage(store, branch=branch, cluster=cluster)
    store_clock(store, branch=branch, cluster=cluster)
    _build_checkpoints(store, branch=branch, cluster=cluster, every=checkpoint_events)


def _build_facts(
    store: LogStore, *, branch: str, cluster: str, progress: Progress | None, rows: int
) -> None:
    last = store.last(branch)
    reached = store.facts_until(cluster=cluster, branch=branch, version=VERSION)
    if reached >= last:
        return
    window = FoldWindow(branch=branch, cluster=cluster, known=last)
    pending: list[FactBlock] = []
    begin = reached
    for chunk in store.scan(window, after_position=reached):
        columns, facts = columns_of(chunk), facts_of(store, chunk)
        times = times_of(chunk, facts)
        for start in range(0, len(columns), rows):
            chunk_rows = np.arange(start, min(start + rows, len(columns)))
            part = columns.select(chunk_rows)
            end = int(part.positions[-1])
            own = facts[start : start + rows]
            pending.append(_block(part, times.select(chunk_rows), own, begin + 1, end))
            begin = end
        if len(pending) >= 32:
            store.put_facts(pending, cluster=cluster, branch=branch, version=VERSION)
            pending = []
        if progress is not None:
            progress(begin, last)
    if begin < last:  # Events at the end without effect on truth: covered by an empty block.
        pending.append(_block(concatenate([]), no_times(), [], begin + 1, last))
    store.put_facts(pending, cluster=cluster, branch=branch, version=VERSION)


def _block(
    part: EventColumns, times: EventTimes, facts: Sequence[Fact | None], first: int, last: int
) -> FactBlock:
    revisions = part.revisions[part.revisions >= 0]
    return FactBlock(
        first=first,
        last=last,
        low_revision=int(revisions.min()) if len(revisions) else NO_REVISION,
        high_revision=int(revisions.max()) if len(revisions) else NO_REVISION,
        unrevisioned=bool((part.revisions < 0).any()),
        data=encode_block(part, times, facts),
    )


def _build_checkpoints(store: LogStore, *, branch: str, cluster: str, every: int) -> None:
    """Make checkpoints after the last existing one, up to the end of the log."""
    last = store.last(branch)
    end = Moment(branch=branch, cluster=cluster, known=last, revision=None, time=None, label="end")
    clock = clock_of(store, branch=branch, cluster=cluster)
    start = _nearest(store, end, clock) or _Start(_empty_fold(store, branch), NO_REVISION, 0)
    fold, after, known = start
    spans = without_damage(lambda: _spans_after(store, end, after))
    for until in _boundaries(spans, every):
        reader = BlockReader()
        window = FoldWindow(branch=branch, cluster=cluster, known=last, after=after, until=until)
        columns = _columns(store, window, reader)
        fold.advance(columns, placed(clock, end, after=after, until=until))
        # Only moments that know all events in a checkpoint may start from it.
        after, known = until, max(known, int(columns.positions.max(initial=0)))
        _settle_facts(store, fold, reader, branch)
        checkpoint = Checkpoint(
            branch=branch,
            cluster=cluster,
            revision=until,
            known=known,
            version=VERSION,
            data=encode_checkpoint(fold, clock.mark(until * 2)),
        )
        store.put_checkpoint(checkpoint)


def _settle_facts(store: LogStore, fold: Fold, reader: BlockReader, branch: str) -> None:
    """Add the encoded fact to every record, so that the fold needs nothing else."""
    stored = [record for record in fold.records.values() if record.origin != NO_ORIGIN]
    raws = reader.raw_facts([record.origin for record in stored])
    for record, raw in zip(stored, raws, strict=True):
        record.fact, record.origin = raw, NO_ORIGIN
    bare = [record for record in fold.records.values() if not record.fact]
    payloads = store.payloads([record.position for record in bare], branch)
    for record in bare:
        reference = record.reference
        fact = extract_fact(reference.group, reference.kind, payloads[record.position])
        record.fact = encode_fact(fact)


def _spans_after(store: LogStore, end: Moment, after: int) -> list[tuple[int, int]]:
    """Return (greatest revision, events) of the blocks that extend beyond a revision, in order."""
    window = FoldWindow(branch=end.branch, cluster=end.cluster, known=end.known, after=after)
    return sorted(
        (block.high_revision, block.last - block.first + 1)
        for block in store.facts(window, VERSION)
        if block.high_revision > after
    )


def _boundaries(spans: Sequence[tuple[int, int]], every: int) -> list[int]:
    """Return the revisions for checkpoints, about ``every`` events apart."""
    boundaries: list[int] = []
    events = 0
    for revision, count in spans:
        events += count
        if events >= every and (not boundaries or revision > boundaries[-1]):
            boundaries.append(revision)
            events = 0
    return boundaries
