"""Accounts of queues as records and sentences: which is full, of what, and who holds it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ...engine.session.framework.vote_details import (
    Amounts,
    QueueCheck,
    QueueHolder,
    QueueLevel,
    TreeError,
    TreeFault,
)
from ...engine.session.plugins.shared.gauge_amounts import plain
from .amounts import amounts_of, apart, in_order, joined, word, words
from .answering_session import NODE, QUEUE, Run
from .finding import Blocked, ObjectKey
from .limit_sources import asked_for, on_nodes, source_of, stops_all
from .records import Account, Held, QueuePath, QueueTree

HOLDERS = 3
"""How many jobs a sentence names."""

ENQUEUE, ALLOCATE, OVERUSED = "JobEnqueueable", "Allocatable", "Overused"
_ROOT, _PROPORTION = "root", "proportion"
_CAPABILITY = "capability"
ATTACH_LIMIT = "attach-limit"
_ATTACHED = "attachable-volumes-csi-"
_LOCAL = "kubernetes.io/no-provisioner"
"""The provisioner of local volumes: no CSI driver has this name."""


def account_of(level: QueueLevel) -> Account:
    """Return an account as a record."""
    return Account(
        queue=level.queue,
        compared=level.compared,
        limit=amounts_of(level.limit),
        capability=amounts_of(level.capability),
        deserved=amounts_of(level.deserved, zeros=False),
        guarantee=amounts_of(level.guarantee, zeros=False),
        allocated=amounts_of(level.allocated),
        inqueue=amounts_of(level.inqueue, zeros=False),
        elastic=amounts_of(level.elastic, zeros=False),
        wanted=amounts_of(level.wanted),
        left=amounts_of(level.left),
        exceeded=tuple(in_order(level.exceeded)),
        checked=level.checked,
    )


def path_of(run: Run, check: QueueCheck, action: str, point: str) -> QueuePath:
    """Return a plugin's check of a queue and those above it as a record."""
    full = first_full(check)
    holders = _ranked(check.holders, full, point)
    names = [level.queue for level in check.levels]
    if full is None and check.permits:
        text = f"{check.plugin} permits it in {_path(names)}"
    elif full is None:
        text = f"{check.plugin} refuses it in {_path(names)}"
    else:
        said = _Said(check, point, "")
        text = f"{check.plugin} refuses it: {_full(run, full, holders, said)}"
    return QueuePath(
        text=text,
        blocks=not check.permits,
        action=action,
        point=point,
        plugin=check.plugin,
        permits=check.permits,
        accounts=tuple(map(account_of, check.levels)),
        holders=tuple(held_of(run, holder) for holder in holders),
    )


def held_of(run: Run, holder: QueueHolder) -> Held:
    """Return what a job holds as a record."""
    return Held(
        job=run.title(holder.job),
        podgroup=holder.job,
        queue=holder.queue,
        allocated=amounts_of(holder.allocated, zeros=False),
        reserved=amounts_of(holder.reserved, zeros=False),
    )


def full_queue(
    run: Run, check: QueueCheck, action: str, point: str, own: str = ""
) -> Blocked | None:
    """Return what is full, if a plugin refuses because of a queue's account.

    :param own: the PodGroup that is asked about: it is named as a holder only of what this session
        planned for it.
    """
    full = first_full(check)
    if full is None:
        return None
    path = path_of(run, check, action, point)
    others = [
        holder
        for holder in check.holders
        if holder.job != own or _given(run, holder, full.exceeded)
    ]
    holders = _ranked(others, full, point)
    about: tuple[ObjectKey, ...] = ((QUEUE, full.queue), (QUEUE, check.levels[0].queue))
    # What all nodes have bounds the root, so a change of nodes may be the cause.
    if full.queue == _ROOT:
        about = (*about, (NODE, ""))
    cause = "queue-overused" if point == OVERUSED else "queue-full"
    if all(name.startswith(_ATTACHED) and _LOCAL not in name for name in full.exceeded):
        cause = ATTACH_LIMIT
    because = _full(run, full, holders, _Said(check, point, f" (plugin {check.plugin})"))
    return Blocked(because, cause, (path,), about, (full.queue,))


