"""The address of an audit webhook: what it accepts, and what it answers to the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import httpx
import pytest

from plinian.engine.errors import InputError
from plinian.replay.server import audit_webhook
from plinian.replay.server.audit_webhook import audit_application

TOKEN = "abc"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


async def asked(
    accept: Callable[[bytes], None],
    content: bytes = b"batch",
    headers: Mapping[str, str | bytes] = MappingProxyType(HEADERS),
    method: str = "POST",
) -> httpx.Response:
    transport = httpx.ASGITransport(audit_application(accept, TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="https://here") as client:
        request = client.build_request(method, "/?timeout=30s", content=content)
        for name, value in headers.items():
            request.headers[name] = value if isinstance(value, str) else value.decode("latin-1")
        return await client.send(request)


def _fails(_body: bytes) -> None:
    raise InputError("this is no batch")


def _full(_body: bytes) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.anyio
async def test_a_batch_is_answered_after_it_was_taken() -> None:
    taken: list[bytes] = []
    answer = await asked(taken.append, content=b"batch")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert taken == [b"batch"]


@pytest.mark.anyio
@pytest.mark.parametrize("shown", ["", "Bearer", "Bearer abd", "Basic abc", "Bearer ábc", "abc"])
async def test_without_the_token_nothing_is_taken(shown: str) -> None:
    taken: list[bytes] = []
    headers = {"Authorization": shown.encode()} if shown else {}
    answer = await asked(taken.append, content=b"batch", headers=headers)
    assert answer.status_code == 401
    assert not taken


@pytest.mark.anyio
async def test_what_cannot_be_stored_is_not_answered_with_success() -> None:
    assert (await asked(_fails, content=b"x")).status_code == 400
    full = await asked(_full, content=b"x")
    assert (full.status_code, full.text) == (507, "it cannot be stored: No space left on device\n")


@pytest.mark.anyio
async def test_a_batch_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_webhook, "MOST_BYTES", 10)
    taken: list[bytes] = []
    assert (await asked(taken.append, content=b"x" * 11)).status_code == 413
    assert (await asked(taken.append, content=b"x" * 10)).status_code == 200


@pytest.mark.anyio
async def test_only_posts_are_answered() -> None:
    assert (await asked(lambda _body: None, method="GET")).status_code == 405
