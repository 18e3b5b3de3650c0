"""How good a node is for a pod, by each of kube-scheduler's scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.plugins.nodeorder import resource_allocation as amounts
from plinian.engine.session.plugins.shared.kube_metrics import KubeMetrics
from sessions import RELEASE, Document, document, group, node, opened, pod, queue, tasks

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
MI = 1024 * 1024
SCORES = (
    "leastrequested",
    "mostrequested",
    "nodeaffinity",
    "podaffinity",
    "balancedresource",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
)


def asking(made: Document, **spec: Any) -> Document:
    """Return a pod whose spec has more fields."""
    made["spec"].update(spec)
    return made


def zoned(*places: str) -> list[Document]:
    """Return nodes given as ``name:zone``; without a zone they have no such label."""
    zone = "topology.kubernetes.io/zone"
    return [
        node(name, labels={"kubernetes.io/hostname": name, **({zone: value} if value else {})})
        for name, _, value in (place.partition(":") for place in places)
    ]


def session(
    *documents: Document,
    plugins: str = "predicates nodeorder",
    release: str = RELEASE,
    **weights: int,
) -> Session:
    """Return a session in which only the named scores count."""
    told = ", ".join(f"{name}.weight: {weights.get(name, 0)}" for name in SCORES)
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n"
    for name in plugins.split():
        conf += f"  - name: {name}\n"
        if name == "nodeorder":
            conf += f"    arguments: {{{told}}}\n"
    return opened(conf, queue("default"), group("g"), *documents, release=release)[0]


def scores(ssn: Session, name: str, among: str = "") -> dict[str, float]:
    """Return the scores of nodes that are candidates; all nodes if none are named."""
    (task,) = tasks(ssn, name)
    # In a scheduler that has filtered before, as nearly all have.
    ssn.process.memory.of(KubeMetrics).registered = True
    rows = np.array([ssn.nodes.row[one] for one in among or ssn.nodes.names])
    ((_, order),), ((_, batch),) = (
        ssn.registry.flat("NodeOrder"),
        ssn.registry.flat("BatchNodeOrder"),
    )
    found = order.function(task, rows)
    alone = [order.one(task, row) for row in rows.tolist()]
    assert alone == found.tolist()
    together = batch.function(task, rows)
    uniform = batch.uniform(task)
    assert uniform is None or together.tolist() == [uniform] * len(rows)
    total = (found + together).tolist()
    return dict(zip((ssn.nodes.names[row] for row in rows), total, strict=True))


def test_least_requested_is_what_stays_free_with_the_pod_on_the_node() -> None:
    """(10000-6000)/10000 and (20000-10000)/20000 of 100 give 40 and 50, the mean 45, and so on."""
    nodes = [
        node("a", cpu=10, memory="20000"),
        node("b", cpu=6, memory="10000"),
    ]
    docs = [
        pod("p", "g", cpu=3, on="a", requests={"memory": "5000"}),
        pod("q", "g", cpu=3, on="b", requests={"memory": "5000"}),
        pod("r", "g", cpu=3, requests={"memory": "5000"}),
    ]
    assert scores(session(*nodes, *docs, leastrequested=1), "r") == {"a": 45.0, "b": 0.0}
    assert scores(session(*nodes, *docs, mostrequested=1), "r") == {"a": 55.0, "b": 100.0}


def test_what_is_beyond_the_node_is_neither_free_nor_more_than_used() -> None:
    docs = [node("a", cpu=1, memory="1Gi"), pod("p", "g", cpu=4, requests={"memory": "512Mi"})]
    assert scores(session(*docs, leastrequested=1), "p") == {"a": 25.0}
    assert scores(session(*docs, mostrequested=1), "p") == {"a": 75.0}


def test_containers_that_do_not_ask_count_a_little() -> None:
    """100m of 1 core, and 200 MiB of 400."""
    docs = [node("a", cpu=1, memory="400Mi"), pod("p", "g", cpu="0")]
    docs[1]["spec"]["containers"][0]["resources"] = {}
    assert scores(session(*docs, leastrequested=1), "p") == {"a": 70.0}


def test_resources_that_a_node_lacks_do_not_count() -> None:
    docs = [node("a", cpu=0, memory="4Gi"), pod("p", "g", cpu=1, requests={"memory": "1Gi"})]
    assert scores(session(*docs, leastrequested=1), "p") == {"a": 75.0}
    assert scores(session(*docs, mostrequested=1), "p") == {"a": 25.0}
    assert scores(session(*docs, balancedresource=1), "p") == {"a": 100.0}


def test_balance_is_how_near_the_used_fractions_are() -> None:
    """0.6 and 0.25 are 0.175 from their mean; with half the cards, the deviation is 0.147."""
    docs = [
        node("a", cpu=10, memory="20000", more={"nvidia.com/gpu": "4"}),
        pod("p", "g", cpu=6, requests={"memory": "5000"}),
        pod("q", "g", cpu=6, requests={"memory": "5000", "nvidia.com/gpu": "2"}),
    ]
    ssn = session(*docs, balancedresource=1)
    assert scores(ssn, "p") == {"a": 82.0}
    assert scores(ssn, "q") == {"a": 85.0}


AMOUNT = st.integers(0, 2**45)
SMALL = st.integers(1, 2**40)


@settings(max_examples=200)
@given(st.lists(st.tuples(AMOUNT, SMALL), min_size=1, max_size=8))
def test_both_ways_to_calculate_give_the_same(pairs: list[tuple[int, int]]) -> None:
    asked, has = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    least = amounts.all_least_requested(asked, has).tolist()
    most = amounts.all_most_requested(asked, has).tolist()
    assert least == [amounts.least_requested(*pair) for pair in pairs]
    assert most == [amounts.most_requested(*pair) for pair in pairs]


@settings(max_examples=200)
@given(st.lists(st.tuples(AMOUNT, SMALL, AMOUNT, SMALL, AMOUNT, SMALL), min_size=1, max_size=8))
def test_both_ways_to_balance_give_the_same(cases: list[tuple[int, ...]]) -> None:
    asked, has = np.array(cases)[:, ::2], np.array(cases)[:, 1::2]
    for number in (2, 3):
        together = amounts.all_balanced(asked[:, :number], has[:, :number]).tolist()
        assert together == [
            amounts.balanced(tuple(case[2 * n] / case[2 * n + 1] for n in range(number)))
            for case in cases
        ]


@given(st.integers(0, 2**63 - 1), st.integers(1, 2**63 - 1))
def test_numbers_beyond_int64_wrap_and_division_goes_towards_zero(asked: int, has: int) -> None:
    wrapped = (has - asked) * 100 % 2**64
    wrapped -= 2**64 if wrapped >= 2**63 else 0
    quotient = abs(wrapped) // has * (1 if wrapped > 0 else -1)
    found = amounts.all_least_requested(np.array([asked]), np.array([has])).item()
    assert found == (0 if asked > has else quotient)


def test_a_node_too_large_to_multiply_is_scored_as_the_others_are() -> None:
    docs = [node("a", cpu=8, memory="100P"), node("b"), pod("p", "g", requests={"memory": "1P"})]
    found = scores(session(*docs, leastrequested=1), "p")
    assert found["b"] == 43.0


def test_preferred_nodes_count_their_weights_as_they_are() -> None:
    def preference(weight: int, value: str) -> Document:
        key = "topology.kubernetes.io/zone"
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
        return {"weight": weight, "preference": term}

    preferred = [preference(40, "x"), preference(2, "x"), preference(7, "y")]
    docs = [
        *zoned("a:x", "b:y", "c:"),
        asking(pod("p", "g"), affinity={"nodeAffinity": {PREFERRED: preferred}}),
    ]
    assert scores(session(*docs, nodeaffinity=3), "p") == {"a": 126.0, "b": 21.0, "c": 0.0}


def test_a_preference_that_does_not_parse_fails_the_score() -> None:
    bad = {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}
    docs = [node("a"), asking(pod("p", "g"), affinity={"nodeAffinity": {PREFERRED: [bad]}})]
    ssn = session(*docs, nodeaffinity=1)
    ((_, entry),) = ssn.registry.flat("NodeOrder")
    (task,) = tasks(ssn, "p")
    assert entry.partial
    assert np.isnan(entry.function(task, np.array([0]))).all()
    assert math.isnan(entry.one(task, 0))
    assert scores(session(*docs), "p") == {"a": 0.0}


def test_images_count_between_23_mb_and_1000_mb_a_container() -> None:
    """Of the 511.5 MB that count, 488.5 are above the threshold, of 977: 50."""
    made = pod("p", "g")
    made["spec"]["containers"][0]["image"] = "db"
    image = {"names": ["db:latest"], "sizeBytes": 1023 * MI}
    holder = node("a")
    holder["status"]["images"] = [image]
    assert scores(session(holder, node("b"), made, imagelocality=2), "p") == {"a": 100.0, "b": 0.0}
    image["sizeBytes"] = 20 * MI
    assert scores(session(holder, node("b"), made, imagelocality=2), "p") == {"a": 0.0, "b": 0.0}
    image["sizeBytes"] = 5000 * MI
    assert scores(session(holder, node("b"), made, imagelocality=2), "p") == {"a": 200.0, "b": 0.0}


@pytest.mark.parametrize(("release", "score"), [("v1.9.1", 0.0), ("v1.10.0", 51.0)])
def test_images_of_init_containers_count_later(release: str, score: float) -> None:
    """Of two containers, 1023 of 2000 MB are there, less the threshold of 23."""
    made, holder = pod("p", "g"), node("a")
    made["spec"]["initContainers"] = [{"name": "init", "image": "db"}]
    made["spec"]["containers"][0]["image"] = "app"
    holder["status"]["images"] = [{"names": ["db:latest"], "sizeBytes": 2046 * MI}]
    ssn = session(holder, node("b"), made, release=release, imagelocality=1)
    found = scores(ssn, "p")
    assert (found["a"] - found["b"]) == pytest.approx(score, abs=1)


@pytest.mark.parametrize(
    ("release", "counts"),
    [("v1.13.3", True), ("v1.14.0", False), ("v1.14.2", False), ("v1.14.3", True)],
)
def test_three_releases_lost_sight_of_images(
    release: str,
    counts: bool,  # noqa: FBT001
) -> None:
    made, holder = pod("p", "g"), node("a")
    made["spec"]["containers"][0]["image"] = "db"
    holder["status"]["images"] = [{"names": ["db:latest"], "sizeBytes": 1023 * MI}]
    ssn = session(holder, node("b"), made, release=release, imagelocality=2)
    assert scores(ssn, "p") == {"a": 100.0 * counts, "b": 0.0}


def test_taints_that_ask_to_stay_away_count_against_the_worst_candidate() -> None:
    def tainted(name: str, *keys: str) -> Document:
        return node(name, spec={"taints": [{"key": k, "effect": "PreferNoSchedule"} for k in keys]})

    docs = [tainted("a", "x", "y", "z"), tainted("b", "x"), node("c"), pod("p", "g")]
    tolerant = asking(pod("q", "g"), tolerations=[{"operator": "Exists"}])
    ssn = session(*docs, tolerant, tainttoleration=1)
    assert scores(ssn, "p") == {"a": 0.0, "b": 67.0, "c": 100.0}
    assert scores(ssn, "p", "bc") == {"b": 0.0, "c": 100.0}
    assert scores(ssn, "p", "c") == {"c": 100.0}
    assert scores(ssn, "q") == {"a": 100.0, "b": 100.0, "c": 100.0}


def wished(weight: int, app: str, key: str = "topology.kubernetes.io/zone") -> Document:
    """Return a weighed term about pods of an app."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"weight": weight, "podAffinityTerm": term}


