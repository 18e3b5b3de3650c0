"""Why an action may not evict, and why plugins let candidates stay, in words: from codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.model.resource_names import ATTACHABLE
from ...engine.session.framework.vote_details import (
    Amounts,
    Gate,
    Gated,
    Spared,
    Spares,
    TriedNode,
)
from .amounts import apart, in_order, joined, word
from .answering_session import CSI_NODE, Run

_NAMED = 2
"""How many jobs, queues or budgets a sentence names for one reason."""

_SPARES: Mapping[Spares, str] = MappingProxyType(
    {
        Spares.PRIORITY: "they have no lower priority",
        Spares.MIN_MEMBER: "their gangs would have fewer pods than minMember",
        Spares.NAMESPACE: "they are in kube-system",
        Spares.CRITICAL: "their PriorityClass is one of the critical ones",
        Spares.NO_LABELS: "they have no labels",
        Spares.BUDGET: "their PodDisruptionBudgets allow no more disruptions",
        Spares.WITHIN_DESERVED: "their queues hold no more than they deserve",
        Spares.LESS_THAN_ASKED: "their queues hold less than the pod requests",
        Spares.GUARANTEE: "without them their queues would hold less than their guarantee",
        Spares.OTHER_RESOURCES: "they hold nothing of what the pod requests",
        Spares.RELATED: "their queues deserve nothing of what they hold, and share an ancestor "
        "with this one",
        Spares.UNSOUND: "the tree of queues is invalid",
        Spares.SHARE: "without them their jobs would have a smaller share than this one",
        Spares.ORDER: "without them their queues would not come after this one",
        Spares.COOLING: "their cool-down has not ended",
        Spares.REVOCABLE: "the pod that looks for victims is itself preemptable or revocable",
        Spares.REVOCABLE_NODE: "they do not run, or are on nodes of a revocable zone",
        Spares.EVICTED_AT_ONCE: "no more pods of their jobs may be evicted at once",
        Spares.EXTENDER: "the extender does not name them",
    }
)
"""What is said of the candidates that stay."""

_OF_JOBS = frozenset({Spares.PRIORITY, Spares.MIN_MEMBER, Spares.SHARE, Spares.EVICTED_AT_ONCE})
_OF_QUEUES = frozenset(
    {
        *(Spares.WITHIN_DESERVED, Spares.LESS_THAN_ASKED, Spares.GUARANTEE),
        *(Spares.RELATED, Spares.ORDER),
    }
)
_SHORT = frozenset({Spares.LESS_THAN_ASKED, Spares.GUARANTEE})
"""Those where the first side is less than the second."""


def spared_words(run: Run, plugin: str, staying: Sequence[Spared]) -> str:
    """Return why a plugin lets candidates stay, with what it compared."""
    if not staying:
        return f"it chooses none of them (plugin {plugin})"
    by_reason: dict[Spares, list[Spared]] = {}
    for spared in staying:
        by_reason.setdefault(spared.spares, []).append(spared)
    parts = []
    for reason, spared_ones in by_reason.items():
        spared_ones.sort(key=lambda spared: (-spared.pods, spared.about))
        named = [text for spared in spared_ones[:_NAMED] if (text := _compared(run, spared))]
        rest = len(spared_ones) - _NAMED
        more = [f"{rest} more"] if named and rest > 0 else []
        numbers = f": {joined([*named, *more])}" if named else ""
        parts.append(f"{_SPARES[reason]} (plugin {plugin}{numbers})")
    return joined(parts)


def _compared(run: Run, spared: Spared) -> str:
    """Return whose numbers were compared, and the numbers on both sides."""
    has, limit = spared.has.get("", 0.0), spared.limit.get("", 0.0)
    about = run.title(spared.about) if spared.spares in _OF_JOBS else spared.about
    match spared.spares:
        case Spares.PRIORITY:
            return f"{about} has {has:g}, and this one {limit:g}"
        case Spares.MIN_MEMBER:
            return f"{about} has {has:g} of minMember {limit:g}"
        case Spares.SHARE:
            return f"{about} would have {has:.3g}, and this one {limit:.3g}"
        case Spares.EVICTED_AT_ONCE:
            return f"{limit:g} of {about}"
        case Spares.BUDGET:
            return f"{about} allows {limit:g}"
    if spared.spares in _OF_QUEUES:
        sides = pairs(spared.has, spared.limit, short=spared.spares in _SHORT)
        return f"queue {about}: {sides}" if sides else f"queue {about}"
    return "" if spared.spares is Spares.NAMESPACE else about


def pairs(has: Amounts, limit: Amounts, *, short: bool) -> str:
    """Return ``1 of 2 cpu and …`` for the resources of which one side is at most the other.

    :param short: only those where the first side is less.
    """
    names = [
        name
        for name in in_order({*has, *limit})
        if has.get(name, 0.0) < limit.get(name, 0.0)
        or (not short and has.get(name, 0.0) == limit.get(name, 0.0) > 0)
    ]
    shown = [name for name in names if name != "pods"] or names
    return joined(_pair(has, limit, name) for name in shown[: _NAMED + 1])


def _pair(has: Amounts, limit: Amounts, name: str) -> str:
    low, high = apart(max(has.get(name, 0.0), 0.0), limit.get(name, 0.0), name)
    return f"{low} of {high} {name}"


def gate_words(run: Run, gated: Gated, job: str, pod: str) -> str:
    """Return why an action looks for no victims for a pod, or for its job."""
    queue = "" if (info := run.job(job)) is None else info.queue
    match gated.gate:
        case Gate.STARVES_NOT:
            return _not_starving(gated)
        case Gate.OVERUSED:
            return f"its queue {queue} {_holds_all(gated)}"
        case Gate.MAY_NOT_RECLAIM:
            return _may_not(run, gated, queue, pod)
        case Gate.NOT_ALLOCATABLE:
            return _may_not(run, gated, queue, pod)
        case Gate.POLICY:
            return f"the pod may not evict others: {_policy(run, pod)}"
        case Gate.NOMINATED:
            return f"the pod may not evict others: it waits for its nominated node {gated.about}"
        case Gate.TOPOLOGY:
            return f"{run.answer.release} does so for no job with a network topology"
    return _GATES[gated.gate]


_GATES: Mapping[Gate, str] = MappingProxyType(
    {
        Gate.NOT_ENQUEUED: "its PodGroup is Pending, and only enqueued jobs may evict others",
        Gate.INVALID: "its gang has too few pods",
        Gate.UNPREPARED: "its filters could not be prepared",
    }
)


def _not_starving(gated: Gated) -> str:
    placed, least, pods = (
        f"{gated.numbers.get(name, 0)}" for name in ("held", "minAvailable", "pods")
    )
    by = f" (plugin {gated.by})" if gated.by else ""
    # Each plugin has its own idea of starving: gang up to minMember, priority up to all pods.
    if gated.by == "gang":
        return f"its gang has {placed} of minMember {least}, so the job does not starve{by}"
    if gated.by == "priority":
        noun = "pod has" if pods == "1" else "pods have"
        return f"{placed} of its {pods} {noun} a place, so the job does not starve{by}"
    return f"the job does not count as starving{by}"


def _holds_all(gated: Gated) -> str:
    """Return what a queue holds of what it deserves, if the plugin compared that."""
    deserved, allocated = _amounts(gated, "deserved"), _amounts(gated, "allocated")
    shown = [name for name in in_order(deserved) if deserved[name] > 0 and name != "pods"]
    if not shown:
        return f"is overused (plugin {gated.by})"
    return f"holds {joined(_pair(allocated, deserved, name) for name in shown)} that it deserves"


def _may_not(run: Run, gated: Gated, queue: str, pod: str) -> str:
    """Return why a queue may not reclaim for a pod: what it holds, deserves, and would need."""
    limits = ("realCapability", "deserved")
    compared = next((name for name in limits if name in gated.numbers), "")
    limit, allocated = _amounts(gated, compared), _amounts(gated, "allocated")
    request = _amounts(gated, "requested") or _amounts(gated, "request")
    asked = {name: amount for name, amount in request.items() if amount > 0}
    beyond = [
        name
        for name in in_order(asked or limit)
        if name != "pods"
        and _is_beyond(allocated, asked, limit, name)
        # Without CSINodes in the log, a session counts no volume as possible.
        and not (name.startswith(ATTACHABLE) and run.never_listed(CSI_NODE))
    ]
    name = str(gated.numbers.get("queue", queue))
    where = f"its queue {name}" if name == queue else f"queue {name}, above its queue {queue},"
    who, requests = _asking(gated, pod)
    if not asked and limit and not any(limit.values()):
        return f"{where} deserves nothing (plugin {gated.by})"
    if not beyond:
        verb = "reclaim" if gated.gate is Gate.MAY_NOT_RECLAIM else "take more"
        return f"plugin {gated.by} does not let {where} {verb} for {who}"
    does = "may use" if compared == "realCapability" else "deserves"
    most = {name: apart(limit.get(name, 0.0), allocated.get(name, 0.0), name) for name in beyond}
    wants = [f"{word(asked[name], name)} {name}" for name in beyond if asked.get(name)]
    if len(beyond) == 1:
        ((resource, (of, has)),) = most.items()
        more = f", and {who} {requests} {word(asked[resource], resource)}" if wants else ""
        return f"{where} {does} {of} {resource} and holds {has}{more} (plugin {gated.by})"
    ofs = joined(f"{of} {resource}" for resource, (of, _) in most.items())
    holds = joined(f"{has} {resource}" for resource, (_, has) in most.items())
    more = f", and {who} {requests} {joined(wants)}" if wants else ""
    return f"{where} {does} {ofs}, holds {holds}{more} (plugin {gated.by})"


def _asking(gated: Gated, pod: str) -> tuple[str, str]:
    """Return for which pods a plugin was asked, and the verb that goes with them."""
    if gated.pods > 1:
        return f"the {gated.pods} pending pods of its gang", "together request"
    return (f"pod {gated.about}" if gated.about and gated.about != pod else "the pod"), "requests"


def _is_beyond(allocated: Amounts, asked: Amounts, limit: Amounts, name: str) -> bool:
    """Return whether a limit leaves too little of a resource; without a request, whether none."""
    has, most = allocated.get(name, 0.0), limit.get(name, 0.0)
    if not asked:
        # Else each resource would be listed that the queue neither holds nor deserves.
        return has >= most > 0
    return asked[name] > 0 and has + asked[name] > most


def _policy(run: Run, pod: str) -> str:
    pod_object = run.pod(pod)
    name = "" if pod_object is None else pod_object.spec.priority_class_name
    return "its preemptionPolicy is Never" + (f" (PriorityClass {name})" if name else "")


def _amounts(gated: Gated, name: str) -> dict[str, float]:
    value = gated.numbers.get(name)
    if not isinstance(value, Mapping):
        return {}
    return {str(key): float(amount) for key, amount in value.items()}


def short_words(tried: TriedNode) -> Iterator[str]:
    """Yield what a node would have of what the pod requests, where that is too little."""
    for name in in_order(tried.request):
        if tried.request[name] > tried.room.get(name, 0.0):
            yield _pair(tried.room, tried.request, name)
