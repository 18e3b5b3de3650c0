"""What lines say of a request of an agent: which method, which tool, and whether it was answered.

Over HTTP that is part of the line of the HTTP request; over standard input it is a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from structlog.typing import FilteringBoundLogger

from ..request_log import noted, shortened
from ..server_lines import REQUEST

_Context = ServerRequestContext[Any]

_NAMED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"tools/call": ("tool", "name"), "resources/read": ("resource", "uri")}
)
"""What a method asks for, and the parameter that names it."""


class RequestNotes:
    """Lets the line of an HTTP request say what the agent asked."""

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Answer as the server does."""
        scope = getattr(ctx.request, "scope", {})
        # An error first, which stays if the call raises.
        noted(scope, **_asked("rpc", ctx), result="error")
        result = await call_next(ctx)
        noted(scope, result=_status(result))
        return result


class RequestLines:
    """Writes a line for each request, when it ends.

    :param clock: seconds, which begin anywhere.
    """

    def __init__(
        self, logger: FilteringBoundLogger, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._logger, self._clock = logger, clock

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Answer as the server does."""
        # A notification is not answered, so no line would have a status.
        if ctx.request_id is None:
            return await call_next(ctx)
        begun, status = self._clock(), "error"
        try:
            result = await call_next(ctx)
            status = _status(result)
        finally:
            self._logger.info(
                REQUEST,
                **_asked("method", ctx),
                status=status,
                ms=round((self._clock() - begun) * 1000, 1),
                agent=_agent(ctx),
            )
        return result


def _asked(method: str, context: _Context) -> dict[str, str]:
    """Return the method that an agent calls, and the tool or the resource."""
    fields = {method: shortened(context.method)}
    noun, key = _NAMED.get(context.method, ("", ""))
    value = (context.params or {}).get(key)
    if isinstance(value, str):
        fields[noun] = shortened(value)
    return fields


def _status(result: HandlerResult) -> str:
    match result:
        case types.CallToolResult(is_error=True) | {"isError": True}:
            return "error"
        case _:
            return "ok"


def _agent(context: _Context) -> str:
    """Return what the agent calls itself; empty before it has."""
    client = context.session.client_params
    if client is None:
        return ""
    return shortened(f"{client.client_info.name}/{client.client_info.version}")
