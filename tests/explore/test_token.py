"""Tokens: a run as one line that comes back exactly, or is refused."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine_cases import one_pod, scaled

from plinian.engine.errors import UsageError
from plinian.engine.machine.machine_layout import MachineStep
from plinian.replay.explore.explored_scenario import parse_machine_case
from plinian.replay.explore.order_token import Token, decoded, encoded, is_token

FAULTY = {**scaled(), "faults": {"watch": 1}}
CASES = [parse_machine_case(json.dumps(case).encode()) for case in (scaled(), one_pod(), FAULTY)]
NAMES = st.text(max_size=12)
STEPS = st.lists(st.builds(MachineStep, NAMES, NAMES, NAMES, NAMES), max_size=40).map(tuple)
TOKENS = st.builds(Token, st.sampled_from(CASES), NAMES, STEPS, NAMES, NAMES, NAMES)


def some_token() -> Token:
    """Return a token of two steps."""
    steps = (MachineStep("user", "", "acts"), MachineStep("scheduler", "Pod"))
    return Token(CASES[0], "v1.15.1", steps, "I-04", "00ff")


@given(TOKENS)
def test_what_a_token_says_comes_back_exactly(token: Token) -> None:
    text = encoded(token)
    assert decoded(text) == token
    assert re.fullmatch(r"plinian1\.[A-Za-z0-9_-]+", text)
    assert is_token(text)


@given(TOKENS, st.data())
def test_a_token_with_another_character_is_refused(token: Token, data: st.DataObject) -> None:
    text = encoded(token)
    at = data.draw(st.integers(len("plinian1."), len(text) - 2))
    changed = f"{text[:at]}{'A' if text[at] != 'A' else 'B'}{text[at + 1 :]}"
    with pytest.raises(UsageError, match="damaged"):
        decoded(changed)


@pytest.mark.parametrize("end", [-1, -10, 12, 30])
def test_a_token_that_is_cut_short_is_refused(end: int) -> None:
    with pytest.raises(UsageError, match="damaged"):
        decoded(encoded(some_token())[:end])


def test_a_token_that_was_wrapped_by_a_mail_is_read() -> None:
    text = encoded(some_token())
    assert decoded(f" {text[:40]}\n  {text[40:]}\n") == some_token()


def test_a_token_of_another_format_says_which_plinian_it_needs() -> None:
    with pytest.raises(UsageError, match="format 2, and this Plinian") as caught:
        decoded(encoded(some_token()).replace("plinian1", "plinian2"))
    assert "version of Plinian that made it" in caught.value.now


@pytest.mark.parametrize("text", ["", "x", "plinian1", "plinian1.", "race.case.json"])
def test_other_text_is_no_token(text: str) -> None:
    assert not is_token(text)
    with pytest.raises(UsageError, match="is not a token"):
        decoded(text)
    assert not is_token("plinian1.case.json")