def test_pods_that_are_liked_draw_and_others_repel() -> None:
    """Zone x has 10, y has 10 − 30: 100 and 0; no zone is in between, at 2/3."""
    likes = {
        "podAffinity": {PREFERRED: [wished(10, "db")]},
        "podAntiAffinity": {PREFERRED: [wished(30, "web")]},
    }
    docs = [
        *zoned("a:x", "b:y", "c:"),
        pod("p", "g", on="a", labels={"app": "db"}),
        pod("q", "g", on="b", labels={"app": "db"}),
        pod("r", "g", on="b", labels={"app": "web"}),
        asking(pod("s", "g"), affinity=likes),
    ]
    ssn = session(*docs, podaffinity=1)
    assert scores(ssn, "s") == {"a": 100.0, "b": 0.0, "c": 66.0}
    assert scores(ssn, "s", "ac") == {"a": 100.0, "c": 0.0}
    assert scores(ssn, "s", "c") == {"c": 0.0}


def test_the_likes_of_pods_that_lie_there_count_too() -> None:
    likes = {"podAffinity": {PREFERRED: [wished(10, "db")]}}
    docs = [
        *zoned("a:x", "b:x", "c:y"),
        asking(pod("p", "g", on="a"), affinity=likes),
        pod("q", "g", labels={"app": "db"}),
        pod("r", "g", labels={"app": "web"}),
    ]
    ssn = session(*docs, podaffinity=2)
    assert scores(ssn, "q") == {"a": 200.0, "b": 200.0, "c": 0.0}
    assert scores(ssn, "r") == {"a": 0.0, "b": 0.0, "c": 0.0}


