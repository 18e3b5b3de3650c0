"""The tree of HyperNodes: which nodes lie below which, and what breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.objects import HyperNode, Node, decode
from plinian.engine.model.hypernode import HyperNodesInfo
from plinian.engine.model.panic import Panic
from sessions import node


def exact(*names: str, of: str = "HyperNode") -> list[dict[str, Any]]:
    """Return members by their names."""
    return [{"type": of, "selector": {"exactMatch": {"name": name}}} for name in names]


def chosen(**selector: Any) -> list[dict[str, Any]]:
    """Return a member that chooses nodes."""
    return [{"type": "Node", "selector": selector}]


def hypernode(name: str, tier: int, *members: dict[str, Any]) -> HyperNode:
    """Return a HyperNode."""
    return decode(
        HyperNode, {"metadata": {"name": name}, "spec": {"tier": tier, "members": [*members]}}
    )


def nodes(*names: str, **labels: dict[str, str]) -> dict[str, Node]:
    """Return nodes; some with labels."""
    return {name: decode(Node, node(name, labels=labels.get(name, {}))) for name in names}


def tree(*hypernodes: HyperNode, among: dict[str, Node] | None = None) -> HyperNodesInfo:
    """Return the tree after these came in turn, none of them in error."""
    made = HyperNodesInfo(among or {})
    for each in hypernodes:
        assert made.update(each) is None
    return made


LEAVES = (
    hypernode("s0", 1, *exact("n0", "n1", of="Node")),
    hypernode("s1", 1, *exact("n2", of="Node")),
)
TOP = hypernode("s2", 2, *exact("s0", "s1"))


@pytest.mark.parametrize("order", [(*LEAVES, TOP), (TOP, *LEAVES)], ids=["up", "down"])
def test_nodes_lie_below_all_that_is_above_them(order: tuple[HyperNode, ...]) -> None:
    made = tree(*order)
    taken = made.snapshot()
    assert taken.ready
    assert {name: sorted(below) for name, below in taken.real_nodes.items()} == {
        "s0": ["n0", "n1"],
        "s1": ["n2"],
        "s2": ["n0", "n1", "n2"],
    }
    assert dict(taken.by_tier) == {1: ("s0", "s1"), 2: ("s2",)}
    assert taken.get_ancestors("s0") == ["s0", "s2"]
    assert (taken.get_lca("s0", "s1"), taken.get_lca("s0", "zz")) == ("s2", "")


def test_nothing_is_ready_before_the_first_hypernode() -> None:
    assert not HyperNodesInfo({}).snapshot().ready


def test_a_member_that_left_has_no_parent() -> None:
    made = tree(*LEAVES, TOP)
    assert made.update(hypernode("s2", 3, *exact("s0"))) is None
    taken = made.snapshot()
    assert (taken.infos["s1"].parent, sorted(taken.real_nodes["s2"])) == ("", ["n0", "n1"])
    assert dict(taken.by_tier) == {1: ("s0", "s1"), 3: ("s2",)}


def test_a_second_parent_is_an_error_until_it_gives_the_child_up() -> None:
    made = tree(*LEAVES, TOP)
    error = made.update(hypernode("s3", 2, *exact("s0")))
    assert error == "HyperNode s0 already has a parent s2, and cannot set another parent s3"
    assert not made.ready
    assert made.update(hypernode("s3", 2)) is None
    assert made.ready


def test_a_circle_is_an_error() -> None:
    made = tree(hypernode("a", 1, *exact("b")))
    error = made.update(hypernode("b", 1, *exact("a")))
    assert error is not None
    assert error.startswith("cyclic dependency detected: HyperNode")
    assert not made.ready


def test_a_hypernode_that_goes_leaves_its_parent_without_its_nodes() -> None:
    made = tree(*LEAVES, TOP)
    assert made.delete("s0") is None
    taken = made.snapshot()
    assert sorted(taken.real_nodes["s2"]) == ["n2"]
    assert dict(taken.by_tier) == {1: ("s1",), 2: ("s2",)}
    assert made.delete("never") is None


def test_patterns_and_labels_choose_nodes_and_follow_them() -> None:
    among = nodes("n0", "n1", "x", n1={"rack": "a"}, x={"rack": "a"})
    made = tree(
        hypernode("pattern", 1, *chosen(regexMatch={"pattern": "^n"})),
        hypernode("label", 1, *chosen(labelMatch={"matchLabels": {"rack": "a"}})),
        hypernode("top", 2, *exact("pattern")),
        among=among,
    )
    below = made.snapshot().real_nodes
    assert {name: sorted(found) for name, found in below.items()} == {
        "label": ["n1", "x"],
        "pattern": ["n0", "n1"],
        "top": ["n0", "n1"],
    }
    among |= nodes("n9", n9={"rack": "a"})
    assert made.node_changed("n9") is None
    below = made.snapshot().real_nodes
    assert {name: "n9" in found for name, found in below.items()} == {
        "label": True,
        "pattern": True,
        "top": True,
    }


@pytest.mark.parametrize(
    "selector",
    [
        {"regexMatch": {"pattern": "(?=n)"}},
        {"labelMatch": {}},
        {"labelMatch": {"matchExpressions": [{"key": "rack", "operator": "Near"}]}},
        {"exactMatch": {"name": ""}},
    ],
)
def test_a_selector_that_chooses_nothing_is_no_error(selector: dict[str, Any]) -> None:
    made = tree(hypernode("s0", 1, *chosen(**selector)), among=nodes("n0", n0={"rack": "a"}))
    assert made.snapshot().real_nodes["s0"] == frozenset()
    assert made.node_changed("n0") is None


def test_a_snapshot_of_the_tree_stays_as_it_is() -> None:
    made = tree(*LEAVES, TOP)
    taken = made.snapshot()
    made.delete("s2")
    assert taken.get_ancestors("s0") == ["s0", "s2"]
    assert taken.infos["s2"].is_deleting is False


def test_looking_for_leaves_below_a_member_without_a_name_is_a_crash() -> None:
    made = tree(*LEAVES, TOP)
    assert made.update(hypernode("s3", 2, *exact("s0"))) is not None
    nameless = {"type": "HyperNode", "selector": {"regexMatch": {"pattern": "s"}}}
    with pytest.raises(Panic, match="nil pointer"):
        made.update(hypernode("s3", 2, nameless))
