"""Results as the command line prints them with ``-o json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ..render.documents import plain
from ..tabular.tabular import Records

_FORMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "what_if.changed_sessions.WhatIf": ("what_if.changed_sessions", "what_if_document"),
        "forecast.forecast_run.Forecast": ("forecast.forecast_outcome", "forecast_document"),
        "sessions.session.SessionAnswer": ("sessions.session", "answer_document"),
        "sessions.session.SessionRun": ("sessions.session", "answer_document"),
        "compare.sessions.Comparison": ("compare.sessions", "comparison_document"),
        "compare.bisection.Bisection": ("render.bisection", "bisection_document"),
        "compare.upgrade.Upgrade": ("render.upgrade", "upgrade_document"),
        "fidelity.report.Fidelity": ("fidelity.report", "fidelity_document"),
        "explore.explore_search.Exploration": ("render.race", "exploration_document"),
        "explore.replaying.Replay": ("render.race_replay", "replay_document"),
        "invariants.check_task.CheckReport": ("render.check", "check_document"),
        "lint.lint_task.Report": ("render.lint", "lint_document"),
        "lint.findings.Finding": ("lint.findings", "Finding.document"),
        "lint.lint_rules.Rule": ("render.lint", "rule_document"),
    }
)
"""The module and the function that make the document of a result, by its class."""

_PARTS = ("nodes", "jobs", "tasks", "queues", "hypernodes", "work")
_REPLAY = __package__.rpartition(".")[0]


def document(result: object, *, trace: bool = False, payload: bool = False) -> Any:
    """Return a result as ``-o json`` of its command prints it: dicts, lists, texts, numbers.

    :param result: whatever a method of :class:`Log` or a function of this package returned; a list
        is converted member by member.
    :param trace: of a comparison: include all steps of each side.
    :param payload: of events: include their payloads.
    :raises UsageError: no command prints such a result.
    """
    if type(result) in {list, tuple, Records} and isinstance(result, list | tuple):
        return [document(one, trace=trace, payload=payload) for one in result]
    return plain(_fields(result, trace=trace, payload=payload))


def _fields(result: object, *, trace: bool, payload: bool) -> Any:
    kind = type(result)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{_REPLAY}.")
    if isinstance(result, Recorded):
        from ..moments.actors import self_attributed  # noqa: PLC0415 -- only here needed
        from ..render.events import event_fields  # noqa: PLC0415

        return event_fields(self_attributed(result), payload=payload)
    if name in _FORMS:
        return _maker(name)(result, **({"trace": trace} if name.endswith("Comparison") else {}))
    if name == "facade.searching.LogAnswers":
        return _log_answers(result)
    if name == "render.believed.Belief":
        from ..render.belief import marked  # noqa: PLC0415 -- only here needed

        held: Any = result
        return marked({part: getattr(held, part) for part in _PARTS}, held.cache)
    if isinstance(result, msgspec.Struct | dict | str | int | float | bool | None):
        return result
    if isinstance(result, tuple) and hasattr(result, "_asdict"):
        return result._asdict()
    raise UsageError(f"a {kind.__name__} has no document", now="give a result of a method of a log")


def _log_answers(found: Any) -> Any:
    from ..render.bisection import bisection_document  # noqa: PLC0415

    return bisection_document(found, found.crashes, found.panicking)


def _maker(name: str) -> Callable[..., Any]:
    module, function = _FORMS[name]
    found: Any = import_module(f"{_REPLAY}.{module}")
    for part in function.split("."):
        found = getattr(found, part)
    made: Callable[..., Any] = found
    return made
