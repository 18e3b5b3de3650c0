"""What the cluster recorded in Events and an answer does not say: shown beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.units import parse_time
from ...engine.session.framework.vote_details import GangCounts, QueueCheck, ReservationCheck
from ...engine.session.plugins.shared.enqueue_refusals import OVERUSED, QUOTA_INSUFFICIENT
from ..objects.kind_names import plain_name
from .amounts import in_order
from .answering_session import JOB, POD, QUEUE, Run
from .finding import ObjectKey, SessionFinding
from .queue_words import ENQUEUE, first_full
from .records import Recorded
from .target import Target


class Says(StrEnum):
    """What the reason of an Event says about its object.

    It waits, by the scheduler; a controller could not make what it needs; and so on.
    """

    WAITS = "waits"
    FAILED = "failed"
    PLACED = "placed"
    EVICTED = "evicted"
    CLOSED = "closed"


SAYS: Mapping[str, Says] = MappingProxyType(
    {
        "FailedScheduling": Says.WAITS,
        "Unschedulable": Says.WAITS,
        "NotEnoughResources": Says.WAITS,
        "NotEnoughTasks": Says.WAITS,
        "PodGroupPending": Says.WAITS,
        "PodGroupError": Says.FAILED,
        "PluginError": Says.FAILED,
        "PVCError": Says.FAILED,
        "FailedCreate": Says.FAILED,
        "Scheduled": Says.PLACED,
        "Evict": Says.EVICTED,
        "Evicted": Says.EVICTED,
        "Preempted": Says.EVICTED,
        "TaintManagerEviction": Says.EVICTED,
        "CloseQueue": Says.CLOSED,
    }
)
"""The reasons that bear on waiting.

Source: ``Recorder.Event`` in Volcano's scheduler (``cache.go``, ``plugins``) and controllers
(``job_controller_actions.go``, ``queue_controller_action.go``), in kube-scheduler and the kubelet.
"""


class KubernetesEvent(msgspec.Struct, frozen=True):
    """An Event as it was at a moment.

    :param time: when it was recorded last, RFC 3339 in UTC to the millisecond; if the Event does
        not say that, what the log knows of it, in words.
    :param micros: the same in microseconds; None if only the log bounds it.
    """

    about: ObjectKey
    reason: str
    message: str
    time: str
    micros: int | None

    @property
    def says(self) -> Says:
        """What it says about its object."""
        return SAYS[self.reason]


_REASONS = frozenset({Says.WAITS, Says.FAILED})
"""What an Event says that has a reason to wait."""
_RUNS = frozenset({"runs", "bound"})
"""The causes of answers about what has a place."""

_DIGITS = re.compile("[0-9]")
_PARTS = re.compile("[,;:.] ?")
_ORIGIN = "Origin reason is"
"""What a gang's message has before the reason of a pod that keeps it back."""

_OF_JOB = "reason: "
"""Before the PodGroup's message in that of its job. Source: ``job_controller_actions.go``."""

_THAT: Mapping[Says, str] = MappingProxyType(
    {
        Says.PLACED: ", that it was placed",
        Says.EVICTED: ", that it was evicted",
        Says.CLOSED: ", that it was closed",
    }
)
"""What an Event says, in words, where that is no reason to wait."""
_OF_PARTS = ", that pods of it were evicted"


def with_recorded(
    run: Run, finding: SessionFinding, target: Target, events: Sequence[KubernetesEvent]
) -> SessionFinding:
    """Return an answer with the newest Event that says something else, if there is one.

    An Event that agrees, or that a condition in the answer repeats, is left out. An answer that is
    not known has it in its sentence.

    :param target: the object that is asked about.
    :param events: the newest of each object of the question.
    """
    known = [link for link in finding.chain if isinstance(link, Recorded)]
    with_messages = [(event, written(run, target, event)) for event in events]
    contradicting = [
        (event, messages)
        for event, messages in with_messages
        if _contradicts(run, finding, target, event, messages) and _is_news(event, known)
    ]
    if not contradicting:
        return finding
    # An Event without a time counts as the oldest.
    event, messages = max(contradicting, key=lambda pair: pair[0].micros or 0)
    link = _link(run, event, messages, compared=finding.waits is not None)
    if finding.waits is None and not known:
        finding = msgspec.structs.replace(finding, sentence=f"{finding.sentence}; {link.text}")
    return msgspec.structs.replace(finding, chain=(*finding.chain, link))


def _contradicts(
    run: Run,
    finding: SessionFinding,
    target: Target,
    event: KubernetesEvent,
    messages: Sequence[str],
) -> bool:
    """Return whether an Event says something else than an answer, or the answer is not known.

    :param messages: what the session writes.
    """
    (pair, key), says = event.about, event.says
    # What is recorded of a whole gang or job says nothing of one of its pods.
    of_others = target.pair == POD and pair != POD
    if finding.waits is None:
        return not of_others
    # Only if the answer waits, too, are there two reasons to compare.
    if says in _REASONS:
        return finding.waits and not _says_no_more(event, [*messages, *_named(run, target, event)])
    if says is Says.CLOSED:
        info = run.cache.queues.get(key)
        return info is not None and info.state == "Open"
    if of_others:
        return False
    # That it waits after an eviction is to be expected; that it runs is not.
    if says is Says.EVICTED:
        return finding.cause in _RUNS
    # It was placed, the Event says: that is news while the object itself shows no sign of it.
    return finding.waits and not _has_started(run, target, event)


