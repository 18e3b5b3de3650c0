"""Plinian: the recorded history of a cluster that runs Volcano, and its state at any moment.

The names in this module are the public API; everything else may move between releases::

    from datetime import UTC, datetime

    import plinian

    with plinian.open("plinian.db", create=True) as log:
        log.ingest(["audit.log", "watch-pods.jsonl"])
        pods = log.get("pods", at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), namespace="default")
        print(log.diff("-5m", "end").changed)
        print(log.session(release="v1.12.1").result.binds)

Every command of the command line is a method of :class:`Log`, or a function if it needs no log.
Results are typed; :func:`document` turns each into what ``-o json`` prints, and ``to_pandas()``
and ``to_arrow()`` of a result return it as a table. All errors are subclasses of
:class:`PlinianError`. Nothing here reads the clock, and nothing but ``ingest``, ``export``,
``pack``, ``create_branch``, ``demo`` and the checkpoints writes.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from types import FunctionType, MappingProxyType

from .engine.errors import (
    ConnectionLost,
    DerivedDamaged,
    EventMalformed,
    FormatUnknown,
    HeadMissing,
    InputDamaged,
    InputError,
    InputTruncated,
    LogCorrupt,
    LogError,
    LogNewer,
    LogNotFound,
    LogOlder,
    LogUnavailable,
    NotKnown,
    ObjectNotFound,
    PackDiffers,
    PlinianError,
    PointMalformed,
    PointTooEarly,
    PointUnknown,
    PositionConflict,
    UsageError,
)
from .engine.version import __version__

# Not from typing: importing it takes half of the time until interrupts are handled.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import ParamSpec, TypeVar

    from .engine.events import Event, Recorded, Reference
    from .engine.log import BranchInfo, HeadInfo, HeldHead, LogInfo, VerifyReport
    from .replay.answers.answer import Why
    from .replay.answers.blamed import Blame
    from .replay.belief.logged_drift import Drift
    from .replay.compare.bisection import Bisection
    from .replay.compare.compared_sessions import Comparison
    from .replay.compare.log_search import LogAnswers
    from .replay.compare.releases import BehaviourDiff, ReleaseLine, Unproven
    from .replay.compare.releases import ReleaseBehaviour as Behaviour
    from .replay.compare.verdict import Upgrade, Verdict, verdict_of
    from .replay.explore.exploration import Anomaly, Exploration
    from .replay.explore.hand_walk import Walk
    from .replay.explore.replaying import Replay
    from .replay.explore.window_words import ToldWindow, ToldWrite
    from .replay.facade.cases import CaseResult, CaseSession, bisect, simulate, simulate_all
    from .replay.facade.documents import document
    from .replay.facade.exploring import (
        anomaly_files,
        explore,
        explore_device_model,
        explore_log,
        replay_token,
        step,
        windows,
        write_run,
    )
    from .replay.facade.linting import invariants, lint, lint_rules
    from .replay.facade.log import CheckpointInfo, Log
    from .replay.facade.reading import open_pack, read, why
    from .replay.facade.releases import behaviours, release_diff, releases, unproven
    from .replay.facade.reviewing import junit, sarif
    from .replay.fidelity.report import Fidelity
    from .replay.forecast.forecast_outcome import Forecast
    from .replay.histories.diff import Diff
    from .replay.histories.diff_actors import Who
    from .replay.histories.history import Happening, History, ObjectHistory
    from .replay.ingest.explain import Explanation, explain
    from .replay.ingest.ingest_run import IngestOptions, IngestSummary
    from .replay.invariants.check_report import CheckReport
    from .replay.lint.findings import Finding
    from .replay.lint.lint_rules import Rule as LintRule
    from .replay.lint.lint_task import Report as LintReport
    from .replay.logs.log_status import Status
    from .replay.logs.logged_confs import ConfText
    from .replay.moments.moment import Moment
    from .replay.pack.opened import OpenedPack
    from .replay.pack.pack_writing import Packed
    from .replay.plot.plot_run import Plot
    from .replay.questions.blame import BlameQuestion
    from .replay.questions.drift import DriftQuestion
    from .replay.questions.question import Question
    from .replay.recorded.session_list import ListedSession
    from .replay.render.believed import Belief
    from .replay.server.web.files import web_page
    from .replay.sessions.session_answer import SessionAnswer
    from .replay.tabular.tabular import Records
    from .replay.what_if.changed_sessions import WhatIf
    from .replay.what_if.help import WouldHelp

    P = ParamSpec("P")
    A = TypeVar("A")

__all__ = [
    "Anomaly",
    "Behaviour",
    "BehaviourDiff",
    "Belief",
    "Bisection",
    "Blame",
    "BlameQuestion",
    "BranchInfo",
    "CaseResult",
    "CaseSession",
    "CheckReport",
    "CheckpointInfo",
    "Comparison",
    "ConfText",
    "ConnectionLost",
    "DerivedDamaged",
    "Diff",
    "Drift",
    "DriftQuestion",
    "Event",
    "EventMalformed",
    "Explanation",
    "Exploration",
    "Fidelity",
    "Finding",
    "Forecast",
    "FormatUnknown",
    "Happening",
    "HeadInfo",
    "HeadMissing",
    "HeldHead",
    "History",
    "IngestOptions",
    "IngestSummary",
    "InputDamaged",
    "InputError",
    "InputTruncated",
    "LintReport",
    "LintRule",
    "ListedSession",
    "Log",
    "LogAnswers",
    "LogCorrupt",
    "LogError",
    "LogInfo",
    "LogNewer",
    "LogNotFound",
    "LogOlder",
    "LogUnavailable",
    "Moment",
    "NotKnown",
    "ObjectHistory",
    "ObjectNotFound",
    "OpenedPack",
    "PackDiffers",
    "Packed",
    "PlinianError",
    "Plot",
    "PointMalformed",
    "PointTooEarly",
    "PointUnknown",
    "PositionConflict",
    "Question",
    "Recorded",
    "Records",
    "Reference",
    "ReleaseLine",
    "Replay",
    "SessionAnswer",
    "Status",
    "ToldWindow",
    "ToldWrite",
    "Unproven",
    "Upgrade",
    "UsageError",
    "Verdict",
    "VerifyReport",
    "Walk",
    "WhatIf",
    "Who",
    "Why",
    "WouldHelp",
    "__version__",
    "anomaly_files",
    "behaviours",
    "bisect",
    "demo",
    "demo_files",
    "document",
    "explain",
    "explore",
    "explore_device_model",
    "explore_log",
    "invariants",
    "junit",
    "lint",
    "lint_rules",
    "open",
    "open_pack",
    "read",
    "release_diff",
    "releases",
    "replay_token",
    "sarif",
    "simulate",
    "simulate_all",
    "step",
    "unproven",
    "verdict_of",
    "web_page",
    "why",
    "windows",
    "write_run",
]

_PLACES = MappingProxyType(
    {
        "engine.events": "Event Recorded Reference",
        "engine.log": "BranchInfo HeadInfo HeldHead LogInfo VerifyReport",
        "replay.answers.blamed": "Blame",
        "replay.answers.answer": "Why",
        "replay.forecast.forecast_outcome": "Forecast",
        "replay.what_if.help": "WouldHelp",
        "replay.what_if.changed_sessions": "WhatIf",
        "replay.compare.bisection": "Bisection",
        "replay.compare.compared_sessions": "Comparison",
        "replay.compare.verdict": "Upgrade Verdict verdict_of",
        "replay.histories.diff": "Diff",
        "replay.belief.logged_drift": "Drift",
        "replay.render.believed": "Belief",
        "replay.facade.cases": "CaseResult CaseSession bisect simulate simulate_all",
        "replay.facade.documents": "document",
        "replay.questions.blame": "BlameQuestion",
        "replay.questions.drift": "DriftQuestion",
        "replay.questions.question": "Question",
        "replay.invariants.check_report": "CheckReport",
        "replay.explore.replaying": "Replay",
        "replay.explore.exploration": "Anomaly Exploration",
        "replay.explore.hand_walk": "Walk",
        "replay.explore.window_words": "ToldWindow ToldWrite",
        "replay.facade.exploring": (
            "anomaly_files explore explore_device_model explore_log replay_token step "
            "windows write_run"
        ),
        "replay.facade.linting": "invariants lint lint_rules",
        "replay.facade.log": "CheckpointInfo Log",
        "replay.facade.reading": "open_pack read why",
        "replay.pack.opened": "OpenedPack",
        "replay.pack.pack_writing": "Packed",
        "replay.plot.plot_run": "Plot",
        "replay.facade.releases": "behaviours release_diff releases unproven",
        "replay.facade.reviewing": "junit sarif",
        "replay.compare.log_search": "LogAnswers",
        "replay.histories.history": "Happening History ObjectHistory",
        "replay.ingest.explain": "Explanation explain",
        "replay.ingest.ingest_run": "IngestOptions IngestSummary",
        "replay.lint.findings": "Finding",
        "replay.lint.lint_rules": "LintRule=Rule",
        "replay.lint.lint_task": "LintReport=Report",
        "replay.moments.moment": "Moment",
        "replay.compare.releases": "Behaviour=ReleaseBehaviour BehaviourDiff ReleaseLine Unproven",
        "replay.logs.logged_confs": "ConfText",
        "replay.server.web.files": "web_page",
        "replay.sessions.session_answer": "SessionAnswer",
        "replay.logs.log_status": "Status",
        "replay.fidelity.report": "Fidelity",
        "replay.recorded.session_list": "ListedSession",
        "replay.tabular.tabular": "Records",
        "replay.histories.diff_actors": "Who",
    }
)
"""The modules of names that are loaded at first use, so that the import itself stays quick."""


def _listing(function: Callable[P, A]) -> Callable[P, A]:
    """Return a function whose errors about parameters say which there are."""
    from .replay.facade.options import listing_function  # noqa: PLC0415 -- import stays cheap

    listing = listing_function(function)
    listing.__module__ = __name__  # Where other processes find it, too.
    return listing


def _later(function: Callable[P, A]) -> Callable[P, A]:
    """Return the same of a function that is here from the begin; a call loads what it needs."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> A:
        return _listing(function)(*given, **named)

    return call