def test_likes_of_pods_that_come_count_only_where_such_pods_lay_at_the_opening() -> None:
    """Unless the pod has likes of its own: then all pods are looked at."""
    likes = {"podAffinity": {PREFERRED: [wished(10, "db")]}}
    docs = [
        *zoned("a:x", "b:y"),
        asking(pod("p", "g"), affinity=likes),
        pod("q", "g", labels={"app": "db"}),
        asking(
            pod("r", "g", labels={"app": "db"}),
            affinity={"podAffinity": {PREFERRED: [wished(1, "other")]}},
        ),
    ]
    ssn = session(*docs, podaffinity=1)
    Statement(ssn).allocate(tasks(ssn, "p")[0], ssn.nodes.row["b"])
    assert scores(ssn, "q") == {"a": 0.0, "b": 0.0}
    assert scores(ssn, "r") == {"a": 0.0, "b": 100.0}


def soft(key: str, app: str, skew: int = 1) -> Document:
    """Return a constraint that only weighs."""
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def test_domains_with_fewer_of_the_like_are_better() -> None:
    """Two zones weigh log 4: 2 pods give 3 (2.77), 1 gives 1, none 0; at most 3 and at least 0."""
    taken = [pod(f"p{n}", "g", on=on, labels={"app": "db"}) for n, on in enumerate("aab")]
    constraint = soft("topology.kubernetes.io/zone", "db")
    docs = [
        *zoned("a:x", "b:y", "c:z", "d:"),
        *taken,
        asking(pod("q", "g"), topologySpreadConstraints=[constraint]),
    ]
    ssn = session(*docs, podtopologyspread=1)
    assert scores(ssn, "q", "ab") == {"a": 33.0, "b": 100.0}
    assert scores(ssn, "q", "abd") == {"a": 33.0, "b": 100.0, "d": 0.0}
    assert scores(ssn, "q", "cd") == {"c": 100.0, "d": 0.0}


