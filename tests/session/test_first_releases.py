"""What the patch releases of v1.8 changed, each held in the releases around it."""

from __future__ import annotations

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.statement import Statement
from plinian.engine.session.nodes.future_idle import check_future_idle
from plinian.engine.session.nodes.node_selection import Purpose
from plinian.engine.session.nodes.node_views import NodeViews
from plinian.engine.volcano.releases import RELEASES
from sessions import AcceptingCache, Document, document, group, node, opened, pod, queue, tasks

PLUGINS = "gang conformance predicates nodeorder"
FIRST, NEXT, LAST = "v1.8.0", "v1.8.1", "v1.8.2"


@pytest.mark.parametrize("release", [str(release) for release in RELEASES])
def test_sessions_of_all_releases_enqueue_and_place(release: str) -> None:
    ssn, _ = opened(
        "priority gang conformance drf proportion predicates nodeorder binpack",
        queue("default"),
        node("n", cpu=3),
        group("g", 2, phase="Pending", minResources={"cpu": "2"}),
        *(pod(name, "g") for name in ("a", "b")),
        pod("free", "g", cpu=0),
        release=release,
    )
    for action in ("enqueue", "allocate", "backfill", "preempt", "reclaim"):
        ACTIONS[action](ssn, NodeViews(ssn))
    assert ssn.errors == []
    placed = tasks(ssn, "a", "b", "free")
    assert [ssn.tasks.node.item(task) for task in placed] == [0, 0, 0]


class RefusingCache(AcceptingCache):
    """A cache that binds nothing."""

    def add_bind_task(self, *_: str) -> str | None:
        """Refuse."""
        return "no room"


@pytest.mark.parametrize(
    ("release", "status"), [(LAST, TaskStatus.ALLOCATED), ("v1.9.0", TaskStatus.PENDING)]
)
def test_a_pod_that_cannot_be_bound_keeps_its_place_or_not(
    release: str, status: TaskStatus
) -> None:
    ssn = session(release, node("n"), group("g"), pod("p", "g"))
    ssn.cache = RefusingCache()
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert ssn.tasks.status.item(task) == status
    assert "no room" in ssn.errors[0]


def session(release: str, *documents: Document, plugins: str = PLUGINS) -> Session:
    """Return a session with a queue."""
    return opened(plugins, queue("default"), *documents, release=release)[0]


def told(ssn: Session, action: str, name: str) -> str:
    """Run an action, and return why a pod was placed nowhere; empty if it was."""
    ACTIONS[action](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, name)
    errors = ssn.jobs.fit_errors.get(task)
    return "" if errors is None else errors.error()


CORDON = "node(s) were unschedulable"
STATUS = "predicates failed in {} for task <ns/p> on node <n>, status is not success"


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (FIRST, STATUS),
        (NEXT, f"plugin NodeUnschedulable predicates failed {CORDON}"),
        (LAST, f"plugin NodeUnschedulable predicates failed {CORDON}"),
        ("v1.10.1", CORDON),
    ],
)
@pytest.mark.parametrize(("action", "cpu"), [("allocate", 1), ("backfill", 0)])
def test_what_a_pod_is_told_of_a_cordoned_node(
    release: str, why: str, action: str, cpu: int
) -> None:
    cordoned = node("n", spec={"unschedulable": True})
    ssn = session(release, cordoned, group("g"), pod("p", "g", cpu=cpu))
    assert told(ssn, action, "p") == f"0/1 nodes are unavailable: 1 {why.format(action)}."


def test_what_the_cluster_lacks_was_told_from_the_start() -> None:
    texts = [
        told(session(release, node("n", cpu=1), group("g"), pod("p", "g", cpu=2)), "allocate", "p")
        for release in (FIRST, NEXT, LAST)
    ]
    assert texts[0]
    assert len(set(texts)) == 1


@pytest.mark.parametrize(("release", "evicts"), [(FIRST, True), (NEXT, False), (LAST, True)])
def test_whether_preempt_makes_room_on_a_node_full_of_pods(
    release: str,
    evicts: bool,  # noqa: FBT001
) -> None:
    conf = "priority gang conformance predicates"
    ssn = session(
        release,
        node("n", cpu=8, more={"pods": "1"}),
        document("PriorityClass", "high", value=10),
        group("low", phase="Running", minMember=0),
        pod("victim", "low", cpu=8, on="n", annotations={"volcano.sh/preemptable": "true"}),
        group("high", priorityClassName="high"),
        pod("p", "high", cpu=8, priority=10),
        plugins=conf,
    )
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    (victim,) = tasks(ssn, "victim")
    assert (ssn.tasks.status.item(victim) == TaskStatus.RELEASING) is evicts