def _ranked(
    holders: Iterable[QueueHolder], full: QueueLevel | None, point: str
) -> list[QueueHolder]:
    """Return holders by how much they have of what is short, the most first.

    What is reserved counts only where jobs are enqueued.
    """
    counted = [
        holder if point == ENQUEUE else msgspec.structs.replace(holder, reserved={})
        for holder in holders
        if point == ENQUEUE or any(holder.allocated.values())
    ]
    return sorted(counted, key=lambda holder: (-_weight(holder, full), holder.job))


def invalid_tree(run: Run, fault: TreeFault) -> Blocked:
    """Return why nothing is scheduled while the tree of queues is invalid."""
    text = "the tree of queues is invalid, so the capacity plugin schedules nothing"
    if fault.what:
        parts = []
        for name in in_order(fault.exceeded):
            own, theirs = apart(fault.own.get(name, 0.0), fault.theirs.get(name, 0.0), name)
            parts.append(f"{own} against {theirs} {name}")
        whose = f"its child {fault.child}" if fault.child else "its children together"
        text += (
            f": queue {fault.queue}'s {fault.what}{_source(run, fault)} is less than that of"
            f" {whose}: {joined(parts)}"
        )
    else:
        text += f": {_tree_words(fault)}"
    link = QueueTree(
        text=text,
        blocks=True,
        log=fault.text,
        what=fault.what,
        queue=fault.queue,
        child=fault.child,
        own=amounts_of(fault.own),
        theirs=amounts_of(fault.theirs),
        exceeded=tuple(in_order(fault.exceeded)),
    )
    queues = dict.fromkeys(filter(None, (fault.queue, fault.child)))
    about = (*((QUEUE, name) for name in queues), (NODE, ""))
    return Blocked(
        text,
        "queue-tree",
        (link,),
        about,
        (fault.queue, fault.what) if fault.what else (),
    )


def _source(run: Run, fault: TreeFault) -> str:
    """Return where the amounts of the root are from, if they are those of all nodes."""
    exceeded = in_order(fault.exceeded)
    if fault.queue != _ROOT or any(
        on_nodes(run.cache, name) != fault.own.get(name) for name in exceeded
    ):
        return ""
    info = run.cache.queues.get(fault.queue)
    if info is None or fault.what != _CAPABILITY:
        return " (what all nodes have together)"
    own = plain(info.capability)
    unused = [name for name in exceeded if own.get(name, 0.0) > fault.own.get(name, 0.0)]
    rest = f"; {run.answer.release} does not use its own {words(own, unused)}" if unused else ""
    return f" (what all nodes have together{rest})"


def _tree_words(fault: TreeFault) -> str:
    """Return why a tree of queues is invalid, if it is about no amount."""
    if fault.error is TreeError.NOT_LEAF:
        return (
            f"queue {fault.queue} has queues below it, and only queues without any may have jobs, "
            f"but podgroup {fault.other} is in it"
        )
    if fault.error is TreeError.NO_PARENT:
        return f"the parent {fault.other} of queue {fault.queue} does not exist"
    return "the root queue is missing" if fault.error is TreeError.NO_ROOT else fault.text


def first_full(check: QueueCheck) -> QueueLevel | None:
    """Return the first account without room that the release checks."""
    if check.permits:
        return None
    return next((level for level in check.levels if level.checked and level.exceeded), None)


class _Said(msgspec.Struct, frozen=True):
    """A check, and how a sentence names its plugin; empty if it is named before."""

    check: QueueCheck
    point: str
    by: str


