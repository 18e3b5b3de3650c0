"""The clock of a log: read, build and store it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TypeVar

import msgspec
import numpy as np

from ...engine.errors import DerivedDamaged
from ...engine.events import NO_TIME, Effect
from ...engine.events.input_names import without_folders
from ...engine.log.store import Chunk, ClockBlock, FoldWindow, LogStore, Query
from ...engine.state import VERSION
from ...engine.state.asked_lists import asked_list
from ...engine.state.clock import (
    CLOCK_VERSION,
    END_KEY,
    UNDATED,
    Clock,
    TimeSpan,
    encode_clock,
    span_at,
    span_of_read,
)
from ...engine.state.clock_build import build_clock
from ...engine.state.decision_evidence import LoggedDecision, decision_of
from ...engine.state.event_columns import (
    NO_ORIGIN,
    EventColumns,
    EventTimes,
    Gathered,
    decode_times,
    distinct,
)
from ...engine.state.extract import extract_fact
from ...engine.state.facts import Fact
from ...engine.state.fold import PlacedEvents
from ...engine.state.log_end import reached_at
from ...engine.state.marks import marks_of
from .moment import Moment
from .read_coverage import vouched_until
from .store_key import StoreKey

Asked = TypeVar("Asked")


def clock_of(store: LogStore, *, branch: str, cluster: str) -> Clock:
    """Return the clock of a cluster on a branch: the stored one, or one built from the whole log.

    Building takes some seconds per million events; :func:`store_clock` avoids that.
    """
    return _clock(StoreKey(store), branch, cluster, store.last(branch))


def time_of_moment(store: LogStore, moment: Moment) -> int | None:
    """Return the best estimate of the time of a moment in microseconds; None if not known."""
    return when_is(store, moment).estimate


def when_is(store: LogStore, moment: Moment) -> TimeSpan:
    """Return between which times a moment is: a time is exact, and the end is that of the log.

    Any other is when the last version that it shows came to be: what came later in the log is no
    part of it.
    """
    at_position = moment.time is None and moment.revision is None
    if at_position and moment.known == store.last(moment.branch):
        return span_of_end(clock_of(store, branch=moment.branch, cluster=moment.cluster))
    return span_of_moment(store, moment)


def span_of_moment(store: LogStore, moment: Moment) -> TimeSpan:
    """Return between which times the last version that a moment shows came to be.

    Of a moment that is a time, it is that time.
    """
    if moment.time is not None:
        return span_at(moment.time)
    revision = last_revision(store, moment)
    if revision is None:
        return UNDATED
    return clock_of(store, branch=moment.branch, cluster=moment.cluster).span_of(revision)


def span_of_end(clock: Clock) -> TimeSpan:
    """Return between which times a log ends, as far as it says: as :meth:`.Clock.last` counts."""
    last = clock.last()
    if last is None:
        return UNDATED
    # If the last thing known is an event and no read of an input, the event has bounds.
    stamped = clock.span_of(None)
    if last != clock.vouched() and last == stamped.estimate:
        return stamped
    return span_of_read(last)


def last_revision(store: LogStore, moment: Moment) -> int | None:
    """Return the last revision that had happened at a moment; None if there was none."""
    if moment.revision is not None:
        return moment.revision
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    return extent.last_revision


@lru_cache(maxsize=2)
def _clock(opened: StoreKey, branch: str, cluster: str, last: int) -> Clock:
    store = opened.store

    @cache
    def built() -> dict[tuple[int, int], bytes]:
        blocks = _build(store, branch, cluster, last)
        return {(part, number): data for part, number, data in blocks}

    def load(part: int, number: int) -> bytes:
        blocks = store.clock(
            branch=branch, cluster=cluster, version=CLOCK_VERSION, part=part, number=number
        )
        # A damaged block is left out; rebuilt from the same events it is the same.
        return blocks[0].data if blocks else built()[part, number]

    index = store.clock(branch=branch, cluster=cluster, version=CLOCK_VERSION, part=0)
    # A clock from before the last events is out of date: they may narrow the times of earlier ones.
    if index and index[0].known == last:
        return Clock(load)
    return Clock(lambda part, number: built()[part, number])


def store_clock(store: LogStore, *, branch: str, cluster: str) -> None:
    """Build the clock of everything known, and store it beside the log."""
    last = store.last(branch)
    index = store.clock(branch=branch, cluster=cluster, version=CLOCK_VERSION, part=0)
    if index and index[0].known == last:
        return
    blocks = [
        ClockBlock(part=part, number=number, known=last, data=data)
        for part, number, data in _build(store, branch, cluster, last)
    ]
    store.put_clock(blocks, branch=branch, cluster=cluster, version=CLOCK_VERSION)


def clock_remarks(store: LogStore, *, branch: str, cluster: str) -> list[str]:
    """Return a sentence for each input whose clock disagrees with the others."""
    remarks = clock_of(store, branch=branch, cluster=cluster).remarks
    sources = [source for remark in remarks for source in (remark.source, remark.other)]
    names = store.symbols([source for source in sources if source >= 0])
    shown = {symbol: without_folders(name) for symbol, name in names.items()}
    named = (
        msgspec.structs.replace(remark, name=without_folders(remark.name)) for remark in remarks
    )
    return [remark.text(shown) for remark in named]


def _build(
    store: LogStore, branch: str, cluster: str, last: int
) -> Sequence[tuple[int, int, bytes]]:
    columns, times = _evidence(store, branch, cluster, last)
    decisions = _decisions(store, branch, cluster, last)
    # Lists of a watch have a revision: only those of files are read.
    query = Query(
        branch=branch, cluster=cluster, until=last, kinds=("list.observed",), about_kinds=True
    )
    lists = [listed for told in store.read(query) if (listed := asked_list(told)) is not None]
    tables = build_clock(columns, times, store.references, decisions, lists)
    noted = store.last_noted(known=last, cluster=cluster, branch=branch)
    vouched = vouched_until(store, branch=branch, cluster=cluster, known=last)
    return encode_clock(tables, last, max(reached_at(columns, times), vouched, noted or NO_TIME))


def _decisions(store: LogStore, branch: str, cluster: str, last: int) -> list[LoggedDecision]:
    """Read what schedulers logged about pods that they bind or evict."""
    query = Query(branch=branch, cluster=cluster, until=last, kinds=("decision.logged",))
    decisions = (decision_of(recorded.event) for recorded in store.read(query))
    return [decision for decision in decisions if decision is not None]


def _evidence(
    store: LogStore, branch: str, cluster: str, last: int
) -> tuple[EventColumns, EventTimes]:
    """Read all evidence of times: from the fact sidecar, then from the log's tail."""
    return without_damage(lambda: _gathered(store, branch, cluster, last))


