"""Where an audit webhook sends to: nothing is taken in the open, or by anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from plinian.engine.errors import UsageError
from plinian.replay.cli.audit_door import AskedWebhook, audit_door


def test_without_an_address_there_is_no_door() -> None:
    assert audit_door(AskedWebhook(None, None, None, None), "log.db", "main") is None


@pytest.mark.parametrize("at", ["9443", "here:", "here:port", "here:70000", ""])
def test_an_address_has_a_port(at: str) -> None:
    with pytest.raises(UsageError, match="is no address with a port"):
        audit_door(AskedWebhook(at, None, None, None), "log.db", "main")


def test_without_token_and_certificate_it_is_refused(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abcdefghijklmnop")
    for file in (None, token):
        with pytest.raises(UsageError, match="must not be sent in the open"):
            audit_door(AskedWebhook("0.0.0.0:9443", file, None, None), "log.db", "main")
