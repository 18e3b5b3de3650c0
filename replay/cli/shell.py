"""What all commands share at the terminal: errors, interrupts, pipes, notes, colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TextIO

import click
from click.core import ParameterSource

from ...engine.errors import PlinianError
from .doubts import say_doubts

if TYPE_CHECKING:
    from ..moments.zones import Zone
    from ..render.tables import Style

P = ParamSpec("P")

INTERRUPTED = 130
PIPE_CLOSED = 141
BROKEN = 2


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """End a command as the shell expects: with a message and a code, never a traceback.

    Plinian's errors print what, where and what now, and have their own exit codes. An interrupt
    exits with 130, a closed pipe with 141 as after SIGPIPE, anything unexpected with 2 (with the
    traceback if ``PLINIAN_TRACEBACK`` is set).
    """

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            say_doubts(_say_line)
            sys.stdout.flush()
        except PlinianError as fault:
            fail(fault)
        except KeyboardInterrupt:
            _leave(INTERRUPTED)
        except BrokenPipeError:
            _leave(PIPE_CLOSED)
        except OSError as fault:
            where = str(fault.filename or "")
            fail(PlinianError(fault.strerror or str(fault), where=where, now=_space(fault)))
        except Exception as fault:
            if os.environ.get("PLINIAN_TRACEBACK"):
                raise
            fail(_unforeseen(fault))

    return run


def say(fault: PlinianError) -> None:
    """Write an error to standard error: where and what, then what to do now, indented."""
    where = f"{fault.where}: " if fault.where else ""
    _tell(f"plinian: {where}{fault.what}\n")
    for line in fault.now.split("\n") if fault.now else ():
        _tell(f"        {line}\n")


def fail(*faults: PlinianError) -> NoReturn:
    """Print errors and exit with the code of the last one."""
    say_doubts(_say_line)
    _finish_output()
    for fault in faults:
        say(fault)
    raise SystemExit(faults[-1].exit_code)


def note(text: str) -> None:
    """Write a note to standard error, so that it does not mix with piped output."""
    say_doubts(_say_line)
    _say_line(text)


def before_output() -> None:
    """Say what makes an answer uncertain, before it is written."""
    say_doubts(_say_line)


def _say_line(text: str) -> None:
    _tell(f"{text}\n")


def _tell(line: str) -> None:
    """Write a line to standard error; also while a progress bar wraps it."""
    sys.stderr.write(as_message(line.removesuffix("\n")))


def as_message(line: str) -> str:
    """Return a line as standard error shows it: on a terminal it goes on between words."""
    from ..render.screen import one_line
    from ..render.tables import Style, paragraph

    width = _columns(sys.stderr) if sys.stderr.isatty() else None
    style = Style(width=width, whole=True, zone=shown_zone())
    return "".join(paragraph(one_line(line), style))


def write_lines(lines: Iterable[str]) -> None:
    """Write lines for people to standard output, fitted to a terminal."""
    before_output()
    from ..render.tables import fitted

    sys.stdout.writelines(fitted(lines, style()))


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def shows_progress() -> bool:
    """Return whether standard error can show a progress bar."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def style() -> Style:
    """Return the style of text: on a terminal fitted, and in colour unless NO_COLOR is set.

    With ``-o wide``, nothing is left out or shortened.
    """
    from ..render.tables import Style

    wide, zone = _asked_wide(), shown_zone()
    if not is_terminal():
        return Style(wide=bool(wide), zone=zone)
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = _columns(sys.stdout)
    if wide is None:
        return Style(colour, width, zone=zone)
    return Style(colour, width, wide, _WIDE, wide, zone)


def log_option(place: str) -> str:
    """Return the option with which a command finds a log; empty if it finds it without one."""
    from shlex import quote

    from .options import DEFAULT_LOG

    usual = os.environ.get("PLINIAN_LOG") or DEFAULT_LOG
    return "" if place == usual else f" --log {quote(place)}"


def shown_zone() -> Zone | None:
    """Return the zone in which text shows times, as ``--tz`` says; None is UTC."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_ZONE)


def zone_option() -> click.Option:
    """Return the option that every command has: the zone of its times."""
    return click.Option(
        ["--tz"],
        metavar="ZONE",
        envvar="PLINIAN_TZ",
        show_envvar=True,
        expose_value=False,
        callback=_keep_zone,
        help="Show times in this zone, and read times that have none in it: a name such as "
        "Europe/Berlin, or local; by default UTC. JSON, YAML, exports and reports stay in UTC.",
    )


def _keep_zone(context: click.Context, option: click.Parameter, name: str | None) -> None:
    """Keep the zone for the command and those below it; what is written beats the environment."""
    if not name:
        return
    from ..moments.zones import UTC_ZONE, zone_of

    written = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    if not written and _ZONE in context.meta:
        return
    try:
        zone = zone_of(name)
    except PlinianError as fault:
        fail(fault)
    context.meta[_ZONE] = None if zone == UTC_ZONE else zone


_ZONE = "plinian.zone"
"""The key of the zone in what click keeps of a command line."""

_WIDE = "-o wide shows all"


def _asked_wide() -> bool | None:
    """Return whether ``-o wide`` is given; None if the command has no such form."""
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name == "output":
            has_wide = "wide" in (option.metavar or "").split("|")
            return context.params.get("output") == "wide" if has_wide else None
    return None


def _columns(terminal: TextIO) -> int:
    """Return the width of a terminal: what COLUMNS says, or what the terminal itself does."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(terminal.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):  # It is no real terminal, as in tests.
        return _USUAL_COLUMNS


_USUAL_COLUMNS = 80


def _leave(code: int) -> NoReturn:
    """Exit at once; nothing reads what is still buffered."""
    _silence(sys.stdout)
    raise SystemExit(code)


def _silence(stream: object) -> None:
    """Redirect a stream to the null device, so that the interpreter's last flush cannot fail."""
    try:
        number = stream.fileno()  # type: ignore[attr-defined]
        nothing = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError, AttributeError):  # no real file, as in tests
        return
    os.dup2(nothing, number)
    os.close(nothing)


def _finish_output() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _leave(PIPE_CLOSED)


def _space(fault: OSError) -> str:
    import errno

    advice = {
        errno.ENOSPC: "make room on the disk and run the same command again",
        errno.EACCES: "check who may read and write there",
        errno.EROFS: "choose a place that is not read-only",
        errno.ENOENT: "check the path",
    }
    return advice.get(fault.errno or 0, "")


def _unforeseen(fault: Exception) -> PlinianError:
    if isinstance(fault, RecursionError):
        return PlinianError("the input is nested too deeply", now="leave it out, or flatten it")
    if type(fault).__module__ == "msgspec" or isinstance(fault, UnicodeDecodeError):
        return PlinianError(
            f"what the log holds cannot be decoded: {fault}",
            now="find the damage: plinian verify",
        )
    if isinstance(fault, UnicodeEncodeError):
        return PlinianError(
            f"{fault.object!r} is not valid text: it has bytes that are not UTF-8, or half a "
            f"character",
            now="write names and other values in UTF-8",
        )
    if isinstance(fault, MemoryError):
        return PlinianError("there is not enough memory", now="make a smaller request")
    return PlinianError(
        f"internal error of Plinian: {type(fault).__name__}: {fault}",
        now="please report it, with the output under PLINIAN_TRACEBACK=1",
    )