def without_damage(ask: Callable[[], Asked]) -> Asked:
    """Run a query again if what was stored beside the log turns out to be damaged.

    A new run leaves out what is damaged, so this ends.
    """
    while True:
        try:
            return ask()
        except DerivedDamaged:
            continue


def _gathered(
    store: LogStore, branch: str, cluster: str, last: int
) -> tuple[EventColumns, EventTimes]:
    window = FoldWindow(branch=branch, cluster=cluster, known=last)
    reached = store.facts_until(cluster=cluster, branch=branch, version=VERSION)
    gathered = Gathered()
    for block in store.facts(window, VERSION):
        gathered.add(*decode_times(block.data))
    for chunk in store.scan(window, after_position=reached):
        gathered.add(columns_of(chunk), times_of(chunk, facts_of(store, chunk)))
    return gathered.whole()


def columns_of(chunk: Chunk) -> EventColumns:
    """Return a chunk as an empty block of facts."""
    return EventColumns(
        positions=chunk.positions,
        effects=chunk.effects,
        objects=chunk.objects,
        revisions=chunk.revisions,
        origins=np.full(len(chunk.positions), NO_ORIGIN, np.int64),
    )


def facts_of(store: LogStore, chunk: Chunk) -> list[Fact | None]:
    """Return the facts of a chunk's versions; None for all other events."""
    references = store.references(distinct(chunk.objects).tolist())
    facts: list[Fact | None] = []
    for row, (number, effect) in enumerate(
        zip(chunk.objects.tolist(), chunk.effects.tolist(), strict=True)
    ):
        fact = None
        if effect == Effect.VERSION:
            reference = references[number]
            fact = extract_fact(reference.group, reference.kind, chunk.load(row))
        facts.append(fact)
    return facts


def times_of(chunk: Chunk, facts: Sequence[Fact | None]) -> EventTimes:
    """Return what a chunk's events say about time."""
    marks = marks_of(chunk.kinds, chunk.audited.tolist(), facts, chunk.load)
    return EventTimes(
        earliest=chunk.earliest,
        latest=chunk.latest,
        created=np.array([_created(fact) for fact in facts], np.int64),
        marks=np.array(marks, np.int64),
        sources=chunk.sources,
    )


def _created(fact: Fact | None) -> int:
    return NO_TIME if fact is None or fact.created_at is None else fact.created_at


def placed(
    clock: Clock, moment: Moment, *, after: int, until: int | None, last: bool = True
) -> PlacedEvents:
    """Return the events without a revision that belong between two revisions, up to a moment.

    :param after: revisions up to this one were folded before. :param until: None is the end.
    :param last: the moment itself is at ``until``, so its time counts.
    """
    limit = END_KEY if until is None else until * 2
    beyond = limit
    if last and moment.time is not None and until is not None:
        following = clock.next_revision(until)
        beyond = END_KEY if following is None else following * 2 - 1
    loose = clock.loose(after * 2 if after >= 0 else -2, beyond)
    # A version that the log has by then stands for the request that made it.
    keep = (loose.partners == 0) | (loose.partners > moment.known)
    # Between this revision and the next, only its time says whether an event had happened.
    if beyond > limit and moment.time is not None:
        keep &= (loose.keys <= limit) | (loose.estimates <= moment.time)
    order = np.argsort(loose.positions[keep], kind="stable")
    return PlacedEvents(
        positions=loose.positions[keep][order],
        keys=loose.keys[keep][order],
        times=loose.estimates[keep][order],
    )
