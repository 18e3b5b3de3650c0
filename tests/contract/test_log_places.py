"""What is printed of the place of a log: never a password, wherever the URL has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from serving import ended, serving

import plinian
from plinian.engine.errors import PlinianError, UsageError
from plinian.engine.log.location import log_name, parse_location, shown_place
from plinian.replay.cli.main import app

SECRET = "s3cr3t-w0rd"
NOBODY = "127.0.0.1:1"

URLS = (
    f"postgresql://me:{SECRET}@{NOBODY}/logs?schema=prod",
    f"postgresql://me@{NOBODY}/logs?password={SECRET}",
    f"postgresql://me@{NOBODY}/logs?schema=prod&password={SECRET}&connect_timeout=1",
    f"postgresql://{NOBODY}/logs?user=me&pass%77ord={SECRET}",
    f"postgresql://me@{NOBODY}/logs?sslpassword={SECRET}",
    f"postgresql:///logs?host=127.0.0.1&port=1&password={SECRET}",
    f"postgresql://me:{SECRET}/a@{NOBODY}/logs",
    f"postgresql://me:a/{SECRET}@{NOBODY}/logs",
    f"postgresql://me:{SECRET}#a@{NOBODY}/logs",
    f"postgresql://me:a#{SECRET}@{NOBODY}/logs",
    f"postgresql://me:a?{SECRET}@{NOBODY}/logs",
    f"postgresql://me:{SECRET}%zz@{NOBODY}/logs",
    f"postgresql://me:{SECRET}@{NOBODY}:no/logs",
    f"postgresql://me@{NOBODY}/logs?password={SECRET}=x&password",
    f"mysql://me:{SECRET}@{NOBODY}/logs?password={SECRET}",
    f"postgresql://[me:{SECRET}@{NOBODY}/logs?password={SECRET}",
)


@pytest.mark.parametrize("url", URLS)
def test_no_place_is_shown_with_its_password(url: str) -> None:
    try:
        said = f"{shown_place(url)} {log_name(url)}"
    except UsageError as fault:
        said = f"{fault.what} {fault.where} {fault.now}"
    assert SECRET not in said


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("command", [["db", "info"], ["get", "pods"], ["serve", "--port", "0"]])
def test_no_error_shows_a_password(url: str, command: list[str]) -> None:
    found = CliRunner().invoke(app, [*command, "--log", url])
    assert found.exit_code != 0
    assert SECRET not in found.output, found.output
    with pytest.raises(PlinianError) as raised:
        plinian.open(url)
    assert SECRET not in str(raised.value)


def test_what_is_shown_says_which_log_it_is() -> None:
    assert shown_place(URLS[1]) == f"postgresql://me@{NOBODY}/logs"
    assert shown_place(URLS[2]).endswith("/logs?schema=prod&connect_timeout=1")
    assert parse_location(URLS[2]).conninfo.count(SECRET) == 1, "it still connects with it"
    assert [log_name(one) for one in ("/a/b.db", URLS[0])] == ["b.db", "logs"]


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("way", ["in the authority", "in an option"])
def test_no_door_shows_the_password_of_a_log(
    postgres_log_url: str, tmp_path: Path, way: str
) -> None:
    url = postgres_log_url
    if way == "in an option":
        url += f"&password={SECRET}"
    else:
        scheme, _, rest = url.partition("://")
        user, _, host = rest.partition("@")
        url = f"{scheme}://{user.partition(':')[0]}:{SECRET}@{host}"
    said = CliRunner().invoke(app, ["demo", "--log", url]).output
    commands = (
        ["db", "info"],
        ["status"],
        ["report", "-o", str(tmp_path / "report.html")],
        ["pack", "-o", str(tmp_path / "a.pack")],
        ["plot", "queues", "-o", str(tmp_path / "plot.svg")],
        ["kubeconfig", "-o", str(tmp_path / "config")],
        ["verify"],
        ["branch", "list"],
        ["get", "nothing-such"],
    )
    said += "".join(CliRunner().invoke(app, [*one, "--log", url]).output for one in commands)
    running = serving(url)
    try:
        for path in (
            "/",
            "/plinian/v1/about",
            "/plinian/v1/log",
            "/plinian/v1/why?object=job/gpu-2",
        ):
            said += running.client.get(path, follow_redirects=True).text
        said += "".join(running.said)
    finally:
        ended(running)
    assert SECRET not in said
    for file in tmp_path.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file
