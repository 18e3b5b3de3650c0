"""Why nodes refuse a pod, in plain words; the scheduler's own words stay beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ...engine.session.framework.details import NodeGroup, NodeMiss
from .amounts import amounts_of, counted, in_order, joined, word
from .records import Miss, NodeReason

_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "node(s) were unschedulable": ("is cordoned", "are cordoned"),
        "node(s) didn't match Pod's node affinity/selector": (
            "does not match the pod's node selector or affinity",
            "do not match the pod's node selector or affinity",
        ),
        "node(s) didn't match pod affinity rules": (
            "does not match the pod's affinity to other pods",
            "do not match the pod's affinity to other pods",
        ),
        "node(s) didn't match pod anti-affinity rules": (
            "has a pod that the pod's anti-affinity keeps away from",
            "have pods that the pod's anti-affinity keeps away from",
        ),
        "node(s) didn't match pod topology spread constraints": (
            "would make the pod's topology spread too uneven",
            "would make the pod's topology spread too uneven",
        ),
        "node(s) had volume node affinity conflict": (
            "cannot reach the pod's volume",
            "cannot reach the pod's volume",
        ),
        "node(s) didn't find available persistent volumes to bind": (
            "has no free persistent volume for the pod's claim",
            "have no free persistent volume for the pod's claim",
        ),
        "node(s) didn't have free ports for the requested pod ports": (
            "has no free host port for the pod",
            "have no free host port for the pod",
        ),
        "node(s) pod number exceeded": (
            "has as many pods as it may have",
            "have as many pods as they may have",
        ),
        "node(s) were out of sync": (
            "uses more than it has, so sessions skip it",
            "use more than they have, so sessions skip them",
        ),
    }
)
_TAINT = "node(s) had untolerated taint {"
_LACKS = "Insufficient "


def node_reason(group: NodeGroup) -> NodeReason:
    """Return a group of nodes as a record."""
    nearest = tuple(
        Miss(
            node=one.node,
            missing=amounts_of(one.missing),
            free=amounts_of(one.free),
            allocatable=amounts_of(one.allocatable),
            also=one.also,
        )
        for one in group.nearest
    )
    return NodeReason(
        reasons=group.reasons,
        text=_text(group),
        final=group.final,
        nodes=group.nodes,
        nearest=nearest,
    )


def refusal_of(group: NodeGroup, name: str) -> str:
    """Return why one node of a group refuses a pod."""
    near = next((one for one in group.nearest if one.node == name), None)
    alone = () if near is None else (near,)
    return _text(group._replace(nodes=(name,), nearest=alone))


def refusals(groups: Sequence[NodeGroup]) -> str:
    """Return why nodes refuse a pod; those with enough resources come first."""
    return "; ".join(_text(group) for group in sorted(groups, key=_lacks))


def _lacks(group: NodeGroup) -> bool:
    return any(reason.startswith(_LACKS) for reason in group.reasons)


def _text(group: NodeGroup) -> str:
    count = len(group.nodes)
    near = group.nearest[0] if group.nearest else None
    if count == 1 and near is not None and near.missing:
        others = [*(text for text in group.reasons if not text.startswith(_LACKS)), *near.also]
        says = [f"lacks {_missing(near)}", *(_phrase(text, one=True) for text in others)]
        return f"{near.node} {joined(says)}"
    says = [_phrase(reason, one=count == 1) for reason in group.reasons]
    if count == 1:
        return f"{group.nodes[0]} {joined(says)}" + (", with room for it" if near else "")
    return f"{count} nodes {joined(says)}{_nearest(near)}"


def _phrase(reason: str, *, one: bool) -> str:
    if reason in _WORDS:
        return _WORDS[reason][not one]
    verb = "has" if one else "have"
    if reason.startswith(_LACKS):
        return f"{'lacks' if one else 'lack'} {reason.removeprefix(_LACKS)}"
    if reason.startswith(_TAINT):
        taint = reason.removeprefix(_TAINT).removesuffix("}")
        return f"{verb} a taint that the pod does not tolerate ({taint})"
    return f'{"says" if one else "say"} "{reason}"'


def _nearest(near: NodeMiss | None) -> str:
    """Return what the node lacks that lacks least."""
    if near is None or not near.missing:
        return ""
    says = [f"lacks {_missing(near)}", *(_phrase(text, one=True) for text in near.also)]
    return f" (the nearest, {near.node}, {joined(says)})"


def _missing(near: NodeMiss) -> str:
    return joined(f"{word(near.missing[name], name)} {name}" for name in in_order(near.missing))


def skipped_words(skipped: Mapping[str, str]) -> str:
    """Return which nodes sessions do not see."""
    if not skipped:
        return ""
    names = sorted(skipped)
    return f"{counted(len(names), 'node')} not ready ({joined(names[:3])})"
