"""``report`` writes one page that holds what the commands print, and needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from html_pages import Page

import plinian
from clusters import recorded
from plinian.replay.cli.main import app

Run = Callable[..., Result]

AT = "2026-11-21T01:53:36Z"
ASKED = ("--at", AT, "--why", "job/gpu-2", "--why", "queue/silver")


@pytest.fixture(scope="module")
def text(demo_log: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a report on the demonstration, and return the page."""
    place = tmp_path_factory.mktemp("report") / "report.html"
    done = CliRunner().invoke(app, ["report", *ASKED, "--log", demo_log, "-o", str(place)])
    assert done.exit_code == 0, done.stderr
    assert f"bytes written to {place}" in done.stderr
    return place.read_text("utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    """Read the page."""
    return Page(text)


def rows_of(result: Result) -> list[list[str]]:
    """Return the cells of a table that a command prints."""
    assert result.exit_code == 0, result.stderr
    return [re.split(r" {3,}", line.strip()) for line in result.stdout.splitlines()]


def test_a_page_loads_nothing_and_runs_nothing(text: str, page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base"})
    assert all(link.startswith("#") for link in page.attributes("href"))
    assert page.attributes("src") == page.attributes("style") == []
    assert [name for _, attrs in page.elements for name in attrs if name.startswith("on")] == []
    (sheet,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert re.search(r"url\(|@import|expression", sheet) is None
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert page.has("meta", **{"http-equiv": "Content-Security-Policy", "content": policy})


def test_a_page_can_be_read_without_seeing_it(page: Page) -> None:
    assert page.has("html", lang="en")
    assert page.has("a", href="#main")
    assert [tag for tag, _ in page.elements if tag in {"header", "nav", "main", "footer"}] == [
        *("header", "nav", "main", "footer")
    ]
    heads = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert heads[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(heads))
    names = set(page.attributes("id"))
    assert len(names) == len(page.attributes("id")), "an id is there once"
    assert {link[1:] for link in page.attributes("href")} <= names
    assert {name for text in page.attributes("aria-labelledby") for name in text.split()} <= names
    tables = [tag for tag, _ in page.elements if tag == "table"]
    assert len([tag for tag, _ in page.elements if tag == "caption"]) == len(tables) > 8
    assert all(attrs.get("scope") in {"row", "col"} for tag, attrs in page.elements if tag == "th")
    assert page.has("svg", role="img", **{"aria-labelledby": "timeline-title timeline-about"})


def test_the_same_question_gives_the_same_bytes(demo_log: str, tmp_path: Path, text: str) -> None:
    copied = tmp_path / Path(demo_log).name
    shutil.copy(demo_log, copied)
    again = tmp_path / "again.html"
    CliRunner().invoke(app, ["report", *ASKED, "--log", str(copied), "-o", str(again)])
    assert again.read_text("utf-8") == text
    with plinian.open(demo_log) as log:
        assert log.report(at=AT, why=["job/gpu-2", "queue/silver"]) == text


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_the_order_of_hashes_changes_nothing(demo_log: str, text: str, seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plinian", "report", *ASKED, "--log", demo_log, "-o", "-"],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == text


def test_a_page_of_the_server_is_one_file_too(run: Run, demo_log: str, tmp_path: Path) -> None:
    place = tmp_path / "queues.html"
    run("report", "--page", "queues", "--at", "@1901", "--log", demo_log, "-o", str(place))
    found = Page(place.read_text("utf-8"))
    assert "Queues at 01:53:36 (@1901)" in " ".join(found.text.split())
    assert place.read_text("utf-8") == plinian.web_page(demo_log, "queues", at="@1901")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--page", "nowhere"], "there is no page 'nowhere'"),
        (["--page", "pod/default/none"], "none"),
        (["--page", "queues", "--why", "job/gpu-2"], "--why is not of a page"),
        (["--page", "queues", "--from", "@7"], "--from is not of a page"),
    ],
)
def test_a_page_that_cannot_be_written_says_why(
    demo_log: str, tmp_path: Path, words: list[str], said: str
) -> None:
    place = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", *words, "--log", demo_log, "-o", str(place)])
    assert done.exit_code != 0
    assert said in done.stderr
    assert not place.exists()


def test_answers_are_those_of_why(run: Run, demo_log: str, page: Page) -> None:
    for name in ("job/gpu-2", "queue/silver"):
        answer = json.loads(run("why", name, "--at", AT, "--log", demo_log, "-o", "json").stdout)
        assert answer["sentence"] in page.text
        for link in answer["chain"]:
            assert link["text"] in page.text


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Queues", ["get", "queues"]),
        ("Nodes", ["get", "nodes"]),
        ("PodGroups", ["get", "podgroups", "-A"]),
        ("Jobs", ["get", "jobs", "-A"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tables_are_those_of_the_commands(
    run: Run, demo_log: str, page: Page, title: str, words: list[str]
) -> None:
    assert page.tables[title] == rows_of(run(*words, "--at", AT, "--log", demo_log))


def test_decisions_are_those_of_the_session(run: Run, demo_log: str, page: Page) -> None:
    printed = run("session", "--at", AT, "--log", demo_log).stdout.split("\n\n")
    tables = [
        [re.split(r" {3,}", line.strip()) for line in part.strip().splitlines()]
        for part in printed[1:]
    ]
    titles = [
        *("PodGroups after the session", "Queues after the session", "Events of the session"),
        "Pods that are not placed, and why",
    ]
    assert [page.tables[title] for title in titles] == tables
    assert printed[0].startswith("No decision.")
    assert "No pod is bound or evicted, and no PodGroup is enqueued." in page.text


def test_later_sessions_are_those_of_the_list(run: Run, demo_log: str, page: Page) -> None:
    rows = rows_of(run("session", "list", "--since", AT, "--log", demo_log))
    (title,) = [name for name in page.tables if name.startswith("Sessions that the log records")]
    assert page.tables[title] == rows[:13]
    assert title.endswith(f"12 of {len(rows) - 1} rows")


def test_every_command_of_a_page_can_be_run(run: Run, demo_log: str, text: str) -> None:
    commands = [
        shlex.split(line.replace("&#39;", "'"))
        for line in re.findall(r"<code>(plinian .*?)</code>", text)
        if " " in line and not line.endswith("head")
    ]
    assert {words[1] for words in commands} == {
        *("why", "events", "session", "fidelity", "get", "diff")
    }
    for words in commands:
        done = run(*words[1:], "--log", demo_log)
        assert done.exit_code == 0, (words, done.stderr)


def test_a_difference_is_that_of_diff(run: Run, demo_log: str, tmp_path: Path) -> None:
    place = tmp_path / "r.html"
    words = ["--at", "2026-11-21T01:54:11Z", "--from", AT, "--why", "node/node-1"]
    assert run("report", *words, "--log", demo_log, "-o", str(place)).exit_code == 0
    page = Page(place.read_text("utf-8"))
    printed = run("diff", AT, "2026-11-21T01:54:11Z", "--log", demo_log).stdout.splitlines()
    assert printed[-1] in page.text
    node = printed.index(next(line for line in printed if line.startswith("NODE")))
    rows = [re.split(r" {3,}", line.strip()) for line in printed[node : node + 6]]
    assert page.tables["What nodes held"] == rows
    assert "spec.unschedulable" in page.text


def test_without_names_those_that_wait_longest_are_asked(run: Run, demo_log: str) -> None:
    page = Page(run("report", "--at", AT, "--log", demo_log, "-o", "-").stdout)
    assert "4 jobs, PodGroups or pods wait. These are the 3 that wait longest." in page.text
    named = [name for name in page.attributes("id") if name.startswith("why-")]
    assert named == ["why-1", "why-2", "why-3"]
    assert "job default/gpu-2 waits because none of 5 nodes takes it" in page.text


def test_an_object_that_never_existed_gives_no_page(
    run: Run, demo_log: str, tmp_path: Path
) -> None:
    place = tmp_path / "r.html"
    done = run("report", "--why", "job/none", "--log", demo_log, "-o", str(place))
    assert done.exit_code == 1
    assert 'jobs "none" not found in namespace default' in done.stderr
    assert not place.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", AT, "--from", "2026-11-21T01:54:11Z"], "is after 2026-11-21T01:53:36Z"),
        (["--why", "configmap/x"], "why does not answer about a ConfigMap"),
        (["--release", "v0.1.0"], "v0.1.0"),
        (["-o", "."], "this is a folder"),
    ],
    ids=["later", "kind", "release", "folder"],
)
def test_a_wrong_question_gives_no_page(
    run: Run, demo_log: str, tmp_path: Path, words: list[str], said: str
) -> None:
    place = tmp_path / "r.html"
    done = run("report", "-o", str(place), *words, "--log", demo_log)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert not place.exists()


def test_a_point_before_the_log_is_its_first_moment(run: Run, demo_log: str) -> None:
    words = ["report", "--at", AT, "--from", "2020-01-01", "--why", "node/node-1", "-o", "-"]
    done = run(*words, "--log", demo_log)
    assert done.exit_code == 0, done.stderr
    assert "is before the log begins" in Page(done.stdout).text


def test_an_audit_log_without_objects_says_what_is_not_known(run: Run, tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(recorded("audit-metadata.jsonl.gz"))
    log = str(tmp_path / "m.db")
    assert run("ingest", str(tmp_path / "audit.log"), "--log", log).exit_code == 0
    done = run("report", "--log", log, "-o", "-")
    assert done.exit_code == 0, done.stderr
    page = Page(done.stdout)
    assert "Nothing waits at this moment." in page.text
    assert "the log holds no configuration of the scheduler: v1.12.1 runs with its" in page.text
    assert "nodes: not fully known: the log holds no complete list" in page.text
    assert "To know it: ingest a list of nodes" in page.text
