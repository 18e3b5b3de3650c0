"""What the forge reads is well-formed, and asks for and starts only what Plinian has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_lines import commands, misnamed, options_of

import plinian
from pages import text_of
from tree import files

YAML = [path for path in files() if path.endswith((".yml", ".yaml")) and "tests/" not in path]
FORMS = [
    path for path in YAML if path.startswith(".github/ISSUE_TEMPLATE/") and "config" not in path
]
ACTION = "action.yml"
WORKFLOW = ".github/workflows/ci.yml"


def loaded(path: str) -> Any:
    """Return a file as data."""
    return yaml.safe_load(text_of(path))


@pytest.mark.parametrize("path", YAML)
def test_files_of_yaml_can_be_read(path: str) -> None:
    assert loaded(path)


def test_these_files_are_there() -> None:
    assert {ACTION, WORKFLOW, ".github/ISSUE_TEMPLATE/config.yml"} <= set(YAML)
    assert len(FORMS) == 2


# -- the workflow and the action ----------------------------------------------------------------


def steps() -> list[dict[str, Any]]:
    """Return the steps of the action."""
    found: list[dict[str, Any]] = loaded(ACTION)["runs"]["steps"]
    return found


def step(name: str) -> dict[str, Any]:
    """Return a step of the action by its name."""
    return next(one for one in steps() if one.get("name") == name)


def test_the_workflow_runs_what_the_readme_names_on_the_oldest_and_the_newest_python() -> None:
    workflow = loaded(WORKFLOW)
    # "on" is true for a reader of YAML 1.1.
    assert set(workflow[True]) == {"push", "pull_request"}
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert [one["run"] for one in job["steps"] if "run" in one] == ["bash .ci/run"]
    oldest = re.findall(r'^requires-python = ">=(.*)"', text_of("pyproject.toml"), re.MULTILINE)
    assert job["strategy"]["matrix"]["python"] == [*oldest, "3.x"]


def test_actions_of_others_are_pinned_by_their_major_version() -> None:
    used = [one["uses"] for one in steps() if "uses" in one]
    for job in loaded(WORKFLOW)["jobs"].values():
        used += [one["uses"] for one in job["steps"] if "uses" in one]
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", one)] == []


def unknown_options(run: str) -> list[str]:
    """Return what a step names after 'plinian COMMAND' that the command does not have."""
    started = set(re.findall(r"\bplinian ([a-z-]+)", run))
    assert len(started) <= 1
    written = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", run))
    return [
        f"{name} {option}"
        for name in started
        for option in sorted(written)
        if name not in commands() or option not in options_of(commands()[name])
    ]


def test_the_action_uses_options_that_the_command_line_has() -> None:
    runs = {one["name"]: one["run"] for one in steps() if "plinian " in one.get("run", "")}
    assert set(runs) == {"lint", "upgrade-check"}
    assert [fault for run in runs.values() for fault in unknown_options(run)] == []
    assert unknown_options("a+=(--quick 1)\nplinian lint --strict -- x") == ["lint --quick"]
    assert unknown_options("plinian fetch --strict") == ["fetch --strict"]


def test_inputs_of_the_action_are_described_and_used_and_never_part_of_a_script() -> None:
    inputs = loaded(ACTION)["inputs"]
    assert [name for name, one in inputs.items() if not one["description"]] == []
    used = re.findall(r"\binputs\.([a-z-]+)", text_of(ACTION))
    assert set(used) == set(inputs)
    # What a pull request names must not be read as a program.
    assert [one["name"] for one in steps() if "${{" in one.get("run", "")] == []
    said = text_of("docs/how-to/ci.md")
    assert [name for name in inputs if f"`{name}`" not in said] == []


PLINIAN = f'exec "{sys.executable}" -m plinian "$@"'
SHOWS_ITS_WORDS = "printf '<%s> ' \"$@\"; echo"


def run(
    name: str, folder: Path, program: str = PLINIAN, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as a runner does, with the defaults of inputs that are not given.

    :param program: what the command plinian is, as a line of a shell.
    """
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash on this machine")
    defaults = {key: one["default"] for key, one in loaded(ACTION)["inputs"].items()}
    asked = defaults | inputs
    used = {key: re.sub(r"\W|inputs", "", value) for key, value in step(name)["env"].items()}
    scripts = folder / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "plinian").write_text(f"#!/bin/sh\n{program}\n", "utf-8")
    (scripts / "plinian").chmod(0o755)
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        cwd=folder,
        env={**os.environ, "PATH": path, **{key: asked[one] for key, one in used.items()}},
        capture_output=True,
        text=True,
        check=False,
    )


QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: "


def test_the_action_lints_files_and_fails_as_lint_does(tmp_path: Path) -> None:
    (tmp_path / "of a team").mkdir()
    (tmp_path / "of a team/bad.yaml").write_text(f"{QUEUE}{{weight: many}}\n", "utf-8")
    (tmp_path / "good.yaml").write_text(f"{QUEUE}{{capability: {{gpu: 1}}}}\n", "utf-8")
    done = run("lint", tmp_path, paths="of a team\ngood.yaml\n", releases="v1.12.1\nv1.15.1")
    assert done.returncode == 1, done.stderr
    assert "::error file=of a team/bad.yaml" in done.stdout
    assert json.loads((tmp_path / "plinian.sarif").read_text("utf-8"))["runs"][0]["results"]