@pytest.mark.parametrize(("release", "goes"), [(NEXT, False), (LAST, True)])
def test_whether_a_bound_pod_is_a_victim(
    release: str,
    goes: bool,  # noqa: FBT001
) -> None:
    bound = pod("victim", "low", cpu=8, on="n", annotations={"volcano.sh/preemptable": "true"})
    bound["status"]["phase"] = "Pending"
    ssn = session(
        release,
        node("n"),
        document("PriorityClass", "high", value=10),
        group("low", phase="Running", minMember=0),
        bound,
        group("high", priorityClassName="high"),
        pod("p", "high", cpu=8, priority=10),
        plugins="priority gang conformance predicates",
    )
    (victim,) = tasks(ssn, "victim")
    assert ssn.tasks.status[victim] == TaskStatus.BOUND
    ACTIONS["preempt"](ssn, NodeViews(ssn))
    assert (ssn.tasks.status.item(victim) == TaskStatus.RELEASING) is goes


@pytest.mark.parametrize(("release", "on"), [(NEXT, "a"), (LAST, "b")])
def test_whether_backfill_looks_at_scores(release: str, on: str) -> None:
    busy = pod("busy", "old", cpu=6, on="a")
    ssn = session(
        release, node("a"), node("b"), group("old"), busy, group("g"), pod("p", "g", cpu=0)
    )
    ACTIONS["backfill"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert ssn.nodes.names[ssn.tasks.node[task]] == on


@pytest.mark.parametrize(("release", "placed"), [(NEXT, True), (LAST, False)])
def test_whether_a_pod_that_fits_nowhere_ends_its_job_in_backfill(
    release: str,
    placed: bool,  # noqa: FBT001
) -> None:
    lost = pod("a", "g", cpu=0, creationTimestamp="2025-11-21T12:00:00Z")
    lost["spec"]["nodeSelector"] = {"no": "where"}
    ssn = session(release, node("n"), group("g"), lost, pod("p", "g", cpu=0))
    ACTIONS["backfill"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert (ssn.tasks.node.item(task) >= 0) is placed


@pytest.mark.parametrize(("release", "counted"), [(NEXT, False), (LAST, True)])
def test_whether_pods_and_volumes_are_resources(
    release: str,
    counted: bool,  # noqa: FBT001
) -> None:
    key = "attachable-volumes-csi-disk.example.com"
    driver = {"name": "disk.example.com", "nodeID": "n", "allocatable": {"count": 3}}
    mounting = pod("p", "g", on="n")
    mounting["spec"]["volumes"] = [{"persistentVolumeClaim": {"claimName": "c"}}]
    ssn = session(
        release,
        document("StorageClass", "fast", provisioner="disk.example.com"),
        document("PersistentVolumeClaim", "c", "ns", spec={"storageClassName": "fast"}),
        document("CSINode", "n", spec={"drivers": [driver]}),
        node("n"),
        group("g"),
        mounting,
    )
    (info,) = ssn.snapshot.nodes.info
    assert (info.used.get("pods"), info.used.get(key)) == ((1, 1) if counted else (0, 0))
    assert (info.allocatable.get(key) == 3) is counted
    assert info.allocatable.max_task_num == 110


@pytest.mark.parametrize(("release", "placed"), [(NEXT, False), (LAST, True)])
def test_whether_a_capability_of_one_kind_of_gpu_forbids_others(
    release: str,
    placed: bool,  # noqa: FBT001
) -> None:
    gpu = {"nvidia.com/gpu": "1"}
    for capability, free in (
        ({}, True),
        (gpu, True),
        ({"example.com/gpu": "1", **gpu}, True),
        ({"example.com/gpu": "1"}, placed),
    ):
        ssn, _ = opened(
            "gang proportion predicates",
            queue("default", capability={"cpu": "8", **capability}),
            node("n", more=gpu),
            group("g"),
            pod("p", "g", requests=gpu),
            release=release,
        )
        ACTIONS["allocate"](ssn, NodeViews(ssn))
        (task,) = tasks(ssn, "p")
        assert (ssn.tasks.node.item(task) >= 0) is free


@pytest.mark.parametrize(("release", "asked"), [(FIRST, False), (NEXT, True), (LAST, True)])
def test_whether_a_spread_may_name_a_least_number_of_domains(
    release: str,
    asked: bool,  # noqa: FBT001
) -> None:
    zone = "topology.kubernetes.io/zone"
    spread = pod("p", "g", labels={"app": "a"})
    spread["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "minDomains": 2,
            "topologyKey": zone,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
    ]
    there = pod("there", "old", on="n", labels={"app": "a"})
    ssn = session(release, node("n", labels={zone: "x"}), group("old"), there, group("g"), spread)
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert (ssn.tasks.node.item(task) < 0) is asked


@pytest.mark.parametrize(("release", "forgives"), [(FIRST, True), (NEXT, False), (LAST, False)])
def test_whether_the_cache_of_filters_forgets_what_failed(
    release: str,
    forgives: bool,  # noqa: FBT001
) -> None:
    conf = (
        "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n"
        "    arguments: {predicate.CacheEnable: true}\n"
    )
    pods = [
        pod(name, f"g-{name}", annotations={"volcano.sh/template-uid": "t"}) for name in ("a", "b")
    ]
    cordoned = node("n", spec={"unschedulable": True})
    groups = (group("g-a"), group("g-b"))
    ssn, _ = opened(conf, queue("default"), cordoned, *groups, *pods, release=release)
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    assert [int(ssn.tasks.node[task]) >= 0 for task in tasks(ssn, "a", "b")] == [False, forgives]


def mounting(name: str, claim: str) -> Document:
    """Return a pod that mounts a claim."""
    made = pod(name, "g")
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    return made


LOST = 'persistentvolumeclaim "c" not found'
OF_LIMITS = f"plugin NodeVolumeLimits predicates failed looking up PVC ns/c: {LOST}"
OF_ZONES = f"plugin VolumeZone predicates failed {LOST}"


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (FIRST, f"predicates failed in allocate for task <ns/p> on node <n>: {OF_LIMITS}"),
        (NEXT, OF_LIMITS),
        (LAST, OF_ZONES),
        ("v1.9.1", OF_ZONES),
        ("v1.10.0", f"looking up PVC ns/c: {LOST}"),
    ],
)
def test_what_a_pod_is_told_whose_claim_is_missing(release: str, why: str) -> None:
    ssn = session(release, node("n"), group("g"), mounting("p", "c"))
    assert told(ssn, "allocate", "p") == f"0/1 nodes are unavailable: 1 {why}."


