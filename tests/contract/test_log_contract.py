"""What every log promises, whichever database is underneath."""

from __future__ import annotations

import threading

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pods import SECOND, START, bound, listing, message, pod, pods

from plinian.engine.errors import PointUnknown, PositionConflict, UsageError
from plinian.engine.log import FactBlock, FoldWindow, LogStore, Query, TimeCut, open_log
from plinian.engine.log.location import parse_location
from plinian.engine.log.sql_log import SqlLog


def read(log: LogStore, **query: object) -> list[int]:
    """Return the positions that a query finds."""
    return [recorded.position for recorded in log.read(Query(**query))]  # type: ignore[arg-type]


def window(known: int, **bounds: int) -> FoldWindow:
    """Return a window on the default cluster."""
    return FoldWindow(cluster="default", known=known, **bounds)


def positions(log: LogStore, asked: FoldWindow) -> list[int]:
    """Return the positions that a scan yields."""
    return [int(p) for chunk in log.scan(asked) for p in chunk.positions]


class TestAppending:
    def test_what_was_appended_is_read_back_to_the_byte(self, log: LogStore) -> None:
        events = [
            *pods(5, 6, 7),
            bound("web-0", "node-1", at=9),
            message("panic: 日本語 \\u0000 🌋"),
            listing(8, "web-0", exact=False),
            msgspec.structs.replace(pod(9), resource_version="009", actor="kubelet"),
            msgspec.structs.replace(message("no number"), resource_version="abc"),
        ]
        log.append(events)
        assert [recorded.event for recorded in log.read(Query())] == events

    def test_bare_events_lack_their_payloads_alone(self, log: LogStore) -> None:
        log.append([*pods(5, 6), bound("web-0", "node-1", at=9), message("no number")])
        for query in (Query(), Query(kinds=("pod.*",), newest_first=True), Query(positions=(1, 4))):
            without = [
                msgspec.structs.replace(
                    recorded, event=msgspec.structs.replace(recorded.event, payload=b"")
                )
                for recorded in log.read(query)
            ]
            assert [*log.read(msgspec.structs.replace(query, bare=True))] == without

    def test_positions_are_one_two_three_over_batches(self, log: LogStore) -> None:
        first = log.append(pods(1, 2, 3))
        second = log.append(pods(4, 5))
        assert (first.first, first.last, second.first, second.last) == (1, 3, 4, 5)
        assert read(log) == [1, 2, 3, 4, 5]
        assert log.last() == 5

    def test_an_empty_append_changes_nothing(self, log: LogStore) -> None:
        done = log.append([])
        assert (done.first, done.last, done.appended, done.known) == (1, 0, [], 0)
        assert log.info().batches == 0

    def test_the_same_version_from_another_source_is_known(self, log: LogStore) -> None:
        log.append(pods(1, 2, 3))
        again = [
            msgspec.structs.replace(event, source="other", kind="pod.observed")
            for event in pods(2, 3, 4)
        ]
        done = log.append(again)
        assert (list(done.appended), done.known, log.last()) == ([2], 2, 4)

    def test_a_deletion_is_not_the_version_of_the_same_revision(self, log: LogStore) -> None:
        done = log.append([pod(3), pod(3, verb="deleted")])
        assert done.last == 2

    def test_doubles_within_a_batch_are_stored_once(self, log: LogStore) -> None:
        done = log.append([pod(1), message("a"), pod(1), message("a"), message("b")])
        assert (list(done.appended), done.known) == ([0, 1, 4], 2)

    def test_events_without_revision_are_known_by_what_they_say(self, log: LogStore) -> None:
        log.append([message("a"), bound("web-0", "n1", at=1)])
        done = log.append(
            [message("a", line=9), bound("web-0", "n1", at=1), bound("web-0", "n1", at=2)]
        )
        assert list(done.appended) == [2]

    def test_the_same_object_in_two_clusters_is_two_objects(self, log: LogStore) -> None:
        log.append([pod(1, cluster="a"), pod(1, cluster="b")])
        assert log.last() == 2
        assert log.clusters() == ["a", "b"]
        assert read(log, cluster="b") == [2]

    def test_an_append_at_an_unexpected_end_changes_nothing(self, log: LogStore) -> None:
        log.append(pods(1, 2), expected=0)
        with pytest.raises(PositionConflict) as caught:
            log.append(pods(3), expected=1)
        assert (caught.value.expected, caught.value.last, log.last()) == (1, 2, 2)
        assert log.append(pods(3), expected=2).last == 3

    def test_a_kind_outside_the_vocabulary_is_refused_with_the_whole_batch(
        self, log: LogStore
    ) -> None:
        odd = msgspec.structs.replace(pod(2), kind="pod.teleported")
        with pytest.raises(UsageError):
            log.append([pod(1), odd])
        assert log.last() == 0
        assert log.append([pod(1)]).last == 1

    def test_a_failed_append_leaves_no_names_behind(self, log: LogStore) -> None:
        class Unstorable(str):
            __slots__ = ()

        bad = msgspec.structs.replace(pod(2, "fresh"), line=2**70)
        with pytest.raises(Exception):  # noqa: B017, PT011 -- each driver has its own
            log.append([pod(1, "other"), bad])
        assert log.last() == 0
        log.append([pod(2, "fresh"), pod(1, "other")])
        assert [r.event.reference.name for r in log.read(Query())] == ["fresh", "other"]
        log.verify()

    def test_recorded_at_never_steps_back(self, log_place: str) -> None:
        open_log(log_place, create=True).close()
        with open_log(log_place) as log:
            times = iter([START + 5, START + 2, START + 9])
            log._clock = lambda: next(times)  # type: ignore[attr-defined]
            for revision in (1, 2, 3):
                log.append([pod(revision)])
            assert [r.recorded_at - START for r in log.read(Query())] == [5, 5, 9]
            log.verify()

    @settings(
        max_examples=15,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(data=st.data())
    def test_any_order_in_any_batches_with_repetition_holds_the_same_events(
        self, log: LogStore, data: st.DataObject
    ) -> None:
        cluster = f"c{log.last()}-{len(log.clusters())}"
        every = [
            msgspec.structs.replace(event, cluster=cluster)
            for event in [*pods(*range(1, 12)), *(message(str(i)) for i in range(4))]
        ]
        order = data.draw(st.permutations(every + every[:5]))
        while order:
            size = data.draw(st.integers(1, len(order)))
            log.append(order[:size])
            order = order[size:]
        found = [recorded.event for recorded in log.read(Query(cluster=cluster))]
        assert sorted(found, key=lambda e: e.payload) == sorted(every, key=lambda e: e.payload)


class TestAttribution:
    def test_a_known_version_without_actor_gets_one(self, log: LogStore) -> None:
        log.append([pod(1), pod(2)])
        done = log.append([pod(2, actor="alice"), pod(1, actor="bob", verb="created")])
        assert (list(done.appended), done.known, done.attributed, done.last) == ([], 2, 2, 4)
        told = [r.event for r in log.read(Query(kinds=("version.attributed",)))]
        assert [(e.actor, e.revision, e.payload) for e in told] == [
            ("alice", 2, b'{"kind":"version.attributed","verb":"updated"}'),
            ("bob", 1, b'{"kind":"version.attributed","verb":"created"}'),
        ]
        assert told[0].reference == pod(2).reference

    def test_it_happens_once(self, log: LogStore) -> None:
        log.append([pod(1)])
        log.append([pod(1, actor="alice")])
        assert log.append([pod(1, actor="alice"), pod(1, actor="bob")]).attributed == 0

    def test_a_version_with_an_actor_needs_none(self, log: LogStore) -> None:
        log.append([pod(1, actor="alice")])
        assert log.append([pod(1, actor="bob"), pod(1)]).attributed == 0

    def test_the_first_of_doubles_in_a_batch_is_attributed(self, log: LogStore) -> None:
        done = log.append([pod(1), pod(1, actor="alice"), pod(1, actor="bob")])
        assert (done.last, done.known, done.attributed) == (2, 2, 1)

    def test_a_deletion_is_attributed_too(self, log: LogStore) -> None:
        log.append([pod(4, verb="deleted")])
        assert log.append([pod(4, verb="deleted", actor="gc")]).attributed == 1


class TestReading:
    @pytest.fixture
    def filled(self, log: LogStore) -> LogStore:
        log.append([*pods(*range(10, 20)), message("late"), listing(20, "web-0")])
        log.append([pod(21, "other", source="x/dump.tar.gz!pods.json"), bound("other", "n", at=22)])
        return log

    def test_by_position(self, filled: LogStore) -> None:
        assert read(filled, after=3, until=6) == [4, 5, 6]
        assert read(filled, after=11, newest_first=True, limit=2) == [14, 13]
        assert read(filled, limit=0) == []

    def test_by_kind_and_pattern(self, filled: LogStore) -> None:
        assert read(filled, kinds=("message.logged", "list.*")) == [11, 12]
        assert read(filled, kinds=("pod.bound",)) == [14]
        assert len(read(filled, kinds=("pod.*",))) == 12
        assert read(filled, kinds=("node.*",)) == []

    def test_by_object(self, filled: LogStore) -> None:
        assert read(filled, name="web-3") == [1, 8]
        assert read(filled, uid="uid-of-other") == [13, 14]
        assert read(filled, objects=(("", "Pod"),), namespace="shop", after=9) == [10, 13, 14]
        assert read(filled, objects=(("", "Node"),)) == []
        assert read(filled, namespace="nowhere") == []
        assert read(filled, name="web-3", newest_first=True, limit=1) == [8]

    def test_by_revision(self, filled: LogStore) -> None:
        assert read(filled, revisions=(18, 20)) == [9, 10, 12]
        assert read(filled, revisions=(None, 11)) == [1, 2]
        assert read(filled, revisions=(20, None)) == [12, 13]

    def test_by_time(self, filled: LogStore) -> None:
        since, until = TimeCut(18, START + 18 * SECOND), TimeCut(20, START + 21 * SECOND)
        assert read(filled, happened=(since, until)) == [9, 10, 12]
        assert read(filled, happened=(None, TimeCut(11, START))) == [1, 2]
        assert read(filled, happened=(TimeCut(99, START + 19 * SECOND), None)) == [14]

    def test_single_positions(self, filled: LogStore) -> None:
        assert read(filled, positions=(3, 9)) == [3, 9]

    def test_by_source(self, filled: LogStore) -> None:
        assert len(read(filled, source="watch-pods.jsonl")) == 10
        assert len(read(filled, source="dir/watch-pods.jsonl")) == 10
        assert read(filled, source="pods.json") == [13]
        assert read(filled, source="pods.jsonl") == []

    def test_by_a_part_of_who_caused_them(self, log: LogStore) -> None:
        events = [
            msgspec.structs.replace(event, actor=actor)
            for event, actor in zip(pods(1, 2, 3), ("Admin-a", "", "system:kube"), strict=True)
        ]
        log.append(events)
        assert read(log, actor="admin") == [1]
        assert read(log, actor="kube") == [3]
        assert read(log, actor="nobody") == []

    def test_many_pages_come_in_order(self, log: LogStore) -> None:
        for start in range(0, 2600, 1300):
            log.append(pods(*range(start, start + 1300)))
        assert read(log) == list(range(1, 2601))
        assert read(log, newest_first=True) == list(range(2600, 0, -1))
        assert read(log, revisions=(100, 2300)) == list(range(101, 2302))

    def test_payloads_by_position(self, filled: LogStore) -> None:
        found = filled.payloads([13, 1])
        assert found == {1: pods(10)[0].payload, 13: pod(21, "other").payload}

    def test_appending_while_reading_does_not_disturb(self, log: LogStore) -> None:
        log.append(pods(*range(1500)))
        seen = []
        for recorded in log.read(Query(until=1500)):
            if recorded.position == 10:
                log.append(pods(9000))
            seen.append(recorded.position)
        assert seen == list(range(1, 1501))


class TestFollowing:
    def test_it_yields_what_is_there_and_what_comes(self, log: LogStore, log_place: str) -> None:
        log.append(pods(1, 2))

        def write() -> None:
            with open_log(log_place) as other:
                for revision in (3, 4, 5):
                    other.append([pod(revision)])

        writer = threading.Thread(target=write)
        seen = []
        for recorded in log.follow(Query(after=1), timeout=300, poll=0.05):
            seen.append(recorded.position)
            if recorded.position == 2:
                writer.start()
            if recorded.position == 5:
                break
        writer.join()
        assert seen == [2, 3, 4, 5]

    def test_it_stops_when_nothing_comes(self, log: LogStore) -> None:
        log.append(pods(1))
        assert len(list(log.follow(Query(), timeout=0.2, poll=0.05))) == 1

    def test_it_stops_at_its_limit_and_its_end(self, log: LogStore) -> None:
        log.append(pods(1, 2, 3))
        assert len(list(log.follow(Query(limit=2)))) == 2
        assert len(list(log.follow(Query(until=2)))) == 2


class TestBranches:
    def test_a_branch_continues_its_parents_past(self, log: LogStore) -> None:
        log.append(pods(1, 2, 3))
        log.create_branch("what-if", fork=2)
        log.append(pods(3, 4), branch="main")
        done = log.append(pods(2, 3, 50), branch="what-if")
        assert (done.first, done.last, done.known) == (3, 4, 1)
        assert [r.position for r in log.read(Query(branch="what-if"))] == [1, 2, 3, 4]
        assert [r.branch for r in log.read(Query(branch="what-if"))] == ["main"] * 2 + [
            "what-if"
        ] * 2
        assert [r.event.revision for r in log.read(Query())] == [1, 2, 3, 4]
        assert log.verify().events == 6
        assert log.verify(branch="what-if").events == 6

    def test_a_branch_of_a_branch_from_before_the_fork(self, log: LogStore) -> None:
        log.append(pods(1, 2, 3))
        log.create_branch("a")
        log.append(pods(4), branch="a")
        log.create_branch("b", parent="a", fork=2)
        log.append(pods(9), branch="b")
        assert [r.event.revision for r in log.read(Query(branch="b"))] == [1, 2, 9]
        asked = FoldWindow(branch="b", cluster="default", known=3)
        assert positions(log, asked) == [1, 2, 3]
        assert log.payloads([1, 3], branch="b")[3] == pods(9)[0].payload
        assert [(i.name, i.parent, i.fork, i.last) for i in log.branches()] == [
            ("main", None, 0, 3),
            ("a", "main", 3, 4),
            ("b", "a", 2, 3),
        ]
        log.verify()

    def test_what_a_branch_cannot_be(self, log: LogStore) -> None:
        log.append(pods(1))
        with pytest.raises(PointUnknown):
            log.create_branch("late", fork=2)
        with pytest.raises(PointUnknown):
            log.create_branch("orphan", parent="nobody")
        with pytest.raises(UsageError):
            log.create_branch("main")
        with pytest.raises(UsageError):
            log.create_branch("a@b")
        with pytest.raises(PointUnknown):
            log.append(pods(2), branch="nobody")

    def test_the_sidecar_of_the_past_serves_the_branch_up_to_the_fork(self, log: LogStore) -> None:
        log.append(pods(*range(1, 11)))
        log.put_facts([_block(1, 4), _block(5, 8)], cluster="default", branch="main", version=1)
        log.create_branch("b", fork=6)
        assert log.facts_until(cluster="default", branch="main", version=1) == 8
        assert log.facts_until(cluster="default", branch="b", version=1) == 4
        log.append(pods(7, 8), branch="b")
        log.put_facts([_block(5, 8)], cluster="default", branch="b", version=1)
        assert log.facts_until(cluster="default", branch="b", version=1) == 8
        asked = FoldWindow(branch="b", cluster="default", known=8)
        assert [(b.first, b.last) for b in log.facts(asked, 1)] == [(1, 4), (5, 8)]
        assert [b.first for b in log.facts(window(10, after=4), 1)] == [5]
        assert [b.first for b in log.facts(window(3), 1)] == [1]
        assert list(log.facts(window(10), 2)) == []
        log.drop_derived()
        assert log.facts_until(cluster="default", branch="b", version=1) == 0


def _block(first: int, last: int) -> FactBlock:
    return FactBlock(
        first=first,
        last=last,
        low_revision=first,
        high_revision=last,
        unrevisioned=False,
        data=b"facts",
    )


class TestPlaces:
    def test_info_says_what_is_there(self, log: LogStore) -> None:
        log.append([*pods(1, 2), pod(3, cluster="b")])
        info = log.info()
        assert (info.last, info.events, info.objects, info.batches) == (3, 3, 3, 1)
        assert info.clusters == ("b", "default")
        assert info.bytes_stored > 1000

    def test_a_log_opened_again_is_the_same(self, log: LogStore, log_place: str) -> None:
        log.append(pods(1, 2))
        with open_log(log_place, create=True) as again:
            assert again.last() == 2
            assert again.append(pods(2, 3)).known == 1
        with open_log(log_place, read_only=True) as again:
            assert again.verify().events == 3

    def test_urls_are_taken_apart(self) -> None:
        there = parse_location("postgresql+psycopg://u:secret@h:5/d?schema=s&sslmode=require")
        assert there.conninfo == "postgresql://u:secret@h:5/d?sslmode=require"
        assert there.schema == "s"
        assert "secret" not in there.shown
        assert parse_location("postgresql:///d").schema == "plinian"
        assert parse_location("sqlite:////tmp/x.db").path == "/tmp/x.db"
        assert parse_location("sqlite:///x.db").path == "x.db"
        assert parse_location("a b%20c.db").path == "a b%20c.db"
        with pytest.raises(UsageError):
            parse_location("mysql://h/d")


@pytest.mark.postgres
def test_both_databases_hash_the_same_log_alike(
    sqlite_log_path: str, postgres_log_url: str
) -> None:
    heads = []
    for place in (sqlite_log_path, postgres_log_url):
        with open_log(place, create=True) as log:
            assert isinstance(log, SqlLog)
            log._clock = lambda: START
            log.append([*pods(1, 2, 3), message("x")])
            log.append([pod(2, actor="a")])
            heads.append(log.verify().head)
    assert heads[0] == heads[1]
