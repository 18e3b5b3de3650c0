"""The template engine drops a line break after a block; words beside it must not join."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tree import ROOT

TEMPLATES = sorted((ROOT / "replay/pages/templates").glob("*.html"))
_BLOCK = re.compile(r"\{%.*?%\}")
_ENDS = re.compile(r"(?:\w|\}\}|</(?:a|span|strong|code|time|b|em)>)$")
_BEGINS = re.compile(r"<(?:a|span|strong|code|time|b|em)\b|\{\{|[\w(]")


def joined(text: str) -> Iterator[str]:
    """Yield the ends of lines whose last word joins the first one of the next line."""
    for line, after in pairwise(text.splitlines()):
        dropped = line.endswith("%}") and not line.endswith(("+%}", "endmacro %}"))
        begins = _BEGINS.match(_BLOCK.sub("", after.lstrip()).lstrip())
        if dropped and begins and _ENDS.search(_BLOCK.sub("", line)):
            yield line[-60:]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_words_join_where_a_line_ends(template: Path) -> None:
    assert list(joined(template.read_text("utf-8"))) == []


def test_words_that_join_are_noticed() -> None:
    begin = "{% if one %}for the present reason{% endif %}"
    assert list(joined(f'{begin}\n{{% if one %}}<span class="cut">Before')) == [begin]
    assert list(joined(f"{begin.replace('endif %}', 'endif +%}')}\n<span>Before")) == []
    assert list(joined(f"{begin}\n<p>Before</p>")) == []
