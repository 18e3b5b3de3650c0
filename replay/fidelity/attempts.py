"""One run of a recorded session, compared with what was recorded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from ...engine.model.session_tables import JobColumns
from ...engine.session.framework.chooser import RecordedChoice
from ...engine.session.framework.session_outcome import ClosedPodGroupStatus, SessionResult
from ..compare.crashes import same_words
from ..recorded.recorded_sessions import RecordedSession
from ..recorded.written_groups import ComparedStatus


class Aspect(StrEnum):
    """What is compared."""

    BINDING = "binding"
    EVICTION = "eviction"
    PHASE = "phase"
    CONDITION = "conditions"
    PANIC = "panic"


class DifferingResult(NamedTuple):
    """Something that came out differently.

    :param name: of the pod or PodGroup, ``ns/name``; empty for a panic of the scheduler.
    :param recorded: what was recorded, in words; empty if nothing was.
    :param again: what the run decided; empty if nothing.
    """

    aspect: Aspect
    name: str
    recorded: str
    again: str

    @property
    def is_invented(self) -> bool:
        """Whether it is a pod that only the run binds."""
        return self.aspect is Aspect.BINDING and not self.recorded


class Attempt(NamedTuple):
    """One run of a session, compared with the record.

    :param differing: in order of aspect and name.
    :param ties: pods for which the recorded node was one of several with the same score, and
        Plinian would have taken another: that node.
    :param result: what the run decided.
    """

    differing: tuple[DifferingResult, ...]
    ties: Mapping[str, str]
    result: SessionResult

    @property
    def names(self) -> frozenset[str]:
        """The pods and PodGroups that came out differently."""
        return frozenset(differing_result.name for differing_result in self.differing)

    def distance(self, ignored: Collection[str] = ()) -> tuple[int, int, int, int, int]:
        """Return a key to compare runs: less is nearer to the record.

        :param ignored: pods and PodGroups that do not count.
        """
        counted = [
            differing_result
            for differing_result in self.differing
            if differing_result.name not in ignored
        ]
        binds = [result for result in counted if result.aspect is Aspect.BINDING]
        return (
            # By weight: pods bound in one run only, other nodes, panics, evictions, statuses.
            sum(not (bind.recorded and bind.again) for bind in binds),
            len(binds),
            sum(result.aspect is Aspect.PANIC for result in counted),
            sum(result.aspect is Aspect.EVICTION for result in counted),
            sum(result.aspect in {Aspect.PHASE, Aspect.CONDITION} for result in counted),
        )


_REASON_OF = re.compile(r"Origin reason is ([^ :]+): ")


class Following:
    """Takes what was recorded among equals, and notes where Plinian would take another node.

    Among equals are nodes with the same score, and the pods whose reason a gang's message may have:
    Go takes the first of a map. If a session did not write a PodGroup, its message was the present
    one.

    :param jobs: what the session sees. :ivar ties: by pod, the node that Plinian would have taken.
    """

    def __init__(self, session: RecordedSession, jobs: JobColumns) -> None:
        nodes = session.tried | session.binds
        choices = {("node", pod): node for pod, node in nodes.items()}
        for job in jobs.info:
            if job.pod_group is not None and job.key not in session.groups:
                told = (condition.message for condition in job.pod_group.status.conditions)
                choices["reason", job.key] = _reason_of(told)
        for group, status in session.groups.items():
            choices["reason", group] = _reason_of(message for _, _, _, message in status[-1])
        self._recorded = RecordedChoice(choices)
        self.ties: dict[str, str] = {}

    def choose(self, what: str, about: str, equals: Sequence[str]) -> int:
        """Return the index of what was recorded, or 0."""
        index = self._recorded.choose(what, about, equals)
        if what == "node":
            self.ties.pop(about, None)
            if index:
                self.ties[about] = equals[0]
        return index


def _reason_of(messages: Iterable[str]) -> str:
    """Return the pod whose reason the messages of a PodGroup have; empty if they have none."""
    found = (_REASON_OF.search(message) for message in messages)
    return next((origin[1] for origin in found if origin), "")


def compared(
    session: RecordedSession,
    result: SessionResult,
    ties: Mapping[str, str],
    *,
    writes_known: bool,
) -> Attempt:
    """Compare a run with the record.

    :param ties: as in :class:`Following`.
    :param writes_known: the log has all statuses of PodGroups that the session wrote.
    """
    binds, evicted = dict(result.binds), dict(result.evictions)
    differing_results = list(_differing_panic(session, result))
    differing_results += [
        DifferingResult(Aspect.BINDING, pod, session.binds.get(pod, ""), binds.get(pod, ""))
        for pod in sorted(binds.keys() | session.binds.keys())
        if not _same_node(session.binds.get(pod), binds.get(pod))
    ]
    if session.evictions_known:
        differing_results += [
            DifferingResult(
                Aspect.EVICTION,
                pod,
                session.evictions.get(pod, ""),
                evicted.get(pod, ""),
            )
            for pod in sorted(evicted.keys() ^ session.evictions.keys())
        ]
    for group, recorded in sorted(session.groups.items()):
        differing_results += _differing_status(group, recorded, result.pod_groups.get(group))
    for group, status in sorted(result.pod_groups.items()):
        written = group in session.groups or group in session.refused
        if status.written and writes_known and not written:
            differing_results.append(DifferingResult(Aspect.PHASE, group, "", status.phase))
    # Where only one of them binds the pod, no tie explains it.
    shared_ties = {pod: node for pod, node in ties.items() if pod in binds and pod in session.binds}
    return Attempt(tuple(differing_results), shared_ties, result)


def _differing_panic(session: RecordedSession, result: SessionResult) -> Iterator[DifferingResult]:
    """Yield a panic that only one of the two has, or that has another message."""
    again = "" if result.panic is None else str(result.panic)
    same = result.panic is not None and same_words(session.panic, result.panic.message)
    if (session.panic or again) and not same:
        yield DifferingResult(Aspect.PANIC, "", session.panic, again)


def _same_node(recorded: str | None, again: str | None) -> bool:
    """Return whether a pod was bound the same; a node that was not recorded is empty."""
    if recorded is None or again is None:
        return recorded is again
    return recorded in {"", again}


def _differing_status(
    group: str, recorded: ComparedStatus, again: ClosedPodGroupStatus | None
) -> list[DifferingResult]:
    """Return what differs in the status of a PodGroup: its phase, and all else."""
    now = status_of(again)
    if now is None:
        return [DifferingResult(Aspect.PHASE, group, recorded[0], "")]
    results = []
    if recorded[0] != now[0]:
        results.append(DifferingResult(Aspect.PHASE, group, recorded[0], now[0]))
    if recorded[1:] != now[1:]:
        only_recorded, only_again = _parting(_texts(recorded), _texts(now))
        results.append(DifferingResult(Aspect.CONDITION, group, only_recorded, only_again))
    return results


def _texts(status: ComparedStatus) -> list[str]:
    """Return counts and conditions in words."""
    _, running, succeeded, failed, conditions = status
    counts = [f"running {running}", f"succeeded {succeeded}", f"failed {failed}"]
    return counts + [
        f"{kind}={value} {reason}: {message}" for kind, value, reason, message in conditions
    ]


def _parting(recorded: Sequence[str], again: Sequence[str]) -> tuple[str, str]:
    """Return what only one and only the other of two statuses has."""
    first = "; ".join(text for text in recorded if text not in again)
    second = "; ".join(text for text in again if text not in recorded)
    return first or "these conditions in another order", second or "no more than these"


def status_of(group: ClosedPodGroupStatus | None) -> ComparedStatus | None:
    """Return what is compared of a PodGroup's status; None if it was not in the session."""
    if group is None:
        return None
    conditions = tuple((c.type, c.status, c.reason, c.message) for c in group.conditions)
    return group.phase, group.running, group.succeeded, group.failed, conditions
