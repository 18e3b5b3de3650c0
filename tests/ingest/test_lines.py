"""Lines of a stream: numbered, without blank ones, and none longer than is allowed."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.errors import EventMalformed
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.reading.numbered_lines import numbered_lines

LIMIT = 5


@given(st.lists(st.sampled_from([b"a", b"bb", b" ", b"\r", b"\n"]), max_size=30), st.integers(0, 3))
def test_lines_are_those_of_the_text_but_for_blank_and_long_ones(
    pieces: list[bytes], after: int
) -> None:
    text = b"".join(pieces)
    context = Context(source="x", skip_malformed=True)
    lines = list(numbered_lines(io.BytesIO(text), context, limit=LIMIT, after=after))
    every = [(number, line) for number, line in enumerate(text.split(b"\n"), after + 1) if line]
    kept = [(number, line) for number, line in every if len(line) <= LIMIT and not line.isspace()]
    assert [(number, line.removesuffix(b"\n")) for number, line in lines] == kept
    assert context.skipped.get("malformed", 0) == sum(len(line) > LIMIT for _, line in every)
    # All have their newline; the last one only if the text ends with one.
    ended = [line.endswith(b"\n") for _, line in lines]
    assert all(ended[:-1])
    if lines:
        last = text.endswith(b"\n") or lines[-1][0] < after + 1 + text.count(b"\n")
        assert ended[-1] == last


def test_a_line_that_is_too_long_is_told_with_its_number() -> None:
    stream = io.BytesIO(b"ok\n" + b"x" * (2**20 + 1) + b"\n")
    with pytest.raises(EventMalformed, match="a line of more than 1 MiB") as told:
        list(numbered_lines(stream, Context(source="x"), limit=2**20))
    assert told.value.where == "x:2"
