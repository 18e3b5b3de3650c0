"""Pages, messages, docstrings and comments use no word of the list, and the law can be broken."""

from __future__ import annotations

import re

import pytest

import words
from pages import DOCUMENTS, text_of
from tree import files


def checked() -> list[str]:
    """Return the files whose words are checked: pages and modules."""
    pages = [
        path
        for path in DOCUMENTS
        if "/" not in path or path.startswith((".github/", "docs/", "skills/"))
    ]
    code = [path for path in files() if path.endswith(".py")]
    return [path for path in pages if not path.startswith(words.NOT_CHECKED)] + [
        path for path in code if path.startswith(words.CHECKED_CODE)
    ]


@pytest.mark.parametrize("path", sorted(checked()))
def test_words_that_have_to_be_explained_are_not_used(path: str) -> None:
    assert words.found(path, text_of(path)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "No more of it is told.",
        "What no object tells is an event.",
        "The scheduler rolls dice.",
        "It draws lots.",
        "Where chance has no say.",
        "Pods that lie on the node.",
        "v1.8 dies in every session.",
        "The ways part at step 2.",
        "Whoever reads this.",
        "The log is built anew.",
        "It has a cache of its own.",
        "Nobody is evicted.",
        "'yesterday' names no point.",
        "POD   WAITS BECAUSE",
        "THE LATER OF THEM",
    ],
)
def test_a_word_that_is_not_used_is_found(sentence: str) -> None:
    assert words.found("docs/a.md", f"# A\n\nFine.\n{sentence}\n")[0].startswith("docs/a.md:4: ")
    for code in (f'"""{sentence}"""', f'Y = "{sentence}"', f"# {sentence}"):
        assert words.found("engine/a.py", f"X = 1\n{code}\n")[0].startswith("engine/a.py:2: ")


def test_commands_output_and_names_are_not_prose() -> None:
    block = "```console\n$ plinian session\nPOD   WAITS BECAUSE\n```\n"
    assert (
        words.found("docs/a.md", f"{block}\nThe field `told` of `kin`, [a](lies/of/whom.md).") == []
    )
    assert words.found("CONTRIBUTING.md", "## How we write\n\nNot *anew*.\n\n## B\n\nagain\n") == []
    assert words.found("replay/cli/a.py", "anew = whom  # the field ``kin``\n") == []


def test_words_that_only_look_alike_are_fine() -> None:
    text = "A replay, a spare-time kind of kindness, a family; because it implies a layer."
    assert [line for line in words.found("docs/a.md", text) if "spare" not in line] == []


def test_the_glossary_explains_every_word_once() -> None:
    explained = re.findall(r"\*\*([^*]+)\*\*", text_of("docs/glossary.md"))
    assert len(explained) > 40
    assert sorted(set(explained)) == sorted(explained)


def test_every_word_that_contributing_calls_important_is_in_the_glossary() -> None:
    style = text_of("CONTRIBUTING.md").partition("## How we write")[2].partition("| not |")[0]
    important = {
        word.strip()
        for part in re.findall(r"\*([^*]+)\*", style)
        for word in part.replace("\n", " ").split(",")
    }
    explained = set(re.findall(r"\*\*([^*]+)\*\*", text_of("docs/glossary.md")))
    assert important - explained == set()
