"""What tests of packs share: logs whose events have times, and a way to pack them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from packs import Logged, timed
from plinian.engine.events import Event
from plinian.engine.log import open_log
from plinian.replay.demo import recorded_inputs
from plinian.replay.facade.log import Log, opened


@pytest.fixture
def logged(tmp_path: Path) -> Logged:
    """Return a function that makes a log of events, one second a revision."""

    def make(events: Sequence[Event]) -> Log:
        place = tmp_path / "made.db"
        for old in tmp_path.glob("made.db*"):
            old.unlink()
        with open_log(place, create=True) as store:
            store.append(timed(events))
        return opened(str(place), branch="main", cluster=None)

    return make


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the log of the recording that comes with Plinian; for reading only."""
    place = tmp_path_factory.mktemp("recording") / "recording.db"
    with (
        opened(str(place), create=True, branch="main", cluster=None) as log,
        recorded_inputs() as paths,
    ):
        log.ingest(paths)
    return place
