"""What pyproject.toml says of other packages and of files is so: declared is what is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from typing import Any

import pytest
from packaging.requirements import Requirement

from tree import ROOT, SHIPPED, files

pytestmark = pytest.mark.slow

STARTED_OTHERWISE = {
    "wsproto": "uvicorn imports it for `serve`",
    "mkdocs-material": "mkdocs.yml names it as the theme",
}
"""Declared, and imported by no module of ours."""

PROGRAMS = {"build", "mkdocs", "mypy", "pytest-timeout", "pytest-xdist", "ruff", "types-pyyaml"}
"""Tools of developers that are started, not imported."""

SETUPTOOLS = {"setuptools"}
"""Builds the wheel."""

PART_OF = {"pillow": "matplotlib", "packaging": "build", "docker": "testcontainers"}
"""Imported by tools and tests, and brought along by what is declared."""


@cache
def project() -> dict[str, Any]:
    """Return the table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def normal(name: str) -> str:
    """Return the name of a package as the index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirements: Iterable[str]) -> set[str]:
    """Return the names of the packages that are required."""
    return {normal(Requirement(one).name) for one in requirements}


def others_in(tree: ast.AST) -> set[str]:
    """Return the top-level modules that a module imports absolutely."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


@cache
def packages() -> Mapping[str, list[str]]:
    """Return the packages that bring each top-level module."""
    return packages_distributions()


@cache
def imported_below(top: str) -> frozenset[str]:
    """Return the packages that the code below a folder imports."""
    modules: set[str] = set()
    for path in files():
        if path.endswith(".py") and path.split("/")[0] == top:
            modules |= others_in(ast.parse((ROOT / path).read_text("utf-8")))
    return frozenset(normal(name) for one in modules for name in packages().get(one, ())[:1])


def imported(*tops: str) -> frozenset[str]:
    """Return the packages of others that the code below some folders imports."""
    return frozenset().union(*map(imported_below, tops)) - {"plinian"}


def extras() -> dict[str, set[str]]:
    """Return the packages of each extra."""
    return {name: named(some) for name, some in project()["optional-dependencies"].items()}


def test_what_is_shipped_imports_only_what_is_declared() -> None:
    users = {name: some for name, some in extras().items() if name not in {"dev", "docs"}}
    declared = named(project()["dependencies"]).union(*users.values())
    assert sorted(imported(*SHIPPED) - declared) == []


def test_every_dependency_is_imported_or_has_its_reason() -> None:
    users = {name: some for name, some in extras().items() if name not in {"dev", "docs"}}
    declared = named(project()["dependencies"]).union(*users.values())
    assert sorted(declared - imported(*SHIPPED) - set(STARTED_OTHERWISE)) == []


def test_tests_and_tools_import_only_what_developers_install() -> None:
    declared = named(project()["dependencies"]) | extras()["dev"]
    others = imported("tests", "tools", "benchmarks") - declared
    assert {name: PART_OF.get(name) for name in others} == {
        name: PART_OF[name] for name in others & set(PART_OF)
    }
    assert {PART_OF[name] for name in others} <= declared


def test_developers_install_nothing_that_is_not_used() -> None:
    code = imported(*SHIPPED, "tests", "tools", "benchmarks")
    used = code | PROGRAMS | SETUPTOOLS | set(STARTED_OTHERWISE)
    assert sorted(extras()["dev"] - used) == []


def test_developers_install_all_that_the_extras_bring() -> None:
    users = [some for name, some in extras().items() if name != "dev"]
    assert sorted(set().union(*users) - extras()["dev"]) == []


@pytest.mark.parametrize("text", ["import yaml", "def f():\n    from yaml.nodes import Node"])
def test_an_import_is_found_wherever_it_is(text: str) -> None:
    assert others_in(ast.parse(text)) == {"yaml"}
    assert others_in(ast.parse("from . import yaml\nimport json")) == set()


def paths_in(text: str) -> list[str]:
    """Return the files of the project that comments name."""
    comments = re.findall(r"#.*", text)
    return [path for one in comments for path in re.findall(r"[\w./-]+/[\w./-]+\.(?:py|md)", one)]


def test_comments_of_the_settings_name_files_that_exist() -> None:
    found = paths_in((ROOT / "pyproject.toml").read_text("utf-8"))
    assert found
    assert [path for path in found if not (ROOT / path).is_file()] == []


def test_a_file_that_a_comment_names_is_found() -> None:
    assert paths_in('a = "b/c.py" # see tests/gone.py\n') == ["tests/gone.py"]
