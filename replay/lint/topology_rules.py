"""Rules about HyperNodes, and about the network topology that jobs ask for.

Source: pkg/webhooks/admission/hypernodes/validate/admit_hypernode.go; the definition of HyperNode;
pkg/scheduler/api/hyper_node_info.go; pkg/webhooks/admission/jobs/validate/admit_job.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...engine.kubernetes.go.regexp import compile_go
from ...engine.kubernetes.objects import HyperNode, HypernodeMember
from ...engine.model.hypernode import HYPER_NODE, NODE, HyperNodesInfo
from ...engine.volcano.releases import final_release, landed
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .lint_inputs import LintInputs
from .message_amounts import few
from .objects import TOPOLOGY, topologies_in

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

REFUSED = "the API server refuses it"
_MODES = ("hard", "soft")
_TIER_NAMES = landed("v1.14.0")


def hypernode_refused(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode that is not accepted, as its tier or one of its members is wrong.

    Each member has the type Node or HyperNode, and exactly one selector: a name, a pattern, or
    labels.
    """
    for name, hyper in given.world.hypernodes.items():
        subject = given.world.subject("HyperNode", name)
        if not _gives_tier(given, subject):
            yield Issue(subject, "spec.tier", FaultEffect.REFUSED, f"{REFUSED}: it has no tier")
        elif hyper.spec.tier < 0:
            message = f"{REFUSED}: its tier {hyper.spec.tier} is negative"
            yield Issue(subject, "spec.tier", FaultEffect.REFUSED, message)
        if not hyper.spec.members:
            message = f"{REFUSED}: it has no members"
            yield Issue(subject, "spec.members", FaultEffect.REFUSED, message)
        for number, member in enumerate(hyper.spec.members):
            for field, fault in _member_faults(member):
                path = f"spec.members[{number}].{field}"
                yield Issue(subject, path, FaultEffect.REFUSED, f"{REFUSED}: {fault}")


def _gives_tier(given: LintContext, subject: FindingSubject) -> bool:
    manifest = given.world.manifests.get(subject._replace(place=None))
    spec = None if manifest is None else manifest.document.get("spec")
    return isinstance(spec, dict) and spec.get("tier") is not None


def _member_faults(member: HypernodeMember) -> Iterator[tuple[str, str]]:
    """Yield (field, what is wrong) of a member."""
    if member.type not in {NODE, HYPER_NODE}:
        now = " (case counts)" if member.type.lower() in {"node", "hypernode"} else ""
        yield "type", f"the type {member.type!r} is neither {NODE} nor {HYPER_NODE}{now}"
    chosen = member.selector
    written = [
        name
        for name, value in (
            ("exactMatch", chosen.exact_match),
            ("regexMatch", chosen.regex_match),
            ("labelMatch", chosen.label_match),
        )
        if value is not None
    ]
    if len(written) != 1:
        has = f"selectors {' and '.join(written)}" if written else "no selector"
        yield "selector", f"a member has {has}; it must have exactly one"
    if chosen.exact_match is not None and not chosen.exact_match.name:
        yield "selector.exactMatch.name", "the name of a member is empty"
    if chosen.regex_match is not None:
        pattern = chosen.regex_match.pattern
        try:
            compile_go(pattern)
        except ValueError as fault:
            yield "selector.regexMatch.pattern", f"the pattern {pattern[:60]!r} is wrong: {fault}"
        if not pattern:
            yield "selector.regexMatch.pattern", "the pattern of a member is empty"


