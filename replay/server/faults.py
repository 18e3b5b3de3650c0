"""Errors as answers: a status, and what, where and what now as the command line prints them."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...engine.errors import (
    LogNewer,
    LogNotFound,
    LogOlder,
    LogUnavailable,
    NotKnown,
    ObjectNotFound,
    PlinianError,
    PointUnknown,
    UsageError,
)
from .readers import ServerBusy

_STATUSES: tuple[tuple[type[PlinianError], int], ...] = (
    (ObjectNotFound, 404),
    (PointUnknown, 404),
    (UsageError, 400),
    (NotKnown, 409),
    (ServerBusy, 503),
    (LogNotFound, 503),
    (LogUnavailable, 503),
    (LogNewer, 503),
    (LogOlder, 503),
)
"""The status of an error, by the first class that it belongs to; 500 if to none."""


def status_of(fault: PlinianError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(fault, kind)), 500)


def fault_document(fault: PlinianError) -> dict[str, Any]:
    """Return an error for JSON, without where on this machine the log is."""
    where = "" if status_of(fault) >= 500 else fault.where
    return {"error": {"what": fault.what, "where": where, "now": fault.now}}


async def json_fault(_request: Request, fault: Exception) -> Response:
    """Answer with an error of ours as JSON."""
    assert isinstance(fault, PlinianError), "it is registered for these alone"
    return JSONResponse(fault_document(fault), status_code=status_of(fault))