def test_what_ends_no_asking_is_told_in_one_sentence_where_nobody_objects() -> None:
    """The filter of zones would tell of a claim that pods bring with them only by its name."""
    own = pod("p", "g")
    own["spec"]["volumes"] = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    full = node("n", more={"pods": "0"})
    ssn = session(LAST, full, group("g"), own)
    told_all = NodeViews(ssn).selection.predicate(
        tasks(ssn, "p")[0], ssn.all_rows, Purpose.BACKFILL, None
    )[1]
    lost = 'looking up PVC ns/p-v: persistentvolumeclaim "p-v" not found'
    assert list(told_all.reasons()) == [f"node(s) pod number exceeded,{lost}"]


@pytest.mark.parametrize(("release", "placed"), [(FIRST, ["zoneless"]), (NEXT, []), (LAST, [])])
def test_where_a_pod_goes_whose_claim_has_no_volume_yet(release: str, placed: list[str]) -> None:
    """Kubernetes 1.25 looked at claims on nodes only that say in what zone they are."""
    claim = document("PersistentVolumeClaim", "c", "ns", spec={"storageClassName": "now"})
    now = document("StorageClass", "now", provisioner="d") | {"volumeBindingMode": "Immediate"}
    ssn = session(
        release,
        node("zoned", labels={"topology.kubernetes.io/zone": "a"}),
        node("zoneless"),
        *(now, claim, group("g"), mounting("p", "c")),
    )
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    row = ssn.tasks.node.item(task)
    assert [name for place, name in enumerate(ssn.nodes.names) if place == row] == placed


@pytest.mark.parametrize(("release", "passes"), [(LAST, False), ("v1.9.0", True)])
def test_whether_a_zone_told_by_the_old_name_of_the_label_is_found(
    release: str,
    passes: bool,  # noqa: FBT001
) -> None:
    old = {"failure-domain.beta.kubernetes.io/zone": "a"}
    volume = document("PersistentVolume", "v", labels=old)
    claim = document("PersistentVolumeClaim", "c", "ns", spec={"volumeName": "v"})
    place = node("n", labels={"topology.kubernetes.io/zone": "a"})
    ssn = session(release, place, volume, claim, group("g"), mounting("p", "c"))
    assert (told(ssn, "allocate", "p") == "") is passes


