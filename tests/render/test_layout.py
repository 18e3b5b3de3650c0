"""Tables on terminals of all widths: no word is broken, and what is left out is named."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_terminals import Shown
from terminal_words import faults

from plinian.replay.render.tables import (
    PLAIN,
    Style,
    Table,
    fitted,
    lines_of,
    paragraph,
    stream_lines,
)

NAME = "big-gang-09629e74-41bb-41e4-89de-420564b049bc"
PODS = Table(
    ("NAME", "STATUS", "RESTARTS", "QUEUE", "REQUESTS", "MESSAGE"),
    [
        (NAME, "Pending", "0", "gold", "cpu=17,memory=42Gi,nvidia.com/gpu=4", "0/5 nodes have it"),
        ("mpi-af7e6fa1", "Running", "12", "<none>", "<none>", ""),
    ],
    keep=("STATUS", "MESSAGE"),
)


def text_of(table: Table, width: int | None, **more: Any) -> str:
    """Return a table as a terminal shows it."""
    return "".join(lines_of(table, style=Style(width=width, **more)))


def shown(table: Table, width: int, *, fitted: bool = True) -> Shown:
    """Return a table as a pipe and a terminal show it."""
    advice = "-o wide shows all"
    text = text_of(table, width, whole=not fitted, advice=advice)
    return Shown(["get"], text_of(table, None), {width: text}, fitted)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_a_table_parts_no_word_and_loses_none_in_silence(width: int) -> None:
    assert faults(shown(PODS, width)) == []


def test_the_last_columns_are_left_out_first_and_named() -> None:
    text = text_of(PODS, 80, advice="-o wide shows all")
    assert text.splitlines()[0].split() == ["NAME", "STATUS", "MESSAGE"]
    assert text.endswith("columns not shown: RESTARTS, QUEUE, REQUESTS (-o wide shows all)\n")
    assert NAME in text


def test_a_column_that_says_nothing_is_left_out_before_any_other() -> None:
    table = Table(("NAME", "GUARANTEE", "AGE"), [("a" * 30, "<none>", "12s")] * 2)
    assert text_of(table, 40).splitlines()[0].split() == ["NAME", "AGE"]


def test_a_column_that_says_nothing_does_not_take_the_place_of_one_that_says_something() -> None:
    head = ("NAME", "TIME", "ACTOR")
    table = Table(head, [("a" * 20, "b" * 30, "<none>")] * 2, keep=("NAME",))
    text = text_of(table, 40, advice="-o wide")
    assert text.splitlines()[0].split() == ["NAME"]
    assert text.endswith("columns not shown: TIME, ACTOR (-o wide)\n")


def test_a_list_goes_on_after_a_comma_and_a_number_is_in_one_piece() -> None:
    table = Table(("QUEUE", "ALLOCATED"), [("gold", "cpu=17,memory=42Gi,steps=60,123")])
    lines = text_of(table, 26).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["cpu=17,", "memory=42Gi,", "steps=60,123"]


def test_a_name_longer_than_the_terminal_is_shortened_so_that_both_ends_are_seen() -> None:
    first = text_of(Table(("NAME", "AGE"), [(NAME, "12s")], keep=("AGE",)), 30).splitlines()[1]
    assert re.fullmatch(r"big-gang-0\w*…[\w-]*49bc +12s", first)
    assert len(first) <= 30


@pytest.mark.parametrize("width", [60, 80, 120])
def test_all_columns_are_shown_one_after_the_other_if_they_are_wanted(width: int) -> None:
    assert faults(shown(PODS, width, fitted=False)) == []
    text = text_of(PODS, width, whole=True)
    assert max(map(len, text.splitlines())) <= max(width, len(f"{NAME}   0/5 nodes have it"))
    assert all(header in text for header in PODS.headers)
    assert "not shown" not in text


@pytest.mark.parametrize("width", [30, 40])
def test_kept_columns_too_wide_even_if_shortened_stand_one_after_the_other(width: int) -> None:
    heads = ("QUEUE", "WANTED", "LIMIT", "ALLOCATED", "WEIGHT")
    row = ("gold", "42949672960Ki", "42949672961Ki", "42949672962Ki", "1")
    text = text_of(Table(heads, [row] * 2, keep=heads[1:4]), width)
    assert max(map(len, text.splitlines())) <= width
    assert all(amount in text for amount in row[:4])
    assert "columns not shown: WEIGHT" in text


def test_a_uid_in_a_sentence_is_shortened_and_a_number_is_not() -> None:
    uid = "09629e74-7499-407b-919d-48e2f6f7cdba"
    rows = [("critical", f"its Job with uid {uid} does not exist (until @3679)")]
    text = text_of(Table(("SEVERITY", "MESSAGE"), rows, keep=("MESSAGE",)), 40)
    assert max(map(len, text.splitlines())) <= 40
    assert "@3679" in text


def test_a_table_that_grows_names_what_is_not_shown_before_its_rows() -> None:
    lines = list(
        stream_lines(PODS._replace(rows=()), PODS.rows, style=Style(width=60), endless=True)
    )
    assert lines[0].startswith("columns not shown: ")
    assert sum("not shown" in line for line in lines) == 1


def test_a_sentence_goes_on_between_words_and_an_address_stays_whole() -> None:
    address = "https://github.com/volcano-sh/volcano/pull/3841/files#diff-0123456789"
    lines = list(paragraph(f"  see {address} for the reason of it", Style(width=40)))
    assert lines == ["  see\n", f"    {address}\n", "    for the reason of it\n"]


def test_lines_that_are_too_long_go_on_with_their_label_beside_them() -> None:
    lines = ["\n", "Requests:   cpu=1, memory=2Gi and much more than that\n", "\nEnd\n"]
    assert "".join(fitted(lines, Style(width=32))) == (
        "\nRequests:   cpu=1,\n            memory=2Gi and much\n            more than that\n\nEnd\n"
    )
    assert list(fitted(lines, PLAIN)) == lines


def test_a_command_to_be_copied_stays_in_one_line() -> None:
    command = f"  plinian explore --replay {NAME * 3}\n"
    assert list(fitted([command], Style(width=60))) == [command]


WORDS = st.text("abc", min_size=1, max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@given(rows=st.lists(st.tuples(WORDS, CELLS, CELLS, WORDS), max_size=5), width=st.integers(30, 90))
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, ...]], width: int) -> None:
    table = Table(("NAME", "REASON", "MESSAGE", "AGE"), rows, keep=("MESSAGE",))
    text = text_of(table, width, advice="-o wide shows all")
    assert max(map(len, text.splitlines())) <= width
    assert faults(shown(table, width)) == []
