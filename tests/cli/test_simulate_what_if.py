"""``plinian simulate`` with ``--conf`` and ``--patch``, and what it tells of crashes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from decisions import written
from plinian.replay.cli.main import app

LOWER = 'queue/test-queue={"spec":{"capability":{"cpu":"20","memory":"15Gi"}}}'


def run(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


def test_an_object_can_be_another(tmp_path: Path) -> None:
    case = written(tmp_path, "001-node-lost-back")
    as_it_is = run(case, "--release", "v1.12.1", "--step", "2").stdout
    lowered = run(case, "--release", "v1.12.1", "--step", "2", "--patch", LOWER).stdout
    assert "No decision.\n" in as_it_is
    assert "default/test-job-master-0   n1" in lowered


def test_the_configuration_can_be_another(tmp_path: Path) -> None:
    conf = tmp_path / "volcano-scheduler.conf"
    conf.write_text("actions: enqueue\ntiers: []\n", "utf-8")
    case = written(tmp_path, "000-allocatable-shrinks")
    assert "the scheduler panics" in run(case, "--release", "all", "--step", "2").stdout
    assert "panics" not in run(case, "--release", "all", "--step", "2", "--conf", conf).stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--patch", "queue/none={}"], "the scenario has no Queue none"),
        (["--patch", "queue/test-queue"], "'queue/test-queue' is not a patch"),
        (["--conf", "no-such.conf"], "no-such.conf"),
    ],
)
def test_what_cannot_be_asked_is_said(tmp_path: Path, options: list[str], told: str) -> None:
    ran = run(written(tmp_path, "001-node-lost-back"), "--release", "v1.12.1", *options)
    assert ran.exit_code == 2
    assert told in ran.stderr
    assert ran.stdout == ""


def test_crashes_are_told_below_the_table_once_for_all_that_die_alike(tmp_path: Path) -> None:
    case = written(tmp_path, "001-guarantee-over-root")
    told = run(case, "--release", "all").stdout.splitlines()
    died = [line.partition(" panics: ")[0] for line in told if " panics: " in line]
    assert died == [
        "v1.9.0,v1.10.0, session 1,2: the scheduler",
        "v1.11.0..v1.11.2, session 1,2: the scheduler",
    ]
    assert (
        sum(line.startswith("  at api.(*Resource).Sub < plugins/capacity.") for line in told) == 2
    )
    one = run(case, "--release", "v1.11.0", "--release", "v1.12.1", "--step", "2").stdout
    assert "\nv1.11.0, session 2: the scheduler panics: resource is not sufficient" in one


def test_our_own_release_can_be_added_to_all(tmp_path: Path) -> None:
    case = written(tmp_path, "basic-0")
    ran = run(case, "--release", "all", "--release", "hardened", "--out", tmp_path)
    last = [line.split()[-1] for line in ran.stdout.splitlines()]
    assert last[-2:] == ["v1.15.1", "hardened"]
