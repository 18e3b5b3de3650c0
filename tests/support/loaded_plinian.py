"""``plinian`` as documents run it, in copies of a process that has loaded it already.

The documents run hundreds of commands, and loading takes longer than most of them. So a server
loads Plinian once. For each command it makes a copy of itself, with the files, the folder and the
environment of the process that asks, and :mod:`in_terminals` runs the command there. What a copy
had to load, the server loads before it makes the next one.

Run as a program, this lets the server at the address in ``LOADED_PLINIAN`` run its command.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

ADDRESS = "LOADED_PLINIAN"
_FILES = 3
"""Standard input, output and errors."""

_SIZE = 4
"""Bytes that say how long a request is."""

_AT_ONCE = 65536
_NO_ANSWER = 69


def ask(address: str) -> int:
    """Let the server run the command of this process; return its exit status."""
    words = sys.argv[1:]
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    request = "\0".join((str(Path.cwd()), str(len(words)), *words, *environment)).encode()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)
        socket.send_fds(client, [len(request).to_bytes(_SIZE, "big")], range(_FILES))
        client.sendall(request)
        answer = client.recv(1)
    return answer[0] if answer else _NO_ANSWER


def serve(address: str) -> NoReturn:
    """Run the commands that others ask for, until this process is ended."""
    loaded, telling = os.pipe()
    for end in (loaded, telling):
        os.set_blocking(end, False)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            _load(loaded)
            if os.fork() == 0:
                server.close()
                _answer(client, telling)
            client.close()
            _forget_ended()


def _load(loaded: int) -> None:
    """Load the modules that copies had to load."""
    import importlib  # noqa: PLC0415 -- who asks needs none of it

    told = b""
    with suppress(BlockingIOError):
        while True:
            told += os.read(loaded, _AT_ONCE)
    for name in told.decode().split():
        with suppress(ImportError):  # A name that its package made up.
            importlib.import_module(name)


def _forget_ended() -> None:
    """Collect the exit statuses of copies; others have them already."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(client: socket.socket, telling: int) -> NoReturn:
    """Run what a client asks for in a copy of this process, and answer with its exit status."""
    size, files, _, _ = socket.recv_fds(client, _SIZE, _FILES)
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += client.recv(_AT_ONCE)
    folder, count, *texts = request.decode().split("\0")
    command = os.fork()
    if command == 0:
        client.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(folder)
        sys.argv[1:] = texts[: int(count)]
        os.environ.clear()
        os.environ.update(text.split("=", 1) for text in texts[int(count) :])
        _run(telling)
    _, status = os.waitpid(command, 0)
    code = os.waitstatus_to_exitcode(status)
    client.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def _run(telling: int) -> NoReturn:
    """Run the command of this process, and tell the server what that had to load."""
    import in_terminals  # noqa: PLC0415

    before, status = set(sys.modules), 1
    try:
        in_terminals.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # ``| head`` has closed it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    names = [name for name in sys.modules if name not in before]
    with suppress(BlockingIOError):  # The server is busy; the next copy tells it.
        os.write(telling, "".join(f"{name}\n" for name in names).encode())
    os._exit(status)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--serve":
        serve(sys.argv[2])
    sys.exit(ask(os.environ[ADDRESS]))
