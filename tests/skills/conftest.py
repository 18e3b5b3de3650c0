"""What dialogues with agents share: the log of the demo, and logs that lack something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import plinian
from plinian.replay.cli.main import app
from plinian.replay.demo import recorded_inputs
from tree import ROOT

TIME = "2026-11-21T01:53:36Z"


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Return logs by name: the demo's, one of a scheduler's log alone, and two that lack more.

    Nothing may write to them.
    """
    folder = tmp_path_factory.mktemp("asked")
    plinian.demo(folder / "demo.db").close()
    with plinian.open(folder / "unaudited.db", create=True) as log, recorded_inputs() as paths:
        log.ingest([path for path in paths if not Path(path).name.startswith("audit")])
    said = ROOT / "tests/data/vc-scheduler-v1.12.1.log.gz"
    with plinian.open(folder / "scheduler.db", create=True) as log:
        log.ingest(said, year=2026)
    words = ("get", "pods,podgroups,queues", "-A", "--at", TIME, "-o", "json")
    listed = CliRunner().invoke(app, [*words, "--log", str(folder / "demo.db")])
    (folder / "no-nodes.json").write_text(listed.stdout)
    with plinian.open(folder / "nodeless.db", create=True) as log:
        log.ingest(folder / "no-nodes.json")
    return {path.stem: path for path in folder.glob("*.db")}


Terminal = Callable[..., Result]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Terminal:
    """Run commands in an empty folder, on the log that PLINIAN_LOG names."""
    monkeypatch.chdir(tmp_path)

    def ran(log: Path, *words: str) -> Result:
        monkeypatch.setenv("PLINIAN_LOG", str(log))
        return CliRunner().invoke(app, list(words))

    return ran