def test_hosts_are_nodes_even_if_several_have_one_name() -> None:
    docs = [
        node("a", labels={"kubernetes.io/hostname": "h"}),
        node("b", labels={"kubernetes.io/hostname": "h"}),
        pod("p", "g", on="b", labels={"app": "db"}),
        asking(pod("q", "g"), topologySpreadConstraints=[soft("kubernetes.io/hostname", "db")]),
    ]
    assert scores(session(*docs, podtopologyspread=1), "q") == {"a": 100.0, "b": 0.0}


def test_constraints_over_one_label_share_their_counts() -> None:
    """Both see db and web; the second weighs as if there were no domain: log 2."""
    key = "topology.kubernetes.io/zone"
    docs = [
        *zoned("a:x", "b:y"),
        *(pod(f"p{n}", "g", on="a", labels={"app": "db"}) for n in range(3)),
        *(pod(f"q{n}", "g", on="b", labels={"app": "web"}) for n in range(3)),
        asking(pod("r", "g"), topologySpreadConstraints=[soft(key, "db"), soft(key, "web")]),
    ]
    assert scores(session(*docs, podtopologyspread=1), "r") == {"a": 100.0, "b": 100.0}


def test_pods_of_a_service_are_spread_over_hosts_and_zones_by_default() -> None:
    service = document("Service", "s", "ns", spec={"selector": {"app": "db"}})
    docs = [
        *zoned("a:x", "b:x", "c:y"),
        pod("p", "g", on="a", labels={"app": "db"}),
        pod("q", "g", labels={"app": "db"}),
        pod("r", "g", labels={"app": "web"}),
    ]
    ssn = session(*docs, service, podtopologyspread=1)
    found = scores(ssn, "q")
    assert found["c"] > found["b"] > found["a"]
    assert set(scores(ssn, "r").values()) == {0.0}
    assert set(scores(session(*docs, podtopologyspread=1), "q").values()) == {0.0}


