"""JSONPath as kubectl writes it; what it answers here was checked against kubectl's own tests."""

from __future__ import annotations

import pytest

from plinian.engine.errors import UsageError
from plinian.engine.kubernetes.expressions.jsonpath import (
    Allowance,
    find,
    parse_path,
    parse_template,
)

PODS = {
    "kind": "List",
    "items": [
        {
            "metadata": {"name": "a", "labels": {"kubernetes.io/os": "linux"}},
            "restarts": 3,
            "args": ["x", "y", "z"],
            "ready": True,
        },
        {"metadata": {"name": "b"}, "restarts": 0, "note": None},
    ],
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.kind}", "List"),
        ("{$.kind}", "List"),
        ("kind is {.kind}!", "kind is List!"),
        ("{.items[*].metadata.name}", "a b"),
        ("{.items[*]['restarts']}", "3 0"),
        ("{.items[0].args[-1]}", "z"),
        ("{.items[0].args[0:2]}", "x y"),
        ("{.items[0].args[::2]}", "x z"),
        ("{.items[0].args[0,2]}", "x z"),
        ("{.items[0].args}", '["x","y","z"]'),
        ("{..name}", "a b"),
        (r"{.items[0].metadata.labels.kubernetes\.io/os}", "linux"),
        ("{.items[0].metadata.labels['kubernetes.io/os']}", "linux"),
        ('{.items[?(@.metadata.name=="b")].restarts}', "0"),
        ("{.items[?(@.restarts>0)].metadata.name}", "a"),
        ("{.items[?(@.restarts>=0)].metadata.name}", "a b"),
        ("{.items[?(@.metadata.name!='a')].metadata.name}", "b"),
        ("{.items[?(@.ready==true)].metadata.name}", "a"),
        ("{.items[?(@.args)].metadata.name}", "a"),
        ('{range .items[*]}{.metadata.name}{"\\t"}{.restarts}{"\\n"}{end}', "a\t3\nb\t0\n"),
        ("{range .items[*]}[{range .args[*]}{@}{end}]{end}", "[xyz][]"),
        ("{.items[0].ready} {.items[1].note}", "true "),
        ("{.nothing.here}", ""),
        ("{.items[9].metadata.name}", ""),
        ("{'quoted text'}", "quoted text"),
        ("", ""),
    ],
)
def test_a_template_finds(template: str, text: str) -> None:
    assert parse_template(template).render(PODS) == text


@pytest.mark.parametrize(
    "template", ["{.a", "{range .a}", "{end}", "{.a[}", "{.a[?(@.b==)]}", "{!}", "{.a[0:1:0]}"]
)
def test_a_template_that_cannot_be_read_says_where(template: str) -> None:
    with pytest.raises(UsageError, match=r"^jsonpath: .*, at character \d+ of "):
        parse_template(template)


@pytest.mark.parametrize("text", [".metadata.name", "{.metadata.name}", "metadata.name"])
def test_a_path_alone_may_be_written_plainly(text: str) -> None:
    assert find(parse_path(text), PODS["items"][0]) == ["a"]


@pytest.mark.parametrize("text", ["", ".a b", "{.a}{.b}"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_path(text)


def test_a_path_that_multiplies_what_it_finds_is_refused() -> None:
    document = {"a": [{"b": [{"c": n} for n in range(20)]} for _ in range(20)]}
    assert len(find(parse_path("..c"), document, Allowance(20_000))) == 400
    for text in ("..*..*..*..*", "..[?(@..c)]..[?(@..c)]"):
        with pytest.raises(UsageError, match="too many values"):
            find(parse_path(text), document, Allowance(4_000))