@pytest.mark.parametrize(("release", "chosen"), [(FIRST, "wide"), (NEXT, "long")])
def test_how_much_an_overhead_of_cpu_counts_for_scores(release: str, chosen: str) -> None:
    """Kubernetes 1.25 took whole cores of overhead for thousandths."""
    heavy = pod("p", "g", cpu=0.5, requests={"memory": "4Gi"})
    heavy["spec"]["overhead"] = {"cpu": "1500m"}
    ssn = session(
        release,
        node("long", cpu=16, memory="16Gi"),
        node("wide", cpu=4, memory="64Gi"),
        group("g"),
        heavy,
        plugins="gang predicates nodeorder",
    )
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert ssn.nodes.names[ssn.tasks.node.item(task)] == chosen


@pytest.mark.parametrize(("release", "chosen"), [(FIRST, "empty"), (NEXT, "full")])
def test_whom_a_spread_counts_that_selects_all_pods(release: str, chosen: str) -> None:
    """Kubernetes 1.25 counted all; later nobody is counted, and the larger node wins."""
    spreading = pod("p", "g")
    spreading["spec"]["topologySpreadConstraints"] = [
        {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
        | {"labelSelector": {}}
    ]
    ssn = session(
        release,
        *(node("full", cpu=8, labels={"z": "a"}), node("empty", cpu=2, labels={"z": "b"})),
        *(group("there", phase="Running"), pod("x", "there", on="full", cpu="100m")),
        *(pod("y", "there", on="full", cpu="100m"), group("g"), spreading),
    )
    ACTIONS["allocate"](ssn, NodeViews(ssn))
    (task,) = tasks(ssn, "p")
    assert ssn.nodes.names[ssn.tasks.node.item(task)] == chosen


@pytest.mark.parametrize(("release", "waits"), [(FIRST, True), (NEXT, True), (LAST, False)])
def test_whether_reclaim_nominates_a_pod_that_asks_for_nothing(
    release: str,
    waits: bool,  # noqa: FBT001
) -> None:
    """Before pods were counted nothing was to be evicted for it, nor was anybody."""
    ssn = session(
        release,
        *(node("n", cpu=4), queue("rich", reclaimable=True), group("large", queue="rich")),
        pod("stays", "large", on="n", annotations={"volcano.sh/preemptable": "true"}),
        *(group("g"), pod("p", "g", cpu=0)),
        plugins="gang conformance predicates",
    )
    ACTIONS["reclaim"](ssn, NodeViews(ssn))
    assert ssn.evictions == []
    (task,) = tasks(ssn, "p")
    assert (ssn.tasks.status.item(task) == TaskStatus.PIPELINED) is waits


@pytest.mark.parametrize(("release", "placed"), [(NEXT, True), (LAST, False), ("v1.9.0", True)])
def test_whether_backfill_tries_a_node_again_that_turned_another_of_the_role_down(
    release: str,
    placed: bool,  # noqa: FBT001
) -> None:
    role = {"annotations": {"volcano.sh/task-spec": "w"}}
    first, second = (pod(name, "g", cpu=0, **role) for name in ("a", "b"))
    first["spec"]["nodeSelector"] = {"disk": "ssd"}
    second["spec"]["nodeSelector"] = {"disk": "hdd"}
    nodes = [node(disk, labels={"disk": disk}) for disk in ("ssd", "hdd")]
    ssn = session(release, *nodes, group("g"), first, second)
    ACTIONS["backfill"](ssn, NodeViews(ssn))
    rows = [ssn.tasks.node.item(task) for task in tasks(ssn, "a", "b")]
    assert rows[0] == ssn.nodes.row["ssd"]
    assert (rows[1] == ssn.nodes.row["hdd"]) is placed


def test_what_was_promised_once_is_compared_with_what_is_idle_ever_after() -> None:
    """As a promise that is taken back leaves the names of its resources behind."""
    ssn = session(
        LAST,
        node("n", more={"pods": "1"}),
        *(group("g"), pod("x", "g", on="n"), pod("y", "g", on="n"), pod("p", "g")),
    )
    check_future_idle(ssn, ssn.all_rows)
    promise = Statement(ssn)
    promise.pipeline(tasks(ssn, "p")[0], 0)
    promise.discard()
    told = r"pods -1\.00> sub <cpu 0\.00, memory 0\.00, pods 0\.00>"
    with pytest.raises(Panic, match=told):
        check_future_idle(ssn, ssn.all_rows)
