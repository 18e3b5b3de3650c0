"""Payloads come back to the byte from their blocks, in whatever way they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pods import message, pod, pods

from plinian.engine.errors import LogCorrupt
from plinian.engine.log import FoldWindow, LogStore, Query
from plinian.engine.log.event_packing import BLOCK_BYTES, BLOCK_EVENTS, block_ends


@given(sizes=st.lists(st.integers(0, BLOCK_BYTES * 2), max_size=100))
def test_blocks_cover_a_batch_and_end_where_they_must(sizes: list[int]) -> None:
    ends = block_ends(sizes)
    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(sizes)] if sizes else [])
    for begin, end in zip([0, *ends], ends, strict=False):
        assert end - begin <= BLOCK_EVENTS
        assert sum(sizes[begin : end - 1]) < BLOCK_BYTES
        if end < len(sizes):
            assert end - begin == BLOCK_EVENTS or sum(sizes[begin:end]) >= BLOCK_BYTES


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_every_way_of_asking_gives_the_same_bytes(log: LogStore, data: st.DataObject) -> None:
    before = log.last()
    texts = data.draw(
        st.lists(
            st.one_of(st.text(max_size=40), st.integers(1, 300_000).map("x".__mul__)),
            min_size=1,
            max_size=60,
        )
    )
    # The number makes them differ; what was drawn makes blocks of all lengths.
    given = [message(f"{before + i} {text}").payload for i, text in enumerate(texts)]
    events = [message(f"{before + i} {text}") for i, text in enumerate(texts)]
    while events:
        size = data.draw(st.integers(1, len(events)))
        log.append(events[:size])
        events = events[size:]
    expected = dict(enumerate(given, before + 1))
    some = data.draw(st.lists(st.sampled_from(sorted(expected)), max_size=20))
    assert log.payloads(some) == {position: expected[position] for position in some}
    assert all(log.payloads([position])[position] == expected[position] for position in some)
    for newest_first in (False, True):
        read = log.read(Query(after=before, newest_first=newest_first))
        assert {r.position: r.event.payload for r in read} == expected
    log.verify()


def test_a_chunk_loads_its_payloads_in_any_order(log: LogStore) -> None:
    events = pods(*range(2500))
    log.append([*events[:2000], message("between")])
    log.append(events[2000:])
    (chunk,) = log.scan(FoldWindow(cluster="default", known=2501))
    order = [*range(2500), *range(2499, -1, -7), 3, 2400, 1000, 1001]
    assert all(chunk.load(row) == events[row].payload for row in order)


def test_far_apart_positions_of_branches_with_the_same_ones(log: LogStore) -> None:
    log.append(pods(*range(1000)))
    log.create_branch("b", fork=500)
    log.append([pod(5000 + i, "other") for i in range(500)], branch="b")
    positions = [1, 400, 501, 502, 999]
    main, branch = log.payloads(positions), log.payloads(positions, branch="b")
    assert [main[p] == branch[p] for p in positions] == [True, True, False, False, False]
    assert branch[502] == pod(5001, "other").payload
    for position in positions:
        assert log.payloads([position], branch="b") == {position: branch[position]}
        assert log.payloads([position]) == {position: main[position]}


def test_a_position_without_event_is_named(log: LogStore) -> None:
    log.append(pods(1, 2, 3))
    for positions in ([4], [2, 3, 9]):
        with pytest.raises(LogCorrupt) as caught:
            log.payloads(positions)
        assert caught.value.position == positions[-1]
