"""Why a session does not enqueue a PodGroup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.session.framework.trace import StepOutcome, TraceStep
from ...engine.session.framework.vote_details import (
    REFUSED,
    Amounts,
    PluginRefusal,
    QueueCheck,
    QuotaCheck,
    ReservationCheck,
    TreeFault,
)
from ..sessions.step_words import compared_in
from .amounts import amounts_of, apart, in_order, joined, word, words
from .answering_session import NODE, QUEUE, Run
from .finding import Blocked
from .limit_sources import asked_for, factor_words, stops_all
from .queue_words import ENQUEUE, HOLDERS, beyond_nodes, full_queue, held_of, invalid_tree, path_of
from .records import Link, Overcommitted, QueueState, Refusal

QUEUE_CLOSED = "queue-closed"
"""The cause of jobs that wait because their queue takes none."""
_TREE = ("tree", "root")
_QUOTA = ("", "ResourceQuota")
_QUOTAS = "resourcequota"
"""The plugin that compares with quotas."""


def not_enqueued(run: Run, key: str) -> Blocked | None:
    """Return why a session leaves a PodGroup Pending; None if no plugin refuses it."""
    steps = list(run.steps(key, ENQUEUE))
    refused = next((step for step in reversed(steps) if step.outcome is StepOutcome.REJECT), None)
    return None if refused is None else _refused(run, key, refused)


def enqueue_links(run: Run, key: str) -> Iterator[Link]:
    """Yield the checks of queues that permit a PodGroup."""
    check = run.detail(QueueCheck, ENQUEUE, key)
    if check is not None and check.permits:
        yield path_of(run, check, "enqueue", ENQUEUE)


def compares(step: TraceStep) -> bool:
    """Return whether a plugin compared amounts, and gave no message and no code instead."""
    return not {"message", REFUSED} & step.numbers.keys()


def refusal(run: Run, step: TraceStep, queue: str) -> Blocked:
    """Return why a plugin refuses with a message alone."""
    message = str(compared_in(step.by, step.numbers).get("message", ""))
    code = step.numbers.get(REFUSED)
    if code is PluginRefusal.UNSOUND:
        fault = run.detail(TreeFault, *_TREE)
        return invalid_tree(run, fault or TreeFault(message))
    if code is PluginRefusal.NOT_OPEN:
        return closed(run, queue)
    if code is PluginRefusal.NOT_LEAF:
        text = f"its queue {queue} has queues below it, and only queues without any take jobs"
        state = QueueState(text=text, blocks=True, queue=queue, exists=True)
        return Blocked(text, "queue-not-leaf", (state,), ((QUEUE, queue),), (queue,))
    text = f"plugin {step.by} refuses it" + (f": {message}" if message else "")
    link = Refusal(
        text=text,
        blocks=True,
        action=step.action,
        point=step.what,
        plugin=step.by,
        message=message,
    )
    return Blocked(text, "refused", (link,), ((QUEUE, queue),), (step.by,))


def state_words(run: Run, queue: str) -> str:
    """Return what a queue is that is not open."""
    state = run.cache.queues[queue].state
    return f"{state}, not Open" if state else "not open yet, as its state is empty"


def closed(run: Run, queue: str) -> Blocked:
    """Return why nothing of a queue that is not open is scheduled."""
    state = run.cache.queues[queue].state
    text = f"its queue {queue} is {state_words(run, queue)}"
    link = QueueState(
        text=text,
        blocks=True,
        queue=queue,
        exists=True,
        state=state,
        parent=run.cache.queues[queue].parent,
    )
    return Blocked(text, QUEUE_CLOSED, (link,), ((QUEUE, queue),), (queue,))


def _refused(run: Run, key: str, step: TraceStep) -> Blocked:
    job = run.cache.jobs[key]
    # Another plugin may have compared accounts and permitted: only the one that refused counts.
    check = run.detail(QueueCheck, ENQUEUE, key, "enqueue")
    if check is not None and check.plugin == step.by:
        full = full_queue(run, check, "enqueue", ENQUEUE, key)
        if full is not None:
            return full
    seen = run.detail(ReservationCheck, "overcommit", key)
    if step.by == "overcommit" and seen is not None:
        return _overcommitted(run, seen, job.queue)
    quota = run.detail(QuotaCheck, _QUOTAS, key)
    if step.by == _QUOTAS and quota is not None:
        return _beyond_quota(key, step, quota)
    return refusal(run, step, job.queue)


def _beyond_quota(key: str, step: TraceStep, quota: QuotaCheck) -> Blocked:
    """Return why a PodGroup waits that wants more than a quota of its namespace leaves."""
    parts = []
    for name in in_order(quota.wanted):
        uses = f"{quota.used.get(name, '0')} of {quota.hard[name]} are used"
        more = quota.permitted.get(name, 0.0)
        also = f" and {word(more, name)} go to other jobs in this session" if more else ""
        parts.append(f"it wants {quota.wanted[name]} {name}, and {uses}{also}")
    text = (
        f"ResourceQuota {quota.quota} of its namespace has too little left (plugin {step.by}): "
        f"{joined(parts)}"
    )
    link = Refusal(
        text=text,
        blocks=True,
        action=step.action,
        point=step.what,
        plugin=step.by,
        message=str(step.numbers.get("message", "")),
    )
    place = key.partition("/")[0]
    about = ((_QUOTA, f"{place}/{quota.quota}"),)
    return Blocked(text, "quota-full", (link,), about, (quota.quota,))


def _overcommitted(run: Run, seen: ReservationCheck, queue: str) -> Blocked:
    wanted = seen.wanted
    names = in_order(seen.exceeded)
    asked = asked_for(names, wanted)
    says = f"it wants {_wants(seen, asked)}" if asked else _over(seen, names)
    text = (
        f"enqueued jobs may reserve no more than {seen.factor:g} times what all nodes have, less "
        f"what is used ({factor_words(run, seen)}): {says}{_reserved_by(run, seen)}"
        f"{beyond_nodes(run, {name: wanted.get(name, 0.0) for name in asked})}"
        f"{_beyond_queue(run, queue, wanted)}"
    )
    # Older releases compare all resources, also those that the job does not want.
    if not asked:
        text += f"; {stops_all(run, names, '')}"
    link = Overcommitted(
        text=text,
        blocks=True,
        wanted=amounts_of(wanted),
        reserved=amounts_of(seen.reserved),
        idle=amounts_of(seen.idle),
        exceeded=tuple(names),
        holders=tuple(held_of(run, holder) for holder in seen.holders),
    )
    return Blocked(text, "overcommitted", (link,), ((NODE, ""),))


def _wants(seen: ReservationCheck, names: Sequence[str]) -> str:
    """Return what a job wants, and what is left of what may be reserved."""
    parts = []
    for name in names:
        wanted = seen.wanted.get(name, 0.0)
        room = seen.idle.get(name, 0.0)
        # What is reserved has the amounts of this job in it.
        had = seen.reserved.get(name, 0.0) - wanted
        wants, left = apart(wanted, abs(room - had), name)
        if room < had:
            parts.append(f"{wants} {name}, and {_beyond(left, room, had, name)}")
            continue
        of = f"{left} of {word(room, name)}" if had > 0 else left
        are = "is" if left == "1" and had <= 0 else "are"
        alone = f"{wants} {name}, {of} {are} left"
        parts.append(alone if len(names) == 1 else f"{wants} {name} ({of} left)")
    return joined(parts)


def _beyond(over: str, room: float, had: float, name: str) -> str:
    """Return by how much more than may be is reserved, or used, before a job is asked about."""
    most = f"the {word(room, name)}" if room > 0 else "that"
    return f"{over} more than {most} are {'reserved' if had > 0 else 'used'}"


def _over(seen: ReservationCheck, names: Sequence[str]) -> str:
    """Return of what more is reserved than may be."""
    parts = []
    for name in names:
        # `SubWithoutAssert` may leave less than nothing idle, and below 0 there is no room to name.
        pair = seen.reserved.get(name, 0.0), max(seen.idle.get(name, 0.0), 0.0)
        has, room = apart(*pair, name)
        parts.append(f"{has} of {room} {name}")
    return f"{joined(parts)} are reserved"


def _beyond_queue(run: Run, queue: str, wanted: Amounts) -> str:
    """Return that a queue's capability is too small, also if the cluster had room."""
    info = run.cache.queues.get(queue)
    if info is None:
        return ""
    parts = [
        f"{word(info.capability.get(name), name)} {name}"
        for name in in_order(wanted)
        if name in info.queue.spec.capability and wanted[name] > info.capability.get(name)
    ]
    return f"; also, its queue {queue} may use no more than {joined(parts)}" if parts else ""


def _reserved_by(run: Run, seen: ReservationCheck) -> str:
    names = seen.exceeded
    reserving = [
        holder for holder in seen.holders if any(holder.reserved.get(name) for name in names)
    ]
    reserving.sort(
        key=lambda holder: (-sum(holder.reserved.get(name, 0.0) for name in names), holder.job)
    )
    held_texts = [
        f"{run.title(holder.job)} has reserved "
        f"{words(holder.reserved, [name for name in names if holder.reserved.get(name)])}"
        for holder in reserving[:HOLDERS]
    ]
    more = len(reserving) - HOLDERS
    return (
        f" ({joined([*held_texts, f'{more} more'] if more > 0 else held_texts)})"
        if held_texts
        else ""
    )