def _has_started(run: Run, target: Target, event: KubernetesEvent) -> bool:
    """Return whether a pod has a node, or a gang runs."""
    pair, key = event.about
    if pair == POD:
        pod = run.pod(key)
        return pod is None or bool(pod.spec.node_name)
    group = run.group(_group_of(target, event))
    return group is None or group.status.phase not in {"", "Pending", "Inqueue"}


def _group_of(target: Target, event: KubernetesEvent) -> str:
    """Return the PodGroup that an Event is about: of a job, its own."""
    pair, key = event.about
    return target.podgroup if pair == JOB else key


def written(run: Run, target: Target, event: KubernetesEvent) -> list[str]:
    """Return the messages that the session writes into the object of an Event, or records of it."""
    (pair, key), result = event.about, run.answer.result
    if pair == POD:
        news = result.pod_conditions.get(key)
        if news is not None:
            return [news.message]
        # No news: the condition stays (`podConditionHaveUpdate`), or the session broke off.
        placed = key in run.binds or result.panic is not None
        return [] if placed else list(_condition(run, key))
    # Controllers record these (`job_controller_actions.go`): no session writes them.
    if event.says is Says.FAILED:
        return []
    key = _group_of(target, event)
    messages = [message for name, _, message in result.events if name == key]
    status, gang = result.pod_groups.get(key), run.detail(GangCounts, "gang", key)
    ours = (
        () if status is None else (condition for condition in status.conditions if condition.ours)
    )
    messages += [our.message for our in ours if our.type == "Unschedulable"]
    return [*messages, *_at_close(gang)]


def _named(run: Run, target: Target, event: KubernetesEvent) -> Iterator[str]:
    """Yield what the session would record if its release named resources in Events, as others do.

    So an Event of another release is compared with what the session found to be short.
    """
    key = _group_of(target, event)
    reserved = run.detail(ReservationCheck, "overcommit", key, "enqueue")
    if reserved is not None:
        yield OVERUSED.naming(in_order(reserved.exceeded))
    check = run.detail(QueueCheck, ENQUEUE, key, "enqueue")
    full = None if check is None else first_full(check)
    if full is not None:
        yield QUOTA_INSUFFICIENT.naming(in_order(full.exceeded))


def _at_close(gang: GangCounts | None) -> Iterator[str]:
    """Yield what the close of a session records of a gang. Source: ``RecordJobStatusEvent``."""
    if gang is not None and gang.message:
        total, pending = sum(gang.statuses.values()), gang.statuses.get("Pending", 0)
        yield f"{pending}/{total} tasks in gang unschedulable: {gang.message}"


def _condition(run: Run, pod: str) -> Iterator[str]:
    """Yield the message of a pod's condition: a session does not write the same again."""
    pod_object = run.pod(pod)
    for condition in () if pod_object is None else pod_object.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            yield condition.message


def _says_no_more(event: KubernetesEvent, messages: Iterable[str]) -> bool:
    """Return whether all that an Event says is in one of some messages, but for the numbers."""
    text = event.message
    if event.about[0] == JOB:
        text = text.partition(_OF_JOB)[2]
    origin = text.partition(_ORIGIN)[2]
    if origin:  # It says which pod of the gang it is of: what follows is the reason.
        text = origin.partition(": ")[2]
    return any(_parts(text) <= _parts(message) for message in messages)


def _parts(message: str) -> set[str]:
    return {part.strip() for part in _PARTS.split(_DIGITS.sub("", message))} - {""}


def _is_news(event: KubernetesEvent, known: Iterable[Recorded]) -> bool:
    """Return whether no condition in an answer has the same message, or is of a later time."""
    about = _who(event)
    return not any(
        condition.message == event.message
        or (condition.about == about and _is_later(condition.time, event.micros))
        for condition in known
    )


def _is_later(time: str, than: int | None) -> bool:
    try:
        return than is not None and parse_time(time) >= than
    except ValueError:
        return False


def _link(run: Run, event: KubernetesEvent, messages: Sequence[str], *, compared: bool) -> Recorded:
    """Return an Event as a link of an answer.

    :param messages: what the session writes. :param compared: whether it was compared with that.
    """
    who, differs = _who(event), compared and event.says in _REASONS
    another = " another reason" if differs else ""
    of_parts = event.says is Says.EVICTED and event.about[0] not in {POD, QUEUE}
    that = _OF_PARTS if of_parts else _THAT.get(event.says, "")
    text = (
        f"the cluster recorded{another} at {event.time}, in an Event of {who} ({event.reason})"
        f'{that}: "{event.message}"'
    )
    instead = _instead(run, event, messages) if differs else ""
    return Recorded(
        text=f"{text}{instead and f'; this session {instead}'}",
        about=who,
        message=event.message,
        time=event.time,
        event_reason=event.reason,
    )


def _instead(run: Run, event: KubernetesEvent, messages: Sequence[str]) -> str:
    """Return what the session does with the object of an Event; empty if it does nothing."""
    pair, key = event.about
    if pair == POD and key in run.binds:
        return f"binds it to node {run.binds[key]}"
    return f'writes "{messages[0]}"' if messages else ""


def _who(event: KubernetesEvent) -> str:
    return f"{plain_name(*event.about[0])} {event.about[1]}"
