"""The checks of a pod in the order in which the scheduler comes to them, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.counts import counted
from ...engine.session.actions.allocate import TURN
from ...engine.session.framework.registered_points import POINTS
from ...engine.session.framework.trace import StepOutcome, TraceStep
from ...engine.session.framework.vote_details import (
    CheckState,
    GangCounts,
    JobTurn,
    QueueCheck,
    RegisteredPlugins,
    ReservationCheck,
    Unprepared,
)
from ...engine.session.plugins.predicates.filters import UNPREPARED
from ..answers.amounts import amounts_of, joined
from ..answers.answering_session import PLACING, Run
from ..answers.enqueueing import closed, not_enqueued
from ..answers.finding import Blocked, SessionFinding
from ..answers.further_reasons import lacking_pods
from ..answers.job_reasons import gang_link, missing_group, panics, podgroup_links
from ..answers.placing_reasons import (
    gang_short,
    node_links,
    nodes_further,
    not_placed,
    overused,
    placed,
    places,
    queue_further,
)
from ..answers.pod_reasons import pod_state
from ..answers.queue_words import ALLOCATE, ENQUEUE, OVERUSED, path_of
from ..answers.records import Link, Nodes
from ..sessions.step_words import compared_in, shown_numbers
from .path_records import Check, PathCheck

_PENDING = frozenset({"", "Pending"})
_REFUSALS = frozenset({StepOutcome.REJECT, StepOutcome.OVERUSED})
_NAMED = 3


def job_checks(run: Run, pod: str, key: str) -> Iterator[PathCheck]:
    """Yield the checks of a pod that waits for a node, from its PodGroup on.

    :param pod: ``ns/pod``. :param key: its PodGroup.
    """
    group, job = run.group(key), run.job(key)
    if group is None:
        blocked = missing_group(run, key)
        yield _failed(Check.PODGROUP, blocked)
        yield from not_reached(Check.PODGROUP)
        return
    states = list(podgroup_links(run, key, group))
    if job is None or job.pod_group is None:
        text = f"{states[0].text}, but the scheduler's cache does not have it"
        yield PathCheck(check=Check.PODGROUP, state=CheckState.FAILED, text=text)
        yield from not_reached(Check.PODGROUP)
        return
    yield _passed(Check.PODGROUP, states[0])
    info = run.cache.queues.get(job.queue)
    if info is None:
        yield PathCheck(
            check=Check.QUEUE,
            state=CheckState.FAILED,
            text=f"queue {job.queue} does not exist for the scheduler",
        )
        yield from not_reached(Check.QUEUE)
        return
    if info.state == "Open":
        yield _passed(Check.QUEUE, states[1])
    else:
        # Plugins refuse what is in such a queue, each at its turn: their votes are below.
        yield _failed(Check.QUEUE, closed(run, job.queue))
    yield from _Path(run, pod, key).checks()


def session_check(run: Run) -> PathCheck:
    """Return whether the session runs."""
    crash = panics(run)
    if crash is not None:
        return _failed(Check.SESSION, crash)
    answer, actions = run.answer, ", ".join(run.conf.actions)
    text = f"runs {actions} as {answer.release}, configuration {answer.conf}"
    if answer.result.stopped is not None:
        text += f"; plugin {answer.result.stopped.plugin} refuses the tree of queues"
    return PathCheck(check=Check.SESSION, state=CheckState.PASSED, text=text)


def pod_check(run: Run, key: str, finding: SessionFinding, *, ends: bool) -> PathCheck:
    """Return whether a pod can be placed at all.

    :param finding: the answer of ``why``. :param ends: the pod itself ends the path: it has a node,
        has ended, has gates, or another scheduler has to place it.
    """
    pod = run.pod(key)
    assert pod is not None, "it was just looked up"
    state = pod_state(run, key, pod)
    if not ends:
        return _passed(Check.POD, state)
    done = not finding.waits
    return PathCheck(
        check=Check.POD,
        state=CheckState.PASSED if done else CheckState.FAILED,
        text=finding.sentence,
        reason=state,
    )


def not_reached(after: Check, last: Check = Check.EVICTION) -> Iterator[PathCheck]:
    """Yield the checks after one, to which the session does not come."""
    every = list(Check)
    for check in every[every.index(after) + 1 : every.index(last) + 1]:
        yield PathCheck(check=check, state=CheckState.NOT_REACHED)


def _passed(check: Check, link: Link, by: str = "") -> PathCheck:
    return PathCheck(check=check, by=by, state=CheckState.PASSED, text=link.text, reason=link)


def _failed(check: Check, blocked: Blocked, by: str = "") -> PathCheck:
    link = blocked.links[0] if blocked.links else None
    return PathCheck(check=check, by=by, state=CheckState.FAILED, text=blocked.because, reason=link)


class _Path:
    """The checks of a job and its pod that sessions see."""

    def __init__(self, run: Run, pod: str, key: str) -> None:
        job = run.cache.jobs[key]
        assert job.pod_group is not None, "it was just looked up"
        self.run, self.pod, self.key = run, pod, key
        self.queue = job.queue
        self.is_pending = job.pod_group.status.phase in _PENDING
        self.phase = job.pod_group.status.phase or "without a phase yet"
        self.least = job.min_resources
        self.turn = run.detail(JobTurn, TURN, key)
        registered = run.detail(RegisteredPlugins, POINTS, "")
        self._by_point = {} if registered is None else registered.by_point

    def checks(self) -> Iterator[PathCheck]:
        """Yield the checks from enqueueing on."""
        yield from self._enqueue()
        yield self._gang()
        yield from self._overused()
        yield self._turn()
        yield from self._allocatable()
        yield self._prepared()
        yield self._nodes()
        yield self._place()
        yield self._together()

    def plugins(self, point: str) -> list[str]:
        """Return the plugins that have a say, in their order."""
        return [plugin for tier in self._by_point.get(point, ()) for plugin in tier]

    # --- enqueueing

    def _enqueue(self) -> Iterator[PathCheck]:
        run, key = self.run, self.key
        steps = {step.by: step for step in run.steps(key, ENQUEUE)}
        why = self._why_not_asked() if not steps else ""
        for plugin in self.plugins(ENQUEUE):
            step = steps.get(plugin)
            if step is None:
                yield PathCheck(
                    check=Check.ENQUEUE, by=plugin, state=CheckState.NOT_REACHED, text=why
                )
            else:
                yield self._enqueue_vote(step)
        yield self._enqueued(asked=bool(steps))

    def _why_not_asked(self) -> str:
        if not self.is_pending:
            return f"the PodGroup is {self.phase} already"
        if "enqueue" not in self.run.conf.actions:
            return "the configuration has no action enqueue"
        if self.key in self.run.answer.result.enqueued and self.least is None:
            return "the PodGroup has no minResources"
        return ""

    def _enqueue_vote(self, step: TraceStep) -> PathCheck:
        run, key = self.run, self.key
        found = _of_step(Check.ENQUEUE, step)
        if step.outcome is StepOutcome.REJECT:
            blocked = not_enqueued(run, key)
            return found if blocked is None else _worded(found, blocked)
        if step.outcome is StepOutcome.ABSTAIN:
            return msgspec.structs.replace(found, text="has no say")
        check = run.detail(QueueCheck, ENQUEUE, key)
        if check is not None and check.plugin == step.by:
            link = path_of(run, check, step.action, ENQUEUE)
            return msgspec.structs.replace(found, text=link.text, reason=link)
        seen = run.detail(ReservationCheck, step.by, key)
        if seen is not None:
            wanted = joined(f"{text} {name}" for name, text in amounts_of(seen.wanted).items())
            numbers = {"reserved": seen.reserved, "idle": seen.idle}
            text = f"enqueued jobs may reserve what it wants, too: {wanted}"
            return msgspec.structs.replace(found, text=text, numbers=shown_numbers(numbers))
        return msgspec.structs.replace(found, text="permits it")

    def _enqueued(self, *, asked: bool) -> PathCheck:
        enqueues = self.key in self.run.answer.result.enqueued
        if not self.is_pending:
            text = f"an earlier session has enqueued it: its PodGroup is {self.phase}"
        # `enqueue` asks no plugin about a PodGroup without minResources.
        elif enqueues and not asked:
            text = "the session makes its PodGroup Inqueue without asking a plugin"
        elif enqueues:
            text = "the session makes its PodGroup Inqueue"
        # Then allocate itself makes it Inqueue (`buildAllocateContext`).
        elif "enqueue" not in self.run.conf.actions:
            text = "its PodGroup is Pending: without the action enqueue, allocate goes on with it"
        elif asked:
            text = "its PodGroup stays Pending"
            return PathCheck(check=Check.ENQUEUED, state=CheckState.FAILED, text=text)
        else:
            return PathCheck(check=Check.ENQUEUED, state=CheckState.NOT_REACHED)
        return PathCheck(check=Check.ENQUEUED, state=CheckState.PASSED, text=text)

    # --- the job

    def _picked_up(self) -> bool:
        """Return whether allocate looks at the job at all."""
        actions = list(self.run.conf.actions)
        if "allocate" not in actions:
            return False
        if not self.is_pending or "enqueue" not in actions:
            return True
        # allocate passes over Pending jobs, so one of this session must be enqueued before.
        first = actions.index("enqueue") < actions.index("allocate")
        return first and self.key in self.run.answer.result.enqueued

    def _gang(self) -> PathCheck:
        run, key = self.run, self.key
        gang = run.detail(GangCounts, "gang", key)
        link = None if gang is None else gang_link(run, key, gang)
        seen = run.detail(dict, "JobValid", key)
        by = next(iter(self.plugins("JobValid")), "")
        if seen is not None:
            short = lacking_pods(run, key)
            text = str(seen.get("message", "")) if short is None else short.because
            by = str(seen.get("plugin", by))
            return PathCheck(
                check=Check.GANG, by=by, state=CheckState.FAILED, text=text, reason=link
            )
        # Only of the jobs that it picks up does allocate ask whether they are valid.
        if not self._picked_up() or link is None:
            return PathCheck(check=Check.GANG, by=by, state=CheckState.NOT_REACHED)
        return _passed(Check.GANG, link, by)

    def _overused(self) -> Iterator[PathCheck]:
        """Yield the votes of plugins on the queue, right before the turn of the job."""
        run = self.run
        end = len(run.trace.steps) if self.turn is None else self.turn.step
        votes: dict[str, TraceStep] = {}
        for vote in reversed(run.trace.steps[:end]):
            is_vote = vote.what == OVERUSED and vote.about == (self.queue,)
            if is_vote and vote.action in PLACING:
                votes.setdefault(vote.by, vote)
        # With a turn the queue was not overused then; later votes are about other jobs.
        refused = None if self.turn is not None else overused(run, self.queue, self.key)
        for plugin in self.plugins(OVERUSED):
            step = votes.get(plugin)
            if step is None or not self._picked_up():
                yield PathCheck(check=Check.OVERUSED, by=plugin, state=CheckState.NOT_REACHED)
            elif step.outcome is StepOutcome.OVERUSED and refused is not None:
                yield _worded(_of_step(Check.OVERUSED, step), refused)
            else:
                text = f"does not count queue {self.queue} as overused"
                yield msgspec.structs.replace(_of_step(Check.OVERUSED, step), text=text)

    def _turn(self) -> PathCheck:
        turn = self.turn
        if turn is None:
            return PathCheck(check=Check.TURN, by="allocate", state=CheckState.NOT_REACHED)
        text = "it is the first job"
        if turn.before:
            shown = [self.run.title(key) for key in turn.before[-_NAMED:]]
            rest = len(turn.before) - len(shown)
            more = f"{counted(rest, 'other')}, " if rest else ""
            jobs = counted(len(turn.before), "other job")
            text = f"it comes after {jobs}: {more}{', '.join(shown)}"
        order = joined(self.plugins("JobOrder")) or "the time of creation"
        return PathCheck(
            check=Check.TURN,
            by="allocate",
            state=CheckState.PASSED,
            text=f"{text} (ordered by {order})",
            numbers={"before": len(turn.before)},
        )

    # --- the pod

    def _allocatable(self) -> Iterator[PathCheck]:
        run, pod, key = self.run, self.pod, self.key
        votes = {
            step.by: step
            for step in run.trace.steps
            if (step.what, step.about) == (ALLOCATE, (self.queue, pod)) and step.action in PLACING
        }
        further = queue_further(run, pod, key) if not votes else None
        for plugin in self.plugins(ALLOCATE):
            step = votes.get(plugin)
            if step is None:
                text = f"it would fail: {further.because}" if further is not None else ""
                yield PathCheck(
                    check=Check.ALLOCATABLE, by=plugin, state=CheckState.NOT_REACHED, text=text
                )
                # Once is enough: the text names the plugin.
                further = None
                continue
            found = _of_step(Check.ALLOCATABLE, step)
            if step.outcome is not StepOutcome.PERMIT:
                blocked = not_placed(run, pod, self.queue, key)
                yield found if blocked is None else _worded(found, blocked)
                continue
            check = run.detail(QueueCheck, ALLOCATE, pod, step.action)
            if check is not None and check.permits and check.plugin == plugin:
                link = path_of(run, check, step.action, ALLOCATE)
                yield msgspec.structs.replace(found, text=link.text, reason=link)
            else:
                text = f"lets queue {self.queue} take the pod"
                yield msgspec.structs.replace(found, text=text)

    def _checked(self) -> Nodes | None:
        """Return the nodes that an action checked for the pod, as ``why`` has them."""
        blocked = not_placed(self.run, self.pod, self.queue, self.key)
        links: Sequence[Link] = () if blocked is None else blocked.links
        links = [*links, *node_links(self.run, self.pod)]
        # Nodes that took the pod are last: they count more than an earlier refusal.
        return next((link for link in reversed(links) if isinstance(link, Nodes)), None)

    def _prepared(self) -> PathCheck:
        run, pod = self.run, self.pod
        seen = run.detail(Unprepared, UNPREPARED, pod)
        by = joined(self.plugins("PrePredicate"))
        if seen is not None and self._checked() is None:
            blocked = not_placed(run, pod, self.queue, self.key)
            if blocked is not None:
                return _failed(Check.PREPARED, blocked, seen.by)
        state = CheckState.NOT_REACHED if self._checked() is None else CheckState.PASSED
        text = "" if state is CheckState.NOT_REACHED else "the filters are prepared for it"
        return PathCheck(check=Check.PREPARED, by=by, state=state, text=text)

    def _nodes(self) -> PathCheck:
        run, pod = self.run, self.pod
        link = self._checked()
        if link is not None and link.passing:
            return _passed(Check.NODES, link)
        blocked = not_placed(run, pod, self.queue, self.key)
        if link is not None and blocked is not None:
            return PathCheck(
                check=Check.NODES, state=CheckState.FAILED, text=blocked.because, reason=link
            )
        further = nodes_further(run, pod)
        text = "" if further is None else f"it would fail: {further.because}"
        return PathCheck(check=Check.NODES, state=CheckState.NOT_REACHED, text=text)

    def _place(self) -> PathCheck:
        run, pod = self.run, self.pod
        link = placed(run, pod)
        if link is not None:
            return _passed(Check.PLACE, link)
        planned = next((place[pod] for place in places(run, self.key) if pod in place), "")
        if planned:
            text = f"the session plans node {planned} for it, and takes that back"
            return PathCheck(check=Check.PLACE, state=CheckState.PASSED, text=text)
        return PathCheck(check=Check.PLACE, state=CheckState.NOT_REACHED)

    def _together(self) -> PathCheck:
        run, key = self.run, self.key
        gang = run.detail(GangCounts, "gang", key)
        short = None if gang is None else gang_short(run, key, gang)
        if short is not None:
            return _failed(Check.TOGETHER, short)
        link = placed(run, self.pod)
        if link is None or gang is None:
            return PathCheck(check=Check.TOGETHER, state=CheckState.NOT_REACHED)
        ready, waiting = gang.ready, gang.waiting
        text = f"{ready} of at least {counted(gang.least, 'pod')} have a node"
        text += f", and {waiting} more {'has' if waiting == 1 else 'have'} one kept" * bool(waiting)
        state = CheckState.PASSED if ready + waiting >= gang.least else CheckState.FAILED
        return PathCheck(check=Check.TOGETHER, state=state, text=text)


def _of_step(check: Check, step: TraceStep) -> PathCheck:
    """Return a vote as a check, with its numbers."""
    return PathCheck(
        check=check,
        by=step.by,
        state=CheckState.FAILED if step.outcome in _REFUSALS else CheckState.PASSED,
        numbers=shown_numbers(compared_in(step.by, step.numbers)),
    )


def _worded(found: PathCheck, blocked: Blocked) -> PathCheck:
    link = blocked.links[0] if blocked.links else None
    return msgspec.structs.replace(
        found, state=CheckState.FAILED, text=blocked.because, reason=link
    )


def podgroup_of(run: Run, key: str) -> str:
    """Return the PodGroup that a pod names; empty if it names none."""
    pod = run.pod(key)
    return "" if pod is None else job_of(pod)
