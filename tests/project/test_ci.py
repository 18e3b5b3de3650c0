"""The page about pipelines: workflows are valid and run what was run, exit codes are real."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import plinian
from pages import FENCE, text_of
from plinian.replay.cli.main import app
from tree import ROOT

PAGE = "docs/how-to/ci.md"
TIME = "2026-11-21T01:53:36Z"
PLINIAN = re.compile(r"\bplinian [^>|;\n]+")


def blocks(language: str) -> list[str]:
    """Return the blocks of the page in a language."""
    found = FENCE.finditer(text_of(PAGE))
    return [match[3] for match in found if match[2] == language]


def workflows() -> list[dict[str, Any]]:
    """Return the workflows, pipelines and hooks of the page."""
    documents = [one for text in blocks("yaml") for one in yaml.safe_load_all(text)]
    return [one for one in documents if "kind" not in one and "tiers" not in one]


def steps() -> Iterator[dict[str, Any]]:
    """Yield the steps of GitHub's workflows."""
    for workflow in workflows():
        for job in workflow.get("jobs", {}).values():
            yield from job["steps"]


def started() -> list[str]:
    """Return the commands that workflows and pipelines start."""
    lines = [step["run"] for step in steps() if "run" in step]
    for workflow in workflows():
        lines += [line for job in workflow.values() if "script" in job for line in job["script"]]
    return [match[0].strip() for line in lines for match in PLINIAN.finditer(line)]


def test_workflows_are_what_github_and_gitlab_read() -> None:
    github = [one for one in workflows() if "jobs" in one]
    assert len(github) == 3
    for workflow in github:
        # "on" is true for a reader of YAML 1.1.
        assert {"name", True, "jobs"} <= set(workflow)
        for job in workflow["jobs"].values():
            assert set(job) == {"runs-on", "steps"}
    for step in steps():
        assert len({"uses", "run"} & set(step)) == 1
        assert set(step) <= {"uses", "run", "with", "if"}
    (gitlab,) = [one["lint-queues"] for one in workflows() if "lint-queues" in one]
    assert set(gitlab) == {"image", "cache", "variables", "rules", "script", "artifacts"}
    assert gitlab["artifacts"]["reports"] == {"junit": "lint.xml"}


def test_workflows_start_only_what_the_page_has_run() -> None:
    ran = {match[0].strip() for text in blocks("console") for match in PLINIAN.finditer(text)}
    assert len(started()) == 6
    assert [command for command in started() if command not in ran] == []


def test_reports_are_read_from_where_they_are_written() -> None:
    written = {
        match[1]
        for step in steps()
        if "run" in step
        for match in re.finditer(r"> (\S+)", step["run"])
    }
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    written.add(inputs["sarif"]["default"])
    sarif = {step["with"]["sarif_file"] for step in steps() if "sarif" in step.get("uses", "")}
    assert len(sarif) == 2
    assert sarif <= written
    assert {"upgrade.xml", "check.xml", "fidelity.xml"} <= written


def test_the_action_is_given_inputs_that_it_has() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    (given,) = [step["with"] for step in steps() if "/plinian@" in step.get("uses", "")]
    assert set(given) <= set(inputs)


def test_the_hook_of_the_repository_checks_what_a_project_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {"id", "name", "entry", "language"} <= set(hook)
    (repo,) = next(one for one in workflows() if "repos" in one)["repos"]
    (used,) = repo["hooks"]
    assert used["id"] == hook["id"]
    assert re.search(hook["files"], "queues/tree.yaml")
    assert re.search(hook["files"], "queues/volcano-scheduler.conf")
    assert not re.search(hook["files"], "README.md")
    tree, conf, *_ = blocks("yaml")
    (tmp_path / "queues").mkdir()
    (tmp_path / "queues/tree.yaml").write_text(tree, "utf-8")
    (tmp_path / "queues/volcano-scheduler.conf").write_text(conf, "utf-8")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(hook["entry"])
    assert program == "plinian"
    assert CliRunner().invoke(app, [*words, *used["args"]]).exit_code == 1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with logs and files, which no command changes."""
    folder = tmp_path_factory.mktemp("made")
    plinian.demo(folder / "demo.db").close()
    queue = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
        "metadata: {name: a, uid: u, resourceVersion: '7'}\nspec: {weight: 1}\n"
    )
    (folder / "good.yaml").write_text(queue, "utf-8")
    warned = queue.replace("weight: 1", "capability: {gpu: 1}")
    (folder / "warned.yaml").write_text(warned, "utf-8")
    (folder / "bad.yaml").write_text(queue.replace("weight: 1", "weight: many"), "utf-8")
    with plinian.open(folder / "empty.db", create=True) as log:
        log.ingest(folder / "good.yaml")
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to that folder."""
    monkeypatch.chdir(made)
    return made


SOME = f"--at {TIME} -j 1 --sample 15"

CODES: dict[str, dict[int, tuple[str, ...]]] = {
    "lint": {
        0: ("lint good.yaml", "lint warned.yaml --release v1.12.1"),
        1: ("lint bad.yaml", "lint warned.yaml --release v1.12.1 --strict"),
        2: ("lint absent.yaml",),
    },
    "check": {
        0: (
            "check --log demo.db --settle 0s --invariant I-02d",
            "check --log demo.db --exit-code --invariant I-02d",
        ),
        1: ("check --log demo.db --settle 0s --invariant I-02d --exit-code",),
        2: ("check --log absent.db",),
    },
    "upgrade-check": {
        0: (
            f"upgrade-check --from v1.12.1 --to v1.15.1 --log demo.db {SOME}",
            f"upgrade-check --from v1.12.1 --to v1.12.1 --log demo.db {SOME} --exit-code",
        ),
        1: (f"upgrade-check --from v1.12.1 --to v1.15.1 --log demo.db {SOME} --exit-code",),
        2: ("upgrade-check --from v1.12.1 --to v1.15.1 --log empty.db -j 1",),
    },
    "fidelity": {
        0: (
            f"fidelity --log demo.db --at {TIME} -j 1 --exit-code",
            "fidelity --log demo.db --at rv:411 -j 1 --release v1.15.1",
        ),
        1: ("fidelity --log demo.db --at rv:411 -j 1 --release v1.15.1 --exit-code",),
        2: ("fidelity --log empty.db -j 1",),
    },
}
"""By command of the table on the page: what exits with each code."""


def test_the_table_of_exit_codes_names_these_commands() -> None:
    section = text_of(PAGE).partition("## Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)
    assert rows == list(CODES)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", ["json", "junit", "sarif"])
def test_commands_exit_with_the_codes_of_the_table_whatever_the_form(form: str) -> None:
    for codes in CODES.values():
        for code, commands in codes.items():
            for command in commands:
                ran = CliRunner().invoke(app, [*shlex.split(command), "-o", form])
                assert ran.exit_code == code, f"{command}\n{ran.output}"


@pytest.mark.usefixtures("folder")
def test_a_wrong_command_line_is_2_everywhere() -> None:
    for command in CODES:
        assert CliRunner().invoke(app, [command, "--no-such-option"]).exit_code == 2
