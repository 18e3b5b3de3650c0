"""Which questions there are; each is a module that is imported when the question is asked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .question import Question


class Listed(NamedTuple):
    """A question in the table.

    :param name: of its class. :param help: the first sentence of its command's help; empty if it
        has none: another command asks it, too. :param under: the command that its own is below, as
        ``session list`` is below ``session``. :param module: of its class, if it has not the name
        of the question, which may be a word of Python.
    """

    name: str
    help: str = ""
    under: str = ""
    module: str = ""


QUESTIONS: Mapping[str, Listed] = MappingProxyType(
    {
        "overview": Listed("OverviewQuestion", "Show what is wrong at a moment, the worst first."),
        "shares": Listed(
            "SharesQuestion", "Show what each queue is entitled to at a moment, and what it holds."
        ),
        "diff": Listed("DiffQuestion", "Show what differs between two moments."),
        "compare-moments": Listed("MomentsComparisonQuestion"),
        "history": Listed("HistoryQuestion", "Show all that is known about an object."),
        "blame": Listed("BlameQuestion", "Show which events make up a number."),
        "drift": Listed(
            "DriftQuestion", "Show where the scheduler's cache differs from the API server."
        ),
        "why": Listed("WhyQuestion", "Say why an object waits."),
        "path": Listed("PathQuestion", "Show every check of a pod, and each node by each filter."),
        "what-would-help": Listed("WouldHelpQuestion"),
        "what-if": Listed("WhatIfQuestion", "Run the session of a moment with something changed."),
        "forecast": Listed("ForecastQuestion"),
        "try": Listed(
            "WouldStartQuestion",
            "Say whether manifests that are not applied yet would start at a moment, and when.",
            module="would_start",
        ),
        "belief": Listed("BeliefQuestion", "Show the scheduler's cache at a moment."),
        "check": Listed("CheckQuestion", "Check invariants at a moment, or over a whole log."),
        "fidelity": Listed(
            "RerunQuestion", "Run recorded sessions again, and compare them with the record."
        ),
        "bisect": Listed("BisectQuestion", "Find the first moment or release with another answer."),
        "session": Listed("SessionQuestion", "Run one scheduling session at a moment."),
        "compare": Listed("ComparisonQuestion"),
        "sessions": Listed("SessionListQuestion", under="session"),
        "upgrade-check": Listed(
            "UpgradeCheckQuestion", "Show what another release would have decided differently."
        ),
        "releases": Listed("ReleasesQuestion"),
        "behaviours": Listed("BehavioursQuestion"),
        "release-diff": Listed("ReleaseDiffQuestion"),
    }
)
"""All questions, by their names; the module of each has the same name, or is named."""


def question_named(name: str) -> type[Question[Any]]:
    """Return the class of a question."""
    listed = QUESTIONS[name]
    module = import_module(f"{__package__}.{listed.module or name.replace('-', '_')}")
    kind: type[Question[Any]] = getattr(module, listed.name)
    return kind
