"""What contract tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plinian.engine.log import LogStore, open_log


@pytest.fixture
def log(log_place: str) -> Iterator[LogStore]:
    """Make a new, empty log."""
    with open_log(log_place, create=True) as store:
        yield store
