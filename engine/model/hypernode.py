"""The tree of HyperNodes as the scheduler builds it: the parent of each, and the nodes below it.

Where Volcano iterates over a Go map, names are in ascending order here.

Source: pkg/scheduler/api/hyper_node_info.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..kubernetes.expressions.selectors import SelectorError, label_selector
from ..kubernetes.go.regexp import compile_go
from ..kubernetes.objects import HyperNode, HypernodeMember, Metadata, Node
from .panic import NIL_POINTER, Panic

NODE = "Node"
HYPER_NODE = "HyperNode"


class HyperNodeInfo:
    """One HyperNode in the tree.

    :param parent: name of the HyperNode above; empty if none is known.
    :param is_deleting: it is being deleted, and no longer built.
    """

    __slots__ = ("hyper_node", "is_deleting", "name", "parent", "tier")

    def __init__(
        self, hyper_node: HyperNode, *, parent: str = "", is_deleting: bool = False
    ) -> None:
        self.name = hyper_node.name
        self.hyper_node = hyper_node
        self.tier = hyper_node.spec.tier
        self.parent = parent
        self.is_deleting = is_deleting

    def clone(self) -> HyperNodeInfo:
        """Return a copy that later changes of the tree do not affect."""
        copy = HyperNodeInfo(self.hyper_node, parent=self.parent, is_deleting=self.is_deleting)
        copy.tier = self.tier
        return copy

    def children(self) -> list[str]:
        """Return the HyperNodes that are members by exact name, in the order of the members.

        Source: hyper_node_info.go getChildren.
        """
        return list(dict.fromkeys(_children(self.hyper_node.spec.members)))


def _children(members: Iterable[HypernodeMember]) -> list[str]:
    return [
        member.selector.exact_match.name
        for member in members
        if member.type == HYPER_NODE and member.selector.exact_match is not None
    ]


class HyperNodeMap:
    """HyperNodes by name, with methods that need only parents and members."""

    __slots__ = ("infos",)

    def __init__(self, infos: dict[str, HyperNodeInfo] | None = None) -> None:
        self.infos = {} if infos is None else infos

    def get_ancestors(self, name: str) -> list[str]:
        """Return the HyperNode itself, its parent, and so on; each once.

        Source: hyper_node_info.go GetAncestors.
        """
        ancestors = [name]
        for current in ancestors:
            info = self.infos.get(current)
            # A parent that is not noted yet is searched for among the members.
            parent = info.parent if info is not None and info.parent else self._find(current)
            if parent and parent not in ancestors:
                ancestors.append(parent)
        return ancestors

    def _find(self, name: str) -> str:
        """Return a HyperNode of a higher tier that has this member; empty if there is none.

        Source: hyper_node_info.go getParent.
        """
        own = self.infos.get(name)
        tier = -1 if own is None else own.tier
        for above in sorted(self.infos):
            info = self.infos[above]
            if info.tier <= tier:
                continue
            for member in info.hyper_node.spec.members:
                exact = member.selector.exact_match
                if member.type != NODE and exact is not None and exact.name == name:
                    return info.name
        return ""

    def get_lca(self, hyper_node: str, other: str) -> str:
        """Return the lowest common ancestor; empty if there is none.

        Source: hyper_node_info.go GetLCAHyperNode.
        """
        known = self.get_ancestors(hyper_node)
        return next((name for name in self.get_ancestors(other) if name in known), "")


class HyperNodes(HyperNodeMap):
    """The tree at a snapshot.

    :param by_tier: names in ascending order, from the lowest tier up.
    :param real_nodes: names of the nodes below each HyperNode; some may not exist.
    :param ready: the last change was built without an error.
    :param dangling: HyperNodes that still list a deleted child.
    """

    __slots__ = ("by_tier", "dangling", "ready", "real_nodes")

    def __init__(
        self,
        infos: dict[str, HyperNodeInfo],
        by_tier: Mapping[int, tuple[str, ...]],
        real_nodes: Mapping[str, frozenset[str]],
        *,
        ready: bool,
        dangling: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(infos)
        assert list(by_tier) == sorted(by_tier), "tiers come from the lowest up"
        self.dangling = dangling
        self.by_tier = by_tier
        self.real_nodes = real_nodes
        self.ready = ready


class HyperNodesInfo(HyperNodeMap):
    """The tree in the cache, which changes.

    :param nodes: the node informer's store, searched for patterns and label selectors.
    :ivar building_failed_at: the HyperNode whose member has another parent; empty if none has.
    :ivar dangling: HyperNodes of which a child was deleted after they were built.
    """

    __slots__ = ("_nodes", "building_failed_at", "by_tier", "dangling", "ready", "real_nodes")

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        super().__init__()
        self.by_tier: dict[int, dict[str, None]] = {}
        self.real_nodes: dict[str, frozenset[str]] = {}
        self.ready = False
        self._nodes = nodes
        self.building_failed_at = ""
        self.dangling: set[str] = set()

    def snapshot(self) -> HyperNodes:
        """Return the tree as it is now."""
        return HyperNodes(
            {name: self.infos[name].clone() for name in sorted(self.infos)},
            MappingProxyType(
                {tier: tuple(sorted(names)) for tier, names in sorted(self.by_tier.items())}
            ),
            MappingProxyType({name: self.real_nodes[name] for name in sorted(self.real_nodes)}),
            ready=self.ready,
            dangling=frozenset(self.dangling),
        )

    def update(self, hyper_node: HyperNode) -> str | None:
        """Store a new version and rebuild what depends on it; return the error, or None.

        Source: hyper_node_info.go UpdateHyperNode.
        """
        name, spec = hyper_node.name, hyper_node.spec
        old = self.infos.get(name)
        if old is not None:
            children = _children(spec.members)
            for child in old.children():
                if child not in children:
                    self._reset_parent(child)
            if old.tier != spec.tier:
                self._leave_tier(name, old.tier)
        self.by_tier.setdefault(spec.tier, {})[name] = None
        if old is None:
            self.infos[name] = HyperNodeInfo(hyper_node)
        else:
            old.hyper_node, old.tier = hyper_node, spec.tier
        return self._update_ancestors(name)

    def delete(self, name: str) -> str | None:
        """Remove a HyperNode from the tree; on an error it stays, marked as deleting.

        Source: hyper_node_info.go DeleteHyperNode.
        """
        info = self.infos.get(name)
        if info is not None:
            info.is_deleting = True
        # Rebuilt while it is still in the tree: the ancestors, which lose its nodes, are found
        # through it.
        error = self._update_ancestors(name)
        if error is not None:
            return error
        if info is not None:
            for child in info.children():
                self._reset_parent(child)
            del self.infos[name]
            self._leave_tier(name, info.tier)
            self.dangling.discard(name)
            if info.parent in self.infos:
                self.dangling.add(info.parent)
        return None

    def node_changed(self, node: str) -> str | None:
        """Rebuild the leaves that select a node by pattern or label; return the error, or None.

        Source: cache/event_handlers.go triggerUpdateHyperNode.
        """
        for leaf in sorted(self.infos):
            info = self.infos.get(leaf)
            members = () if info is None else info.hyper_node.spec.members
            if info is None or not _chooses_nodes(members):
                continue
            if not any(m.type == NODE and self._matches(node, m) for m in members):
                continue
            error = self.update(info.hyper_node)
            if error is not None:
                # The spelling is Volcano's.
                return f"faield to update hyperNode: {error}"
        return None

    def _update_ancestors(self, name: str) -> str | None:
        error = self._rebuild(name)
        if error is not None:
            self.ready = False
            return error
        if self.building_failed_at == name:
            # An error in a leaf returns at once, so `ready` stays as it was (`updateAncestors`).
            for leaf in self._leaves(name):
                error = self._rebuild(leaf)
                if error is not None:
                    return error
        self.building_failed_at = ""
        self.ready = True
        return None

    def _rebuild(self, name: str) -> str | None:
        """Forget the nodes of a HyperNode and of those above it, and find them again.

        Source: hyper_node_info.go rebuildCache.
        """
        ancestors = self.get_ancestors(name)
        for ancestor in ancestors:
            self.real_nodes.pop(ancestor, None)
            # Parents, too: for `setParent` the new parent of a member that moved would be a second
            # one.
            self._reset_parent(ancestor)
            self.dangling.discard(ancestor)
        build = _Build(self, ancestors)
        for ancestor in ancestors:
            info = self.infos.get(ancestor)
            error = None if info is None else build.visit(info)
            if error is not None:
                return error
        return None

    def set_parent(self, member: str, parent: str) -> str | None:
        """Store the parent of a member, which need not exist yet; return the error, or None.

        Source: hyper_node_info.go setParent.
        """
        info = self.infos.get(member)
        if info is None:
            unseen = HyperNode(metadata=Metadata(name=member))
            self.infos[member] = HyperNodeInfo(unseen, parent=parent)
            return None
        if info.parent not in {"", parent}:
            self.building_failed_at = parent
            return (
                f"HyperNode {member} already has a parent {info.parent}, "
                f"and cannot set another parent {parent}"
            )
        info.parent = parent
        return None

    def members(self, member: HypernodeMember) -> frozenset[str]:
        """Return the names of the nodes that a member selects.

        Source: hyper_node_info.go getMembers.
        """
        selector = member.selector
        if selector.exact_match is not None:
            return frozenset({selector.exact_match.name} - {""})
        # Beside an exact name nothing else is read; a pattern and labels add up, neither narrows
        # the other.
        nodes: set[str] = set()
        if selector.regex_match is not None:
            try:
                pattern = compile_go(selector.regex_match.pattern)
            except ValueError:
                return frozenset()
            nodes |= {name for name in self._nodes if pattern.found_in(name)}
        labels = selector.label_match
        if labels is not None and (labels.match_labels or labels.match_expressions):
            try:
                chosen = label_selector(labels)
            except SelectorError:
                return frozenset()
            nodes |= {name for name, node in self._nodes.items() if chosen.matches(node.labels)}
        return frozenset(nodes)

    def _matches(self, node: str, member: HypernodeMember) -> bool:
        """Return whether a member selects a node by pattern or by label; exact names do not count.

        Source: hyper_node_info.go nodeMatchSelector.
        """
        selector = member.selector
        try:
            if selector.regex_match is not None:
                return compile_go(selector.regex_match.pattern).found_in(node)
            labels = selector.label_match
            if labels is None or not (labels.match_labels or labels.match_expressions):
                return False
            known = self._nodes.get(node)
            return known is not None and label_selector(labels).matches(known.labels)
        except ValueError:  # what Go would not compile, or SelectorError
            return False

    def _leaves(self, name: str, above: tuple[str, ...] = ()) -> list[str]:
        """Return the HyperNodes below that have no HyperNodes as members.

        Source: hyper_node_info.go findLeafNodesWithCycleCheck.
        """
        info = self.infos.get(name)
        if info is None or name in above:
            return []
        below = [m for m in info.hyper_node.spec.members if m.type == HYPER_NODE]
        if not below:
            return [name]
        leaves: dict[str, None] = {}
        for member in below:
            # The Go code reads the exact name without a look at whether there is one.
            if member.selector.exact_match is None:
                raise Panic(
                    NIL_POINTER,
                    ("api.(*HyperNodesInfo).findLeafNodesWithCycleCheck",),
                )
            leaves_below = self._leaves(member.selector.exact_match.name, (*above, name))
            leaves.update(dict.fromkeys(leaves_below))
        return sorted(leaves)

    def _reset_parent(self, name: str) -> None:
        info = self.infos.get(name)
        if info is not None:
            info.parent = ""

    def _leave_tier(self, name: str, tier: int) -> None:
        names = self.by_tier.get(tier)
        if names is not None:
            names.pop(name, None)
            if not names:
                del self.by_tier[tier]


class _Build:
    """One walk that finds the nodes below some HyperNodes.

    Source: hyper_node_info.go BuildHyperNodeCache.
    """

    def __init__(self, tree: HyperNodesInfo, ancestors: list[str]) -> None:
        self._tree = tree
        self._ancestors = ancestors
        self._built: set[str] = set()
        self._chain: list[str] = []

    def visit(self, info: HyperNodeInfo) -> str | None:
        """Find the nodes below a HyperNode; return the error, or None."""
        name = info.name
        if name in self._chain:
            return (
                f"cyclic dependency detected: HyperNode {name} is already in the ancestor chain "
                f"[{' '.join(sorted(self._chain))}]"
            )
        if name in self._built or name not in self._ancestors or info.is_deleting:
            return None
        self._chain.append(name)
        error = self._visit_members(info)
        self._chain.pop()
        if error is None:
            self._built.add(name)
        return error

    def _visit_members(self, info: HyperNodeInfo) -> str | None:
        for member in info.hyper_node.spec.members:
            if member.type == NODE:
                self._join(info.name, self._tree.members(member))
            elif member.type == HYPER_NODE:
                error = self._visit_hyper_node(info.name, member)
                if error is not None:
                    return error
        return None

    def _visit_hyper_node(self, name: str, member: HypernodeMember) -> str | None:
        exact = member.selector.exact_match
        if exact is None or not exact.name:
            return None
        error = self._tree.set_parent(exact.name, name)
        if error is not None:
            return error
        # A member that was unknown has just been added, still without members.
        error = self.visit(self._tree.infos[exact.name])
        if error is not None:
            return error
        self._join(name, self._tree.real_nodes.get(exact.name, frozenset()))
        return None

    def _join(self, name: str, nodes: frozenset[str]) -> None:
        self._tree.real_nodes[name] = self._tree.real_nodes.get(name, frozenset()) | nodes


def _chooses_nodes(members: tuple[HypernodeMember, ...]) -> bool:
    """Return whether a HyperNode is a leaf with a member selected by pattern or by label.

    Source: hyper_node_info.go GetRegexOrLabelMatchLeafHyperNodes.
    """
    if any(member.type == HYPER_NODE for member in members):
        return False
    return any(
        member.selector.regex_match is not None or member.selector.label_match is not None
        for member in members
    )
