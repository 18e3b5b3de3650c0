"""Columns over nodes say of every node what asking it alone would say."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plinian.engine.kubernetes.expressions.selectors import IN, LabelRequirement, node_term
from plinian.engine.kubernetes.objects import Node, NodeSelectorTerm, Toleration, decode
from plinian.engine.model.node import ImageState, NodeInfo
from plinian.engine.session.kube.node_columns import NodeColumns, RequiredNodes, normalized_image

MI = 1024 * 1024


def info(name: str, labels: dict[str, str] | None = None, **spec: Any) -> NodeInfo:
    """Return a node as belief has it."""
    made = NodeInfo(name)
    made.set_node(
        decode(
            Node,
            {
                "metadata": {"name": name, "labels": labels or {}},
                "spec": spec,
                "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}},
            },
        )
    )
    return made


def three() -> list[NodeInfo]:
    """Return nodes in two zones, and one in none."""
    return [
        info("a", {"zone": "z1", "rank": "1"}, unschedulable=True),
        info("b", {"zone": "z2", "rank": "20"}, taints=[{"key": "k", "effect": "NoSchedule"}]),
        info("c", {"rank": "x"}),
    ]


def term(**expressions: Any) -> NodeSelectorTerm:
    """Return a term of ``label=(operator, *values)``; ``name_`` is the node's name."""
    fields, labels = [], []
    for key, (operator, *values) in expressions.items():
        target = fields if key == "name_" else labels
        named = "metadata.name" if key == "name_" else key
        target.append({"key": named, "operator": operator, "values": values})
    return msgspec.convert({"matchExpressions": labels, "matchFields": fields}, NodeSelectorTerm)


@pytest.mark.parametrize(
    ("expressions", "matching"),
    [
        ({"zone": ("In", "z1", "z3")}, "a"),
        ({"zone": ("NotIn", "z1")}, "bc"),
        ({"zone": ("Exists",)}, "ab"),
        ({"zone": ("DoesNotExist",)}, "c"),
        ({"rank": ("Gt", "5")}, "b"),
        ({"rank": ("Lt", "5")}, "a"),
        ({"name_": ("In", "c")}, "c"),
        ({"name_": ("NotIn", "c")}, "ab"),
        ({"zone": ("Exists",), "name_": ("In", "c")}, ""),
    ],
)
def test_a_term_matches_nodes(expressions: dict[str, Any], matching: str) -> None:
    parsed = node_term(term(**expressions))
    assert parsed is not None
    columns = NodeColumns(three())
    mask = columns.required(RequiredNodes((), (parsed,)))
    assert "".join(name for name, good in zip(columns.names, mask, strict=True) if good) == matching


def test_labels_and_one_of_the_terms_are_required() -> None:
    columns = NodeColumns(three())
    one, other = node_term(term(zone=("In", "z1"))), node_term(term(name_=("In", "b")))
    assert one is not None
    assert other is not None
    labels = (LabelRequirement("rank", IN, ("20",)),)
    assert columns.required(RequiredNodes((), (one, other))).tolist() == [True, True, False]
    assert columns.required(RequiredNodes(labels, (one, other))).tolist() == [False, True, False]
    assert columns.required(RequiredNodes()).all()
    assert not columns.required(RequiredNodes((), ())).any()


def test_a_label_has_a_code_for_nodes_without_it() -> None:
    column = NodeColumns([info("c"), *three()]).label("zone")
    assert column.values == ("z1", "z2")
    assert column.codes.tolist() == [2, 0, 1, 2]
    assert column.absent == 2


def test_taints_are_judged_once_for_equal_sets() -> None:
    tainted = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    columns = NodeColumns([info("a", **tainted), info("b"), info("c", **tainted)])
    judged: list[int] = []

    def judge(taints: tuple[Any, ...]) -> int:
        judged.append(len(taints))
        return len(taints)

    assert columns.by_taints(judge).tolist() == [1, 0, 1]
    assert judged == [1, 0]
    assert columns.tolerable(()).tolist() == [False, True, False]
    assert columns.tolerable((Toleration(operator="Exists"),)).all()


def test_columns_hold_while_the_nodes_are_the_same() -> None:
    nodes = three()
    columns = NodeColumns(nodes)
    assert columns.holds(list(nodes))
    assert not columns.holds(nodes[:2])
    changed = [*nodes[:2], info("c", {"rank": "y"})]
    assert not columns.holds(changed)
    later = NodeColumns(changed, columns)
    assert later.label("rank").values == ("1", "20", "y")
    nodes[0].images = {"i": ImageState(5, 1)}
    assert not columns.holds(list(nodes))


def test_an_image_counts_by_size_and_by_how_widespread_it_is() -> None:
    nodes = three()
    nodes[0].images = {"db:1": ImageState(300 * MI, 2)}
    nodes[2].images = {"db:1": ImageState(100 * MI, 3)}
    assert NodeColumns(nodes).image_scores("db:1").tolist() == [200 * MI, 0, 100 * MI]
    assert NodeColumns(nodes).image_scores("other").tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("db", "db:latest"),
        ("db:1", "db:1"),
        ("host:5000/db", "host:5000/db:latest"),
        ("host:5000/db:1", "host:5000/db:1"),
    ],
)
def test_an_image_without_tag_is_the_latest(name: str, normal: str) -> None:
    assert normalized_image(name) == normal
