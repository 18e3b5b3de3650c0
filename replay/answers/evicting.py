"""Whether a session looked for pods to evict, why it evicts none, and which it evicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.counts import counted
from ...engine.model.task_status import TaskStatus
from ...engine.session.actions.eviction_details import (
    GATE,
    OWN_VICTIMS,
    OWN_VOTES,
    VICTIMS,
    VOTES,
)
from ...engine.session.framework.vote_details import (
    Amounts,
    EvictionSearch,
    EvictionTrials,
    EvictionVotes,
    GangCounts,
    Gated,
    TriedNode,
    VictimTrial,
)
from ...engine.session.nodes.eviction_trials import TRIALS
from ...engine.volcano.session.history import resolve
from ..sessions.step_words import compared_in, shown_numbers
from .amounts import amounts_of, joined
from .answering_session import Run
from .placing_reasons import DISCARD, PIPELINE, placed
from .records import EvictionNode, EvictionTry, Stay
from .victim_words import gate_words, short_words, spared_words

EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_VOTES = ("Preemptable", "Reclaimable", "UnifiedEvictable")
PREEMPTING = frozenset({"preempt", "gangpreempt"})
_SEARCHES = ((VICTIMS, VOTES), (OWN_VICTIMS, OWN_VOTES))


class EvictingAction(msgspec.Struct, frozen=True):
    """An action that evicts, and for which pod of which job."""

    action: str
    pod: str
    job: str


def evictions(run: Run, pod: str, job: str) -> Iterator[tuple[EvictionTry, str]]:
    """Yield what actions that evict did for a pod, each with its text without the action."""
    if placed(run, pod) is not None:
        return
    for action in run.conf.actions:
        if action in EVICTING:
            asked = asking_of(run, action, pod, job)
            yield _tried(run, asked, named=False), why_no_room(run, asked).text


def eviction_links(run: Run, pod: str, job: str, *, named: bool = False) -> Iterator[EvictionTry]:
    """Yield whether the session looked for pods to evict for a pod, and why it found none.

    :param named: the texts name the pod.
    """
    if placed(run, pod) is not None:
        return
    for action in run.conf.actions:
        if action in EVICTING:
            yield _tried(run, asking_of(run, action, pod, job), named=named)


def asking_of(run: Run, action: str, pod: str, job: str) -> EvictingAction:
    """Return an action, and the pod for which it looked for victims of other jobs.

    Up to v1.12 preempt may look for them for another pod of the job only.
    """
    others = (name for name in run.waiting_pods(job) if placed(run, name) is None)
    searched = (
        name
        for name in (pod, *others)
        if run.detail(EvictionSearch, _SEARCHES[0][0], name, action) is not None
    )
    return EvictingAction(action, next(searched, pod), job)


class NoRoom(msgspec.Struct, frozen=True):
    """Why an action makes no room, in words, and the details that they come from."""

    text: str
    gated: Gated | None
    searches: Sequence[EvictionSearch] = ()
    room: int = 0

    @property
    def nodes(self) -> int:
        """How many nodes evictions could make fit."""
        return max((search.nodes for search in self.searches), default=0)

    @property
    def candidates(self) -> int:
        """How many pods could be victims before the plugins vote."""
        return max((search.candidates for search in self.searches), default=0)


def _tried(run: Run, asked: EvictingAction, *, named: bool) -> EvictionTry:
    why, votes = why_no_room(run, asked), _votes_of(run, asked)
    gated, trials = why.gated, _trials(run, asked)
    return EvictionTry(
        text=f"{asked.action}{f' for pod {asked.pod}' if named else ''}: {why.text}",
        action=asked.action,
        pod=asked.pod,
        tried=bool(why.searches),
        gate="" if gated is None else str(gated.gate),
        by="" if gated is None else gated.by,
        compared={} if gated is None else shown_numbers(compared_in(gated.by, gated.numbers)),
        nodes=why.nodes,
        candidates=why.candidates,
        room=why.room,
        votes=_votes(run, asked),
        stays=tuple(_stays(votes)),
        nearest=tuple(
            EvictionNode(
                outcome=str(node.trial),
                node=node.node,
                victims=node.victims,
                request=amounts_of(node.request),
                room=amounts_of(node.room),
            )
            for _, node in sorted(trials.nearest.items())
        ),
    )


def _stays(votes: EvictionVotes) -> Iterator[Stay]:
    for plugin, stays in votes.staying.items():
        for stay in stays:
            yield Stay(
                plugin=plugin,
                reason=str(stay.spares),
                about=stay.about,
                pods=stay.pods,
                has=_plain(stay.has),
                limit=_plain(stay.limit),
            )


def _plain(side: Amounts) -> dict[str, str]:
    """Return one side of a comparison as texts; a number without a resource stays a number."""
    return {"": f"{side['']:g}"} if "" in side else amounts_of(side)


def why_no_room(run: Run, asked: EvictingAction) -> NoRoom:
    """Return why an action makes no room for a pod."""
    # The actions for gangs search for a whole job, the others for one pod.
    abouts = (asked.pod, asked.job)
    seen = (
        run.detail(EvictionSearch, search, about, asked.action)
        for about in abouts
        for search, _ in _SEARCHES
    )
    searches = [search for search in seen if search is not None]
    gated = next((search.gated for search in searches if search.gated is not None), None)
    if not searches:
        gated = _gated(run, asked)
        text = "" if gated is None else _left_at(run, gated, asked)
        text += "" if gated is None else gate_words(run, gated, asked.job, asked.pod)
        return NoRoom(text or "it does not come to this job", gated)
    if gated is not None:
        return NoRoom(gate_words(run, gated, asked.job, asked.pod), gated, searches)
    gang = run.detail(GangCounts, "gang", asked.job)
    room = _room_taken_back(run, asked.action, asked.job)
    no_room = NoRoom("", None, searches, room)
    # Room was made, so votes and trials on nodes do not say what was missing.
    if room and gang is not None:
        text = _incomplete(room, gang)
    elif not no_room.nodes:
        text = "on no node could evictions help"
    elif not no_room.candidates:
        text = f"there is no pod that it may evict{_protected(run, asked.action, asked.job)}"
    else:
        text = f"{counted(no_room.candidates, 'pod')} could be evicted, but {_spared(run, asked)}"
    return msgspec.structs.replace(no_room, text=text)


def _gated(run: Run, asked: EvictingAction) -> Gated | None:
    """Return what kept an action from looking for victims: for the pod, its job, or its queue."""
    job = run.job(asked.job)
    # What is about the pod says most, what is about its queue least.
    abouts = (asked.pod, asked.job, *(() if job is None else (job.queue,)))
    gates = (run.detail(Gated, GATE, about, asked.action) for about in abouts)
    return next((gate for gate in gates if gate is not None), None)


def _left_at(run: Run, gated: Gated, asked: EvictingAction) -> str:
    """Return that an action left a queue at the pod of another job, before it came to this one."""
    pod = run.pod(gated.about)
    job_there = "" if pod is None else job_of(pod)
    own = run.job(asked.job)
    if job_there in {"", asked.job} or own is None:
        return ""
    at = f"pod {gated.about} of {run.title(job_there)}"
    return f"it does not come to this job, as it leaves queue {own.queue} at {at}: "


def _trials(run: Run, asked: EvictingAction) -> EvictionTrials:
    trials_seen = (
        run.detail(EvictionTrials, TRIALS, about, asked.action) for about in (asked.pod, asked.job)
    )
    return next((trials for trials in trials_seen if trials is not None), EvictionTrials({}, {}))


def _room_taken_back(run: Run, action: str, job: str) -> int:
    """Return for how many pods of a job an action made room at most, before it took that back."""
    waiting = {pod for pod in run.waiting_pods(job) if placed(run, pod) is None}
    planned: set[str] = set()
    most = 0
    for step in run.trace.steps:
        if step.action == action and step.what == PIPELINE:
            planned.update(waiting.intersection(step.about))
        # Each attempt at the gang ends with a discard: what was planned for it counts together.
        elif step.action == action and step.what == DISCARD:
            most = max(most, len(planned))
            planned.clear()
    return most


def _incomplete(room: int, gang: GangCounts) -> str:
    """Return that evictions make room for a part of a gang only."""
    text = f"evictions would make room for {counted(room, 'pod')}, but its gang "
    has = gang.ready + gang.waiting
    if room + has < gang.least:
        text += f"needs {gang.least}{f', and has {has}' if has else ''}"
    else:
        text += "does not become complete with that"
    return f"{text}, so the session takes it back"


def _votes(run: Run, asked: EvictingAction) -> dict[str, int]:
    """Return by plugin how many victims it chose at most: of all candidates, or on a node."""
    votes: dict[str, int] = {}
    for about in dict.fromkeys((asked.pod, asked.job)):
        for step in run.steps(about):
            if step.action == asked.action and step.what in _VOTES:
                chosen = step.numbers.get("victims", ())
                count = len(chosen) if isinstance(chosen, list) else 0
                votes[step.by] = max(votes.get(step.by, 0), count)
    for tier in _votes_of(run, asked).tiers:
        for plugin, count in tier.items():
            votes[plugin] = max(votes.get(plugin, 0), count)
    return votes


def _votes_of(run: Run, asked: EvictingAction) -> EvictionVotes:
    """Return what the plugins say of all candidates of other jobs, or else of the same job."""
    votes_seen = (
        run.detail(EvictionVotes, search, about, asked.action)
        for about in (asked.pod, asked.job)
        for _, search in _SEARCHES
    )
    return next(
        (votes for votes in votes_seen if votes is not None and votes.tiers), EvictionVotes(())
    )


def _spared(run: Run, asked: EvictingAction) -> str:
    """Return why none of the candidates goes, or why those that may go free too little."""
    votes, trials = _votes_of(run, asked), _trials(run, asked)
    evicted = trials.nearest.get(VictimTrial.EVICTED)
    # What the action does evict says more than which pods could go.
    if evicted is not None:
        pods = counted(evicted.victims, "pod")
        short = joined(short_words(evicted))
        return f"{pods}, which it evicts on {evicted.node}, hold only {short} that the pod requests"
    # In a tier only what all its plugins choose may go, so one that chooses nothing keeps all.
    if votes.tiers and all(0 in tier.values() for tier in votes.tiers):
        return _none_goes(run, votes)
    others = "" if asked.action.startswith("gang") else _others_stay(run, votes)
    return f"{_too_little(trials, votes)}{others}"


def _none_goes(run: Run, votes: EvictionVotes) -> str:
    """Return which plugins let no candidate go: in each tier one does."""
    none = dict.fromkeys(
        plugin for tier in votes.tiers for plugin, count in tier.items() if not count
    )
    parts = [spared_words(run, plugin, votes.staying.get(plugin, ())) for plugin in none]
    return f"no plugin lets one go: {joined(parts)}" if len(parts) > 1 else parts[0]


def _others_stay(run: Run, votes: EvictionVotes) -> str:
    """Return why the other candidates stay, if plugins agree on some."""
    parts = [
        spared_words(run, plugin, staying) for plugin, staying in votes.staying.items() if staying
    ]
    return f"; with these gone, the others stay: {joined(parts)}" if parts else ""


def _too_little(trials: EvictionTrials, votes: EvictionVotes) -> str:
    """Return what the node would lack that comes nearest, with all pods gone that may go."""
    short = trials.nearest.get(VictimTrial.TOO_LITTLE)
    kept_out, refused = (
        trials.nearest.get(outcome) for outcome in (VictimTrial.KEPT_OUT, VictimTrial.REFUSED)
    )
    # What came nearest says most: there was room, there was too little, nothing could help.
    if kept_out is not None:
        return f"also {_gone(kept_out)}, its queue or a filter does not take the pod"
    if short is not None and any(short_words(short)):
        where = short.node or "the cluster"
        has = f"{where} would have {joined(short_words(short))}"
        more = sum(trials.counts.values()) - 1
        nearest = f" (the nearest of {more + 1} nodes)" if more else ""
        return f"also {_gone(short)}, {has}{nearest}"
    if refused is not None:
        return f"filters refuse {refused.node}, also with pods gone"
    return "no node has pods that all plugins let go" if votes.tiers else "no plugin lets one go"


def _gone(node: TriedNode) -> str:
    return f"with {counted(node.victims, 'pod')} gone that may go"


def _protected(run: Run, action: str, job: str) -> str:
    """Return which running pods are no candidates, and why."""
    own = run.job(job)
    if own is None:
        return ""
    # preempt takes victims in the queue of the pod, reclaim in all others (`Execute`, both).
    same, gone = action in PREEMPTING, {name for name, _ in run.answer.result.evictions}
    skips = same and resolve(run.answer.release).best_effort_victims_skipped
    staying = closed = empty = 0
    for key, job_beside in run.cache.jobs.items():
        queue = run.cache.queues.get(job_beside.queue)
        if key == job or queue is None or (job_beside.queue == own.queue) is not same:
            continue
        running = [
            task
            for task in job_beside.index.get(TaskStatus.RUNNING, {}).values()
            if task.key not in gone
        ]
        # reclaim asks the queue of each pod (`Reclaimable()`), preempt does not.
        if not same and not queue.reclaimable:
            closed += len(running)
        else:
            staying += sum(not task.preemptable for task in running)
            empty += sum(task.preemptable and task.best_effort for task in running) * skips
    parts = []
    if staying:
        verb = "is" if staying == 1 else "are"
        parts.append(f"{counted(staying, 'pod')} {verb} not preemptable (volcano.sh/preemptable)")
    if empty:
        verb = "requests" if empty == 1 else "request"
        parts.append(f"{counted(empty, 'pod')} {verb} no resources, so nothing would be free")
    if closed:
        verb = "is" if closed == 1 else "are"
        parts.append(f"{counted(closed, 'pod')} {verb} in queues that are not reclaimable")
    if gone:
        parts.append(f"the session evicts {counted(len(gone), 'pod')} for others already")
    return f": {joined(parts)}" if parts else ""


def evicted_here(run: Run, pod: str, node: str) -> str:
    """Return that the session evicts a pod, and for which pods; empty if it does not."""
    reasons = dict(run.answer.result.evictions)
    if pod not in reasons:
        return ""
    others = [name for name, where in sorted(run.pipelined.items()) if where == node]
    rest = len(others) - 3
    named = joined([*others[:3], f"{rest} more"] if rest > 0 else others)
    wins = "pod" if len(others) == 1 else "pods"
    gain = f" for {wins} {named}, which then {'gets' if len(others) == 1 else 'get'} its place"
    return f"this session evicts it ({reasons[pod]}){gain if others else ''}"
