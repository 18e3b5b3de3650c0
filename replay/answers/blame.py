"""Which events make up a number, and which one changed it last.

A number is a sum over pods (what a queue has allocated, what is used on a node), a sum over
PodGroups (what is reserved in a queue), or a field of the object itself.
"""

from __future__ import annotations

from ...engine.errors import UsageError
from ...engine.state.facts import PodFact
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.field_paths import split_path
from ..objects.kind_names import ObjectName, plain_name
from .answering_session import POD
from .blame_fields import field_changes
from .blame_sums import SUMS
from .blamed import Blame, NumberAsked
from .cluster_resources import check_resource, there_are
from .target import target_of

_STATUSES = (
    *("Pending", "Running", "Succeeded", "Completed", "Failed", "Error", "Unknown", "Terminating"),
    *("ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff"),
    *("ErrImagePull", "OOMKilled", "Evicted", "SchedulingGated", "CreateContainerConfigError"),
)
"""What ``kubectl get pods`` prints most as STATUS."""


def blame_at(
    log: Log,
    named: ObjectName,
    number: str,
    at: str | Moment = "end",
    *,
    namespace: str | None = None,
    losses: bool = True,
) -> Blame:
    r"""Return what makes up a number of an object at a moment.

    :param number: ``allocated.cpu``, ``inqueue.cpu`` or ``pods`` of a queue; ``used.cpu``,
        ``idle.cpu``, ``releasing.cpu`` or ``pods`` of a node; ``allocated.cpu``, ``pods`` or
        ``members.Running`` of a PodGroup or a job; of any object a field, as
        ``spec.capability.cpu`` or ``capability.cpu``. Dots in names may be escaped:
        ``allocated.nvidia.com/gpu`` or ``allocated.nvidia\.com/gpu``.
    :param losses: look for the last event that took something away, too: without it, the last
        addition is named as the last change of a sum.
    :raises UsageError: the object has no such number, or nothing has such a resource.
    :raises ObjectNotFound: there is no such object at that moment.
    """
    moment = log.moment(at)
    target = target_of(log, named, named.place(namespace) or "default", moment)
    sum_name, *more = split_path(number)
    # Names of resources have dots, too: all that follows the name of the sum is one of them.
    rest = ".".join(more)
    ask = NumberAsked(log, moment, target.pair, target.key, number, target.podgroup, losses)
    sums = SUMS.get((target.pair, sum_name))
    if sums is None:
        return field_changes(ask, (name for pair, name in SUMS if pair == target.pair))
    # A count of pods has no resource after it, and every other sum needs one.
    if (sum_name == "pods") is bool(rest):
        raise UsageError(
            f"{number!r} is no number of a {plain_name(*target.pair)}",
            now=f"write {_example(sum_name)}",
        )
    if sum_name == "members":
        _check_status(ask, rest)
    else:
        check_resource(rest or "pods", log.truth(moment), before=f"{sum_name}.")
    return sums(ask, rest or "pods")


def _check_status(ask: NumberAsked, status: str) -> None:
    """Refuse a status that no pod has.

    :raises UsageError: it is none that pods usually have, and no pod has it then.
    """
    # kubectl also prints reasons of containers, which may be any text: those that exist count.
    known = {*_STATUSES}
    for entry in ask.log.truth(ask.moment).of(*POD):
        if isinstance(entry.fact, PodFact):
            known.add(entry.fact.status)
    if status not in known:
        message = f"no pod has the status {status!r} at {ask.moment.label}"
        raise UsageError(message, now=there_are(status, known - {""}, before="members."))


def _example(name: str) -> str:
    if name == "pods":
        return name
    return "members.Running" if name == "members" else f"{name}.cpu"
