"""Connections can be encrypted, and clients can be known by their certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest
from certificates import Pair, pair_in
from serving import ended, run, serving

ABOUT = "/plinian/v1/about"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Return the certificate of a server."""
    return pair_in(tmp_path_factory.mktemp("tls"), "server")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Return the certificate of a client."""
    return pair_in(tmp_path_factory.mktemp("tls"), "client")


def _context(own: Pair, shown: Pair | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(own.certificate))
    if shown is not None:
        context.load_cert_chain(shown.certificate, shown.key)
    return context


def test_connections_are_encrypted(demo_log: Path, own: Pair) -> None:
    running = serving(demo_log, "--tls-cert", str(own.certificate), "--tls-key", str(own.key))
    try:
        url = str(running.client.base_url)
        assert url.startswith("https://")
        assert httpx.get(f"{url}{ABOUT}", verify=_context(own)).json()["last"] > 0
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{url}{ABOUT}".replace("https", "http"))
    finally:
        ended(running)


def test_only_clients_with_a_certificate_are_answered(
    demo_log: Path, own: Pair, client: Pair
) -> None:
    words = ["--tls-cert", str(own.certificate), "--tls-key", str(own.key)]
    running = serving(demo_log, *words, "--tls-client-ca", str(client.certificate))
    try:
        url = f"{running.client.base_url}{ABOUT}"
        assert httpx.get(url, verify=_context(own, client)).status_code == 200
        for shown in (None, own):
            with pytest.raises(httpx.HTTPError):
                httpx.get(url, verify=_context(own, shown))
    finally:
        ended(running)


def _refused(*options: str) -> str:
    done = run("serve", "--port", "0", *options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.slow
def test_files_that_do_not_fit_are_told(
    demo_log: Path, own: Pair, client: Pair, tmp_path: Path
) -> None:
    log, certificate = ["--log", str(demo_log)], ["--tls-cert", str(own.certificate)]
    nothing = tmp_path / "nothing"
    nothing.write_text("nothing")
    assert "--tls-key" in _refused(*log, *certificate)
    assert "needs a certificate" in _refused(*log, "--tls-client-ca", str(client.certificate))
    for key in (client.key, nothing, tmp_path / "none"):
        assert "cannot be used" in _refused(*log, *certificate, "--tls-key", str(key))
    words = [*certificate, "--tls-key", str(own.key), "--tls-client-ca", str(nothing)]
    assert "cannot be used" in _refused(*log, *words)


def test_other_machines_may_connect_with_a_certificate_and_it_is_said_loudly(
    demo_log: Path, own: Pair, client: Pair
) -> None:
    words = ["--tls-cert", str(own.certificate), "--tls-key", str(own.key)]
    assert "--tls-client-ca" in _refused("--log", str(demo_log), "--listen", "0.0.0.0", *words)
    ca = ["--tls-client-ca", str(client.certificate)]
    running = serving(demo_log, "--listen", "0.0.0.0", *words, *ca)
    ended(running)
    assert any("WARNING: other machines can reach 0.0.0.0" in line for line in running.said)
    assert not any("nothing is encrypted" in line for line in running.said)


def test_a_token_without_encryption_is_said_loudly(demo_log: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-that-is-long-enough")
    running = serving(demo_log, "--listen", "0.0.0.0", "--token-file", str(token))
    ended(running)
    assert any("nothing is encrypted" in line for line in running.said)
