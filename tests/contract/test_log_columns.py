"""Events as columns, and what is asked about revision and time, on both databases."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pods import SECOND, START, bound, listing, message, pod, pods

from plinian.engine.events import Effect
from plinian.engine.log import NO_REVISION, NO_TIME, Extent, FactBlock, FoldWindow, LogStore, Query


def window(known: int, **bounds: int) -> FoldWindow:
    """Return a window on the default cluster."""
    return FoldWindow(cluster="default", known=known, **bounds)


def positions(log: LogStore, asked: FoldWindow) -> list[int]:
    """Return the positions that a scan yields."""
    return [int(p) for chunk in log.scan(asked) for p in chunk.positions]


class TestScanning:
    def test_columns_carry_what_folding_needs(self, log: LogStore) -> None:
        events = [pod(5), message("no effect"), bound("web-0", "n1", at=6), listing(7)]
        log.append(events)
        (chunk,) = log.scan(window(4))
        assert chunk.positions.tolist() == [1, 3, 4]
        assert chunk.effects.tolist() == [Effect.VERSION, Effect.BOUND, Effect.LISTED]
        assert chunk.revisions.tolist() == [5, NO_REVISION, 7]
        times = [START + 5 * SECOND, START + 6 * SECOND]
        assert chunk.earliest.tolist() == [*times, NO_TIME]
        assert chunk.latest.tolist() == [*times, NO_TIME]
        assert chunk.audited.tolist() == [0, 1, 0]
        assert chunk.kinds == ["pod.updated", "pod.bound", "list.observed"]
        assert chunk.positions.dtype == chunk.earliest.dtype == np.int64
        assert [chunk.load(i) for i in range(3)] == [events[i].payload for i in (0, 2, 3)]
        references = log.references(chunk.objects.tolist())
        assert references[int(chunk.objects[0])] == events[0].reference
        assert chunk.objects[0] == chunk.objects[1]

    def test_a_window_is_cut_by_knowledge_and_revision(self, log: LogStore) -> None:
        log.append([*pods(*range(1, 101)), bound("web-0", "n", at=500)])
        log.append(pods(*range(101, 201)))
        assert positions(log, window(50)) == list(range(1, 51))
        assert positions(log, window(201, after=195)) == [101, *range(197, 202)]
        assert positions(log, window(201, after=40, until=43)) == [41, 42, 43, 101]
        assert positions(log, window(101, until=99)) == [*range(1, 100), 101]
        (chunk,) = log.scan(window(201, after=195), after_position=198)
        assert chunk.positions.tolist() == [199, 200, 201]

    def test_other_clusters_are_left_out(self, log: LogStore) -> None:
        log.append([*pods(1, 2, cluster="a"), *pods(3), *pods(4, cluster="a")])
        assert positions(log, window(4)) == [3]
        assert positions(log, FoldWindow(cluster="a", known=4)) == [1, 2, 4]
        assert positions(log, FoldWindow(cluster="none", known=4)) == []

    def test_long_scans_come_in_chunks(self, log: LogStore) -> None:
        log.append(pods(*range(5000)))
        assert [len(chunk.positions) for chunk in log.scan(window(5000))] == [4096, 904]

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(known=st.integers(0, 300), after=st.integers(-1, 320), span=st.integers(0, 320))
    def test_the_index_and_the_walk_agree(
        self, log: LogStore, known: int, after: int, span: int
    ) -> None:
        if log.last() == 0:
            log.append([*pods(*range(299, 150, -1)), bound("x", "n", at=1), *pods(*range(151))])
        events = [r.event for r in log.read(Query())]
        expected = [
            index
            for index, event in enumerate(events, 1)
            if index <= known and (event.revision is None or after < event.revision <= after + span)
        ]
        assert positions(log, window(known, after=after, until=after + span)) == expected


class TestExtent:
    def test_the_extent_says_first_and_last(self, log: LogStore) -> None:
        log.append([*pods(20, 10), bound("web-0", "n", at=99), *pods(30)])
        reach = log.extent(known=3, cluster="default")
        assert (reach.first_revision, reach.last_revision) == (10, 20)
        assert log.extent(known=0, cluster="default").last_revision is None

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(
        order=st.permutations(range(1, 41)),
        size=st.integers(3, 9),
        covered=st.integers(0, 40),
        known=st.integers(0, 40),
    )
    def test_the_fact_sidecar_changes_no_answer(
        self, *, log: LogStore, order: list[int], size: int, covered: int, known: int
    ) -> None:
        cluster = f"c{len(log.clusters())}"
        first = log.last() + 1
        events = [pod(r, cluster=cluster) for r in order]
        log.append(events)

        def answers() -> Extent:
            return log.extent(known=first - 1 + known, cluster=cluster)

        plain = answers()
        blocks = []
        for low in range(0, covered, size):
            part = events[low : min(low + size, covered)]
            revisions = [e.revision for e in part if e.revision is not None]
            blocks.append(
                FactBlock(
                    first=first + low,
                    last=first + low + len(part) - 1,
                    low_revision=min(revisions),
                    high_revision=max(revisions),
                    unrevisioned=False,
                    data=b"",
                )
            )
        log.put_facts(blocks, cluster=cluster, branch="main", version=1)
        assert answers() == plain
