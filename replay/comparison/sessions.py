"""Sessions side by side: their decisions, where their traces part, how their releases differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from ..log import Log
from ..points import Moment
from ..releases import BehaviourDiff, release_diff
from ..session import ConfText, SessionAnswer, answer_document, session_at, step_document
from .decisions import Differing, Parting, decisions_of, differing, partings


class Side(NamedTuple):
    """One of the sessions that are compared.

    :param label: what sets it apart from the others: a release, a configuration, a point.
    """

    label: str
    answer: SessionAnswer


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sessions, and what is not the same in all of them; true if anything is.

    :param partings: see :func:`.decisions.partings`.
    :param behaviours: in which their releases differ, whether it matters here or not.
    """

    sides: tuple[Side, ...]
    decisions: list[Differing]
    partings: list[Parting]
    behaviours: list[BehaviourDiff]

    def __bool__(self) -> bool:
        return bool(self.decisions)


def compared(sides: Sequence[Side]) -> Comparison:
    """Return what differs between sessions, which must have been traced."""
    answers = [side.answer for side in sides]
    releases = tuple(answer.release for answer in answers)
    return Comparison(
        sides=tuple(sides),
        decisions=differing([decisions_of(answer) for answer in answers]),
        partings=partings([answer.result.trace for answer in answers]),
        behaviours=release_diff(*releases) if len(set(releases)) > 1 else [],
    )


def compare_variants(
    log: Log, moment: Moment, releases: Sequence[str], confs: Sequence[ConfText | None]
) -> Comparison:
    """Compare sessions at one moment: every release with every configuration.

    :param releases: names; at least one.
    :param confs: None is the one in force in the log; at least one.
    """
    sides = []
    for release, conf in product(releases, confs):
        answer = session_at(log, moment, release=release, conf=conf, trace=True)
        parts = [answer.release] if len(releases) > 1 or len(confs) == 1 else []
        parts += [answer.conf] if len(confs) > 1 else []
        sides.append(Side(" ".join(parts), answer))
    return compared(sides)


def compare_moments(
    log: Log, moments: tuple[Moment, Moment], releases: tuple[str, str]
) -> Comparison:
    """Compare the session of one release at one moment with that of another at another."""
    sides = []
    for moment, release in zip(moments, releases, strict=True):
        answer = session_at(log, moment, release=release, trace=True)
        sides.append(Side(f"{answer.release} {answer.at}", answer))
    return compared(sides)


def comparison_document(found: Comparison, *, trace: bool = False) -> dict[str, Any]:
    """Return a comparison as JSON has it; values are in the order of the sides.

    :param trace: with all steps of each side.
    """
    return {
        "differ": bool(found),
        "sides": [
            {"label": side.label, **_side_document(side.answer, trace=trace)}
            for side in found.sides
        ],
        "decisions": [row._asdict() for row in found.decisions],
        "partings": [parting_document(parting) for parting in found.partings],
        "behaviours": [row._asdict() for row in found.behaviours],
    }


def parting_document(parting: Parting) -> dict[str, Any]:
    """Return where traces part as JSON has it."""
    return {
        "number": parting.number,
        "what": parting.what,
        "before": [step_document(step) for step in parting.before],
        "steps": [[step_document(step) for step in side] for side in parting.steps],
    }


def _side_document(answer: SessionAnswer, *, trace: bool) -> dict[str, Any]:
    document = answer_document(answer)
    if not trace:
        del document["trace"], document["node_scores"]
    return document