def shown(name: str, folder: Path, **inputs: str) -> list[str]:
    """Return the words after plinian of each line that a step prints or writes."""
    done = run(name, folder, SHOWS_ITS_WORDS, **inputs)
    assert done.returncode == 0, done.stderr
    files = [inputs[key] for key in ("sarif", "junit") if key in inputs]
    written = "".join((folder / one).read_text("utf-8") for one in files)
    return [line.strip() for line in f"{done.stdout}{written}".splitlines()]


def test_inputs_of_the_action_become_options_of_lint(tmp_path: Path) -> None:
    asked = {"paths": "a b\n\n-c.yaml\n", "sarif": "a.sarif"}
    assert shown("lint", tmp_path, **asked) == [
        "<lint> <--output> <github> <--> <a b> <-c.yaml>",
        "<lint> <--output> <sarif> <--> <a b> <-c.yaml>",
    ]
    asked |= {"releases": "v1.12.1\nv1.15.1", "ignore": "x", "conf": "$(c)", "strict": "true"}
    options = (
        "<--release> <v1.12.1> <--release> <v1.15.1> <--ignore> <x> <--conf> <$(c)> <--strict>"
    )
    assert shown("lint", tmp_path, **asked) == [
        f"<lint> {options} <--output> <github> <--> <a b> <-c.yaml>",
        f"<lint> {options} <--output> <sarif> <--> <a b> <-c.yaml>",
    ]


def test_inputs_of_the_action_become_options_of_upgrade_check(tmp_path: Path) -> None:
    asked = {"log": "a b.db", "from": "v1.12.1", "to": "v1.15.1", "junit": "a.xml"}
    options = "<--log> <a b.db> <--from> <v1.12.1> <--to> <v1.15.1> <--exit-code>"
    assert shown("upgrade-check", tmp_path, **asked) == [
        f"<upgrade-check> {options} <--output> <junit>"
    ]
    assert shown("upgrade-check", tmp_path, **asked, at="rv:7") == [
        f"<upgrade-check> {options} <--at> <rv:7> <--output> <junit>"
    ]


def test_the_action_checks_an_upgrade(tmp_path: Path) -> None:
    plinian.demo(str(tmp_path / "demo.db")).close()
    releases = {"from": "v1.12.1", "to": "v1.12.1"}
    done = run("upgrade-check", tmp_path, log="demo.db", at="rv:411", **releases)
    assert done.returncode == 0, done.stderr
    assert "<testsuite " in (tmp_path / "plinian-upgrade.xml").read_text("utf-8")
    done = run("upgrade-check", tmp_path, log="none.db", **releases)
    assert done.returncode == 2


# -- the forms ----------------------------------------------------------------------------------

KINDS = {
    "markdown": {"value"},
    "input": {"label", "description", "placeholder"},
    "textarea": {"label", "description", "render"},
}
"""By kind of an element: its attributes that are used."""


def faults_of_form(form: dict[str, Any]) -> Iterator[str]:
    """Yield what the forge would refuse of a form."""
    yield from sorted({"name", "description", "body"} - set(form))
    ids = [one.get("id") for one in form["body"] if one["type"] != "markdown"]
    yield from (f"twice: {one}" for one in set(ids) if ids.count(one) > 1)
    for one in form["body"]:
        known = KINDS.get(one["type"], set())
        yield from sorted(set(one["attributes"]) - known)
        if one["type"] != "markdown" and not re.fullmatch(r"[\w-]+", one.get("id") or ""):
            yield f"no id: {one}"
        if one["type"] != "markdown" and "label" not in one["attributes"]:
            yield f"no label: {one}"


@pytest.mark.parametrize("path", FORMS)
def test_a_form_is_one_and_asks_for_what_a_fault_is_found_by(path: str) -> None:
    form = loaded(path)
    assert list(faults_of_form(form)) == []
    asked = {one["id"]: one for one in form["body"] if "id" in one}
    assert {"version", "command", "output", "pack"} <= set(asked)
    needed = [name for name in ("version", "command", "output") if asked[name]["validations"]]
    assert len(needed) == 3
    assert "plinian version" in asked["version"]["attributes"]["description"]
    assert "--redact" in asked["pack"]["attributes"]["description"]


def test_a_form_that_the_forge_would_refuse_is_noticed() -> None:
    body = [{"type": "input", "attributes": {"lable": "a"}}, {"type": "choice", "attributes": {}}]
    found = list(faults_of_form({"name": "a", "body": body}))
    assert found[:2] == ["description", "twice: None"]
    assert "lable" in found


@pytest.mark.parametrize("path", FORMS)
def test_commands_that_a_form_names_exist(path: str) -> None:
    named = re.findall(r"`(plinian [^`]+)`", text_of(path))
    assert named
    assert [fault for line in named for fault in misnamed(line)] == []
