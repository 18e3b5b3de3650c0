"""What names and messages hold is shown, and never obeyed by a terminal."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign import terminals
from plinian.engine.errors import PlinianError, shortened
from plinian.replay.cli import main as program
from plinian.replay.render.screen import Screen, escaped, is_plain, one_line
from plinian.replay.render.tables import Style, Table, lines_of


class Out(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(text: str, *, terminal: bool = False) -> str:
    out = Out(terminal=terminal)
    Screen(out).write(text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain → ü 日本\n\tx", "plain → ü 日本\n\tx"),
        ("\x1b[31mred\x07", "\\u001b[31mred\\u0007"),
        ("\x9b1m", "\\u009b1m"),
        ("a\rb\x7f", "a\\u000db\\u007f"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("a\u2028b\x85c", "a\\u2028b\\u0085c"),
        ("\udc9b", "\\udc9b"),
    ],
)
def test_control_characters_are_spelled(text: str, expected: str) -> None:
    assert shown(text) == shown(text, terminal=True) == expected


def test_our_own_colours_are_colours() -> None:
    style = Style(colour=True, width=80)
    assert shown(style.bold("x\n"), terminal=True) == "\x1b[1mx\x1b[0m\n"
    hostile = style.removed("\x1b[1mx\x1b[0m")
    assert shown(hostile, terminal=True) == "\x1b[31m\\u001b[1mx\\u001b[0m\x1b[0m"


def test_each_line_that_is_given_is_one_line() -> None:
    out = Out(terminal=False)
    Screen(out).writelines(["\na\n", "b\nplinian: c\n\n", "d"])
    assert out.getvalue() == "\na\nb\\u000aplinian: c\n\nd"


def test_a_cell_breaks_no_table() -> None:
    lines = list(lines_of(Table(("A", "B"), [("x\ny", "\tz"), ("1", "2")])))
    assert lines == ["A          B\n", "x\\u000ay   \\u0009z\n", "1          2\n"]


@given(st.text() | st.text(alphabet="\x1b\x9b\r\n\t\u202e\x00x\udc80"))
def test_nothing_that_is_written_has_a_control_character(text: str) -> None:
    for found in (shown(text), shown(text, terminal=True)):
        assert not terminals.CONTROL.search(terminals.COLOURS.sub("", found))
    assert not terminals.CONTROL.search(shown(one_line(text)))
    assert not {"\n", "\t"} & set(one_line(text))
    assert escaped(escaped(text)) == escaped(text)
    assert not is_plain(text) or one_line(text) == text


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_says_the_same_when_it_is_spelled(value: Any) -> None:
    told = json.dumps(value, ensure_ascii=False)
    assert json.loads(shown(told, terminal=True).encode("utf-8", "surrogatepass")) == value


def test_what_the_stream_cannot_say_is_spelled() -> None:
    raw = io.BytesIO()
    out = Screen(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    out.write("a → b\n")
    assert raw.getvalue() == b"a \\u2192 b\n"


def test_bytes_are_spelled_for_a_terminal() -> None:
    out = Out(terminal=True)
    Screen(out).buffer.write('{"a":"\x9b\u202e"}\n'.encode())
    assert out.getvalue() == '{"a":"\\u009b\\u202e"}\n'


def test_no_command_hands_a_control_character_on() -> None:
    found = terminals.run(seed=3, count=40, seconds=240)
    assert found.failures == ()
    assert found.runs >= 5


def test_without_the_screen_they_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "Screen", lambda out, **_: out)
    assert terminals.run(seed=3, count=12, seconds=120).failures


def test_a_value_that_is_too_long_loses_its_middle() -> None:
    fault = PlinianError(f"there is no kind {'x' * 5000!r}", where="here")
    assert len(str(fault)) < 300
    assert "4,842 characters" in fault.what
    assert shortened("word " * 900) != "word " * 900
    assert shortened("'" + "a b " * 50 + "'") == "'" + "a b " * 50 + "'"


def test_messages_of_the_parser_are_shortened_too() -> None:
    out = Out(terminal=False)
    Screen(out, messages=True).write(f"Error: No such option: --{'y' * 5000}\n")
    assert len(out.getvalue()) < 300


def test_what_is_piped_on_stays_in_the_pipe_while_a_bar_moves(tmp_path: Path) -> None:
    terminals.preload()
    (tmp_path / "in").mkdir()
    terminals.write_inputs(tmp_path / "in", Random(1))
    arguments = ["simulate", "in/x.case.json", "--release", "v1.12.1"]
    quiet = terminals.run_command(arguments, tmp_path, terminal=False)
    moving = terminals.run_command(arguments, tmp_path, terminal=False, err_terminal=True)
    assert quiet.out
    assert moving.out == quiet.out


def test_a_traceback_is_spelled_too() -> None:
    code = (
        "import sys\n"
        "from plinian.replay.cli import main as program\n"
        "def broken(): raise ValueError('\\x1b[31m\\x9b')\n"
        "program._run = broken\n"
        "program.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "\\u001b[31m" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_closed_output_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m plinian version >&-"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
