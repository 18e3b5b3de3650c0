"""What tests of answers share: a way to ask about a list of objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import Document, log_of

from plinian.replay.answers.answer import Why
from plinian.replay.answers.why import why_at


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    """Return a function that asks about an object of the namespace ``ns``."""

    def asked(named: str, conf: str, *documents: Document, release: str = "v1.12.1") -> Why:
        with log_of(tmp_path, conf, *documents) as log:
            return why_at(log, log.object(named), namespace="ns", release=release)

    return asked
