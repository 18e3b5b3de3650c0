"""Records of what no object tells: how busy nodes were, and what an extender answered."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.events import KINDS, Effect, Event, Reference
from plinian.engine.events.payloads import ExtenderAnswered, UsageMeasured
from plinian.engine.ingest.format_registry import recognise
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.scenario import scenario
from plinian.engine.ingest.scenario.scenario_inputs import FORMAT, parse_record

Record = dict[str, Any]
HOW_TO = Path(__file__).parent.parent.parent / "docs" / "how-to"
SECOND = 1_000_000


def usage(node: str = "n1", **fields: Any) -> Record:
    """Return what was measured on a node."""
    return {"type": "usage.measured", "node": node, "cpu": {"10m": 42.5}, **fields}


def answer(verb: str = "filter", **fields: Any) -> Record:
    """Return an answer."""
    return {"type": "extender.answered", "verb": verb, "answer": {"status": "no"}, **fields}


def lines(*records: Record) -> bytes:
    """Return records, one a line."""
    return b"".join(msgspec.json.encode(record) + b"\n" for record in records)


def read(data: bytes, **options: Any) -> tuple[list[Event], Context]:
    """Return the events of a document, and what reading it left to be said."""
    context = Context(source="usage.jsonl", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


class TestSniff:
    @pytest.mark.parametrize(
        "data",
        [
            lines(usage()),
            b"\n" + lines(answer()),
            b'{"node":"n1","type":"usage.measured"}\n',
            b'{ "type" : "usage.measure" }\n',
            b'{"type":"extender.answered","answer":{"nodeScore":{"n1":',
        ],
    )
    def test_a_record_is_recognised_by_its_type(self, data: bytes) -> None:
        assert recognise(data, "-") is FORMAT

    @pytest.mark.parametrize(
        "data",
        [
            b'{"type":"ADDED","object":{"kind":"Node"}}\n',
            b'{"type":["usage.measured"]}\n',
            b'[{"type":"usage.measured"}]\n',
            b'{"kind":"NodeList","items":[]}\n',
            b"usage.measured\n",
            b'{"steps":[{"events":[{"type":"usage.measured"}]}]}',
        ],
    )
    def test_nothing_else_is(self, data: bytes) -> None:
        assert not FORMAT.sniff(data, "usage.jsonl")


class TestRecords:
    def test_usage_is_about_its_node_and_has_the_time_of_the_measurement(self) -> None:
        record = usage(memory={"10m": 61, "5m": 0}, observedAt="1970-01-01T00:00:07+00:00")
        (event,) = read(lines(record))[0]
        assert (event.kind, event.reference) == ("usage.measured", Reference("", "Node", "", "n1"))
        assert (event.observed_at, event.revision, event.line) == (7 * SECOND, None, 1)
        assert msgspec.json.decode(event.payload, type=UsageMeasured) == UsageMeasured(
            node="n1", cpu={"10m": 42.5}, memory={"10m": 61, "5m": 0}
        )

    def test_an_answer_is_kept_as_it_was_given(self) -> None:
        given = {"nodeScore": {"n1": 3.5}, "more": [None, {"a": "b"}]}
        (event,) = read(lines(answer(about="ns/p", answer=given)))[0]
        assert (event.kind, event.reference) == ("extender.answered", Reference())
        assert event.observed_at is None
        assert msgspec.json.decode(event.payload, type=ExtenderAnswered) == ExtenderAnswered(
            verb="filter", about="ns/p", answer=given
        )

    def test_a_call_that_failed_is_an_answer_too(self) -> None:
        (event,) = read(lines(answer(answer=None)))[0]
        assert msgspec.json.decode(event.payload, type=ExtenderAnswered).answer is None

    def test_neither_is_truth(self) -> None:
        assert {KINDS[event.kind].effect for event in read(lines(usage(), answer()))[0]} == {
            Effect.NONE
        }

    def test_lines_are_counted_with_those_that_are_blank(self) -> None:
        events, _ = read(lines(usage()) + b"\n" + lines(usage("n2")))
        assert [event.line for event in events] == [1, 3]

    def test_a_last_line_that_is_cut_off_is_noted(self) -> None:
        events, context = read(lines(usage(), usage("n2"))[:-9])
        assert len(events) == 1
        assert context.notes == [
            "line 2 is cut off, as the recording ended; what came before it is kept"
        ]


class TestBadInput:
    @pytest.mark.parametrize(
        ("record", "fault"),
        [
            (usage(type="usage.measure"), r"\$\.type: expected usage\.measured or extender\.ans"),
            (usage(type=7), r"\$\.type: "),
            (usage(""), r"\$\.node: "),
            (usage("n 1"), r"\$\.node: expected a name, without spaces"),
            (usage("n\0"), r"\$\.node: "),
            ({"type": "usage.measured", "cpu": {"10m": 1}}, "field node"),
            (usage(cpu=42), r"\$\.cpu: expected object, got int"),
            (usage(cpu={"10m": "42"}), r"\$\.cpu\[\.\.\.\]: expected float, got str"),
            (usage(cpu={"10m": -1}), r"\$\.cpu\[\.\.\.\]: expected float >= 0"),
            (usage(memory={"ten minutes": 1}), r"\$\.memory: expected a period such as 10m"),
            (usage(cpu={}), "nothing was measured"),
            (usage(mem={"10m": 1}), "unknown field mem"),
            (usage(observedAt="yesterday"), r"\$\.observedAt: "),
            (usage(observedAt="2025-13-01T00:00:00Z"), r"\$\.observedAt: "),
            (usage(observedAt=5), r"\$\.observedAt: expected str"),
            (answer(answer=[]), r"\$\.answer: expected object"),
            ({"type": "extender.answered", "verb": "filter"}, "field answer"),
            (answer(""), r"\$\.verb: "),
            (answer(about=5), r"\$\.about: "),
        ],
    )
    def test_a_fault_is_named_with_its_line_and_path(self, record: Record, fault: str) -> None:
        with pytest.raises(EventMalformed, match=fault) as raised:
            read(lines(usage(), record))
        assert raised.value.where == "usage.jsonl:2"
        assert raised.value.now

    @pytest.mark.parametrize(
        "line", [b"{\n", b"[]\n", b"7\n", b'{"a":"\xff"}\n', b"[" * 100_000 + b"\n"]
    )
    def test_what_is_no_record_is_named(self, line: bytes) -> None:
        with pytest.raises(EventMalformed) as raised:
            read(lines(usage()) + line)
        assert raised.value.where == "usage.jsonl:2"

    def test_malformed_records_can_be_counted_instead(self) -> None:
        events, context = read(lines(usage(cpu={}), usage(), answer(answer=3)), skip_malformed=True)
        assert [event.kind for event in events] == ["usage.measured"]
        assert context.skipped == {"malformed": 2}


class TestScenario:
    def steps(self, *events: Record, **options: Any) -> tuple[list[Event], Context]:
        """Return the events of a scenario of one step, without the default queues."""
        context = Context(source="a.case.json", **options)
        given = {"options": {"noDefaultQueues": True}, "steps": [{"events": events}]}
        data = io.BytesIO(msgspec.json.encode(given))
        return list(scenario.FORMAT.events(data, context)), context

    def test_the_same_records_stand_between_its_changes(self) -> None:
        record = usage(observedAt="1970-01-01T00:00:07Z")
        events, _ = self.steps(record, answer(), {"type": "RESTART"})
        assert [(event.kind, event.revision, event.observed_at) for event in events] == [
            ("usage.measured", 1, 7 * SECOND),
            ("extender.answered", 2, None),
            ("control.marked", 3, None),
            ("session.requested", 4, None),
        ]
        assert [event.payload for event in events[:2]] == [
            event.payload for event in read(lines(record, answer()))[0]
        ]

    def test_a_fault_is_named_by_step_and_path(self) -> None:
        with pytest.raises(EventMalformed, match=r"\$\.steps\[0\]\.events\[1\]\.cpu: ") as raised:
            self.steps(usage(), usage(cpu=3))
        assert raised.value.where == "a.case.json:1"
        events, context = self.steps(usage(cpu=3), usage(), skip_malformed=True)
        assert len(events) == 2
        assert context.skipped == {"malformed": 1}


@pytest.mark.parametrize("page", ["external-inputs.md", "scenarios.md"])
def test_the_records_in_the_documents_are_records(page: str) -> None:
    text = (HOW_TO / page).read_text("utf-8")
    found = re.findall(r"^\{\"type\": .+\}$", text, re.MULTILINE)
    assert len({parse_record(msgspec.json.decode(line)).payload.__class__ for line in found}) == 2
