"""The documentation builds into a site: every page has a place, every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mkdocs_hook
import picture
from pages import DOCUMENTS, slug, text_of
from tree import ROOT


def build(folder: Path, configuration: Path) -> subprocess.CompletedProcess[str]:
    """Build the site; ``--strict`` makes every warning a failure (but not with ``--quiet``)."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(
        [*command, "--config-file", configuration, "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_documentation_builds_into_a_site_without_a_warning(tmp_path: Path) -> None:
    done = build(tmp_path / "site", ROOT / "mkdocs.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in tmp_path.rglob("*.html")}
    assert {"index.html", "architecture.html", "contributing.html", "about.html"} <= pages


def test_a_page_without_a_place_and_a_dead_link_fail_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A\n\n[b](nowhere.md) [c](#no-such-heading)\n", "utf-8")
    (docs / "lost.md").write_text("# Lost\n", "utf-8")
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    settings = text.partition("\nnav:")[0].replace("hooks: [tools/mkdocs_hook.py]\n", "")
    (tmp_path / "mkdocs.yml").write_text(f"{settings}\nnav: [index.md]\n", "utf-8")
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert all(word in told for word in ("lost.md", "nowhere.md", "#no-such-heading"))


def test_the_site_has_the_anchors_that_links_of_pages_name() -> None:
    for path in DOCUMENTS:
        for heading in re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE):
            if "`" not in heading and "[" not in heading and "*" not in heading:
                assert mkdocs_hook.slug(heading, "-") == slug(heading)


@pytest.mark.parametrize(
    ("page", "link", "there"),
    [
        ("README.md", "docs/how-to/lint.md#files", "how-to/lint.md#files"),
        ("README.md", "CONTRIBUTING.md", "contributing.md"),
        ("docs/tutorial.md", "../README.md", "about.md"),
        ("docs/zh/index.md", "../../README.zh-CN.md", "about.md"),
        ("README.zh-CN.md", "docs/zh/tutorial.md", "tutorial.md"),
        ("docs/how-to/lint.md", "../../CONTRIBUTING.md#laws", "../contributing.md#laws"),
        ("docs/how-to/lint.md", "../coverage.md", "../coverage.md"),
    ],
)
def test_links_to_pages_outside_the_folder_lead_to_their_place_in_the_site(
    page: str, link: str, there: str
) -> None:
    assert mkdocs_hook.moved(f"[a]({link})", page) == f"[a]({there})"


def test_the_docs_index_leads_to_every_page_but_the_single_decisions_and_faults() -> None:
    named = set(re.findall(r"\]\(([^)#]+\.md)", text_of("docs/index.md")))
    pages = {path.removeprefix("docs/") for path in DOCUMENTS if path.startswith("docs/")}
    singles = {
        page for page in pages if re.match(r"(decisions|(zh/)?articles)/\d|corpus/[bln]\d", page)
    }
    assert sorted(pages - singles - named - {"index.md"}) == []


# -- pictures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", picture.MADE)
def test_pictures_show_the_pages_and_the_layers_as_they_are(name: str) -> None:
    drawn = picture.MADE[name]()
    assert text_of(f"docs/{name}") == drawn, "run: PYTHONPATH=tests/support tools/picture.py"


def test_a_stale_picture_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "DOCS", tmp_path)
    monkeypatch.setattr(picture, "MADE", {"layers.svg": picture.layer_picture})
    for arguments, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
        monkeypatch.setattr(sys, "argv", ["picture.py", *arguments])
        assert picture.main() == status


def test_the_picture_of_an_answer_shows_the_step_the_numbers_and_the_cause() -> None:
    drawn = picture.answer()
    for said in ("JobEnqueueable", "inqueue.cpu *", "enqueue_checks_ancestors", "v1.11.0"):
        assert said in drawn


# -- what the pages about the code name ---------------------------------------------------------

PATH = re.compile(r"`((?:engine|replay|tests|tools|migrations|benchmarks)/[\w/.*-]+)`")
NAMED = re.compile(r"^\| \d+ \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def missing_paths(text: str) -> list[str]:
    """Return the paths of the code that a page names and that do not exist."""
    folder = re.compile(r"engine/(controllers|machine)|replay/(answers|explore|capture|server)")
    return sorted(
        path
        for path in PATH.findall(text)
        if not folder.fullmatch(path) and not any(ROOT.glob(path.rstrip("/")))
    )


ABOUT_THE_CODE = [
    *("CONTRIBUTING.md", "docs/architecture.md"),
    *(path for path in DOCUMENTS if re.match(r"docs/decisions/\d", path)),
]


@pytest.mark.parametrize("page", ABOUT_THE_CODE)
def test_paths_that_pages_about_the_code_name_exist(page: str) -> None:
    assert missing_paths(text_of(page)) == []


def test_a_path_that_is_gone_is_noticed() -> None:
    assert missing_paths("`engine/gone.py` `engine/log` `tests/support/layers.py`") == [
        "engine/gone.py"
    ]


def unknown_names(text: str) -> list[str]:
    """Return the functions of the three routes that the step's file or folder does not have."""
    found = []
    for where, what in NAMED.findall(text):
        sources = [
            file.read_text("utf-8")
            for path in PATH.findall(where)
            for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
        ]
        found += [
            f"{where}: {name}"
            for name in re.findall(r"`([a-z]\w*_\w+|[A-Z]\w+|documents|snapshot|append)`", what)
            if not any(re.search(rf"\b{name}\b", source) for source in sources)
        ]
    return found


def test_functions_that_the_three_routes_name_are_where_they_say() -> None:
    text = text_of("docs/architecture.md")
    assert len(NAMED.findall(text)) > 20
    assert unknown_names(text) == []


def test_a_function_that_moved_is_noticed() -> None:
    row = "| 1 | `engine/log/append.py` | `append` is here, and `session_at` is not |\n"
    assert unknown_names(row) == ["`engine/log/append.py`: session_at"]
