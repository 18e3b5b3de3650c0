"""What the answer to each question consists of: of a list, its members."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypedDict

from ...answers.answer import Why
from ...answers.blamed import Blame
from ...belief.logged_drift import Drift
from ...compare.bisection import BisectionDocument
from ...compare.compared_sessions import ComparisonDocument
from ...compare.releases import BehaviourDiff, ReleaseBehaviour, ReleaseLine
from ...compare.verdict import UpgradeDocument
from ...explore.exploration import ExplorationDocument
from ...fidelity.report import FidelityDocument
from ...forecast.forecast_outcome import ForecastDocument
from ...histories.diff import Diff
from ...histories.history import ObjectHistory
from ...invariants.check_report import CheckDocument
from ...lint.lint_task import LintDocument
from ...logs.log_status import Status
from ...overview.problems import Overview
from ...pod_path.path_records import PodPath
from ...recorded.session_list import ListedSession
from ...render.believed import BeliefDocument
from ...render.events import EventDocument
from ...sessions.session_answer import SessionDocument
from ...shares.entitlements import Shares
from ...what_if.changed_sessions import WhatIfDocument
from ...what_if.help import WouldHelp
from ...would_start.start_records import WouldStart


class KindOfObjects(TypedDict):
    """A kind of objects, and how many exist."""

    group: str
    kind: str
    resource: str
    name: str
    objects: int


class StateRow(TypedDict):
    """A row of a table of the state; its other fields are those of the table."""

    time: int | None
    revision: int | None


class KubernetesObject(TypedDict):
    """An object as the API server held it; its other fields are those of its kind."""

    apiVersion: str
    kind: str
    metadata: dict[str, Any]


RESULTS: Mapping[str, Any] = MappingProxyType(
    {
        "log": Status,
        "events": EventDocument,
        "sessions": ListedSession,
        "kinds": KindOfObjects,
        "state": StateRow,
        "objects": KubernetesObject,
        "object": KubernetesObject,
        "diff": Diff,
        "history": ObjectHistory,
        "blame": Blame,
        "overview": Overview,
        "shares": Shares,
        "drift": Drift,
        "why": Why,
        "path": PodPath,
        "what-would-help": WouldHelp,
        "would-start": WouldStart,
        "what-if": WhatIfDocument,
        "forecast": ForecastDocument,
        "session": SessionDocument,
        "compare": ComparisonDocument,
        "compare-moments": ComparisonDocument,
        "belief": BeliefDocument,
        "check": CheckDocument,
        "explore": ExplorationDocument,
        "bisect": BisectionDocument,
        "upgrade-check": UpgradeDocument,
        "fidelity": FidelityDocument,
        "lint": LintDocument,
        "releases": ReleaseLine,
        "behaviours": ReleaseBehaviour,
        "release-diff": BehaviourDiff,
    }
)
"""By the name of the question; a question that is not here has an object with any fields."""
