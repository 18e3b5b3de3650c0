"""A name stands for one thing: of classes and files, and no class is split in two."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from one_name import class_names, file_names, split_classes
from parsed_tree import shipped_sources, sources

import laws
from tree import SHIPPED

SEVERAL_CLASSES = {
    "Log": "the log that questions read, and the public one with a method for each question",
    "Recorded": "an event with its place, and a reason of why: documents promise the latter",
    "Waiting": "a reason of why, and the work of a cache: documents promise both",
}
"""Names of several classes, and why each keeps it."""

NAMED_AFTER_THEIR_QUESTION = frozenset(
    f"replay/{folder}"
    for folder in (
        *("cli", "facade", "questions", "render", "review"),
        *("server/api", "server/mcp", "server/web"),
    )
)
"""Folders of doors: a file is named after the question that it is a door to."""

NAMED_AFTER_THEIR_SUBJECT = frozenset(
    f"engine/volcano/{folder}" for folder in ("cache", "controllers", "session", "proofs")
)
"""Folders of behaviours: a file is named after what the behaviours are about."""


def test_a_class_name_stands_for_one_class() -> None:
    several = {name for name, count in class_names(shipped_sources()).items() if count > 1}
    assert several == set(SEVERAL_CLASSES)


def test_a_file_name_says_what_it_is_without_its_folder() -> None:
    free = NAMED_AFTER_THEIR_QUESTION | NAMED_AFTER_THEIR_SUBJECT
    paths = [source.path for source in shipped_sources() if str(source.path.parent) not in free]
    assert [name for name, count in file_names(paths).items() if count > 1] == []


def test_no_class_is_split_into_a_base_that_it_alone_extends() -> None:
    read = [source for source in sources() if source.path.parts[0] in {*SHIPPED, "tests"}]
    assert list(map(str, split_classes(read))) == []


@pytest.mark.parametrize(
    ("begin", "rest", "finds"),
    [
        ("class A:\n    pass\n", "class B(A):\n    pass\n", True),
        ("class A:\n    pass\n", "class B(A):\n    pass\nclass C(A):\n    pass\n", False),
        ("class A:\n    pass\n", "class B(A):\n    pass\nx = A()\n", False),
        ("class A:\n    pass\n", "class B(A, list):\n    pass\n", False),
        ("class A:\n    pass\nclass B(A):\n    pass\n", "", False),
    ],
)
def test_a_class_in_two_files_is_found(begin: str, rest: str, finds: bool) -> None:  # noqa: FBT001
    both = [laws.parse("engine/a.py", begin), laws.parse("engine/b.py", rest)]
    assert bool(list(split_classes(both))) is finds


def test_names_that_stand_twice_are_found() -> None:
    source = laws.parse("engine/a.py", "class A:\n    pass\n")
    assert class_names([source, source])["A"] == 2
    assert file_names([PurePosixPath("a/b.py"), PurePosixPath("c/b.py")])["b.py"] == 2
