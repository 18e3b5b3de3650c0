"""What logs of Volcano's scheduler and controllers say: on slices of real ones, and bad input."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed, InputError
from plinian.engine.events import KINDS, Event
from plinian.engine.ingest.components.component_logs import FORMAT
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.kubernetes.units import format_time

DATA = Path(__file__).parent.parent / "data"
OPEN = b"session.go:211] Open Session 12181329-33bc with <52> Job and <7> Queues\n"


class Pipe(io.BytesIO):
    """A stream that can be read only once, as standard input."""

    def seekable(self) -> bool:
        return False


def data_of(name: str) -> bytes:
    return gzip.decompress((DATA / name).read_bytes())


def read(data: bytes, *, year: int | None = 2026, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source=options.pop("source", "vc-scheduler.log"), year=year, **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def payload(event: Event) -> Any:
    return msgspec.json.decode(event.payload)


def of_kind(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


def verbs(events: list[Event]) -> Counter[str]:
    return Counter(payload(event)["verb"] for event in of_kind(events, "decision.logged"))


class TestSniff:
    @pytest.mark.parametrize(
        "name",
        [
            "vc-scheduler-v1.8.2.log.gz",
            "vc-scheduler-v1.11.0.log.gz",
            "vc-scheduler-v1.12.1.log.gz",
            "vc-controllers-v1.12.1.log.gz",
        ],
    )
    def test_real_logs_are_recognised_by_content(self, name: str) -> None:
        assert FORMAT.sniff(data_of(name)[:65536], "-")

    def test_the_middle_of_a_log_is_recognised(self) -> None:
        assert FORMAT.sniff(b"I1121 02:05:14.935324   22582 " + OPEN, "x")

    @pytest.mark.parametrize(
        "head",
        [
            b"I1121 02:05:14.935324   22582 job_controller.go:598] enqueueing job default/x\n",
            b"I1121 02:05:14.935324       1 controller.go:615] quota admission added evaluator\n",
            b"2026-11-21 started the session.go:1] Open Session\n",
            b'{"kind":"Event"}\n',
        ],
    )
    def test_logs_of_other_components_are_not(self, head: bytes) -> None:
        assert not FORMAT.sniff(head, "scheduler.log")


class TestScheduler:
    def test_a_process_starts_with_its_flags(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.8.2.log.gz"), source="-")
        first, second = of_kind(events, "process.started")
        assert payload(first)["component"] == "scheduler"
        assert payload(first)["flags"]["scheduler-name"] == "[volcano]"
        assert payload(second)["flags"]["v"] == "4"
        assert format_time(first.observed_at or 0) == "2026-11-21T02:16:16.780771Z"

    def test_sessions_have_their_counts_also_that_of_the_nodes(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.12.1.log.gz"))
        opened = payload(of_kind(events, "session.opened")[0])
        assert opened["session"] == "12181329-33bc-4588-9f56-965a8b92eb49"
        assert (opened["jobs"], opened["queues"], opened["nodes"]) == (52, 7, 100)
        assert len(of_kind(events, "session.closed")) == 2

    def test_what_follows_belongs_to_the_session_until_it_closes(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.12.1.log.gz"))
        first, last = (of_kind(events, "decision.logged")[place] for place in (0, -1))
        assert payload(first)["session"] == "12181329-33bc-4588-9f56-965a8b92eb49"
        assert payload(last).get("session", "") == ""

    def test_decisions_are_told_apart(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.12.1.log.gz"))
        assert verbs(events) == {
            "pipeline": 2,
            "unpipeline": 2,
            "unallocate": 2,
            "preempt": 2,
            "reclaim": 2,
            "evict": 2,
            "bind": 2,
            "bind-failed": 1,
            "commit": 2,
            "discard": 2,
            "cleanup": 2,
        }
        assert len(of_kind(events, "cleanup.retried")) == 2

    def test_an_eviction_is_about_its_pod(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.12.1.log.gz"))
        evicted = next(event for event in events if b'"verb":"evict"' in event.payload)
        assert evicted.reference.kind == "Pod"
        assert (evicted.reference.namespace, evicted.reference.name) == (
            "team-b",
            "job-049-adhoc-w-0",
        )
        assert payload(evicted)["reason"] == "reclaim"

    def test_actions_are_entered_and_left_at_verbosity_5(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.11.0.log.gz"))
        marks = [
            (event.kind, payload(event)["action"])
            for event in events
            if event.kind.startswith("action.")
        ]
        assert marks == [
            ("action.entered", "enqueue"),
            ("action.left", "enqueue"),
            ("action.entered", "allocate"),
            ("action.left", "allocate"),
            ("action.entered", "backfill"),
            ("action.left", "backfill"),
        ]
        bound = next(event for event in events if b'"verb":"allocate"' in event.payload)
        assert (payload(bound)["task"], payload(bound)["node"]) == ("default/job-1-w-0", "node-0")

    def test_at_verbosity_3_the_first_words_of_an_action_are_its_begin(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.12.1.log.gz"))
        entered = [payload(event)["action"] for event in of_kind(events, "action.entered")]
        assert entered[0] == "enqueue"
        assert not of_kind(events, "action.left")

    def test_a_panic_is_one_event_with_its_stack_though_it_is_printed_twice(self) -> None:
        events, context = read(data_of("vc-scheduler-v1.8.2.log.gz"))
        (panicked,) = of_kind(events, "process.panicked")
        told = payload(panicked)
        assert told["message"].startswith("resource is not sufficient to do operation: <cpu -500")
        assert "(*Resource).Sub" in told["stack"]
        assert "I1121" not in told["stack"]
        assert told["session"]
        assert context.skipped["panic that was printed before"] == 1

    def test_a_text_dump_is_one_event(self) -> None:
        events, _ = read(data_of("vc-scheduler-v1.8.2.log.gz"))
        (dumped,) = of_kind(events, "cache.dumped")
        content = payload(dumped)["content"]
        assert content.startswith("Dump of nodes info")
        assert content.count("Node (node-") == 3
        assert "Job (default/fill-" in content
        assert payload(dumped)["part"] == "text"

    def test_errors_are_kept_and_information_is_counted(self) -> None:
        events, context = read(data_of("vc-scheduler-v1.8.2.log.gz"))
        kept = [payload(event) for event in of_kind(events, "message.logged")]
        assert {message["severity"] for message in kept} >= {"E", "I"}
        assert any(message["at"].startswith("utils.go:") for message in kept)
        assert any("Successfully loaded scheduler conf" in each["message"] for each in kept)
        assert sum(count for why, count in context.skipped.items() if "info line" in why) > 50

    def test_each_event_is_of_the_vocabulary(self) -> None:
        for name in ("vc-scheduler-v1.8.2.log.gz", "vc-controllers-v1.12.1.log.gz"):
            for event in read(data_of(name))[0]:
                struct = KINDS[event.kind].payload
                assert struct is not None
                msgspec.json.decode(event.payload, type=struct)


class TestControllers:
    def test_what_they_execute_on_jobs_is_a_decision(self) -> None:
        events, _ = read(data_of("vc-controllers-v1.12.1.log.gz"), source="-")
        assert payload(of_kind(events, "process.started")[0])["component"] == "controllers"
        executed = payload(of_kind(events, "decision.logged")[0])
        assert executed["component"] == "controllers"
        assert executed["reason"] == "SyncJob"


class TestCrashes:
    BEFORE = b"E1121 02:05:14.935324   22582 cache.go:1] something\n"
    AFTER = b"I1121 02:05:16.000000   22599 " + OPEN

    def test_a_concurrent_map_access_dies_without_header(self) -> None:
        crash = (
            b"fatal error: concurrent map read and map write\n\n"
            b"goroutine 7 [running]:\nvolcano.sh/volcano/pkg/scheduler/api.(*NodeInfo).Clone()\n"
        )
        events, _ = read(self.BEFORE + crash + self.AFTER)
        assert [event.kind for event in events] == [
            "message.logged",
            "process.panicked",
            "session.opened",
        ]
        panicked = payload(events[1])
        assert panicked["message"] == "fatal error: concurrent map read and map write"
        assert panicked["stack"].endswith("(*NodeInfo).Clone()")
        assert events[1].observed_at == events[0].observed_at

    def test_a_nil_pointer_dies_without_header(self) -> None:
        crash = b"panic: runtime error: invalid memory address\n[signal SIGSEGV]\n\ngoroutine 1:\n"
        events, _ = read(self.BEFORE + crash)
        assert payload(events[1])["message"] == "runtime error: invalid memory address"

    def test_the_newer_form_of_an_observed_panic_is_read(self) -> None:
        line = (
            b'E1121 02:05:15.000000   22582 runtime.go:142] "Observed a panic"'
            b' panic="runtime error: index out of range [3] with \\"x\\"" stacktrace=<\n'
            b"\tgoroutine 1 [running]:\n\tmain.main()\n >\n"
        )
        events, _ = read(line + self.AFTER)
        assert payload(events[0])["message"] == 'runtime error: index out of range [3] with "x"'
        assert "main.main()" in payload(events[0])["stack"]


class TestTimes:
    DECEMBER = b"I1231 23:59:59.900000       1 " + OPEN
    JANUARY = b"I0101 00:00:00.100000       1 " + OPEN

    def test_the_year_given_is_that_of_the_last_line(self) -> None:
        events, _ = read(self.DECEMBER + self.JANUARY + self.JANUARY, year=2027)
        assert [format_time(event.observed_at or 0)[:4] for event in events] == [
            "2026",
            "2027",
            "2027",
        ]

    def test_lines_of_several_threads_around_midnight_do_not_turn_the_year_twice(self) -> None:
        lines = self.DECEMBER + self.JANUARY + self.DECEMBER + self.JANUARY
        events, _ = read(lines, year=2027)
        years = [format_time(event.observed_at or 0)[:4] for event in events]
        assert years == ["2026", "2027", "2026", "2027"]

    def test_a_stream_that_is_read_once_cannot_place_the_turn_and_says_so(self) -> None:
        context = Context(source="-", year=2027)
        with pytest.raises(InputError, match="only once"):
            list(FORMAT.events(Pipe(self.DECEMBER + self.JANUARY), context))

    def test_a_stream_that_is_read_once_is_fine_within_a_year(self) -> None:
        events = list(FORMAT.events(Pipe(self.JANUARY), Context(source="-", year=2027)))
        assert format_time(events[0].observed_at or 0) == "2027-01-01T00:00:00.100000Z"

    def test_without_a_year_the_person_is_told_how_to_give_it(self) -> None:
        with pytest.raises(InputError) as raised:
            read(self.JANUARY, year=None)
        assert "--year" in raised.value.now
        assert raised.value.where == "vc-scheduler.log:1"

    def test_gos_own_logger_tells_the_year_at_the_start_of_a_process(self) -> None:
        started = b"2026/12/31 23:59:58 maxprocs: Leaving GOMAXPROCS=2: CPU quota undefined\n"
        events, _ = read(started + self.DECEMBER + self.JANUARY, year=None)
        years = [format_time(event.observed_at or 0)[:4] for event in events]
        assert years == ["2026", "2027"]

    def test_times_put_before_each_line_are_taken(self) -> None:
        stamped = b"2026-11-21T03:05:14.935324123+01:00 stderr F I1121 02:05:14.935324 1 " + OPEN
        assert FORMAT.sniff(stamped, "0.log")
        events, _ = read(stamped, year=None)
        assert format_time(events[0].observed_at or 0) == "2026-11-21T02:05:14.935324Z"

    @pytest.mark.parametrize(
        ("stamp", "header", "time"),
        [
            # The runtime reads a line some time after it is written.
            ("2026-11-21T02:05:14.978Z", "1121 02:05:14.935324", "2026-11-21T02:05:14.935324Z"),
            ("2026-11-21T03:05:14.978+01:00", "1121 07:50:14.93", "2026-11-21T02:05:14.930000Z"),
            # The process is in a zone of its own, or the year ends in between.
            ("2026-12-31T20:00:01Z", "0101 01:30:00.5", "2026-12-31T20:00:00.500000Z"),
            ("2027-01-01T00:00:00.2Z", "1231 23:59:59.9", "2026-12-31T23:59:59.900000Z"),
            # Two clocks, or a line that was read much later: only when it was read is known.
            ("2026-11-21T02:05:14.9Z", "1121 02:05:14.95", "2026-11-21T02:05:14.900000Z"),
            ("2026-11-21T02:12:14.9Z", "1121 02:05:14.95", "2026-11-21T02:12:14.900000Z"),
            ("2027-01-01T00:00:00.2Z", "0229 23:59:59.9", "2027-01-01T00:00:00.200000Z"),
        ],
    )
    def test_a_line_was_written_when_its_header_says(
        self, stamp: str, header: str, time: str
    ) -> None:
        line = f"{stamp} stderr F I{header.ljust(20, '0')} 1 ".encode() + OPEN
        events, _ = read(line, year=None)
        assert format_time(events[0].observed_at or 0) == time

    def test_a_day_that_the_year_does_not_have_is_malformed(self) -> None:
        line = b"I0229 00:00:00.100000       1 " + OPEN
        with pytest.raises(EventMalformed, match="no such time"):
            read(line, year=2026)
        events, context = read(line + self.JANUARY, year=2027, skip_malformed=True)
        assert len(events) == 1
        assert context.skipped == {"malformed": 1}


class TestBadInput:
    def test_bytes_that_are_no_text_are_kept_readable(self) -> None:
        line = b"E1121 02:05:14.935324   22582 cache.go:1] bad \xff\x00 name\n"
        assert payload(read(line)[0][0])["message"] == "bad \\xff\x00 name"

    def test_a_line_without_end_is_refused_with_its_place(self) -> None:
        endless = b"E1121 02:05:14.935324   22582 cache.go:1] " + b"x" * (65 * 2**20) + b"\n"
        with pytest.raises(EventMalformed) as raised:
            read(endless)
        assert raised.value.where == "vc-scheduler.log:1"

    def test_a_real_log_that_is_cut_anywhere_has_the_same_events_but_for_its_last(self) -> None:
        data = data_of("vc-scheduler-v1.11.0.log.gz")
        whole, _ = read(data)
        for end in range(0, len(data), 311):
            before_last = read(data[:end])[0][:-1]
            assert before_last == whole[: len(before_last)]
            assert len(read(data[:end])[0]) >= len(read(data[: data.rfind(b"\n", 0, end) + 1])[0])


def test_each_skipped_info_line_has_its_own_reason() -> None:
    lines = (
        '"SnapShot for scheduling" JobNum=1 QueueNum=2 NodeNum=3',
        "priority.go:70] Priority JobOrderFn: <ml/a> priority: 1",
        "allocate.go:176] There are <3> nodes for Job <ml/a>",
    )
    head = "I1128 10:00:00.100001       1 "
    text = f"{head}cache.go:1300] {lines[0]}\n{head}{lines[1]}\n{head}{lines[2]}\n"
    context = Context(source="scheduler.log", year=2026)
    assert list(FORMAT.events(io.BytesIO(text.encode()), context)) == []
    assert context.skipped == {
        "info line: its number of nodes is kept with the next session": 1,
        "info line of a Go file that logs no decisions": 1,
        "info line that is no decision": 1,
    }
