"""What every request must pass: Host, Origin, token and size."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from serving import Running, ended, run, serving
from starlette.responses import PlainTextResponse

from plinian.replay.server import guard as bodies
from plinian.replay.server import guard as guarding
from plinian.replay.server.guard import Guard
from plinian.replay.server.settings import ServerSettings

ABOUT = "/plinian/v1/about"
TOKEN = "a-token-that-is-long-enough"


@pytest.fixture(scope="module")
def protected(demo_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a server that needs a token."""
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(f"{TOKEN}\n")
    running = serving(demo_log, "--token-file", str(file), "--allow-host", "Past.Example")
    yield running
    ended(running)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "[", "127.0.0.1.x"])
def test_a_name_that_could_be_pointed_here_is_refused(server: Running, host: str) -> None:
    assert server.client.get(ABOUT, headers={"Host": host}).status_code in {400, 421}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:99"])
def test_localhost_and_addresses_are_answered(server: Running, host: str) -> None:
    assert server.client.get(ABOUT, headers={"Host": host}).status_code == 200


def test_another_name_is_answered_if_it_is_allowed(protected: Running) -> None:
    shown = {"Host": "past.example", "Authorization": f"Bearer {TOKEN}"}
    assert protected.client.get(ABOUT, headers=shown).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
def test_a_page_of_another_site_is_refused(server: Running, origin: str) -> None:
    assert server.client.get(ABOUT, headers={"Origin": origin}).status_code == 403


def test_its_own_page_is_answered(server: Running) -> None:
    own = f"http://127.0.0.1:{server.port}"
    answer = server.client.get(ABOUT, headers={"Origin": own})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_what_another_site_embeds_is_refused_and_a_link_is_followed(server: Running) -> None:
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.client.get(ABOUT, headers=embedded).status_code == 403
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert server.client.get(ABOUT, headers=followed).status_code == 200


def test_every_answer_has_the_safe_headers(server: Running) -> None:
    for path in (ABOUT, "/no/such/page"):
        headers = server.client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": "plinian-token=wrong"},
        {"Cookie": ";=;=\x7f"},
    ],
)
def test_without_the_token_nothing_is_answered(protected: Running, shown: dict[str, str]) -> None:
    answer = protected.client.get(ABOUT, headers=shown)
    assert answer.status_code == 401
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (ABOUT, {"Authorization": f"Bearer {TOKEN}"}),
        (ABOUT, {"Cookie": f"plinian-token={TOKEN}"}),
        (f"/token/{TOKEN}{ABOUT}", {}),
    ],
)
def test_with_the_token_it_answers(protected: Running, path: str, shown: dict[str, str]) -> None:
    assert protected.client.get(path, headers=shown).json()["last"] > 0


def _answer_to(port: int, request: bytes) -> bytes:
    """Return the first line of the answer to the bytes of a request; empty if there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        with suppress(OSError):  # The server may have answered, and read no more.
            connection.sendall(request)
        return connection.makefile("rb").readline()


@pytest.mark.parametrize("length", [b"99999999999999999999", b"5000000", b"-1", b"x"])
def test_a_body_that_is_too_long_is_refused(server: Running, length: bytes) -> None:
    head = b"POST /plinian/v1/about HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
    answer = _answer_to(server.port, head + length + b"\r\n\r\n")
    assert answer.split()[1] in {b"400", b"413"}


def test_a_long_path_is_refused(server: Running) -> None:
    line = b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = _answer_to(server.port, line)
    assert answer == b"" or answer.split()[1] in {b"400", b"404", b"414", b"431"}


def test_a_page_of_a_site_that_is_allowed_is_answered(demo_log: Path) -> None:
    running = serving(demo_log, "--allow-origin", "http://Localhost:4466/")
    for origin, status in (("http://localhost:4466", 200), ("http://localhost:4467", 403)):
        assert running.client.get(ABOUT, headers={"Origin": origin}).status_code == status
    shown = {"Origin": "http://localhost:4466"}
    assert "access-control-allow-origin" not in running.client.get(ABOUT, headers=shown).headers
    ended(running)


@pytest.mark.parametrize("origin", ["*", "localhost:4466", "http://a/b", "http://", "null"])
def test_what_is_no_origin_is_refused(demo_log: Path, origin: str) -> None:
    done = run("serve", "--log", str(demo_log), "--port", "0", "--allow-origin", origin)
    assert done.returncode == 2
    assert "is no origin" in done.stderr


def test_a_request_with_two_lengths_is_refused_and_its_connection_ends(server: Running) -> None:
    """A proxy that believes the other length would read a second request in the body."""
    head = b"POST /plinian/v1/about HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
    smuggled = b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + smuggled)
        said = b"".join(iter(lambda: connection.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1, "the body is no second request"


class Sent(NamedTuple):
    """What an application sent."""

    status: int
    headers: dict[str, str]


async def _asked(
    guard: Guard, token: str, *, client: str = "10.0.0.1", receive: Any = None, length: int = 0
) -> Sent:
    """Ask a guard for a page."""
    sent: list[Any] = []
    headers = [(b"host", b"localhost"), (b"content-length", b"%d" % length)]
    headers += [(b"authorization", b"Bearer " + token.encode())] if token else []
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "headers": headers}

    async def nothing() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await guard({**scope, "client": (client, 1)}, receive or nothing, send)
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Sent(sent[0]["status"], named)


async def _page(_scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await PlainTextResponse("page")(_scope, receive, send)


def test_guesses_of_a_token_are_slowed_and_none_beyond_some_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = Guard(_page, ServerSettings(place="x", token=TOKEN))

    async def run() -> None:
        waits = asyncio.Event()

        async def slept(seconds: float) -> None:
            assert seconds == guarding.GUESS_SECONDS
            await waits.wait()

        monkeypatch.setattr(guarding.asyncio, "sleep", slept)
        wrong = [
            asyncio.create_task(_asked(guard, f"no{n}")) for n in range(guarding.MOST_OF_ADDRESS)
        ]
        for _ in range(10):  # Let all of them begin.
            await asyncio.wait(wrong, timeout=0)
        assert not any(one.done() for one in wrong)
        assert (await _asked(guard, "no", client="10.0.0.1")).status == 429
        assert (await _asked(guard, TOKEN, client="10.0.0.1")).status == 429, "not compared"
        assert (await _asked(guard, TOKEN, client="10.0.0.2")).status == 200
        assert (await _asked(guard, "", client="10.0.0.1")).status == 401, "no guess"
        waits.set()
        assert {one.status for one in await asyncio.gather(*wrong)} == {401}
        assert (await _asked(guard, TOKEN, client="10.0.0.1")).status == 200

    asyncio.run(run())


def test_large_bodies_take_a_bounded_part_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST_AT_ONCE", 3 << 20)
    guard = Guard(_page, ServerSettings(place="x"))

    async def run() -> None:
        goes_on = asyncio.Event()

        async def slow() -> Any:
            await goes_on.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        parts = iter([{"type": "http.request", "body": b"x" * (2 << 20), "more_body": True}])

        async def large() -> Any:
            return next(parts, None) or await slow()

        first = asyncio.create_task(_asked(guard, "", receive=large, length=2 << 20))
        for _ in range(10):
            await asyncio.wait([first], timeout=0)
        found = await _asked(guard, "", length=2 << 20)
        assert (found.status, found.headers["retry-after"]) == (503, "1")
        assert (await _asked(guard, "", length=1000)).status == 200
        goes_on.set()
        assert (await first).status == 200
        assert (await _asked(guard, "", length=2 << 20)).status == 200

    asyncio.run(run())
