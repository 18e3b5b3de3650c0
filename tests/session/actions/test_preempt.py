"""preempt: which of a job's tasks each queue's turn still has to try."""

from __future__ import annotations

import pytest

from plinian.engine.model.session_tables import NO_NODE, TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.actions.eligibility import may_preempt
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.kube.node_map import node_map
from plinian.engine.session.nodes.node_selection import Purpose
from plinian.engine.session.nodes.node_views import NodeViews
from sessions import TRIED_OUT, Document, document, group, names, node, opened, pod, queue, tasks

LEAVING = {"deletionTimestamp": "2025-11-21T14:00:30Z"}


def test_the_next_queue_only_has_tasks_that_the_job_has_not_tried() -> None:
    # The turn of queue `first` ends with all starving jobs preempting within themselves: one pod
    # takes the place that becomes free, the other finds none. Queue `second` has neither left.
    leaving = pod("leaving", "old", cpu=4, on="n")
    leaving["metadata"].update(LEAVING)
    ssn, _ = opened(
        "priority gang conformance",
        node("n", cpu=5),
        queue("first"),
        queue("second"),
        group("old", queue="first"),
        pod("stays", "old", on="n"),
        leaving,
        group("starving", min_member=2, queue="second"),
        pod("fits", "starving", cpu=2),
        pod("too-large", "starving", cpu=3),
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    fits, too_large = tasks(ssn, "fits", "too-large")
    placed = [pod for step in ssn.trace.steps if step.what == "pipeline" for pod in step.about]
    assert placed == ["ns/fits"]
    assert ssn.tasks.status[fits] == TaskStatus.PIPELINED
    assert ssn.tasks.status[too_large] == TaskStatus.PENDING
    assert ssn.nodes.pipelined[0, ssn.dims.index("cpu")] == 2000


HOST = "kubernetes.io/hostname"
GPU = "nvidia.com/gpu"
LIKE = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOST}
APART = {
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [LIKE]}}
}
EVENLY = {
    "topologySpreadConstraints": [{**LIKE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
}


def wanting(terms: Document, wants: Document) -> Document:
    """Return a pod with further terms in its spec."""
    wants["spec"].update(terms)
    return wants


@pytest.mark.parametrize("terms", [APART, EVENLY])
@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_a_nominated_node_is_judged_by_what_lay_there_when_the_pod_was_prepared_for(
    release: str, terms: Document
) -> None:
    """``first`` was on the node then, and was taken back; the node does not take ``second``."""
    ssn, _ = opened(
        "priority gang predicates",
        *(node(name, labels={HOST: name}) for name in ("n", "other")),
        queue("default"),
        group("g", min_member=2),
        pod("first", "g", labels={"app": "x"}),
        wanting(terms, pod("second", "g", labels={"app": "x"}, status={"nominatedNodeName": "n"})),
        wanting(terms, pod("third", "g", labels={"app": "x"})),
        release=release,
    )
    first, second, third = tasks(ssn, "first", "second", "third")
    assert voting.pre_predicate(ssn, first) is None
    statement = Statement(ssn)
    statement.allocate(first, 0)
    assert voting.pre_predicate(ssn, second) is None
    statement.discard()
    assert voting.pre_predicate(ssn, third) is None
    selection = NodeViews(ssn).selection
    assert len(selection.predicate(third, ssn.all_rows, Purpose.BACKFILL, None)[0]) == 2
    assert may_preempt(ssn, selection, second)
    assert voting.pre_predicate(ssn, second) is None
    assert not may_preempt(ssn, selection, second)


def contest(
    on: Document, lies: Document | None = None, comes: Document | None = None, state: str = "Open"
) -> tuple[Document, ...]:
    """Return a node ``n`` with the pod ``lies``, and a more important one that ``comes``."""
    return (
        on,
        queue("default", state=state),
        group("old"),
        lies or pod("lies", "old", on="n", priority=1),
        document("PriorityClass", "high", value=10),
        group("new", priorityClassName="high"),
        comes or pod("comes", "new", priority=10),
    )


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.4", "v1.15.1"])
def test_a_victim_that_is_spared_on_trial_keeps_the_pod_out_again(release: str) -> None:
    """``lies`` wants no pod like ``comes`` beside it: there is room for both, and it goes."""
    ssn, _ = opened(
        TRIED_OUT,
        node("n", labels={HOST: "n"}),
        queue("default"),
        group("old"),
        wanting(APART, pod("lies", "old", on="n", priority=1)),
        pod("beside", "old", on="n", priority=1),
        document("PriorityClass", "high", value=10),
        group("new", priorityClassName="high"),
        pod("comes", "new", labels={"app": "x"}, priority=10),
        release=release,
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert names(ssn, [task for task, _ in ssn.evictions]) == ["lies"]
    assert names(ssn, ssn.jobs.tasks_with(ssn.jobs.row["ns/new"], (TaskStatus.PIPELINED,))) == [
        "comes"
    ]


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_nobody_goes_for_room_that_is_there_where_the_node_lacks_what_the_pod_does_not_want(
    release: str,
) -> None:
    """The node lost GPUs that ``lies`` still holds; ``comes`` wants none, and fits beside it."""
    ssn, _ = opened(
        TRIED_OUT,
        *contest(
            node("n", more={GPU: "0"}),
            lies=pod("lies", "old", on="n", priority=1, requests={GPU: "2"}),
        ),
        release=release,
    )
    assert ssn.nodes.future_idle(0)[ssn.dims.index(GPU)] == -2000
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert not ssn.evictions


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_trying_victims_out_does_not_ask_whether_the_queue_is_open(
    release: str, plugin: str
) -> None:
    """The node has room beside ``lies``: it is spared, as if the pod could come."""
    ssn, _ = opened(
        f"{TRIED_OUT}  - name: {plugin}\n",
        *contest(node("n"), state="Closing"),
        release=release,
    )
    (comes,) = tasks(ssn, "comes")
    assert not voting.allocatable(ssn, "default", comes)
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert not ssn.evictions


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_what_a_configuration_leaves_out_stays_as_the_one_before_had_it(release: str) -> None:
    """The action is made once in a process: it goes on trying victims out, and spares ``lies``."""
    process = ProcessState()
    cluster = contest(
        node("n", labels={HOST: "n"}),
        lies=wanting(APART, pod("lies", "old", on="n", priority=1)),
        comes=pod("comes", "new", labels={"app": "x"}, priority=10),
    )
    silent = TRIED_OUT.replace("    enableTopologyAwarePreemption: true\n", "    other: 1\n")
    told = []
    for conf in (silent, TRIED_OUT, silent, TRIED_OUT.replace("true", "false"), silent):
        ssn, _ = opened(conf, *cluster, release=release, process=process)
        ACTIONS["preempt"](ssn, NodeViews(ssn))
        told.append(names(ssn, [task for task, _ in ssn.evictions]))
    assert told == [[], ["lies"], ["lies"], [], []]


@pytest.mark.parametrize(
    ("affinity", "gone"), [("true", []), ("false", ["lies"])], ids=["asked", "not-asked"]
)
@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_nobody_is_tried_out_where_affinity_was_not_prepared_for_the_pod(
    release: str, affinity: str, gone: list[str]
) -> None:
    """With ``enablePredicate`` off it is told of victims nevertheless, and fails."""
    ssn, _ = opened(
        f"{TRIED_OUT}    enablePredicate: false\n    arguments:\n"
        f"      predicate.PodAffinityEnable: {affinity}\n"
        "      predicate.VolumeBindingEnable: false\n",
        *contest(node("n", cpu=1)),
        release=release,
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert names(ssn, [task for task, _ in ssn.evictions]) == gone


@pytest.mark.parametrize("plugin", ["proportion", "capacity"])
@pytest.mark.parametrize(("enabled", "gone"), [("true", ["lies"]), ("false", [])])
@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_nobody_is_tried_out_where_a_plugin_of_queues_was_not_prepared_for_the_pod(
    release: str, plugin: str, enabled: str, gone: list[str]
) -> None:
    """It copies its accounts when it prepares, which ``enablePredicate`` switches off."""
    ssn, _ = opened(
        f"{TRIED_OUT}  - name: {plugin}\n    enablePredicate: {enabled}\n",
        *contest(node("n", cpu=1)),
        release=release,
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert names(ssn, [task for task, _ in ssn.evictions]) == gone


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_only_plugins_that_can_simulate_see_an_eviction_that_is_not_made(release: str) -> None:
    """The original simulates on copies; the handlers of events belong to the session."""
    ssn, _ = opened(TRIED_OUT, *contest(node("n", cpu=1)), release=release)
    seen: list[str] = []
    ssn.registry.add_event_handler(
        allocate=lambda task, _: seen.append(f"placed {ssn.tasks.info[task].name}"),
        deallocate=lambda task, _: seen.append(f"removed {ssn.tasks.info[task].name}"),
    )
    simulated: list[str] = []
    ssn.registry.add_simulation_handler(
        back=lambda task, _: simulated.append(f"back {ssn.tasks.info[task].name}"),
        removed=lambda task, _: simulated.append(f"removed {ssn.tasks.info[task].name}"),
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert seen == ["removed lies", "placed comes"]
    assert simulated == ["removed lies", "back lies", "removed lies", "back lies"]


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_simulated_evictions_do_not_change_the_order_of_the_other_victims(release: str) -> None:
    """A job that is not ready comes first, but both are ready as long as nobody is evicted."""
    ssn, _ = opened(
        f"{TRIED_OUT}  - name: gang\n    enablePreemptable: false\n",
        node("n", cpu=8),
        queue("default"),
        group("a", min_member=4),
        group("b", min_member=4),
        *(pod(f"{job}-{number}", job, on="n", priority=1) for job in "ab" for number in range(4)),
        document("PriorityClass", "high", value=10),
        group("new", priorityClassName="high"),
        pod("comes", "new", cpu=8, priority=10),
        release=release,
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    jobs = "".join(name[0] for name in names(ssn, [task for task, _ in ssn.evictions]))
    assert jobs in {"aaaabbbb", "bbbbaaaa"}


@pytest.mark.parametrize("release", ["v1.13.0", "v1.14.2", "v1.15.1"])
def test_a_simulation_counts_out_a_pod_that_the_filters_lost_sight_of(release: str) -> None:
    """``lies`` was evicted and taken back, which the filters may miss: ``beside`` alone counts.

    Counting ``lies`` out nevertheless leaves nobody whom ``comes`` would be near.
    """
    near = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [LIKE]}}}
    ssn, _ = opened(
        TRIED_OUT,
        node("n", cpu=2, labels={HOST: "n"}),
        queue("default"),
        group("old"),
        pod("lies", "old", on="n", priority=1, labels={"app": "x"}),
        pod("beside", "old", on="n", priority=2, labels={"app": "x"}),
        document("PriorityClass", "high", value=10),
        group("new", priorityClassName="high"),
        wanting(near, pod("comes", "new", priority=10)),
        release=release,
    )
    lies, _ = tasks(ssn, "lies", "beside")
    seen = node_map(ssn)
    seen.remove_pod(lies, 0)
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert not ssn.evictions
    assert seen.on[lies] == NO_NODE


def test_trying_victims_out_sets_no_gauges() -> None:
    """Nothing set the queue's as the session began: its parent deserves less than it does."""
    beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [LIKE]}}
    cluster = contest(
        node("n", labels={HOST: "n"}),
        lies=pod("lies", "old", on="n", labels={"app": "x"}, priority=1),
        comes=wanting({"affinity": beside}, pod("comes", "new", priority=10)),
    )
    ssn, _ = opened(
        f"{TRIED_OUT}  - name: capacity\n    enableHierarchy: true\n",
        queue("root"),
        queue("parent", parent="root", deserved={"cpu": "1"}),
        queue("default", parent="parent", deserved={"cpu": "9"}),
        *(one for one in cluster if one["kind"] != "Queue"),
        release="v1.13.0",
    )
    moved: list[int] = []

    def note(task: int, _: int) -> None:
        moved.append(task)

    ssn.registry.add_simulation_handler(back=note, removed=note)
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert moved == tasks(ssn, "lies", "lies"), "it was taken away and brought back"
    assert not ssn.evictions
    assert ssn.process.gauges == {}