@_later
def open(  # noqa: A001 -- plinian.open reads as what it is
    place: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    branch: str = "main",
    cluster: str | None = None,
) -> Log:
    """Open the log at a path, an ``sqlite:///`` or a ``postgresql://`` URL.

    :param create: create a log if there is none.
    :param read_only: write nothing; works on a read-only log.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; may be left out if the log holds only one.
    :raises LogNotFound: there is no log, and ``create`` is not set.
    """
    from .replay.facade.log import opened  # noqa: PLC0415 -- import plinian stays cheap

    return opened(str(place), create=create, read_only=read_only, branch=branch, cluster=cluster)


@_later
def demo(place: str | PathLike[str] = "plinian-demo.db") -> Log:
    """Ingest the recording that comes with Plinian, and return the open log.

    Two and a half minutes of a real cluster with Volcano 1.12.1: a node is drained, another is
    deleted while pods run on it. Running it again adds nothing.

    :raises LogUnavailable: a log cannot be created at this place.
    """
    from .replay.facade.reading import demonstration  # noqa: PLC0415 -- import plinian stays cheap

    return demonstration(str(place))


@_later
def demo_files(folder: str | PathLike[str]) -> list[str]:
    """Copy the files of that recording into a folder, to try ingest with, and return their paths.

    Watches, an audit log, logs of the scheduler and the controllers, and a configuration.

    :raises UsageError: another file with one of the names already exists.
    """
    from pathlib import Path  # noqa: PLC0415 -- import plinian stays cheap

    from .replay.demo import copy_inputs  # noqa: PLC0415

    return [str(path) for path in copy_inputs(Path(folder))]


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        for each in names.split():
            public, _, own = each.partition("=")
            if public == name:
                found = getattr(import_module(f".{module}", __name__), own or public)
                return _listing(found) if isinstance(found, FunctionType) else found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