def hypernode_selector_ignored(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A member that is a HyperNode and is selected by pattern or labels: only names count."""
    for name, hyper in given.world.hypernodes.items():
        for number, member in enumerate(hyper.spec.members):
            chosen = member.selector
            if member.type == HYPER_NODE and (chosen.regex_match or chosen.label_match):
                yield Issue(
                    given.world.subject("HyperNode", name),
                    f"spec.members[{number}].selector",
                    FaultEffect.IGNORED,
                    "a HyperNode is a member by exactMatch only: this selects none",
                    "name each HyperNode",
                )


def hypernode_mixed_members(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode with nodes and HyperNodes as members.

    It counts as no leaf of the tree: nodes that it selects by pattern or labels are found when the
    HyperNode changes, and not when nodes change.
    """
    for name, hyper in given.world.hypernodes.items():
        types = {member.type.lower() for member in hyper.spec.members}
        if types >= {NODE.lower(), HYPER_NODE.lower()}:
            looked_up = any(
                member.selector.exact_match is None
                for member in hyper.spec.members
                if member.type == NODE
            )
            message = "its members are nodes and HyperNodes"
            if looked_up:
                message += ": nodes that come later are not found by its patterns and labels"
            yield Issue(
                given.world.subject("HyperNode", name),
                "spec.members",
                FaultEffect.DIFFERS,
                message,
                "put the nodes into a separate HyperNode",
            )


def hypernode_cycle(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode that is below itself: the scheduler cannot build the tree."""
    children = _children(given.world)
    for name in children:
        path = _path_to(name, name, children)
        if path:
            yield Issue(
                given.world.subject("HyperNode", name),
                "spec.members",
                FaultEffect.NEVER,
                f"it is below itself ({' → '.join((name, *path))}): the scheduler builds no tree, "
                "and places no job with a hard network topology",
                "take one of them out of the other's members",
            )


def _path_to(start: str, end: str, children: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names on a way down from one HyperNode to another; empty if there is none."""
    # Breadth first, and each name once: members may go round in a circle.
    waiting: list[tuple[str, ...]] = [(child,) for child in children.get(start, ())]
    seen: dict[str, None] = {}
    while waiting:
        path = waiting.pop(0)
        if path[-1] == end:
            return path
        if path[-1] not in seen:
            seen[path[-1]] = None
            waiting += [(*path, child) for child in children.get(path[-1], ())]
    return ()


def hypernode_with_two_parents(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode that is a member of two: the scheduler keeps the first, and builds no tree."""
    parents: dict[str, list[str]] = {}
    for name, members in _children(given.world).items():
        for member in members:
            parents.setdefault(member, []).append(name)
    for member, names in parents.items():
        for second in names[1:]:
            message = (
                f"its member {member!r} is also a member of {names[0]!r}: the tree is not built"
            )
            now = "a HyperNode has one parent"
            subject = given.world.subject("HyperNode", second)
            yield Issue(subject, "spec.members", FaultEffect.NEVER, message, now)


def hypernode_tier_order(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode whose tier is not above that of its member."""
    hypers = given.world.hypernodes
    for name, members in _children(given.world).items():
        tier = hypers[name].spec.tier
        for member in members:
            if member in hypers and member != name and hypers[member].spec.tier >= tier:
                yield Issue(
                    given.world.subject("HyperNode", name),
                    "spec.tier",
                    FaultEffect.DIFFERS,
                    f"its tier {tier} is not above tier {hypers[member].spec.tier} of its member "
                    f"{member!r}: jobs are not kept together as the tiers say",
                    "tiers grow from the nodes up",
                )


def hypernode_member_missing(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A HyperNode with a member that does not exist. Nodes only if nodes are known."""
    world = given.world
    for name, hyper in world.hypernodes.items():
        for number, member in enumerate(hyper.spec.members):
            exact = member.selector.exact_match
            kind = member.type
            if exact is None or not exact.name or kind not in {NODE, HYPER_NODE}:
                continue
            if kind in world.complete and not world.has(kind, exact.name):
                yield Issue(
                    world.subject("HyperNode", name),
                    f"spec.members[{number}].selector.exactMatch.name",
                    FaultEffect.DIFFERS,
                    f"its member {kind} {exact.name!r} does not exist",
                    world.or_where("correct the name"),
                )


def node_in_two_hypernodes(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A node that is a member of two HyperNodes, of which neither is above the other."""
    world, children = given.world, _children(given.world)
    known = {
        name: world.nodes.get(name)
        for name in (
            *world.nodes,
            *(name for hyper in world.hypernodes.values() for name in _named(hyper)),
        )
    }
    tree = HyperNodesInfo({name: node for name, node in known.items() if node is not None})
    first: dict[str, str] = {}
    for name, hyper in world.hypernodes.items():
        chosen: dict[str, None] = {}
        for member in hyper.spec.members:
            if member.type.lower() == NODE.lower():
                chosen.update(dict.fromkeys(sorted(tree.members(member))))
                # A node that only a HyperNode names is not among the log's nodes, so patterns are
                # tried on names.
                chosen.update(
                    dict.fromkeys(
                        node_name for node_name in known if _by_pattern(node_name, member)
                    )
                )
        twice: dict[str, list[str]] = {}
        for node in chosen:
            earlier = first.setdefault(node, name)
            # A node is rightly below a HyperNode and below the one above it.
            apart = not (_path_to(earlier, name, children) or _path_to(name, earlier, children))
            if earlier != name and apart:
                twice.setdefault(earlier, []).append(node)
        for earlier, nodes in twice.items():
            message = f"{few(nodes)} {'is' if len(nodes) == 1 else 'are'} also in {earlier!r}"
            subject = world.subject("HyperNode", name)
            yield Issue(
                subject, "spec.members", FaultEffect.INVALID, message, "a node is in one of them"
            )


def _by_pattern(node: str, member: HypernodeMember) -> bool:
    if member.selector.regex_match is None:
        return False
    try:
        return compile_go(member.selector.regex_match.pattern).found_in(node)
    except ValueError:
        return False


def _named(hyper: HyperNode) -> Iterator[str]:
    """Yield the nodes that a HyperNode names."""
    for member in hyper.spec.members:
        exact = member.selector.exact_match
        if member.type.lower() == NODE.lower() and exact is not None and exact.name:
            yield exact.name


def _children(world: LintInputs) -> Mapping[str, tuple[str, ...]]:
    """Return the HyperNodes that each HyperNode names as members."""
    return {
        name: tuple(
            dict.fromkeys(
                member.selector.exact_match.name
                for member in hyper.spec.members
                if member.type == HYPER_NODE and member.selector.exact_match is not None
            )
        )
        for name, hyper in world.hypernodes.items()
    }


def topology_refused(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A job whose ``networkTopology`` is not accepted: its mode, or two limits at once."""
    for subject, path, topology in _topologies(given.world):
        mode = topology.get("mode")
        if mode is not None and mode not in _MODES:
            message = f"{REFUSED}: the mode {mode!r:.60} is neither hard nor soft"
            low = mode.lower() if isinstance(mode, str) else ""
            now = f"write {low}" if low in _MODES else "write hard or soft"
            yield Issue(subject, f"{path}.mode", FaultEffect.REFUSED, message, now)
        highest = topology.get("highestTierAllowed")
        if isinstance(highest, int) and highest < 0:
            message = f"{REFUSED}: highestTierAllowed {highest} is negative"
            yield Issue(subject, f"{path}.highestTierAllowed", FaultEffect.REFUSED, message)
        if highest is not None and topology.get("highestTierName") and _has_names(how):
            message = f"{REFUSED}: it has highestTierAllowed and highestTierName"
            yield Issue(subject, path, FaultEffect.REFUSED, message, "keep one of them")


def topology_tier_missing(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A job that is limited to a tier that no HyperNode has. Only if HyperNodes are known."""
    world = given.world
    tiers = sorted({hyper.spec.tier for hyper in world.hypernodes.values()})
    names = sorted({hyper.spec.tier_name for hyper in world.hypernodes.values()} - {""})
    for subject, path, topology in _topologies(world) if tiers else ():
        highest, name = topology.get("highestTierAllowed"), topology.get("highestTierName")
        if isinstance(highest, int) and not isinstance(highest, bool):
            field = f"{path}.highestTierAllowed"
            has = f"HyperNodes have tiers {', '.join(map(str, tiers))}"
            if highest > tiers[-1]:
                message = f"highestTierAllowed {highest} limits nothing: {has}"
                yield Issue(
                    subject, field, FaultEffect.IGNORED, message, f"write {tiers[-1]} at most"
                )
            elif highest < tiers[0] and topology.get("mode", "hard") == "hard":
                message = f"no HyperNode is within highestTierAllowed {highest}: {has}"
                yield Issue(
                    subject, field, FaultEffect.NEVER, message, f"write {tiers[0]} at least"
                )
        if isinstance(name, str) and name and name not in names:
            has = f"HyperNodes have {', '.join(names)}" if names else "no HyperNode has a tierName"
            message = f"no HyperNode has the tier {name!r}: {has}"
            yield Issue(subject, f"{path}.highestTierName", FaultEffect.IGNORED, message)


def _has_names(how: Behaviours) -> bool:
    """Return whether a release has names of tiers, and its webhook checks them."""
    return _TIER_NAMES.reached(final_release(how.release))


def _topologies(world: LintInputs) -> Iterator[tuple[FindingSubject, str, dict[str, Any]]]:
    """Yield (object, path, topology) of all jobs and PodGroups that ask for one."""
    for key, manifest in world.manifests.items():
        if (key.group, key.kind) in TOPOLOGY:
            for path, topology in topologies_in(manifest):
                yield key._replace(place=manifest.place), path, topology