def _full(run: Run, full: QueueLevel, holders: Sequence[QueueHolder], said: _Said) -> str:
    where = _relation(full.queue, [level.queue for level in said.check.levels])
    # `Overused` asks about the queue alone, so nothing is wanted beside what it holds.
    if not any(full.wanted.values()) and full.compared == "deserved":
        over = _over(full) or f"it deserves nothing{_weightless(run, full, said.check.plugin)}"
        return f"{where} already has its share{said.by}: {over}{_by(run, full, holders)}"
    names = in_order(full.exceeded)
    if full.compared == "deserved":
        share = (
            f"{where} may not exceed its share{said.by}: {_share(full)}{_by(run, full, holders)}"
        )
        return share + _cluster(run, full) + _volumes(full)
    if not asked_for(names, full.wanted):
        return _unasked(run, full, holders, said)
    source = source_of(run, full, names)
    # However empty the queue gets, it never has room for this: waiting does not help.
    if any(_above(full, name) for name in names):
        small = _too_small(f"{where} is too small{said.by}", full, names)
        return f"{small}{_by(run, full, holders)}{_cluster(run, full)}{source}"
    parts = [_left(full, name, alone=len(names) == 1) for name in names]
    return f"{where} is full{said.by}: it wants {joined(parts)}{_by(run, full, holders)}{source}"


def _left(full: QueueLevel, name: str, *, alone: bool) -> str:
    """Return what is wanted of a resource, and what its limit leaves, or how far it is over.

    :param alone: it is the only resource.
    """
    left, most = full.left.get(name, 0.0), word((full.limit or {}).get(name, 0.0), name)
    wanted, rest = apart(full.wanted.get(name, 0.0), abs(left), name)
    if left < 0:
        over = f", and is {rest} over its limit of {most}"
        return f"{wanted} {name}{over if alone else f' ({rest} over the limit of {most})'}"
    return (
        f"{wanted} {name}{f', {rest} of {most} are left' if alone else f' ({rest} of {most} left)'}"
    )


def _unasked(run: Run, full: QueueLevel, holders: Sequence[QueueHolder], said: _Said) -> str:
    """Return that a queue is over its limit in resources for which the job does not ask."""
    where = _relation(full.queue, [level.queue for level in said.check.levels])
    names, parts = in_order(full.exceeded), []
    for name in names:
        used = full.allocated.get(name, 0.0)
        if said.point == ENQUEUE:
            # As `JobEnqueueable` counts: with what is reserved, without what is beyond minMember.
            used += full.inqueue.get(name, 0.0) - full.elastic.get(name, 0.0)
        has, limit = apart(used, (full.limit or {}).get(name, 0.0), name)
        parts.append(f"{has} of {limit} {name}")
    counts = "held or reserved" if said.point == ENQUEUE else "held"
    over = f"{where} is over its limit{said.by}: {joined(parts)} are {counts}"
    stops = stops_all(run, names, f" of queue {full.queue}")
    return f"{over}{_by(run, full, holders)}; {stops}{source_of(run, full, names)}"


def _above(full: QueueLevel, name: str) -> bool:
    """Return whether the whole limit is less than what is wanted."""
    return full.wanted.get(name, 0.0) > (full.limit or {}).get(name, 0.0)


def _too_small(where: str, full: QueueLevel, names: Sequence[str]) -> str:
    """Return that a queue can never hold what is wanted, also if all else in it is gone."""
    limit, parts = full.limit or {}, []
    for name in names:
        if _above(full, name):
            wanted, most = apart(full.wanted.get(name, 0.0), limit.get(name, 0.0), name)
            parts.append(f"it wants {wanted} {name}, and all of the queue may use {most}")
    return f"{where}: {joined(parts)}"


def _cluster(run: Run, full: QueueLevel) -> str:
    with_wanted = {
        name: full.wanted.get(name, 0.0) + full.allocated.get(name, 0.0) for name in full.exceeded
    }
    return beyond_nodes(run, with_wanted)


def beyond_nodes(run: Run, wanted: Amounts) -> str:
    """Return what all nodes have of what is wanted, where that is less."""
    parts = []
    for name in in_order(wanted):
        total = on_nodes(run.cache, name)
        if not total:
            parts.append(f"no node has {name}")
        elif total < wanted[name]:
            has = f"all nodes together have {word(total, name)}"
            parts.append(has if len(wanted) == 1 else f"{has} {name}")
    return f"; {joined(parts)}" if parts else ""


def _volumes(full: QueueLevel) -> str:
    """Return how volumes come to be counted, if they are what is exceeded."""
    if not all(name.startswith(_ATTACHED) for name in full.exceeded):
        return ""
    return "; the scheduler counts volumes by their provisioner, but for --ignored-provisioners"


