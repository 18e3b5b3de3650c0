"""Releases that are not known, and configurations that are rejected: errors, or assumptions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from shared_parent import CONF, scenario

from plinian.engine.volcano.releases import RELEASES, nearest_release, parse_release
from plinian.replay.cli.main import app

REJECTED = CONF.replace("enqueue, allocate", "enqueue, misspelt")
NEAREST = {
    "v1.7.0": "v1.8.0",
    "v0.4.2": "v1.8.0",
    "v1.13.0-beta.0": "v1.13.0",
    "v1.12.3-vendor.7": "v1.12.3",
    "v1.15.7": "v1.15.1",
    "1.9.9": "v1.9.1",
    "v1.12": "v1.12.4",
    "v1.16.0-alpha.1": "v1.15.1",
    "v2.0.0": "v1.15.1",
}


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a scenario whose second step brings a configuration that most releases reject."""
    path = tmp_path_factory.mktemp("assume") / "a.case.json"
    story = scenario()
    story["steps"][1]["conf"] = REJECTED
    path.write_text(json.dumps(story), "utf-8")
    return path


@pytest.fixture(scope="module")
def log(case: Path) -> Path:
    """Ingest it."""
    place = case.with_name("a.db")
    assert run("ingest", "--log", place, case).exit_code == 0
    return place


@pytest.mark.parametrize(("asked", "near"), NEAREST.items())
def test_the_nearest_release_is_named_and_taken_on_request(
    log: Path, asked: str, near: str
) -> None:
    assert str(nearest_release(asked)) == near
    refused = run("session", "--log", log, "--release", asked)
    assert refused.exit_code == 2
    assert asked in refused.stderr
    assert f"--assume treats it as {near}" in refused.stderr
    ran = run("session", "--log", log, "--release", asked, "--assume", "-o", "json")
    assert ran.exit_code == 0, ran.output
    assert f"using {near} instead" in ran.stderr
    document = json.loads(ran.stdout)
    assert (document["release"], document["assumed"]) == (near, {asked: near})


@pytest.mark.parametrize("text", ["latest", "", "v1", "v1.x.2", "v1." + "9" * 5000 + ".1"])
def test_what_names_no_release_is_refused_anyhow(log: Path, text: str) -> None:
    ran = run("session", "--log", log, "--release", text, "--assume")
    assert ran.exit_code == 2
    assert "known are v1.8.0 to v1.15.1, and hardened" in ran.stderr


def test_what_is_known_is_taken_as_it_is(log: Path) -> None:
    for release in RELEASES:
        assert parse_release(str(release)) == release
    ran = run("session", "--log", log, "--release", "v1.12.1", "--assume", "-o", "json")
    assert "assumed" not in json.loads(ran.stdout)
    assert "taken" not in ran.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("session", "--release", "v1.11.0"),
        ("diff", "@8", "@9", "--release", "v1.11.0"),
        ("belief", "nodes"),
        ("drift",),
        ("upgrade-check", "--from", "v1.11.0", "--jobs", "1"),
        ("bisect", "--panic"),
        ("bisect", "--panic", "--releases"),
    ],
)
def test_all_commands_assume_alike(log: Path, command: tuple[str, ...]) -> None:
    asked = "v1.12.9"
    last = {"upgrade-check": ("--to", asked), "bisect": ("--release", asked)}
    options: tuple[str, ...] = last.get(command[0], ("--release", asked))
    if command[-1] == "--releases":
        options = (f"v1.11.0..{asked}",)
    name, *arguments = command
    refused = run(name, "--log", log, *arguments, *options)
    assert (refused.exit_code, "--assume treats it as v1.12.4" in refused.stderr) == (2, True)
    ran = run(name, "--log", log, *arguments, *options, "--assume", "-o", "json")
    assert ran.exit_code in {0, 1}, ran.output
    assert f"{asked} is not a known release of Volcano: using v1.12.4 instead" in ran.stderr
    assert json.loads(ran.stdout)["assumed"] == {asked: "v1.12.4"}


