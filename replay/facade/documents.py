"""Results as the command line prints them with ``-o json``."""

from __future__ import annotations

from typing import Any

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ..render.documents import plain
from ..tabular.tabular import Records


def document(result: object, *, trace: bool = False, payload: bool = False) -> Any:
    """Return a result as ``-o json`` of its command prints it: dicts, lists, texts, numbers.

    :param result: whatever a method of :class:`Log` or a function of this package returned; a list
        is converted member by member.
    :param trace: of a comparison: include all steps of each side.
    :param payload: of events: include their payloads.
    :raises UsageError: no command prints such a result.
    """
    if type(result) in {list, tuple, Records} and isinstance(result, list | tuple):
        return [document(member, trace=trace, payload=payload) for member in result]
    if isinstance(result, Recorded):
        from ..moments.actors import self_attributed  # noqa: PLC0415 -- only here needed
        from ..render.events import shown_event  # noqa: PLC0415

        return plain(shown_event(self_attributed(result), payload=payload))
    shown: Any = getattr(result, "document", result)
    if trace and hasattr(result, "shown"):
        shown = result.shown(trace=True)
    if isinstance(shown, tuple) and hasattr(shown, "_asdict"):
        shown = shown._asdict()
    if not isinstance(shown, msgspec.Struct | dict | str | int | float | bool | None):
        kind = type(result).__name__
        raise UsageError(f"a {kind} has no document", now="give a result of a method of a log")
    return plain(shown)
