"""Scenarios from Python: run them as releases would, and find where an answer changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from ...engine.volcano.session.history import SUPPORTED, resolve
from ..compare.bisection import Bisection
from ..logs.given_confs import Conf, conf_text
from ..parallel import Progress
from ..questions.bisect import CaseBisectQuestion
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Names, several
from ..simulate import batch
from ..simulate.changed_scenario import ScenarioChanges, changed
from ..simulate.results import case_result
from ..simulate.scenario_cases import Case, CaseFile, parse_case, read_case
from ..simulate.simulation import simulate as sessions_of
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from ..what_if.changed_names import checked_patches
from .options import FilePath, paths_of, present_time, release_of

ALL = "all"
"""The name that stands for all releases of Volcano."""

Document = Mapping[str, Any]


class PodGroupAfter(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup after a session of a scenario.

    :param conditions: each with ``type``, ``status``, ``reason`` and ``message``, if set.
    :param written: whether the session wrote it.
    """

    phase: str
    conditions: list[dict[str, str]]
    running: int
    succeeded: int
    failed: int
    written: bool


class CaseSession(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one session of a scenario did; pods and PodGroups are ``namespace/name``.

    :param panic: the message of a predicted panic; None if there is none.
    :param binds: (pod, node) in the order of decision; so are ``pipelined`` and ``evictions``.
    :param evict_reasons: why, by pod. :param fit_errors: why a pod fits nowhere.
    :param queues: every queue after the session; amounts are quantities as text.
    :param metrics: gauges by queue; non-numbers are ``+Inf``, ``-Inf`` or ``NaN``.
    :param node_scores: each node's score, by pod. :param nominated: nodes by pod.
    :param out_of_sync_nodes: nodes that the cache keeps out of sessions.
    :param session_jobs: the jobs that the session saw.
    :param errors: what the scheduler logs as an error, and events that could not be applied.
    :param panic_at: the functions on the stack of the crash. :param panic_during: what the process
        does with which object, if it crashes outside of the actions of a session.
    :param restarted: the scheduler was restarted before.
    """

    panic: str | None
    binds: list[tuple[str, str]]
    evictions: list[str]
    evict_reasons: dict[str, str]
    pipelined: list[tuple[str, str]]
    podgroups: dict[str, PodGroupAfter]
    queues: dict[str, dict[str, Any]]
    metrics: dict[str, dict[str, float | str]]
    node_scores: dict[str, dict[str, float | str]]
    pod_conditions: dict[str, str]
    fit_errors: dict[str, str]
    nominated: dict[str, str]
    out_of_sync_nodes: list[str]
    out_of_sync_nodes_after: list[str]
    session_jobs: list[str]
    errors: list[str]
    panic_at: str | None = None
    panic_during: str | None = None
    restarted: bool = False


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """A decision of one session. :param step: the number of the session, from 1."""

    step: int
    decision: str
    object: str
    value: str


class CaseResult(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """What the sessions of a scenario did as one release.

    :param name: of the scenario. :param version: the release.
    :param stable: the same scenario gives the same result, always.
    """

    name: str
    version: str
    stable: bool
    steps: list[CaseSession]

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return what each session decided, in its order; a panic is a decision."""
        rows = (
            StepRow(step=number, decision=decision, object=about, value=value)
            for number, session in enumerate(self.steps, start=1)
            for decision, about, value in _decided(session)
        )
        return {"decisions": table_of(StepRow, rows)}


def _decided(session: CaseSession) -> Iterator[tuple[str, str, str]]:
    if session.panic is not None:
        yield "crash", "", session.panic
    yield from (("bind", *pair) for pair in session.binds)
    yield from (("pipeline", *pair) for pair in session.pipelined)
    yield from (("evict", pod, session.evict_reasons.get(pod, "")) for pod in session.evictions)
    yield from (("phase", key, group.phase) for key, group in session.podgroups.items())


def simulate(
    case: FilePath | Document,
    *,
    release: str,
    conf: Conf | None = None,
    patches: Names = (),
    now: str | datetime | None = None,
    scores: bool | None = None,
    assume: bool = False,
) -> CaseResult:
    """Run a scenario as a release would, and return what each session did.

    :param case: a scenario file (``.case.json``, also ``.gz``, ``.xz``, ``.zst``), or the content
        of one.
    :param release: as in ``v1.12.1``, or ``hardened``.
    :param conf: a configuration instead of the scenario's own, in every session.
    :param patches: ``TYPE/NAME=JSON`` each, a merge patch for an object of the scenario.
    :param now: the current time of all sessions; by default a year after the newest time in the
        case.
    :param scores: keep every node's score; by default only of small clusters.
    :param assume: use the nearest release for an unknown one.
    :raises InputError: there is no such file, or it holds no scenario.
    :raises UsageError: the release is not known, or a patch is of an object that does not exist.
    """
    behaviours = resolve(release_of(release, assume=assume))
    read = _read(case)
    altered = changed(read.case, _what_if(conf, patches))
    steps = sessions_of(altered, behaviours, now=present_time(now), scores=scores)
    result = case_result(read.case.name or read.name, behaviours.release, steps)
    return msgspec.convert(result, CaseResult)


def simulate_all(
    cases: FilePath | Sequence[FilePath],
    *,
    releases: Names,
    conf: Conf | None = None,
    patches: Names = (),
    now: str | datetime | None = None,
    scores: bool | None = None,
    jobs: int = 1,
    assume: bool = False,
    progress: Progress | None = None,
) -> Iterator[CaseResult]:
    """Run scenarios as several releases would; yield the results case by case.

    :param cases: scenario files.
    :param releases: names; ``all`` is every release of Volcano whose sessions can be run.
    :param jobs: processes. With more than one, the program must be importable: guard its start with
        ``if __name__ == "__main__":``.
    :param progress: called with (scenarios run, total).
    :raises PlinianError: of the first scenario that cannot be run; others as :func:`simulate`.
    """
    chosen = releases_of(several(releases), partial(release_of, assume=assume))
    what_if, present = _what_if(conf, patches), present_time(now)
    tasks = [
        batch.Task(Path(path), name, None, present, scores, True, what_if)
        for path in paths_of(cases)
        for name in chosen
    ]
    for outcome in batch.run_all(tasks, jobs=jobs, progress=progress):
        if outcome.fault is not None:
            raise outcome.fault
        yield msgspec.convert(outcome.result, CaseResult)


def releases_of(names: Iterable[str], taken: Callable[[str], str]) -> list[str]:
    """Return releases, each once. :param taken: returns the one that a name stands for."""
    every = [str(release) for release in SUPPORTED if not release.ours]
    named = (every if name == ALL else [resolve(taken(name)).release] for name in names)
    return list(dict.fromkeys(chain.from_iterable(named)))


def bisect(
    case: FilePath | Document,
    *,
    bound: str | None = None,
    pending: str | None = None,
    enqueued: str | None = None,
    phase: str | None = None,
    panic: bool = False,
    release: str = DEFAULT_RELEASE,
    releases: str | None = None,
    step: int | None = None,
    assume: bool = False,
) -> Bisection:
    """Find the session of a scenario, or the release, with which an answer changes.

    The question is as for :meth:`Log.bisect`. Without ``releases``, every session is checked as one
    release; with it, the session at ``step`` as one release after the other.

    :param releases: ``R1..R2``.
    :param step: the last step to check, from 1; by default the last one with a session.
    :raises UsageError: there is not exactly one question, or no such step or release.
    """
    return CaseBisectQuestion(
        bound=bound,
        pending=pending,
        enqueued=enqueued,
        phase=phase,
        panic=panic,
        releases=releases,
        assume=assume,
        case=_read(case).case,
        step=step,
        release=release,
    ).ask()


def _read(case: FilePath | Document) -> CaseFile:
    if isinstance(case, str | PathLike):
        return read_case(Path(case))
    # As text, so that a dict of a program is checked like a file, with the same errors.
    given: Case = parse_case(msgspec.json.encode(case))
    return CaseFile(Path(given.name or "case"), given)


def _what_if(conf: Conf | None, patches: Names) -> ScenarioChanges:
    given = conf_text(conf)
    return ScenarioChanges(None if given is None else given.text, checked_patches(several(patches)))
