"""Dumps of the scheduler's cache: on real ones of two releases, and on bad input."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed, InputTruncated
from plinian.engine.events import Effect, Event
from plinian.engine.events.kinds import KINDS
from plinian.engine.ingest.components.cache_dump import FORMAT
from plinian.engine.ingest.reading.formats import Context

DATA = Path(__file__).parent.parent / "data"
V1_12 = "snapshot-1795226284.json"
V1_11 = "snapshot-1795227522.json"


def data_of(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


def read(data: bytes, name: str = V1_12, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source=f"dumps/{name}", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def payload(event: Event) -> Any:
    return msgspec.json.decode(event.payload)


class TestSniff:
    @pytest.mark.parametrize("name", [V1_12, V1_11])
    def test_real_dumps_are_recognised_by_content(self, name: str) -> None:
        assert FORMAT.sniff(data_of(name)[:65536], "-")

    def test_the_dump_of_an_empty_cache_is_recognised_by_name(self) -> None:
        assert FORMAT.sniff(b"{}\n" * 5, V1_12)
        assert not FORMAT.sniff(b"{}\n" * 5, "empty.json")

    def test_other_json_is_not(self) -> None:
        assert not FORMAT.sniff(b'{"kind":"List","items":[]}', V1_12)


class TestLayouts:
    def test_the_layout_of_v1_12_has_five_parts(self) -> None:
        events, _ = read(data_of(V1_12))
        assert [payload(event)["part"] for event in events] == [
            "nodes",
            "hypernodes-by-tier",
            "real-nodes",
            "hypernodes",
            "jobs",
        ]
        assert {payload(event)["layout"] for event in events} == {"v1.12"}
        assert {event.observed_at for event in events} == {1795226284000000}

    def test_the_layout_before_has_only_nodes(self) -> None:
        events, _ = read(data_of(V1_11), V1_11)
        (nodes,) = map(payload, events)
        assert (nodes["part"], nodes["layout"]) == ("nodes", "v1.9")
        assert set(nodes["content"]) == {"node-0", "node-1"}

    def test_the_layout_since_v1_14_names_tiers(self) -> None:
        events, _ = read(b"{}\n" * 6)
        assert [payload(event)["part"] for event in events][2] == "tier-names"

    def test_another_number_of_values_is_kept_and_noted(self) -> None:
        events, context = read(b"{}\n" * 3)
        assert [payload(event)["part"] for event in events] == ["value-0", "value-1", "value-2"]
        assert context.notes == ["a dump of 3 values has no known layout"]

    def test_an_indented_dump_is_the_same(self) -> None:
        lines = data_of(V1_12).splitlines()
        indented = b"".join(msgspec.json.format(line, indent=2) + b"\n" for line in lines)
        assert [event.payload for event in read(indented)[0]] == [
            event.payload for event in read(data_of(V1_12))[0]
        ]

    def test_belief_is_never_truth_and_has_no_managed_fields(self) -> None:
        events, _ = read(data_of(V1_12))
        assert {KINDS[event.kind].effect for event in events} == {Effect.NONE}
        assert b"managedFields" in data_of(V1_12)
        assert not any(b"anagedFields" in event.payload for event in events)

    def test_without_a_time_in_its_name_a_dump_has_none(self) -> None:
        assert read(b"{}\n", "dump.json")[0][0].observed_at is None


class TestBadInput:
    def test_a_cut_dump_is_truncated(self) -> None:
        with pytest.raises(InputTruncated) as raised:
            read(data_of(V1_12)[:-1000])
        assert raised.value.where == f"dumps/{V1_12}:5"

    def test_the_values_before_the_cut_can_be_kept(self) -> None:
        events, context = read(data_of(V1_12)[:-1000], skip_malformed=True)
        assert len(events) == 4
        assert context.skipped == {"malformed": 1}

    @pytest.mark.parametrize("line", [b"[]\n", b'{"a":\n', b"\x00\n", b'{"a":"\xff"}\n'])
    def test_a_value_that_is_no_object_is_named(self, line: bytes) -> None:
        with pytest.raises(EventMalformed) as raised:
            read(b"{}\n" + line)
        assert raised.value.where == f"dumps/{V1_12}:2"
