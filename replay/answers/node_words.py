"""Why nodes refuse a pod, in plain words; the scheduler's own words stay beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.vote_details import NodeMiss, RefusingNodes
from ...engine.session.plugins.deviceshare.vgpu import DEVICE
from ...engine.session.plugins.nodegroup import NODE_GROUP as GROUP_LABEL
from ...engine.session.plugins.predicates.node_affinity import NO_MATCH
from ...engine.session.reasons.objections import NodeCode, Objection
from .amounts import amounts_of, in_order, joined, word
from .coded_words import coded
from .demands import NO_DEMANDS, Demands
from .records import Miss, NodeReason

_CROWDED = ("has as many pods as it may have", "have as many pods as they may have")
_UNCOUNTED = (
    "does not say how many pods it may have (status.allocatable.pods), which counts as 0",
    "do not say how many pods they may have (status.allocatable.pods), which counts as 0",
)
_WORDS: Mapping[NodeCode, tuple[str, str]] = MappingProxyType(
    {
        NodeCode.CORDONED: ("is cordoned", "are cordoned"),
        NodeCode.NODE_AFFINITY: (
            "does not match the pod's node selector or affinity",
            "do not match the pod's node selector or affinity",
        ),
        NodeCode.POD_AFFINITY: (
            "does not match the pod's affinity to other pods",
            "do not match the pod's affinity to other pods",
        ),
        NodeCode.POD_ANTI_AFFINITY: (
            "has a pod that the pod's anti-affinity keeps away from",
            "have pods that the pod's anti-affinity keeps away from",
        ),
        NodeCode.TOPOLOGY_SPREAD_LABEL: (
            "lacks a label of the pod's topology spread",
            "lack a label of the pod's topology spread",
        ),
        NodeCode.TOPOLOGY_SPREAD: (
            "would make the pod's topology spread too uneven",
            "would make the pod's topology spread too uneven",
        ),
        NodeCode.VOLUME_UNREACHABLE: (
            "cannot reach the pod's volume",
            "cannot reach the pod's volume",
        ),
        NodeCode.NO_VOLUME: (
            "has no free persistent volume for the pod's claim",
            "have no free persistent volume for the pod's claim",
        ),
        NodeCode.HOST_PORTS: (
            "has no free host port for the pod",
            "have no free host port for the pod",
        ),
        NodeCode.TOO_MANY_PODS: _CROWDED,
        NodeCode.UNTOLERATED_TAINT: (
            "has a taint that the pod does not tolerate",
            "have taints that the pod does not tolerate",
        ),
        NodeCode.ZONE_NOT_REVOCABLE: (
            "is in a revocable zone (plugin tdm), and the pod is not revocable",
            "are in a revocable zone (plugin tdm), and the pod is not revocable",
        ),
        NodeCode.NODE_GROUP_LABEL: (
            f"is in no node group (label {GROUP_LABEL}), and plugin nodegroup wants one",
            f"are in no node group (label {GROUP_LABEL}), and plugin nodegroup wants one",
        ),
        NodeCode.NODE_GROUP_AFFINITY: (
            "is in a node group, and the queue names none (spec.affinity, plugin nodegroup)",
            "are in a node group, and the queue names none (spec.affinity, plugin nodegroup)",
        ),
        NodeCode.NODE_GROUP: (
            "is in no node group that the affinity of the pod's queue allows (plugin nodegroup)",
            "are in no node group that the affinity of the pod's queue allows (plugin nodegroup)",
        ),
        NodeCode.OUT_OF_SYNC: (
            "uses more than it has, so sessions skip it",
            "use more than they have, so sessions skip them",
        ),
    }
)
_STATES: Mapping[str, str] = MappingProxyType(
    {
        "node.kubernetes.io/not-ready": "not ready",
        "node.kubernetes.io/unreachable": "not reachable",
        "node.kubernetes.io/unschedulable": "cordoned",
    }
)
_NAMED = 3


def node_reason(group: RefusingNodes, own: Demands = NO_DEMANDS) -> NodeReason:
    """Return a group of nodes as a record.

    :param own: what is said instead of the words here, with what the pod demands.
    """
    nearest = tuple(
        Miss(
            node=miss.node,
            missing=amounts_of(miss.missing),
            free=amounts_of(miss.free),
            allocatable=amounts_of(miss.allocatable),
            also=tuple(said.message for said in miss.also),
        )
        for miss in group.nearest
    )
    return NodeReason(
        reasons=tuple(reason.message for reason in group.reasons),
        text=_text(group, own),
        final=group.final,
        nodes=group.nodes,
        nearest=nearest,
        of=group.of,
        behaviour=own.behaviour if group.of else "",
        codes=tuple(objection.full_code for objection in group.reasons),
        lacks=tuple(reason.resource for reason in group.reasons if reason.resource),
    )


def refusal_of(group: RefusingNodes, name: str, own: Demands = NO_DEMANDS) -> str:
    """Return why one node of a group refuses a pod."""
    near = next((miss for miss in group.nearest if miss.node == name), None)
    alone = () if near is None else (near,)
    return _text(msgspec.structs.replace(group, nodes=(name,), nearest=alone), own)


def refusals(groups: Sequence[RefusingNodes], own: Demands = NO_DEMANDS) -> str:
    """Return why nodes refuse a pod: first those that could take it if they were opened."""
    return "; ".join(_text(group, own) for group in sorted(groups, key=_far))


def says_of(group: RefusingNodes, own: Demands = NO_DEMANDS) -> list[str]:
    """Return why nodes refuse a pod, without their names, and without further reasons."""
    own = msgspec.structs.replace(own, phrases={**coded(group), **own.phrases})
    one = len(group.nodes) == 1
    near = group.nearest[0] if group.nearest else None
    if one and near is not None and _lacking(near):
        return _lacked(near, own)
    says = (
        _as_one(reason, group.nodes, own)
        or phrase(reason, own, one=one) + _which(reason, group, own)
        for reason in group.reasons
    )
    return list(dict.fromkeys(says))


def phrase(reason: Objection, own: Demands = NO_DEMANDS, *, one: bool) -> str:
    """Return what a filter says in words, without the node."""
    if reason in own.phrases:
        return own.phrases[reason][not one]
    if _names_taint(reason):
        return _tainted(reason, one=one)
    if reason.code in _WORDS:
        return _WORDS[reason.code][not one]
    if reason.resource:
        return f"{'lacks' if one else 'lack'} {reason.resource}"
    return f'{"says" if one else "say"} "{reason.message}"'


def _as_one(reason: Objection, nodes: Sequence[str], own: Demands) -> str:
    """Return what the nodes themselves show of a reason; empty for other reasons.

    It is which devices they lack, with the reason of the first, or that none says how many pods it
    may have.
    """
    if reason.code is NodeCode.TOO_MANY_PODS:
        uncounted = bool(nodes) and all(map(own.without_pods, nodes))
        return _UNCOUNTED[len(nodes) > 1] if uncounted else ""
    if not _reads_no_devices(reason):
        return ""
    says = own.devices(nodes[0])
    if not says or len(nodes) == 1:
        return says
    return f"have no virtual GPUs that the scheduler reads ({nodes[0]} {says})"


def _reads_no_devices(reason: Objection) -> bool:
    """Return whether a node has no virtual GPUs for the scheduler."""
    return reason.code is NodeCode.NO_VIRTUAL_GPUS and reason.subject == DEVICE


def _of_one(reasons: Sequence[Objection], own: Demands, name: str = "") -> list[str]:
    """Return all reasons of one node in words; its taints together."""
    named = [_taint_name(reason) for reason in reasons if _names_taint(reason)]
    together = len(named) > 1
    says = [
        (_as_one(reason, [name], own) if name else "") or phrase(reason, own, one=True)
        for reason in reasons
        if not (together and _names_taint(reason))
    ]
    if together:
        says.append(f"has taints that the pod does not tolerate ({joined(named)})")
    return says


def _is_taint(reason: Objection) -> bool:
    return reason.code is NodeCode.UNTOLERATED_TAINT


def _names_taint(reason: Objection) -> bool:
    """Return whether a reason is a taint that it names, as newer releases do."""
    return _is_taint(reason) and bool(reason.subject)


def _taint_name(reason: Objection) -> str:
    """Return the taint that a reason names, as kubectl writes it."""
    value = reason.data["value"]
    return f"{reason.subject}={value}" if value else reason.subject


def _tainted(reason: Objection, *, one: bool) -> str:
    """Return what the taint means that a reason names."""
    state = _STATES.get(reason.subject)
    if state is not None:
        return f"{'is' if one else 'are'} {state} (taint {reason.subject})"
    verb = "has" if one else "have"
    return f"{verb} a taint that the pod does not tolerate ({_taint_name(reason)})"


def _far(group: RefusingNodes) -> int:
    """Return how far a group is from taking a pod: closed nodes, others, those without room."""
    # A node without room does not take the pod even when it is opened.
    if any(reason.resource for reason in group.reasons):
        return 2
    opens = all(reason.code is NodeCode.CORDONED or _is_taint(reason) for reason in group.reasons)
    return 0 if opens else 1


def _text(group: RefusingNodes, own: Demands) -> str:
    own = msgspec.structs.replace(own, phrases={**coded(group), **own.phrases})
    count = len(group.nodes)
    if group.of:
        return _of_another(group, own)
    near = group.nearest[0] if group.nearest else None
    if count == 1 and near is not None and _lacking(near):
        others = [*(objection for objection in group.reasons if not objection.resource), *near.also]
        return f"{near.node} {joined(_lacks(near, own, *others))}"
    if count == 1:
        return _alone(group, near, own)
    says = [
        _as_one(reason, group.nodes, own)
        or phrase(reason, own, one=False) + _which(reason, group, own)
        for reason in group.reasons
    ]
    return f"{count} nodes {joined(dict.fromkeys(says))}{_sizes(group, own)}{_nearest(group, own)}"


def _of_another(group: RefusingNodes, own: Demands) -> str:
    """Return that nodes are not checked for a pod, because they refused another one before."""
    alone, count = len(group.nodes) == 1, len(group.nodes)
    # The nodes were compared with another pod, so what this one demands is not what they refused.
    coded_only = msgspec.structs.replace(NO_DEMANDS, phrases=coded(group))
    who = f"{group.nodes[0]} is" if alone else f"{count} nodes are"
    says = joined(phrase(reason, coded_only, one=alone) for reason in group.reasons)
    before = f"{'it' if alone else 'they'} refused pod {group.of} ({says})"
    return f"{who} not checked for it: {before}, and the scheduler {own.shares}"


def _which(reason: Objection, group: RefusingNodes, own: Demands) -> str:
    """Return which taints nodes have, where newer releases do not say it."""
    if not _is_taint(reason) or reason.subject:
        return ""
    closed = (objection for name in group.nodes for objection in own.closed.get(name, ()))
    named = list(
        dict.fromkeys(_taint_name(objection) for objection in closed if _names_taint(objection))
    )
    more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
    return f" ({joined([*named[:_NAMED], *more])})" if named else ""


def _sizes(group: RefusingNodes, own: Demands) -> str:
    """Return how many of the nodes that lack a resource could never have enough of it."""
    parts = []
    for reason in group.reasons:
        name = reason.resource
        # Every node has these, so how many nodes have none is no news.
        if name in {"", "cpu", "memory", "pods"}:
            continue
        has = [own.has(node, name) for node in group.nodes]
        never = sum(much < own.request.get(name, 0.0) for much in has)
        none = sum(not much for much in has)
        by_count = {
            "none at all": none,
            "too few even when empty": never - none,
            "too few free": len(has) - never,
        }
        if never and own.nodes:
            parts += [
                f"{many} {'has' if many == 1 else 'have'} {state}"
                for state, many in by_count.items()
                if many
            ]
    return f": {joined(parts)}" if parts else ""


def _lacks(near: NodeMiss, own: Demands, *others: Objection) -> list[str]:
    """Return what a node lacks, and for what other reasons it refuses a pod."""
    return [
        *_lacked(near, own),
        *dict.fromkeys(_of_one(_further(near.node, others, own), own, near.node)),
    ]


def _lacked(near: NodeMiss, own: Demands) -> list[str]:
    """Return what a node lacks: what it never has, and what others have, or got in this session."""
    never = [name for name in _lacking(near) if own.nodes and not own.has(near.node, name)]
    others = [name for name in _lacking(near) if name not in never]
    parts = [f"has no {joined(never, 'and no')}"] if never else []
    if others:
        lacks = joined(f"{word(near.missing[name], name)} {name}" for name in others)
        parts.append(f"lacks {lacks}{_given(near, others, own)}")
    return parts


def _given(near: NodeMiss, names: Sequence[str], own: Demands) -> str:
    """Return to which pods this session gave what a node lacks, if it would suffice without."""
    given = own.given(near.node)
    takers = [(pod, asked) for pod, asked in given if any(asked.get(name) for name in names)]
    if not takers or any(
        near.missing[name] > sum(asked.get(name, 0.0) for _, asked in takers) for name in names
    ):
        return ""
    rest = len(takers) - _NAMED
    named = [*(f"pod {pod}" for pod, _ in takers[:_NAMED]), *([f"{rest} more"] if rest > 0 else [])]
    return f", which this session gives to {joined(named)}"


def _further(name: str, reasons: Sequence[Objection], own: Demands) -> list[Objection]:
    """Return all reasons of a node: some, and those for which it is closed to the pod besides."""
    closed = own.closed.get(name, ())
    tainted = any(map(_is_taint, closed))
    # A taint that the release does not name is one of those that the node itself shows.
    shown = [reason for reason in reasons if not _is_taint(reason) or reason.subject or not tainted]
    return list(dict.fromkeys((*shown, *closed)))


def _alone(group: RefusingNodes, near: NodeMiss | None, own: Demands) -> str:
    """Return why the only node of a group refuses a pod, and whether it has room for it."""
    name, further = group.nodes[0], () if near is None else near.also
    says = _of_one(_further(name, (*group.reasons, *further), own), own, name)
    if name in own.excluded:
        says.append(phrase(NO_MATCH, own, one=True))
    lacks_devices = _lacks_devices(group)
    room = near is not None and not near.missing and name not in own.excluded and not lacks_devices
    cards = own.cards(name) if lacks_devices else ""
    more = f": {cards}" if cards else ", with room for it" if room else ""
    return f"{name} {joined(dict.fromkeys(says))}{more}"


def _lacks_devices(group: RefusingNodes) -> bool:
    """Return whether nodes have no room for the devices of a pod, which their resources hide."""
    full = any(objection.code is NodeCode.CARDS_FULL for objection in group.objections)
    return full or any(map(_reads_no_devices, group.reasons))


def _nearest(group: RefusingNodes, own: Demands) -> str:
    """Return what the node lacks that lacks least, or which closed nodes have room."""
    near = _reachable(group, own)
    if near is not None and _lacking(near):
        says = f"the nearest, {near.node}, {joined(_lacks(near, own, *near.also))}"
        return f" ({says}{_nearest_open(group, near, own)})"
    # Devices are on no account of the node: amounts would say that there is room.
    if _far(group) == 0 and not _lacks_devices(group):
        roomy = _roomy(group, own)
        shown, rest = roomy[:_NAMED], len(group.nodes) - _NAMED
        more = [f"perhaps {rest} more"] if len(roomy) >= _NAMED and rest > 0 else []
        return f" (with room for it: {joined([*shown, *more])})" if roomy else ""
    return ""


def _reachable(group: RefusingNodes, own: Demands) -> NodeMiss | None:
    """Return the node that lacks least; if some could, one that has enough when it is empty."""
    could = (
        miss
        for miss in group.nearest
        if all(own.has(miss.node, name) >= own.request.get(name, 0.0) for name in miss.missing)
    )
    return next(could, group.nearest[0] if group.nearest else None)


def _nearest_open(group: RefusingNodes, nearest: NodeMiss, own: Demands) -> str:
    """Return which node lacks least that is not closed too, if the nearest of all is closed."""
    if not _is_closed(nearest, own):
        return ""
    if all(name in own.closed for name in group.nodes):
        return "; all of them are closed to the pod"
    near = next((miss for miss in group.nearest if not _is_closed(miss, own)), None)
    return f"; {near.node} lacks {_missing(near)} and nothing else" if near is not None else ""


def _is_closed(near: NodeMiss, own: Demands) -> bool:
    return bool(near.also) or near.node in own.closed or near.node in own.excluded


def _roomy(group: RefusingNodes, own: Demands) -> list[str]:
    """Return the closed nodes with room; of those with further reasons the first, if all have."""
    names = [
        miss.node for miss in group.nearest if not miss.missing and miss.node not in own.excluded
    ]
    further = {
        name: [objection for objection in own.closed.get(name, ()) if not _says(group, objection)]
        for name in names
    }
    alone = [name for name in names if not further[name]]
    if alone or not names:
        return alone
    return [f"{names[0]}, which {joined(_of_one(further[names[0]], own))} too"]


def _says(group: RefusingNodes, reason: Objection) -> bool:
    unnamed = any(_is_taint(objection) and not objection.subject for objection in group.reasons)
    return reason in group.reasons or (_is_taint(reason) and unnamed)


def _lacking(near: NodeMiss) -> list[str]:
    """Return what a node lacks, but for pods: there are separate words for a count of pods."""
    return [name for name in in_order(near.missing) if name != "pods"]


def _missing(near: NodeMiss) -> str:
    return joined(f"{word(near.missing[name], name)} {name}" for name in _lacking(near))


def skipped_words(skipped: Mapping[str, str]) -> str:
    """Return which nodes sessions do not see."""
    if not skipped:
        return ""
    names = sorted(skipped)
    return f"{counted(len(names), 'node')} not ready ({joined(names[:3])})"
