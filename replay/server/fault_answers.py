"""Errors as answers: a status, and what, where and what now as the command line prints them.

An error of the log or of the server itself can quote SQL or a path of this machine. Such a text is
for the terminal of the server; a client reads a sentence that stands here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType, UnionType
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ...engine.errors import (
    InputError,
    LogCorrupt,
    LogNewer,
    LogNotFound,
    LogOlder,
    LogUnavailable,
    NotKnown,
    ObjectNotFound,
    PlinianError,
    PointMalformed,
    PointUnknown,
    UsageError,
)
from .answer_limits import TookTooLong
from .guard import SAFE_HEADERS
from .plain_json import PlainJSON
from .reach import OutOfReach
from .readers import ServerBusy
from .works import WorkStopped

_STATUSES: tuple[tuple[type[PlinianError] | UnionType, int], ...] = (
    (ObjectNotFound, 404),
    (PointMalformed, 400),
    (PointUnknown, 404),
    (UsageError | InputError, 400),
    (NotKnown, 409),
    (ServerBusy | TookTooLong | OutOfReach | WorkStopped, 503),
    (LogNotFound | LogUnavailable | LogNewer | LogOlder, 503),
)
"""The status of an error, by the first class that it belongs to; 500 if to none."""

_TOLD: Mapping[type[PlinianError], str] = MappingProxyType(
    {
        LogNotFound: "the log is not there any more",
        LogUnavailable: "the log cannot be read at the moment",
        LogNewer: "the log was written by a newer Plinian than this server",
        LogOlder: "the log must be upgraded before it can be served",
        LogCorrupt: "the log is damaged",
    }
)
"""What a client reads of an error of the log."""

_OURS = ServerBusy | TookTooLong | OutOfReach
"""What a client reads as it is, although the server does not answer."""

_FAILED = "the server failed to answer"
_SEE_TERMINAL = "the terminal of the server says more"


def status_of(fault: PlinianError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(fault, kind)), 500)


def status_in_path(fault: PlinianError) -> int:
    """Return the HTTP status where the path says the moment: what is no moment is not found."""
    return 404 if isinstance(fault, PointUnknown) else status_of(fault)


def is_passing(fault: PlinianError) -> bool:
    """Return whether the same request may be answered a little later."""
    return status_of(fault) == 503 and not isinstance(fault, OutOfReach)


def fault_document(fault: PlinianError) -> dict[str, Any]:
    """Return an error for JSON, without what is only for the terminal of the server."""
    if status_of(fault) < 500 or isinstance(fault, _OURS):
        return {"error": {"what": fault.what, "where": fault.where, "now": fault.now}}
    text = next((text for kind, text in _TOLD.items() if isinstance(fault, kind)), _FAILED)
    return {"error": {"what": text, "where": "", "now": _SEE_TERMINAL}}


def told_to_client(fault: PlinianError) -> dict[str, str]:
    """Return what a client reads of an error; the terminal shows what is withheld."""
    if status_of(fault) >= 500 and not isinstance(fault, _OURS):
        report(fault)
    said: dict[str, str] = fault_document(fault)["error"]
    return said


def report(fault: Exception) -> None:
    """Print to the terminal of the server what a client does not read.

    What is no error of ours is printed with its traceback.
    """
    where = getattr(fault, "where", "")
    text = f"{where}: {fault.what}" if isinstance(fault, PlinianError) and where else str(fault)
    logger = logging.getLogger(__name__)
    if isinstance(fault, PlinianError):
        logger.warning("%s", ascii(text)[1:-1])
    else:
        logger.error("%s", ascii(text)[1:-1], exc_info=fault)


async def json_fault(_request: Request, fault: Exception) -> Response:
    """Answer with an error of ours as JSON."""
    assert isinstance(fault, PlinianError), "it is registered for these alone"
    status = status_of(fault)
    headers = {"Retry-After": "1"} if is_passing(fault) else None
    return PlainJSON({"error": told_to_client(fault)}, status_code=status, headers=headers)


async def json_failure(_request: Request, _fault: Exception) -> Response:
    """Answer for an error that is not ours; the terminal of the server shows it.

    This answer is given outside of the guard, so it brings the safe headers itself.
    """
    said = {"error": {"what": _FAILED, "where": "", "now": _SEE_TERMINAL}}
    return PlainJSON(said, status_code=500, headers=dict(SAFE_HEADERS))