def _share(full: QueueLevel) -> str:
    """Return what a queue deserves, holds, and would hold beyond that."""
    parts = []
    for name in in_order(full.exceeded):
        deserves, has = apart(
            (full.limit or {}).get(name, 0.0), full.allocated.get(name, 0.0), name
        )
        more = word(full.wanted.get(name, 0.0), name)
        if (full.capability or {}).get(name) == (full.limit or {}).get(name, 0.0):
            deserves += f" {name}, its capability,"
        else:
            deserves += f" {name}"
        parts.append(f"it deserves {deserves} and holds {has}, and needs {more} more")
    return joined(parts)


def _over(full: QueueLevel) -> str:
    """Return what a queue holds and deserves; empty if it deserves nothing."""
    if not any((full.limit or {}).values()):
        return ""
    names = in_order(set(full.exceeded) - {"pods"}) or list(full.exceeded)
    parts = []
    for name in names:
        has, deserves = apart(
            full.allocated.get(name, 0.0), (full.limit or {}).get(name, 0.0), name
        )
        parts.append(f"{has} of {deserves} {name}")
    return f"it holds {joined(parts)} that it deserves"


def _weightless(run: Run, full: QueueLevel, plugin: str) -> str:
    """Return that a queue has no weight, by which ``proportion`` divides what nodes have."""
    info = run.cache.queues.get(full.queue)
    none = plugin == _PROPORTION and info is not None and not info.weight
    return ", as its weight is 0" if none else ""


def _relation(queue: str, path: Sequence[str]) -> str:
    """Return a queue by its place above the job's own."""
    leaf = path[0]
    if queue == leaf:
        return f"its queue {queue}"
    if len(path) > 1 and queue == path[1]:
        return f"queue {queue}, the parent of its queue {leaf},"
    return f"queue {queue}, above its queue {leaf},"


def _path(names: Sequence[str]) -> str:
    return joined([f"queue {names[0]}", *names[1:]])


def _weight(holder: QueueHolder, full: QueueLevel | None) -> float:
    """Return how much a job has of what is short, as a part of the limit."""
    if full is None:
        return 0.0
    parts = (
        (holder.allocated.get(name, 0.0) + holder.reserved.get(name, 0.0))
        # A limit may be 0; what is held then ranks by its amount.
        / max((full.limit or {}).get(name, 0.0), 1.0)
        for name in full.exceeded
    )
    return sum(parts)


def _by(run: Run, full: QueueLevel, holders: Sequence[QueueHolder]) -> str:
    """Return who holds and reserves what is short."""
    having = [holder for holder in holders if _weight(holder, full) > 0]
    if not having:
        return ""
    alone = len(full.exceeded) == 1
    named = [
        f"{run.title(holder.job)} {_has(holder, full.exceeded, alone=alone)}"
        f"{_given(run, holder, full.exceeded)}"
        for holder in having
    ]
    rest = len(named) - HOLDERS
    if rest > 0:
        named = [*named[:HOLDERS], f"{rest} more"]
    return f" ({joined(named)})" if alone else f"; {joined(named)}"


def _given(run: Run, holder: QueueHolder, names: Sequence[str]) -> str:
    """Return that a job holds resources only since this session planned places for its pods."""
    job = run.job(holder.job)
    before = {} if job is None else plain(job.allocated)
    more = any(holder.allocated.get(name, 0.0) > before.get(name, 0.0) for name in names)
    had = any(before.get(name) for name in names)
    if not more or job is None:
        return ""
    return f"{', in part' if had else ', as'} planned in this session"


def _has(holder: QueueHolder, names: Sequence[str], *, alone: bool) -> str:
    def says(verb: str, amounts: Amounts) -> list[str]:
        positive = [name for name in in_order(names) if amounts.get(name)]
        if not positive:
            return []
        first = positive[0]
        return [f"{verb} {word(amounts[first], first) if alone else words(amounts, positive)}"]

    return joined([*says("holds", holder.allocated), *says("has reserved", holder.reserved)])
