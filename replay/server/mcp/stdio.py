"""MCP over standard input and output, until the input ends."""

from __future__ import annotations

import logging.config
import threading
from concurrent.futures import Future

import anyio
from mcp.server.stdio import stdio_server
from structlog.typing import FilteringBoundLogger

from ..readers import Readers
from ..running import look
from ..server_lines import logging_to
from ..settings import ServerSettings
from .request_lines import RequestLines
from .tools import server_of


def serve_stdio(settings: ServerSettings, logger: FilteringBoundLogger) -> None:
    """Serve a log to the program that started this process.

    The protocol runs in another thread. This one waits, so that an interrupt ends the process
    although a thread reads the input.

    :param logger: takes the lines of the server; none goes to standard output.
    :raises PlinianError: the log cannot be opened.
    """
    look(settings)
    logging.config.dictConfig(logging_to(logger))
    ended: Future[None] = Future()
    threading.Thread(target=_run, args=(settings, logger, ended), daemon=True).start()
    ended.result()


def _run(settings: ServerSettings, logger: FilteringBoundLogger, ended: Future[None]) -> None:
    try:
        anyio.run(_serve, settings, logger)
    except BaseException as fault:  # noqa: BLE001 -- raised again where the command waits
        ended.set_exception(fault)
    else:
        ended.set_result(None)


async def _serve(settings: ServerSettings, logger: FilteringBoundLogger) -> None:
    readers = Readers(settings)
    try:
        server = server_of(settings, readers)
        server.middleware.append(RequestLines(logger))
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        readers.close()
