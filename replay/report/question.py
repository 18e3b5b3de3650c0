"""What a report is asked: a moment, an earlier one, the objects that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...engine.state.facts import PodFact, PodGroupFact
from ...engine.state.truth_fold import Entry, Truth
from ..answers.answering_session import JOB, POD, PODGROUP
from ..logs.given_names import stem_of
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from .state import WAITING

MOST_ANSWERS = 3
"""For how many objects a report says why they wait, if none are named."""


class ReportRequest(NamedTuple):
    """A report to make.

    :param place: where the log is; only its name is shown.
    :param named: objects with the namespace to look in, if their names have none.
    :param before: the earlier moment; None if the log has nothing before.
    :param remarks: how the earlier moment was found, if that is not plain.
    :param conf: a configuration instead of the log's.
    :param assumed: what was assumed about the release, as sentences.
    """

    log: Log
    place: str
    moment: Moment
    named: Sequence[ObjectName]
    namespace: str | None
    before: Moment | None
    remarks: tuple[str, ...]
    release: str
    conf: ConfText | None
    assumed: Sequence[str]


def waiting(truth: Truth) -> list[ObjectName]:
    """Return the jobs and PodGroups that wait, those that wait longest first.

    Without any, pods of no PodGroup that have no node.
    """
    groups = [
        entry
        for entry in truth.of(*PODGROUP)
        if isinstance(entry.fact, PodGroupFact) and entry.fact.phase in WAITING
    ]
    if groups:
        return [_of_group(truth, entry) for entry in sorted(groups, key=_age)]
    pods = [
        entry
        for entry in truth.of(*POD)
        if isinstance(entry.fact, PodFact) and entry.fact.phase == "Pending" and not entry.fact.node
    ]
    return [
        ObjectName(*POD, entry.reference.name, entry.reference.namespace)
        for entry in sorted(pods, key=_age)
    ]


def _age(entry: Entry) -> tuple[int, str, str]:
    return entry.fact.created_at or 0, entry.reference.namespace, entry.reference.name


def _of_group(truth: Truth, entry: Entry) -> ObjectName:
    """Return the job of a PodGroup, by its name, else the PodGroup itself."""
    place, name = entry.reference.namespace, entry.reference.name
    job = stem_of(name)
    if job != name and truth.find(*JOB, place, job) is not None:
        return ObjectName(*JOB, job, place)
    return ObjectName(*PODGROUP, name, place)
