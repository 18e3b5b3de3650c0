"""YAML that is put together here is letter by letter what PyYAML gives."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from plinian.replay.render.yaml_text import YamlWriter

WORDS = st.lists(
    st.sampled_from(
        [*"aZ09 .:-#'\"\n,[]{}&*!|>%@`=~?_/+é\t", "  ", "\n ", "...", "---", "yes", "1e3"]
    ),
    max_size=6,
).map("".join)
TEXTS = (
    WORDS
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "2026-01-02T03:04:05Z",
            "2026-01-02",
            "true",
            "null",
            "12:30:45",
            "0x1f",
            "1_000",
            "<<",
            "=",
        ]
    )
)
LONG = st.integers(120, 140).map("k".__mul__) | st.integers(900, 5000).map("word ".__mul__)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | LONG,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | LONG, inner, max_size=4),
    max_leaves=12,
)


def by_pyyaml(value: Any) -> str:
    return yaml.dump(value, Dumper=yaml.CSafeDumper, default_flow_style=False, width=4096)


@given(VALUES)
@example({"a": {"b": ["x\ny", ["x\n\n  y\n"], {"c": " x\n y"}]}})
@example({"a": {"b": {"c": {"d": "word " * 900, "e": "word" * 900}}}})
@example(["x: y", "x:", "x:y", "x #y", "x#", "a, b", "(a)", "a@b", "a ", " a", "a  b", "-a", "/a"])
@example([[[{"a": 1, "b": [{"c": []}, {}]}, []]]])
def test_the_text_is_that_of_pyyaml(value: Any) -> None:
    value = msgspec.json.decode(msgspec.json.encode(value))  # no value in it twice
    writer = YamlWriter()
    assert writer.text(value) == by_pyyaml(value)
    assert writer.text(value) == by_pyyaml(value)


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05Z", "12:30:45", "1e3", "on", "~", "0o7", "1."]
)
def test_what_could_be_taken_for_something_else_is_quoted(text: str) -> None:
    assert yaml.safe_load(YamlWriter().text({"a": text})) == {"a": text}
