"""Records as tables: columns by type, the same in pandas and Arrow, and safe HTML."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
import pytest

import plinian
from plinian.replay.tabular.column_table import table_of, texts
from plinian.replay.tabular.html import ROWS
from plinian.replay.tabular.record_columns import (
    AmountColumns,
    Bytes,
    CellType,
    Quantity,
    Seconds,
    TimeColumn,
    columns_of,
)
from plinian.replay.tabular.tabular import Records

pytest.importorskip("pandas", reason="an extra")
pytest.importorskip("pyarrow", reason="an extra")

HOSTILE = "<script>alert('x')</script>&\n\u202e\x1b[31m"
MICROS = 1_795_226_016_000_001


class Colour(StrEnum):
    RED = "red"


class Sample(NamedTuple):
    name: str
    colour: Colour = Colour.RED
    position: int | None = None
    time: TimeColumn | None = None
    waited: Seconds | None = None
    size: Bytes = 0.0
    amount: Quantity | None = None
    known: bool = True
    releases: tuple[str, ...] = ()
    nested: dict[str, Any] = {}  # noqa: RUF012 -- never changed
    used: AmountColumns = {}  # noqa: RUF012


def records(*some: Sample) -> Records[Sample]:
    return Records(some, "samples", Sample)


def cells(found: Records[Sample], name: str) -> list[Any]:
    """Return a column from pandas, which must be the same as from Arrow."""
    plain = [None if _absent(one) else one for one in found.to_pandas()[name]]
    assert plain == found.to_arrow()[name].to_pylist()
    return plain


def _absent(value: Any) -> bool:
    return str(value) in {"None", "<NA>", "NaT", "nan"}


def test_each_type_has_its_kind_of_column() -> None:
    kinds = {one.name: one.kind for one in columns_of(Sample)}
    assert kinds == {
        "name": CellType.TEXT,
        "colour": CellType.TEXT,
        "position": CellType.WHOLE,
        "time": CellType.TIME,
        "waited": CellType.NUMBER,
        "size": CellType.NUMBER,
        "amount": CellType.NUMBER,
        "known": CellType.TRUTH,
        "releases": CellType.NAMES,
        "nested": CellType.NESTED,
        "used": CellType.AMOUNTS,
    }


def test_times_are_exact_and_in_utc_beside_times_that_are_not_known() -> None:
    found = records(Sample("a", time=MICROS), Sample("b"))
    assert cells(found, "time") == [datetime(2026, 11, 21, 1, 53, 36, 1, tzinfo=UTC), None]
    assert str(found.to_pandas()["time"].dtype) == "datetime64[us, UTC]"
    assert str(found.to_arrow().schema.field("time").type) == "timestamp[us, tz=UTC]"


def test_whole_numbers_stay_whole_beside_those_that_are_not_known() -> None:
    found = records(Sample("a", position=2**53 + 1), Sample("b"))
    assert cells(found, "position") == [2**53 + 1, None]
    assert str(found.to_arrow().schema.field("position").type) == "int64"


def test_amounts_are_numbers_with_a_column_for_each_resource() -> None:
    found = records(
        Sample("a", used={"cpu": "1500m", "memory": "1Gi"}), Sample("b", used={"cpu": "unlimited"})
    )
    assert cells(found, "used.cpu") == [1.5, None]
    assert cells(found, "used.memory") == [2.0**30, None]


def test_units_are_with_the_columns() -> None:
    found = records(
        Sample("a", waited=1.5, used={"cpu": "1", "memory": "1", "nvidia.com/gpu": "1"})
    )
    units = found.to_pandas().attrs["units"]
    assert units["waited"] == "seconds"
    assert (units["size"], units["used.cpu"], units["used.memory"]) == ("bytes", "cores", "bytes")
    assert "used.nvidia.com/gpu" not in units
    schema = found.to_arrow().schema
    assert {
        field.name: field.metadata[b"unit"].decode() for field in schema if field.metadata
    } == units


def test_what_is_nested_is_json_and_lists_stay_lists() -> None:
    found = records(Sample("a", nested={"b": 1, "a": HOSTILE}, releases=("v1", "v2")))
    assert cells(found, "releases") == [["v1", "v2"]]
    (text,) = cells(found, "nested")
    assert text.startswith('{"a":')
    assert msgspec.json.decode(text) == {"a": HOSTILE, "b": 1}


def test_a_table_without_rows_has_its_columns_and_types() -> None:
    empty, full = records(), records(Sample("a", time=1))
    assert len(empty.to_pandas()) == 0
    assert empty.to_arrow().schema == full.to_arrow().schema
    assert dict(empty.to_pandas().dtypes) == dict(full.to_pandas().dtypes)


def test_a_name_that_is_no_utf_8_can_be_a_cell() -> None:
    assert cells(records(Sample("a\udc80")), "name") == ["a\\udc80"]


def test_columns_that_are_asked_for_twice_are_both_there() -> None:
    found = texts(["name", "v1.12.1", "v1.12.1"], [("a", "yes", None)])
    assert found.to_arrow().to_pylist() == [{"name": "a", "v1.12.1": "yes", "v1.12.1 (2)": None}]


def test_html_has_no_markup_and_no_control_characters_of_a_name() -> None:
    shown = records(Sample(HOSTILE, releases=(HOSTILE,), nested={HOSTILE: HOSTILE}))._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "\\u000a" in shown
    assert shown.isprintable()


def test_html_is_small_and_says_what_it_leaves_out() -> None:
    many = records(*(Sample(f"row-{number}" + "x" * 500) for number in range(1000)))
    shown = many._repr_html_()
    assert f"the first {ROWS} of 1000 rows" in shown
    assert f"row-{ROWS - 1}x" in shown
    assert f"row-{ROWS}x" not in shown
    assert len(shown) < 60_000
    assert "the first" not in records(Sample("a"))._repr_html_()
    assert "no rows: samples" in records()._repr_html_()


def test_html_can_be_read_on_light_and_on_dark() -> None:
    shown = records(Sample("a"))._repr_html_()
    assert "<script" not in shown
    colours = {part.split(";")[0].split('"')[0] for part in shown.split("color:")[1:]}
    assert colours == {"inherit"}
    assert "#" not in shown


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_library_that_is_absent_is_named_with_the_command_that_installs_it(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    found = records(Sample("a"))
    ask = found.to_pandas if library == "pandas" else found.to_arrow
    with pytest.raises(plinian.UsageError, match=library) as caught:
        ask()
    assert caught.value.now == "pip install 'plinian[notebook]'"
    assert "samples" in found._repr_html_()


def test_a_table_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(plinian.UsageError, match="no table 'others'") as caught:
        records().to_pandas("others")
    assert caught.value.now == "choose from: samples"


def test_a_list_of_records_is_a_list() -> None:
    found = records(Sample("a"))
    assert found == [Sample("a")]
    assert table_of(Sample, found) == found.tables()["samples"]
