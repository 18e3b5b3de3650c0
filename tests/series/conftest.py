"""What tests of pictures and changes share: the log of a recording."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import plinian
from plinian import Log
from plinian.replay.demo import recorded_inputs


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Open the log of the recording that comes with Plinian."""
    place = tmp_path_factory.mktemp("recording") / "recording.db"
    with plinian.open(place, create=True) as made, recorded_inputs() as paths:
        made.ingest(paths)
    with plinian.open(place, read_only=True) as opened:
        yield opened
