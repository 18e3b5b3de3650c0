"""The view of what lies on the nodes is, after any events, what a recount would give."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.session.framework.session import Session
from plinian.engine.session.kube.node_map import GPU, NONZERO_CPU, PODS, NodeMap, node_map
from plinian.engine.session.kube.pod_class import HostPort
from sessions import group, node, opened, pod, queue, tasks

NODES = ("a", "b", "c")
ZONES = {"a": "z1", "b": "z1"}


def cluster(*pods: dict[str, Any]) -> Session:
    """Return a session without plugins: zone z1 has two nodes, and one node is in none."""
    nodes = [node(name, labels={"zone": ZONES[name]} if name in ZONES else {}) for name in NODES]
    return opened("gang", queue("default"), *nodes, group("g"), *pods)[0]


def with_port(document: dict[str, Any], port: int, address: str = "") -> dict[str, Any]:
    """Return a pod that wants a port of its node."""
    wanted = {"hostPort": port, **({"hostIP": address} if address else {})}
    document["spec"]["containers"][0]["ports"] = [wanted]
    return document


def recounted(nodes: NodeMap, on_node: list[tuple[int, int]]) -> np.ndarray[Any, Any]:
    """Return the accounts, added up pod by pod."""
    accounts = np.zeros((len(NODES), 6), dtype=np.int64)
    for task, row in on_node:
        accounts[row] += (*nodes.class_of(task).requests, 1)
    return accounts


def test_it_starts_from_the_pods_that_lie_on_nodes() -> None:
    done = pod("done", "g", on="a", status={"phase": "Succeeded"})
    cards = pod("p", "g", on="a", requests={"nvidia.com/gpu": "2"})
    nodes = node_map(cluster(cards, pod("q", "g", on="a", cpu="0"), done, pod("r", "g")))
    assert nodes.accounts[:, PODS].tolist() == [2, 0, 0]
    assert nodes.accounts[:, GPU].tolist() == [2, 0, 0]
    assert nodes.accounts[:, NONZERO_CPU].tolist() == [1000, 0, 0]


def test_plugins_of_a_session_share_it_and_the_next_session_has_its_own() -> None:
    ssn = cluster(pod("p", "g", on="a"))
    nodes = node_map(ssn)
    assert node_map(ssn) is nodes
    later = opened("gang", queue("default"), process=ssn.process)[0]
    assert node_map(later) is not nodes


def test_what_is_kept_of_another_cache_does_not_pass_for_this_one() -> None:
    """Its numbers of classes mean other pods."""
    docs = [queue("default"), node("a"), group("g")]
    first = opened("gang", *docs, pod("p", "g", cpu=1, on="a"))[0]
    assert node_map(first).accounts[0, NONZERO_CPU] == 1000
    other = opened("gang", *docs, pod("p", "g", cpu=3, on="a"), process=first.process)[0]
    assert node_map(other).accounts[0, NONZERO_CPU] == 3000


PLACES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=30)


@settings(max_examples=60)
@given(PLACES)
def test_after_any_events_the_counts_are_those_of_a_recount(places: list[tuple[int, int]]) -> None:
    """An event takes a pod from where it lies, if it lies there, or else puts it there."""
    apps = [
        pod(f"p{n}", "g", cpu=n, on="a" if n < 2 else "", labels={"app": "x" if n % 2 else "y"})
        for n in range(6)
    ]
    ssn = cluster(*apps)
    nodes = node_map(ssn)
    rows = tasks(ssn, *(f"p{n}" for n in range(6)))
    meant = nodes.classes_where(lambda each: each.labels["app"] == "x")
    column = nodes.columns.label("zone")
    early = nodes.count("early", meant, column)
    on_node = [(rows[0], 0), (rows[1], 0)]
    for number, row in places:
        task = rows[number]
        if (task, row) in on_node:
            nodes.remove_pod(task, row)
            on_node.remove((task, row))
        elif all(one != task for one, _ in on_node):
            nodes.add_pod(task, row)
            on_node.append((task, row))
    late = nodes.count("late", meant, column)
    zoned = [1 for task, row in on_node if row < 2 and rows.index(task) % 2]
    assert (nodes.accounts == recounted(nodes, on_node)).all()
    assert early.by_domain.tolist() == late.by_domain.tolist() == [len(zoned), 0]
    assert early.total == late.total == len(zoned)


def test_a_pod_that_does_not_lie_there_cannot_go() -> None:
    ssn = cluster(pod("p", "g", on="a"))
    nodes = node_map(ssn)
    (task,) = tasks(ssn, "p")
    nodes.remove_pod(task, 1)
    assert nodes.accounts[:, PODS].tolist() == [1, 0, 0]
    assert "no corresponding pod p in pods of node b" in ssn.errors[0]


def test_a_pod_may_be_put_on_a_second_node_while_it_lies_on_the_first() -> None:
    """So do trials in several hypernodes that are not taken back; both places must be left."""
    ssn = cluster(pod("p", "g", on="a", labels={"app": "x"}))
    nodes = node_map(ssn)
    (task,) = tasks(ssn, "p")
    before = nodes.count("before", [nodes.klass[task]], nodes.columns.label("zone"))
    nodes.add_pod(task, 1)
    after = nodes.count("after", [nodes.klass[task]], nodes.columns.label("zone"))
    assert before.by_domain.tolist() == after.by_domain.tolist() == [2, 0]
    nodes.remove_pod(task, 1)
    nodes.remove_pod(task, 0)
    assert before.total == 0
    assert nodes.accounts[:, PODS].tolist() == [0, 0, 0]
    assert not ssn.errors


def test_counted_nodes_limit_whose_pods_count_and_not_where_the_count_is_read() -> None:
    ssn = cluster(pod("p", "g", on="a"), pod("q", "g", on="b"))
    nodes = node_map(ssn)
    only_a = np.array([True, False, False])
    counts = nodes.count("a", nodes.classes, nodes.columns.label("zone"), only_a)
    assert counts.by_node().tolist() == [1, 1, 0]


def test_pods_that_are_being_deleted_are_not_living() -> None:
    going = pod("p", "g", on="a")
    going["metadata"]["deletionTimestamp"] = "2025-11-21T13:30:00Z"
    ssn = cluster(going, pod("q", "g", on="b"))
    nodes = node_map(ssn)
    column = nodes.columns.label("zone")
    living = nodes.count("living", nodes.classes, column, living=True)
    every = nodes.count("every", nodes.classes, column)
    assert (living.total, every.total) == (1, 2)
    nodes.remove_pod(tasks(ssn, "p")[0], 0)
    nodes.remove_pod(tasks(ssn, "q")[0], 1)
    assert (living.total, every.total) == (0, 0)


def test_ports_conflict_by_address_protocol_and_number() -> None:
    ssn = cluster(
        with_port(pod("p", "g", on="a"), 80), with_port(pod("q", "g", on="b"), 80, "1.2.3.4")
    )
    nodes = node_map(ssn)

    def taken(address: str, protocol: str = "TCP", port: int = 80) -> list[bool]:
        mask: list[bool] = nodes.ports_taken((HostPort(address, protocol, port),)).tolist()
        return mask

    assert taken("0.0.0.0") == [True, True, False]
    assert taken("1.2.3.4") == [True, True, False]
    assert taken("5.6.7.8") == [True, False, False]
    assert not any(taken("0.0.0.0", "UDP"))
    assert not any(taken("0.0.0.0", port=81))


def test_a_port_of_two_pods_is_free_when_one_of_them_goes() -> None:
    """A node keeps a set of ports and no count."""
    ssn = cluster(with_port(pod("p", "g", on="a"), 80), with_port(pod("q", "g", on="a"), 80))
    nodes = node_map(ssn)
    nodes.remove_pod(tasks(ssn, "p")[0], 0)
    assert not nodes.ports_taken((HostPort("0.0.0.0", "TCP", 80),)).any()


def test_nodes_with_affinity_are_those_of_the_opening() -> None:
    shy = pod("p", "g", on="b")
    term = {"topologyKey": "zone", "labelSelector": {}}
    shy["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }
    open_minded = pod("q", "g", on="c")
    open_minded["spec"]["affinity"] = {"podAffinity": {}}
    ssn = cluster(shy, open_minded)
    nodes = node_map(ssn)
    nodes.remove_pod(tasks(ssn, "p")[0], 1)
    assert nodes.had_required_anti.tolist() == [False, True, False]
    assert nodes.had_affinity.tolist() == [False, True, True]
