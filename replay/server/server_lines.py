r"""What a server says to its terminal, or to who collects its lines: one event, one line.

A line is text for a person, or JSON for a program. It has neither the token of the server nor the
passwords of its log. It has no control characters: what a client sends must not move a cursor. In
text a traceback follows its line; in JSON it is a field of it. Both are whole.

If no one reads, a server must not wait: what does not fit into a pipe is left out, and the next
line says how many were lost.
"""

from __future__ import annotations

import logging
import re
import select
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, Literal, TextIO, TypeAlias

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from ...engine.log.location import parse_location
from ..render.screen import Screen, one_line
from .settings import ServerSettings

Form: TypeAlias = Literal["text", "json"]
Level: TypeAlias = Literal["debug", "info", "warning", "error"]
_Event: TypeAlias = MutableMapping[str, Any]

REQUEST = "request"
"""The event of a line about a request; all others are sentences."""

_IN_URL = re.compile(r"(://[^\s:/@]{0,100}:)[^\s@/]{1,200}(?=@)")
_FRACTION = re.compile(r"\.[0-9]+")


class Reported(Exception):
    """Raised instead of an exception of which a line was written, so that no second one is."""


def logger_to(
    out: TextIO | Screen,
    settings: ServerSettings,
    *,
    form: Form = "text",
    level: Level = "warning",
    lay_out: Callable[[str], str] = "{}\n".format,
) -> FilteringBoundLogger:
    """Return a logger that writes lines.

    :param settings: of the server; what is secret there is in no line.
    :param level: less important lines are left out.
    :param lay_out: makes a line of text the lines that a terminal shows.
    """
    # Overlong values are shortened in messages for a person; a traceback or JSON must be whole.
    screen = Screen(out.raw if isinstance(out, Screen) else out)
    known: list[Processor] = [
        _Room(out),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.format_exc_info,
        _without_secrets(settings),
        structlog.processors.JSONRenderer() if form == "json" else _text,
    ]
    if form == "json":
        # Just before the renderer, when all members are there.
        known.insert(-1, _in_order)
    logger: FilteringBoundLogger = structlog.wrap_logger(
        _Lines(screen, "{}\n".format if form == "json" else lay_out),
        processors=known,
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
    )
    return logger


def logging_to(logger: FilteringBoundLogger) -> dict[str, Any]:
    """Return how libraries log, for ``logging.config``: their warnings become lines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"lines": {"()": lambda: LibraryRecords(logger)}},
        "root": {"handlers": ["lines"], "level": "WARNING"},
        # Less than an error is about requests that a client got wrong.
        "loggers": {"uvicorn": {"handlers": ["lines"], "level": "ERROR", "propagate": False}},
    }


class LibraryRecords(logging.Handler):
    """Writes the records of libraries as lines."""

    def __init__(self, logger: FilteringBoundLogger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless it is about an exception that has its line."""
        fault = record.exc_info[1] if record.exc_info else None
        if isinstance(fault, Reported):
            return
        more = {} if fault is None else {"exc_info": fault}
        # Of lines, there are fewer levels than of records.
        level = max(logging.DEBUG, min(logging.ERROR, record.levelno // 10 * 10))
        self._logger.log(level, record.getMessage().strip(), logger=record.name, **more)


class _Lines:
    """Writes what is rendered; a reader that went away is no fault of a request."""

    def __init__(self, screen: Screen, lay_out: Callable[[str], str]) -> None:
        self._screen, self._lay_out = screen, lay_out

    def msg(self, text: str) -> None:
        """Write a text of one or more lines at once."""
        # Of lone surrogates, a screen would take some for colours.
        text = text.encode("utf-8", "backslashreplace").decode()
        lines = (self._lay_out(one_line(line)) for line in text.split("\n"))
        try:
            self._screen.write("".join(lines))
            self._screen.flush()
        except (OSError, ValueError):
            return

    debug = info = warning = error = msg


class _Room:
    """Drops events while the stream takes none, and then says how many these were."""

    def __init__(self, out: TextIO | Screen) -> None:
        self._out, self._lost = out, 0

    def __call__(self, _logger: object, _method: str, event: _Event) -> _Event:
        if not _takes_more(self._out):
            self._lost += 1
            raise structlog.DropEvent
        if self._lost:
            event["lost"], self._lost = self._lost, 0
        return event


def _takes_more(out: TextIO | Screen) -> bool:
    """Return whether a line can be written without waiting for who reads."""
    try:
        number = out.fileno()
        return sys.platform == "win32" or bool(select.select([], [number], [], 0)[1])
    except (OSError, ValueError):  # It is no file, or it is closed.
        return True


def _without_secrets(settings: ServerSettings) -> Processor:
    hidden = parse_location(settings.place).without_secrets

    def shown(text: str) -> str:
        safe_text = text.replace(settings.token, "…") if settings.token else text
        return _IN_URL.sub(r"\1…", hidden(safe_text))

    def processed(_logger: object, _method: str, event: _Event) -> _Event:
        for name, value in event.items():
            if isinstance(value, str):
                event[name] = shown(value)
        return event

    return processed


def _in_order(_logger: object, _method: str, event: _Event) -> _Event:
    first = {name: event.pop(name) for name in ("time", "level", "event")}
    return {**first, **event}


def _text(_logger: object, _method: str, event: _Event) -> str:
    """Return an event as a line for a person, and its traceback below."""
    traceback = event.pop("exception", "")
    time = _FRACTION.sub("", event.pop("time"))
    level, lost = event.pop("level"), event.pop("lost", 0)
    event_name = event.pop("event")
    said = _request(event) if event_name == REQUEST else _sentence(event_name, event)
    parts = [time, "" if level == "info" else level, said]
    line = one_line(" ".join(filter(None, parts)))
    if lost:
        line += f" (before it, {lost} lines were lost: no one read)"
    return f"{line}\n{traceback}" if traceback else line


def _sentence(said: str, event: _Event) -> str:
    """Return what happened, to what, and of a fault what it is, where, and what to do now."""
    event.pop("logger", None)  # A name of code says nothing to a person.
    fault = [str(event.pop(name, "")) for name in ("where", "what")]
    now = event.pop("now", "")
    about = ", ".join(f"{name} {value}" for name, value in event.items() if value != "")
    parts = [f"{said} ({about})" if about else said, *fault]
    return "; ".join(filter(None, [": ".join(filter(None, parts)), now]))


def _request(event: _Event) -> str:
    """Return what happened to a request: what was asked, by which client, and what came of it."""
    asked = [event.pop(name, "") for name in ("method", "path", "rpc", "tool")]
    status, agent = event.pop("status"), event.pop("agent", "")
    more = [f"{event.pop('ms')} ms"]
    if "bytes" in event:
        more.append(f"{event.pop('bytes')} bytes")
    more += [f"{name} {value}" for name, value in event.items()]
    more += [agent] if agent else []
    return f"{' '.join(filter(None, asked))}: {status}, {', '.join(more)}"
