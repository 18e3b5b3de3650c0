"""Which nodes the filters leave to a pod, and what they say of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.session.framework import voting
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.reasons.statuses import StatusCode
from sessions import Document, document, group, node, opened, pod, queue, tasks

U = StatusCode.UNSCHEDULABLE
UU = StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
UNEVEN = "node(s) didn't match pod topology spread constraints"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

Said = dict[str, tuple[tuple[StatusCode, str], ...]]


def asking(made: Document, **spec: Any) -> Document:
    """Return a pod whose spec has more fields."""
    made["spec"].update(spec)
    return made


def near(key: str, labels: dict[str, str] | None, **term: Any) -> Document:
    """Return a term about pods with these labels, in the domains of a label of nodes."""
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {"topologyKey": key, **selector, **term}


def must(*terms: Document) -> Document:
    """Return an affinity that requires pods to be near."""
    return {"podAffinity": {REQUIRED: list(terms)}}


def must_not(*terms: Document) -> Document:
    """Return an affinity that requires pods not to be near."""
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def zoned(*places: str) -> list[Document]:
    """Return nodes given as ``name:zone``; without a zone they have no such label."""
    return [
        node(name, labels={"host": name, **({"zone": zone} if zone else {})})
        for name, _, zone in (place.partition(":") for place in places)
    ]


def session(*documents: Document, arguments: str = "") -> Session:
    """Return a session with gang and predicates open, on a queue and a group ``g``."""
    conf = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
    if arguments:
        conf += f"    arguments: {{{arguments}}}\n"
    return opened(conf, queue("default"), group("g"), *documents)[0]


def said(ssn: Session, name: str) -> Said:
    """Return what the filters say of the nodes that do not take a pod, all asked at once."""
    (task,) = tasks(ssn, name)
    error = voting.pre_predicate(ssn, task)
    if error is not None:
        return {"*": ((StatusCode.ERROR, error),)}
    ((_, entry),) = ssn.registry.flat("Predicate")
    rows = np.arange(len(ssn.nodes))
    verdicts = entry.function(task, rows).tolist()
    if entry.per(task) == "class":
        alone = [entry.one(task, row) for row in rows.tolist()]
        assert alone == verdicts
    statuses = ssn.reasons.statuses
    return {
        ssn.nodes.names[row]: tuple((one.code, one.objection.message) for one in statuses(verdict))
        for row, verdict in enumerate(verdicts)
        if verdict
    }


def refused(ssn: Session, name: str) -> str:
    """Return the names of the nodes that do not take a pod, one after the other."""
    return "".join(said(ssn, name))


def allocated(ssn: Session, name: str, on: str) -> None:
    """Place a pod in the session."""
    (task,) = tasks(ssn, name)
    assert Statement(ssn).allocate(task, ssn.nodes.row[on]) is None


def test_a_node_takes_so_many_pods() -> None:
    full = node("a", more={"pods": "1"})
    ssn = session(full, node("b"), pod("p", "g", on="a"), pod("q", "g"))
    assert said(ssn, "q") == {"a": ((U, "node(s) pod number exceeded"),)}


def test_a_pod_counts_as_soon_as_it_is_placed_and_not_once_it_is_evicted() -> None:
    small = node("a", more={"pods": "1"})
    ssn = session(small, pod("p", "g"), pod("q", "g"))
    assert refused(ssn, "q") == ""
    allocated(ssn, "p", "a")
    assert refused(ssn, "q") == "a"
    Statement(ssn).evict(tasks(ssn, "p")[0], "preempt")
    assert refused(ssn, "q") == ""


def test_the_first_of_cordon_affinity_and_taint_is_told() -> None:
    taints = {"taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]}
    nodes = [
        node("a", spec={"unschedulable": True, **taints}),
        node("b", spec=taints),
        node("c", spec=taints, labels={"disk": "ssd"}),
        node("d", labels={"disk": "ssd"}),
    ]
    ssn = session(*nodes, asking(pod("p", "g"), nodeSelector={"disk": "ssd"}))
    assert said(ssn, "p") == {
        "a": ((UU, "node(s) were unschedulable"),),
        "b": ((UU, "node(s) didn't match Pod's node affinity/selector"),),
        "c": ((UU, "node(s) had untolerated taint {k: v}"),),
    }


def test_who_tolerates_the_taint_of_cordoned_nodes_may_go_there() -> None:
    cordoned = node("a", spec={"unschedulable": True})
    key = "node.kubernetes.io/unschedulable"
    tolerant = asking(pod("p", "g"), tolerations=[{"key": key, "operator": "Exists"}])
    assert said(session(cordoned, tolerant), "p") == {}


def test_the_number_of_pods_does_not_end_the_asking() -> None:
    full = node("a", more={"pods": "0"}, spec={"unschedulable": True})
    ssn = session(full, pod("p", "g"))
    assert said(ssn, "p") == {
        "a": ((U, "node(s) pod number exceeded"), (UU, "node(s) were unschedulable"))
    }


def test_required_terms_are_alternatives() -> None:
    def term(value: str) -> Document:
        return {"matchExpressions": [{"key": "zone", "operator": "In", "values": [value]}]}

    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term("x"), term("y")]}}}
    ssn = session(*zoned("a:x", "b:y", "c:z"), asking(pod("p", "g"), affinity=affinity))
    assert refused(ssn, "p") == "c"


def test_required_terms_that_are_none_match_no_node() -> None:
    affinity: Document = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}
    ssn = session(*zoned("a:x"), asking(pod("p", "g"), affinity=affinity))
    assert refused(ssn, "p") == "a"


def with_port(made: Document) -> Document:
    """Return a pod that wants port 80 of its node."""
    made["spec"]["containers"][0]["ports"] = [{"hostPort": 80}]
    return made


def test_ports_of_the_node_must_be_free() -> None:
    ssn = session(
        node("a"),
        node("b"),
        with_port(pod("p", "g", on="a")),
        with_port(pod("q", "g")),
        pod("r", "g"),
    )
    occupied = "node(s) didn't have free ports for the requested pod ports"
    assert said(ssn, "q") == {"a": ((U, occupied),)}
    assert said(ssn, "r") == {}


def test_ports_and_the_number_of_pods_are_both_told() -> None:
    ssn = session(
        node("a", more={"pods": "1"}), with_port(pod("p", "g", on="a")), with_port(pod("q", "g"))
    )
    assert [text for _, text in said(ssn, "q")["a"]] == [
        "node(s) pod number exceeded",
        "node(s) didn't have free ports for the requested pod ports",
    ]


def test_a_pod_must_lie_near_the_pods_it_requires() -> None:
    ssn = session(
        *zoned("a:x", "b:x", "c:y", "d:"),
        pod("p", "g", on="a", labels={"app": "db"}),
        asking(pod("q", "g"), affinity=must(near("zone", {"app": "db"}))),
    )
    assert said(ssn, "q") == {"c": ((UU, AFFINITY),), "d": ((UU, AFFINITY),)}


def test_one_pod_must_match_all_the_required_terms() -> None:
    terms = must(near("zone", {"app": "db"}), near("zone", {"tier": "1"}))
    ssn = session(
        *zoned("a:x", "b:y"),
        pod("p", "g", on="a", labels={"app": "db"}),
        pod("q", "g", on="a", labels={"tier": "1"}),
        pod("r", "g", on="b", labels={"app": "db", "tier": "1"}),
        asking(pod("s", "g"), affinity=terms),
    )
    assert refused(ssn, "s") == "a"


def test_the_first_of_pods_that_must_be_together_goes_wherever_the_label_is() -> None:
    first = asking(pod("p", "g", labels={"app": "db"}), affinity=must(near("zone", {"app": "db"})))
    assert refused(session(*zoned("a:x", "b:"), first), "p") == "b"
    stranger = asking(pod("q", "g"), affinity=must(near("zone", {"app": "db"})))
    assert refused(session(*zoned("a:x"), stranger), "q") == "a"


def test_a_pod_must_not_lie_near_the_pods_it_excludes() -> None:
    """The code is native Unschedulable in Kubernetes; Volcano makes it final."""
    ssn = session(
        *zoned("a:x", "b:x", "c:y", "d:"),
        pod("p", "g", on="a", labels={"app": "db"}),
        asking(pod("q", "g"), affinity=must_not(near("zone", {"app": "db"}))),
    )
    assert said(ssn, "q") == {"a": ((UU, ANTI_AFFINITY),), "b": ((UU, ANTI_AFFINITY),)}


def test_pods_that_exclude_a_pod_keep_it_away() -> None:
    shy = asking(pod("p", "g", on="a"), affinity=must_not(near("zone", {"app": "db"})))
    ssn = session(*zoned("a:x", "b:x", "c:y"), shy, pod("q", "g", labels={"app": "db"}))
    assert said(ssn, "q") == {"a": ((UU, EXISTING),), "b": ((UU, EXISTING),)}
    assert said(session(*zoned("a:x"), shy, pod("q", "g")), "q") == {}


def test_a_node_without_shy_pods_at_the_opening_is_not_asked_about_those_that_come() -> None:
    """The list of nodes with anti-affinity is made once, when the plugin opens."""
    shy = must_not(near("host", {"app": "db"}))
    pods = [
        asking(pod("p", "g", on="a", labels={"app": "x"}), affinity=shy),
        asking(pod("q", "g", labels={"app": "x"}), affinity=shy),
        asking(pod("r", "g", labels={"app": "x"}), affinity=shy),
        pod("s", "g", labels={"app": "db"}),
    ]
    ssn = session(*zoned("a:", "b:"), *pods)
    allocated(ssn, "q", "b")
    assert refused(ssn, "s") == "a"


def test_what_was_not_to_be_checked_once_is_not_checked_again() -> None:
    """PreFilter says skip while no shy pod is about, and that stays for the session."""
    shy = must_not(near("host", {"app": "db"}))
    resting = asking(pod("p", "g", on="a"), affinity=must_not(near("host", {"app": "db"})))
    docs = [*zoned("a:", "b:"), resting, pod("q", "g", labels={"app": "db"})]
    docs.append(pod("r", "g", labels={"app": "db"}))
    ssn = session(*docs, asking(pod("t", "g"), affinity=shy))
    (resting_task,) = tasks(ssn, "p")
    assert refused(ssn, "r") == "a"
    Statement(ssn).evict(resting_task, "preempt")
    assert refused(ssn, "q") == ""
    allocated(ssn, "t", "a")
    assert refused(ssn, "q") == ""
    assert refused(ssn, "r") == "a"


def test_what_counts_is_fixed_before_nodes_are_looked_at() -> None:
    ssn = session(
        *zoned("a:", "b:"),
        pod("p", "g", labels={"app": "db"}),
        asking(pod("q", "g"), affinity=must_not(near("host", {"app": "db"}))),
    )
    (task,) = tasks(ssn, "q")
    ((_, entry),) = ssn.registry.flat("Predicate")
    voting.pre_predicate(ssn, task)
    allocated(ssn, "p", "a")
    assert not entry.function(task, np.arange(2)).any()
    voting.pre_predicate(ssn, task)
    assert entry.function(task, np.arange(2)).astype(bool).tolist() == [True, False]


def test_terms_are_about_the_own_namespace_unless_they_say_others() -> None:
    far = pod("p", "g", on="a", labels={"app": "db"}, namespace="other")
    everywhere = near("zone", {"app": "db"}, namespaceSelector={})
    labelled = near("zone", {"app": "db"}, namespaceSelector={"matchLabels": {"team": "t"}})
    docs = [*zoned("a:x"), far, document("Namespace", "other", labels={"team": "t"})]

    def keeps_away(term: Document) -> bool:
        shy = asking(pod("q", "g"), affinity=must_not(term))
        return refused(session(*docs, shy), "q") == "a"

    assert not keeps_away(near("zone", {"app": "db"}))
    assert keeps_away(near("zone", {"app": "db"}, namespaces=["other"]))
    assert keeps_away(everywhere)
    assert keeps_away(labelled)
    assert not keeps_away(
        near("zone", {"app": "db"}, namespaceSelector={"matchLabels": {"x": "y"}})
    )


def test_the_namespace_of_the_pod_counts_for_those_who_exclude_it() -> None:
    term = near("zone", {"app": "db"}, namespaceSelector={"matchLabels": {"team": "t"}})
    shy = asking(pod("p", "g", on="a", namespace="other"), affinity=must_not(term))
    docs = [*zoned("a:x"), shy, pod("q", "g", labels={"app": "db"})]
    assert refused(session(*docs), "q") == ""
    assert refused(session(*docs, document("Namespace", "ns", labels={"team": "t"})), "q") == "a"


def test_a_term_that_does_not_parse_keeps_the_pod_from_all_nodes() -> None:
    bad = {
        "topologyKey": "zone",
        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
    }
    ssn = session(*zoned("a:x"), asking(pod("p", "g"), affinity=must(bad)))
    assert said(ssn, "p")["*"][0][1] == (
        "plugin InterPodAffinity pre-predicates failed parsing pod: requiredAffinityTerms:"
        ' "Near" is not a valid label selector operator'
    )


def spread(key: str, labels: dict[str, str] | None, skew: int = 1, **more: Any) -> Document:
    """Return a constraint that must not be broken."""
    selector = {} if labels is None else {"labelSelector": {"matchLabels": labels}}
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        **selector,
        **more,
    }


def test_no_domain_may_have_too_many_more_than_the_emptiest() -> None:
    constraint = spread("zone", {"app": "db"})
    ssn = session(
        *zoned("a:x", "b:x", "c:y", "d:"),
        pod("p", "g", on="a", labels={"app": "db"}),
        asking(pod("q", "g", labels={"app": "db"}), topologySpreadConstraints=[constraint]),
    )
    assert said(ssn, "q") == {
        "a": ((U, UNEVEN),),
        "b": ((U, UNEVEN),),
        "d": ((UU, f"{UNEVEN} (missing required label)"),),
    }


@pytest.mark.parametrize(
    ("more", "refusing"),
    [
        ({}, "ab"),
        ({"maxSkew": 2}, ""),
        ({"minDomains": 3, "maxSkew": 2}, "ab"),
        ({"minDomains": 2}, "ab"),
    ],
)
def test_fewer_domains_than_asked_for_leave_the_emptiest_at_none(
    more: dict[str, int], refusing: str
) -> None:
    """Two pods in x and one in y: one more in x is a skew of 2, or of 3 if the emptiest has 0."""
    constraint = spread("zone", {"app": "db"}) | more
    taken = [pod(f"p{n}", "g", on=on, labels={"app": "db"}) for n, on in enumerate("abc")]
    asked = asking(pod("q", "g", labels={"app": "db"}), topologySpreadConstraints=[constraint])
    assert refused(session(*zoned("a:x", "b:x", "c:y"), *taken, asked), "q") == refusing


def test_a_pod_that_is_not_meant_itself_adds_nothing() -> None:
    constraint = spread("zone", {"app": "db"})
    docs = [*zoned("a:x", "b:y"), pod("p", "g", on="a", labels={"app": "db"})]
    ssn = session(*docs, asking(pod("q", "g"), topologySpreadConstraints=[constraint]))
    assert refused(ssn, "q") == ""


def test_nodes_that_the_pod_cannot_run_on_are_no_domains() -> None:
    """With the empty zone out of reach, the fuller one is the emptiest."""
    constraint = spread("zone", {"app": "db"})
    docs = [*zoned("a:x", "b:y"), pod("p", "g", on="a", labels={"app": "db"})]
    bound = asking(
        pod("q", "g", labels={"app": "db"}),
        topologySpreadConstraints=[constraint],
        nodeSelector={"zone": "x"},
    )
    assert refused(session(*docs, bound), "q") == "b"
    ignoring = constraint | {"nodeAffinityPolicy": "Ignore"}
    bound["spec"]["topologySpreadConstraints"] = [ignoring]
    assert refused(session(*docs, bound), "q") == "ab"


def test_the_last_constraint_over_a_label_gives_the_counts_of_all() -> None:
    """One map holds the counts by label and value: the later constraint overwrites the earlier."""
    constraints = [spread("zone", {"app": "db"}), spread("zone", {"app": "web"})]
    docs = [*zoned("a:x", "b:y"), pod("p", "g", on="a", labels={"app": "db"})]
    asked = asking(pod("q", "g", labels={"app": "db"}), topologySpreadConstraints=constraints)
    assert refused(session(*docs, asked), "q") == ""
    asked["spec"]["topologySpreadConstraints"] = constraints[::-1]
    assert refused(session(*docs, asked), "q") == "a"


def test_pods_of_the_same_values_of_named_labels_are_spread() -> None:
    constraint = spread("zone", {"app": "db"}, matchLabelKeys=["version"])
    old = pod("p", "g", on="a", labels={"app": "db", "version": "1"})
    docs = [*zoned("a:x", "b:y"), old]

    def asked(version: str) -> Document:
        labels = {"app": "db", "version": version}
        return asking(pod("q", "g", labels=labels), topologySpreadConstraints=[constraint])

    assert refused(session(*docs, asked("1")), "q") == "a"
    assert refused(session(*docs, asked("2")), "q") == ""


def test_switches_turn_filters_off() -> None:
    docs = [
        node("a", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]}),
        with_port(pod("p", "g", on="a")),
        asking(with_port(pod("q", "g")), nodeSelector={"no": "where"}),
    ]
    switches = "predicate.TaintTolerationEnable: false, predicate.NodeAffinityEnable: false"
    assert [text for _, text in said(session(*docs, arguments=switches), "q")["a"]] == [
        "node(s) didn't have free ports for the requested pod ports"
    ]
    assert (
        said(session(*docs, arguments=f"{switches}, predicate.NodePortsEnable: false"), "q") == {}
    )


def test_a_cached_failure_of_a_template_counts_for_all_its_pods() -> None:
    template = {"volcano.sh/template-uid": "t"}
    docs = [
        *zoned("a:x", "b:y"),
        asking(pod("p", "g", annotations=template), nodeSelector={"zone": "x"}),
        pod("q", "g", annotations=template),
        pod("r", "g"),
    ]
    ssn = session(*docs, arguments="predicate.CacheEnable: true")
    no_match = "node(s) didn't match Pod's node affinity/selector"
    assert said(ssn, "p") == {"b": ((UU, no_match),)}
    cached = "plugin equivalence cache predicates failed"
    assert said(ssn, "p") == said(ssn, "q") == {"b": ((StatusCode.ERROR, cached),)}
    assert said(ssn, "r") == {}


def test_pods_without_cards_leave_what_cards_need() -> None:
    cards = {"more": {"nvidia.com/gpu": "4"}}
    docs = [
        node("a", cpu=8, **cards),
        node("b", cpu=10, **cards),
        node("c", cpu=8),
        pod("p", "g", cpu=2),
        pod("q", "g", cpu=2, requests={"nvidia.com/gpu": "1"}),
    ]
    arguments = (
        "predicate.ProportionalEnable: true, predicate.resources: nvidia.com/gpu,"
        " predicate.resources.nvidia.com/gpu.cpu: 2, predicate.resources.nvidia.com/gpu.memory: 1"
    )
    ssn = session(*docs, arguments=arguments)
    failed = "proportional of resource nvidia.com/gpu check failed"
    assert said(ssn, "p") == {"a": ((UU, failed),)}
    assert said(ssn, "q") == {}


def test_without_its_filters_the_plugin_lets_no_task_be_placed() -> None:
    """The reservation of volumes finds no state if PrePredicate is switched off."""
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
        "    enablePredicate: false\n"
    )
    ssn, _ = opened(conf, queue("default"), group("g"), node("a"), pod("p", "g"))
    error = Statement(ssn).allocate(tasks(ssn, "p")[0], 0)
    assert error is not None
    assert "not found" in error


def test_only_pods_that_a_term_may_concern_are_asked_about_one_by_one() -> None:
    """A shy pod somewhere in the cluster must not slow down the placing of all others."""
    shy = asking(pod("p", "g", on="a"), affinity=must_not(near("zone", {"app": "db"})))
    docs = [*zoned("a:x"), shy, pod("q", "g", labels={"app": "db"}), pod("r", "g")]
    even = asking(pod("s", "g"), topologySpreadConstraints=[spread("zone", {"app": "db"})])
    ssn = session(*docs, even)
    ((_, entry),) = ssn.registry.flat("Predicate")
    per = {name: entry.per(task) for name, task in zip("pqrs", tasks(ssn, *"pqrs"), strict=True)}
    assert per == {"p": "task", "q": "task", "r": "class", "s": "task"}