def owned(made: Document, kind: str) -> Document:
    """Return a pod that an object ``o`` of the apps group controls."""
    owner = {"kind": kind, "name": "o", "apiVersion": "apps/v1", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


@pytest.mark.parametrize(
    ("kind", "spread"), [("ReplicaSet", True), ("StatefulSet", True), ("Deployment", False)]
)
def test_pods_of_a_set_are_spread_by_default(kind: str, *, spread: bool) -> None:
    selector = {"selector": {"matchLabels": {"app": "db"}}}
    sets = [document(one, "o", "ns", spec=selector) for one in ("ReplicaSet", "StatefulSet")]
    docs = [
        *zoned("a:x", "b:y"),
        pod("p", "g", on="a", labels={"app": "db"}),
        owned(pod("q", "g", labels={"app": "db"}), kind),
    ]
    found = scores(session(*docs, *sets, podtopologyspread=1), "q")
    assert (found["b"] > found["a"]) is spread


def test_the_weights_are_those_of_kubernetes_unless_told() -> None:
    ssn, _ = opened("predicates nodeorder", queue("default"), group("g"), node("a"), pod("p", "g"))
    half = 100 * (8000 - 1000) // 8000 + 100 * (16 * 1024 - 200) // (16 * 1024)
    balance = int((1 - (0.125 - 0) / 2) * 100)
    assert scores(ssn, "p") == {"a": half // 2 + balance + 300.0}


def test_without_plugin_predicates_nodes_stay_as_they_were() -> None:
    """Only that plugin hears of placements and writes them into the view that all share."""
    docs = [node("a"), pod("p", "g"), pod("q", "g")]
    for plugins, changes in (("nodeorder", False), ("predicates nodeorder", True)):
        ssn = session(*docs, plugins=plugins, leastrequested=1)
        before = scores(ssn, "q")
        Statement(ssn).allocate(tasks(ssn, "p")[0], 0)
        assert (scores(ssn, "q") != before) is changes