def test_scenarios_assume_too(case: Path) -> None:
    assert run("simulate", case, "--release", "v1.12.9").exit_code == 2
    ran = run("simulate", case, "--release", "v1.12.9", "--assume")
    assert ran.exit_code == 0, ran.output
    assert "using v1.12.4 instead" in ran.stderr


def test_checks_of_what_is_written_assume_too(tmp_path: Path) -> None:
    queue = tmp_path / "queue.json"
    queue.write_text(json.dumps(scenario()["steps"][0]["events"][1]["object"]), "utf-8")
    assert run("lint", queue, "--release", "v1.12.9").exit_code == 2
    ran = run("lint", queue, "--release", "v1.12.9", "--assume")
    assert ran.exit_code == 0, ran.output
    assert "using v1.12.4 instead" in ran.stderr


def test_releases_are_told_of_by_the_nearest_name() -> None:
    assert run("release", "show", "v1.12.9").exit_code == 2
    ran = run("release", "show", "v1.12.9", "--assume", "-o", "json")
    assert "using v1.12.4 instead" in ran.stderr
    assert ran.stdout == run("release", "show", "v1.12.4", "-o", "json").stdout
    ran = run("release", "diff", "v1.11.9", "v1.12.9", "--assume", "-o", "json")
    assert ran.stdout == run("release", "diff", "v1.11.2", "v1.12.4", "-o", "json").stdout


# -- configurations -----------------------------------------------------------------------------


def told(*arguments: str | Path) -> tuple[Any, str]:
    """Return the JSON that a command prints, and what it says beside it."""
    ran = run(*arguments, "-o", "json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout), ran.stderr


def test_a_release_keeps_the_configuration_of_before(log: Path) -> None:
    kept, said = told("session", "--log", log, "--release", "v1.11.0")
    assert kept["conf_rejected"]
    assert "misspelt" in kept["conf_rejected"][0]
    assert any("is invalid" in error for error in kept["errors"])
    assert "v1.11.0 rejects the configuration" in said
    assert kept["binds"], "actions of before run: enqueue alone would bind nothing"
    taken, said = told("session", "--log", log, "--release", "v1.12.1")
    assert (taken["conf_rejected"], taken["binds"]) == ([], [])
    assert "rejects" not in said


def test_an_upgrade_to_a_release_that_rejects_it_is_told(log: Path) -> None:
    ran = run("upgrade-check", "--log", log, "--from", "v1.12.1", "--to", "v1.15.1", "-j", "1")
    assert ran.exit_code == 0
    assert "v1.15.1 rejects the configuration" in ran.stderr
    assert "v1.12.1 rejects" not in ran.stderr


def test_a_given_configuration_that_is_rejected_is_an_error(log: Path, tmp_path: Path) -> None:
    conf = tmp_path / "wrong.conf"
    conf.write_text(REJECTED, "utf-8")
    given = ("--log", log, "--conf", conf)
    for command in (
        ("session", *given, "--release", "v1.12.1", "--release", "v1.15.1"),
        ("upgrade-check", *given, "--from", "v1.12.1", "--to", "v1.15.1", "-j", "1"),
        ("bisect", *given, "--panic", "--release", "v1.15.1"),
        ("bisect", "--log", log, "--panic", "--conf", conf, "--releases", "v1.12.1..v1.15.1"),
    ):
        ran = run(*command)
        assert ran.exit_code == 2, ran.output
        assert "rejects the configuration" in ran.stderr
        assert "misspelt" in ran.stderr
        assert "built-in" in ran.stderr
        assert run(*command, "--assume").exit_code in {0, 1}
    alone, said = told("session", *given, "--release", "v1.15.1", "--assume")
    assert alone["conf"] == "built into v1.15.1"
    assert alone["conf_rejected"]
    assert "v1.15.1 rejects the configuration" in said
    assert run("session", *given, "--release", "v1.12.1").exit_code == 0
