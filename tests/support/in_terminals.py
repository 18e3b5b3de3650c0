"""``plinian`` as documents run it, and at the same time as a person sees it in terminals.

A command is run once. When it knows its answer and asks how to write it, the process is copied for
a pipe and for each width of a terminal; the copies write what they have to say to a real
pseudo-terminal, and their output is kept in the folder that ``SHOWN_IN`` names. So all commands of
all documents are seen at all widths for the price of writing them. What a command does beside that,
it must do before it writes its answer: the copies do whatever comes after.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

WIDTHS = (60, 80, 120, 200)
PLACE = "SHOWN_IN"


class Shown(NamedTuple):
    """What one command writes to a pipe, and to terminals by width.

    :param fitted: it is text that is fitted to a terminal, and not whole as with ``-o wide``.
    """

    words: list[str]
    piped: str
    by_width: dict[int, str]
    fitted: bool


def shown_in(folder: Path) -> Iterator[Shown]:
    """Yield what was kept in a folder, in the order in which it was written."""
    for path in sorted(folder.iterdir()):
        kept = json.loads(path.read_text("utf-8"))
        by_width = {int(width): text for width, text in kept.pop("by_width").items()}
        yield Shown(**kept, by_width=by_width)


def _copied(width: int | None) -> str | None:
    """Copy this process; return what the copy writes, and in the copy itself None.

    :param width: of its terminal; None gives it a pipe.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe() if width is None else os.openpty()
    if width is not None:
        fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    child = os.fork()
    if child:
        os.close(writing)
        text = b"".join(_read(reading)).decode("utf-8")
        os.close(reading)
        _, status = os.waitpid(child, 0)
        return text if os.waitstatus_to_exitcode(status) >= 0 else f"ended with {status}"
    for number in (1, 2):
        os.dup2(writing, number)
    os.environ.pop("COLUMNS", None)
    if width is not None:
        os.environ.pop("NO_COLOR", None)
        os.environ["TERM"] = "xterm-256color"
    return None


def _typed() -> bytes | None:
    """Return what waits on standard input for a command that asks; None if it is no pipe."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return None
    return b"".join(_read(0))


def _type(answers: bytes | None) -> None:
    """Put answers on standard input, as each copy reads them all."""
    if answers is None:
        return
    with tempfile.TemporaryFile() as file:
        file.write(answers)
        file.seek(0)
        os.dup2(file.fileno(), 0)


def _read(reading: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(reading, 65536)
        except OSError:  # The terminal is closed.
            return
        if not data:
            return
        yield data


def main() -> NoReturn:
    """Run ``plinian``, and keep what it writes in terminals."""
    from plinian.replay.cli import main as program  # noqa: PLC0415
    from plinian.replay.cli import shell  # noqa: PLC0415
    from plinian.replay.render.screen import Screen  # noqa: PLC0415

    # A copy has no other processes that could still bring it results.
    os.cpu_count = lambda: 1
    usual, copied, streams = shell.style, [], []

    def fresh_streams() -> None:
        streams.extend(os.fdopen(at, "w", 1, encoding="utf-8", closefd=False) for at in (1, 2))
        sys.stdout, sys.stderr = Screen(streams[0]), Screen(streams[1], messages=True)

    def style() -> Any:
        if not copied:
            copied.append(True)
            texts: dict[int, str] = {}
            answers = _typed()
            for width in (None, *WIDTHS):
                _type(answers)
                text = _copied(width)
                if text is None:
                    fresh_streams()
                    return usual()
                texts[width or 0] = text
            folder = Path(os.environ[PLACE])
            kept = {
                "words": sys.argv[1:],
                "piped": texts.pop(0),
                "by_width": texts,
                "fitted": not any(word.endswith("wide") for word in sys.argv[1:]),
            }
            _type(answers)
            path = folder / f"{time.time_ns()}-{os.getpid()}.json"
            path.write_text(json.dumps(kept), "utf-8")
        return usual()

    shell.style = style
    status = 0
    try:
        program.main()
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    if streams:  # A copy ends here; what this process has buffered is not the copy's.
        for stream in streams:
            stream.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
