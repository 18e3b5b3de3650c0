"""What the webhooks refuse of jobs, CronJobs, pods and queues, rule by rule and release by release.

Source: pkg/webhooks/admission at the tags of the releases.
"""

from __future__ import annotations

from typing import Any

import pytest
from linting import (
    FLAT,
    RELEASES,
    TREE,
    Document,
    cron_job,
    found,
    inputs_of,
    job,
    pod,
    queue,
    task,
)

from plinian.replay.lint.findings import FaultEffect
from plinian.replay.lint.lint_run import lint

NAMES = [how.release for how in RELEASES]
ALL = tuple(NAMES)
NONE: tuple[str, ...] = ()


def since(first: str) -> tuple[str, ...]:
    return tuple(NAMES[NAMES.index(first) :])


def before(first: str) -> tuple[str, ...]:
    return tuple(NAMES[: NAMES.index(first)])


def refusing(rule: str, *documents: Document, conf: str | None = None) -> tuple[str, ...]:
    issues = found(*documents, conf=conf, rule=rule)
    assert all(one.issue.effect is FaultEffect.REFUSED for one in issues)
    releases = {release for one in issues for release in one.releases}
    return tuple(name for name in NAMES if name in releases)


def policies(*some: Document) -> Document:
    return job("a", task("w", 2), policies=list(some))


def event(name: str, action: str = "RestartJob") -> Document:
    return {"event": name, "action": action}


VOLUME = "job-refused-for-volume"
EXIT = {"exitCode": 3, "action": "AbortJob"}


@pytest.mark.parametrize(
    ("document", "releases"),
    [
        (policies(event("PodFailed"), event("PodEvicted"), EXIT), NONE),
        (policies({"events": ["PodFailed", "TaskFailed"], "action": "AbortJob"}), NONE),
        (policies(event("*")), NONE),
        (policies(event("PodFail")), ALL),
        (policies(event("OutOfSync")), ALL),
        (policies(event("PodRunning")), ALL),
        (policies(event("PodPending")), before("v1.11.0")),
        (policies(event("PodFailed", "Restart")), ALL),
        (policies(event("PodFailed", "SyncJob")), ALL),
        (policies(event("PodFailed", "")), ALL),
        (policies(event("PodFailed", "RestartPod")), before("v1.11.0")),
        (policies(event("PodFailed", "RestartPartition")), before("v1.14.0")),
        (policies({**event("PodFailed"), "exitCode": 3}), ALL),
        (policies({"action": "AbortJob"}), ALL),
        (policies(event("PodFailed"), event("PodFailed", "AbortJob")), ALL),
        (policies(event("*"), event("PodFailed")), ALL),
        (policies({"exitCode": 0, "action": "AbortJob"}), ALL),
        (policies(EXIT, EXIT), ALL),
        (policies({"events": ["PodFailed", "PodFailed"], "action": "AbortJob"}), NONE),
        (job("a", task("w", 2, policies=[event("PodFail")])), ALL),
        (
            job("a", task("w", 2, policies=[event("PodFailed")]), policies=[event("PodFailed")]),
            NONE,
        ),
    ],
)
def test_policies_are_compared_as_the_release_does(
    document: Document, releases: tuple[str, ...]
) -> None:
    assert refusing("job-refused-for-policy", document) == releases


def with_plugins(*tasks: str, **plugins: Any) -> Document:
    return job("a", *(task(name, 1) for name in tasks), plugins=plugins)


@pytest.mark.parametrize(
    ("document", "releases"),
    [
        (with_plugins("w", svc=[], ssh=[], env=[], tensorflow=[], pytorch=None), NONE),
        (with_plugins("w", sv=[]), ALL),
        (with_plugins("w", ray=[], hcclrank=[]), before("v1.13.0")),
        (with_plugins("master", "worker", mpi=[]), NONE),
        (
            with_plugins(
                "mpimaster", "mpiworker", mpi=["--master=mpimaster", "--worker=mpiworker"]
            ),
            NONE,
        ),
        (with_plugins("m", "n", mpi=["--master", "m", "-worker", "n"]), NONE),
        (with_plugins("launcher", "worker", mpi=[]), ALL),
        (with_plugins("master", "n", mpi=[]), before("v1.15.0")),
    ],
)
def test_plugins_of_jobs_are_compared_as_the_release_does(
    document: Document, releases: tuple[str, ...]
) -> None:
    assert refusing("job-refused-for-plugin", document) == releases


def with_volumes(*volumes: Document) -> Document:
    return job("a", task("w", 1), volumes=list(volumes))


CLAIM = {"mountPath": "/a", "volumeClaimName": "a"}


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (with_volumes(CLAIM, {"mountPath": "/b", "volumeClaim": {}}), False),
        (with_volumes({"volumeClaimName": "a"}), True),
        (with_volumes(CLAIM, CLAIM), True),
        (with_volumes({"mountPath": "/a"}), True),
        (with_volumes({**CLAIM, "volumeClaim": {"accessModes": []}}), True),
    ],
)
def test_volumes_of_jobs_are_compared(document: Document, *, refused: bool) -> None:
    assert refusing("job-refused-for-volume", document) == (ALL if refused else NONE)


def waiting(**waits: list[str]) -> Document:
    return job("a", *(task(name, 1, dependsOn={"name": on}) for name, on in waits.items()))


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (waiting(a=[], b=["a"], c=["a", "b"]), False),
        (waiting(a=["b"], b=["a"]), True),
        (waiting(a=["a"]), True),
        (waiting(a=["x"]), True),
        (waiting(a=[], b=["a", "a"]), True),
    ],
)
def test_dependencies_of_tasks_are_compared(document: Document, *, refused: bool) -> None:
    assert refusing("job-refused-for-dependency", document) == (ALL if refused else NONE)


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (job("a", task("w", 1)), False),
        (job("a", task("", 1)), False),
        (job("a", task("Worker", 1)), True),
        (job("a", task("w_1", 1)), True),
        (job("a", task("w-", 1)), True),
        (job("a" * 40, task("w" * 20, 1)), False),
        (job("a" * 40, task("w" * 21, 1)), True),
        (job("a" * 64, task("w", 1)), True),
    ],
)
def test_names_of_jobs_and_tasks_are_compared(document: Document, *, refused: bool) -> None:
    assert refusing("job-refused-for-name", document) == (ALL if refused else NONE)


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (job("a", task("w", 0), maxRetry=0, ttlSecondsAfterFinished=0), False),
        (job("a", task("w", -1)), True),
        (job("a", task("w", 1, minAvailable=-1)), True),
        (job("a", task("w", 1), minAvailable=-1), True),
        (job("a", task("w", 1), maxRetry=-1), True),
        (job("a", task("w", 1), ttlSecondsAfterFinished=-1), True),
    ],
)
def test_negative_numbers_are_refused(document: Document, *, refused: bool) -> None:
    assert refusing("job-refused-for-number", document) == (ALL if refused else NONE)


def divided(total: int, size: int, least: int = 0, **more: Any) -> Document:
    policy = {"totalPartitions": total, "partitionSize": size, "minPartitions": least}
    return job("a", task("w", 4, partitionPolicy=policy, **more))


UNSET = tuple(one for one in since("v1.14.0") if one not in {"v1.14.3", "v1.14.4", "v1.15.1"})


@pytest.mark.parametrize(
    ("document", "releases"),
    [
        (divided(2, 2), NONE),
        (divided(2, 2, 1, minAvailable=2), NONE),
        (divided(2, 2, 1, minAvailable=3), since("v1.14.0")),
        (divided(2, 3), since("v1.14.0")),
        (divided(0, 4), since("v1.14.0")),
        (divided(4, 0), since("v1.14.0")),
        (divided(2, 2, minAvailable=4), UNSET),
    ],
)
def test_partitions_are_compared_as_the_release_does(
    document: Document, releases: tuple[str, ...]
) -> None:
    assert refusing("job-refused-for-partitions", document) == releases


def test_a_job_in_a_queue_with_children_is_refused_where_no_plugin_reads_the_tree() -> None:
    tree = (queue("top"), queue("below", parent="top"))
    inside = job("a", task("w", 1), queue="top")
    assert refusing("job-refused-for-queue", *tree, inside, conf=FLAT) == since("v1.11.0")
    assert refusing("job-refused-for-queue", *tree, inside, conf=TREE) == NONE
    assert found(*tree, inside, conf=TREE, rule="job-in-parent-queue")
    in_root = job("a", task("w", 1), queue="root")
    assert refusing("job-refused-for-queue", in_root, conf=FLAT) == since("v1.11.0")


def container(name: str = "main", **resources: Any) -> Document:
    return {"name": name, "resources": resources}


def of(*containers: Document, **more: Any) -> Document:
    return job("a", task("w", 1, pod={"containers": list(containers)}, **more))


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (of(container(requests={"cpu": "500m"}, limits={"cpu": 1})), False),
        (of(), True),
        (of(container(""), container("b")), True),
        (of(container("a"), container("a")), True),
        (of(container(requests={"cpu": 2}, limits={"cpu": "1500m"})), True),
        (of(container(requests={"cpu": 2}), topologyPolicy="best-effort"), False),
        (of(container(limits={"cpu": 2}), topologyPolicy="restricted"), False),
        (of(container(requests={"cpu": "500m"}), topologyPolicy="restricted"), True),
        (
            of(container(requests={"memory": 1}, limits={"cpu": 2}), topologyPolicy="restricted"),
            True,
        ),
        (of(container(requests={"cpu": "500m"}), topologyPolicy="none"), False),
    ],
)
def test_templates_of_pods_are_compared(document: Document, *, refused: bool) -> None:
    assert refusing("job-refused-for-template", document) == (ALL if refused else NONE)


def cron(schedule: Any, zone: Any = None, name: str = "c") -> Document:
    more = {} if zone is None else {"timeZone": zone}
    return cron_job(name, schedule, task("w", 1), **more)


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (cron("*/5 0-6 1,15 jan-mar mon-fri", "Europe/Berlin"), False),
        (cron("@daily"), False),
        (cron("@every 1h30m"), False),
        (cron("0 0 ? * *"), False),
        (cron(""), True),
        (cron("* * * *"), True),
        (cron("60 * * * *"), True),
        (cron("* * * * 7"), True),
        (cron("5-1 * * * *"), True),
        (cron("*/0 * * * *"), True),
        (cron("@sometimes"), True),
        (cron("TZ=UTC * * * * *"), True),
        (cron("* * * * *", ""), True),
        (cron("* * * * *", "Local"), True),
        (cron("* * * * *", "../x"), True),
        (cron("* * * * *", name="c" * 53), True),
    ],
)
def test_cron_jobs_are_compared_since_there_are_any(document: Document, *, refused: bool) -> None:
    assert refusing("cron-job-refused", document) == (since("v1.13.0") if refused else NONE)


@pytest.mark.parametrize(
    ("annotations", "refused"),
    [
        ({"volcano.sh/jdb-min-available": "2"}, False),
        ({"volcano.sh/jdb-max-unavailable": "50%"}, False),
        ({"volcano.sh/jdb-min-available": "0"}, True),
        ({"volcano.sh/jdb-min-available": "100%"}, True),
        ({"volcano.sh/jdb-min-available": "many"}, True),
        ({"volcano.sh/jdb-min-available": "1_0"}, True),
        ({"volcano.sh/jdb-min-available": " 2"}, True),
        ({"volcano.sh/jdb-min-available": "+5%"}, False),
        ({"volcano.sh/jdb-min-available": "2", "volcano.sh/jdb-max-unavailable": "2"}, True),
    ],
)
def test_budgets_of_pods_are_compared(annotations: dict[str, str], *, refused: bool) -> None:
    document = pod("a", schedulerName="volcano")
    document["metadata"]["annotations"] = annotations
    assert refusing("pod-refused-for-budget", document) == (ALL if refused else NONE)
    document["spec"]["schedulerName"] = "other"
    assert refusing("pod-refused-for-budget", document) == NONE


def at(path: str) -> dict[str, str]:
    steps = path.count("/") + 1
    weights = "/".join("1" for _ in range(steps))
    return {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}


def test_paths_of_queues_are_compared_in_the_order_of_the_files() -> None:
    deep, high = (
        queue("deep", annotations=at("root/eng/dev")),
        queue("high", annotations=at("root/eng")),
    )
    assert refusing("queue-refused-for-hierarchy", deep, high) == ALL
    assert refusing("queue-refused-for-hierarchy", high, deep) == NONE
    like = queue("like", annotations=at("root/engine"))
    assert refusing("queue-refused-for-hierarchy", like, high) == before("v1.11.0")


def test_states_of_queues_are_compared() -> None:
    for state, refused in (("Open", False), ("Closed", False), ("Closing", True)):
        document = queue("a", status={"state": state})
        assert refusing("queue-refused-for-state", document) == (ALL if refused else NONE)


def test_jobs_of_a_log_are_there_already() -> None:
    wrong = policies(event("PodFail"))
    assert not [
        one for one in lint(inputs_of(wrong, stored=True), RELEASES) if "refused-for" in one.rule
    ]


def test_a_limit_without_a_request_is_requested() -> None:
    limited = of(container(limits={"cpu": 12}))
    small = queue("small", capability={"cpu": 8})
    limited["spec"]["queue"] = "small"
    (one,) = found(small, limited, conf=FLAT, rule="min-resources-above-queue")
    assert "needs cpu 12 at once" in one.message


def told(*documents: Document, rule: str) -> list[tuple[str, str, str]]:
    """Return the field, the message and the advice of each finding of a rule."""
    issues = [one.issue for one in found(*documents, rule=rule)]
    return [(one.field, one.message.partition("refuses it: ")[2], one.now) for one in issues]


OF_EVENTS = (
    "there are *, PodFailed, PodEvicted, Unknown, TaskCompleted, TaskFailed, JobUpdated, "
    "PodPending (since v1.11.0)"
)
OF_ACTIONS = (
    "there are AbortJob, RestartJob, RestartTask, TerminateJob, CompleteJob, ResumeJob, "
    "RestartPod (since v1.11.0), RestartPartition (since v1.14.0)"
)
LATER = "or a later release, or another name"
WRONG_POLICIES = (
    (event("PodFail"), "has the event 'PodFail', which is not allowed", "write PodFailed"),
    (
        event("PodEvicted", "Restart"),
        "has the action 'Restart', which is not allowed",
        "write RestartPod (since v1.11.0)",
    ),
    ({"action": "AbortJob"}, "has neither an event nor an exit code", "write one of them"),
    (
        {"exitCode": 0, "action": "AbortJob"},
        "has the exit code 0, which is no error",
        "write another code",
    ),
    (event("Foo"), "has the event 'Foo', which is not allowed", OF_EVENTS),
    (event("Unknown", "Bar"), "has the action 'Bar', which is not allowed", OF_ACTIONS),
    (event("PodEvicted"), "has the event PodEvicted of another policy", "keep one of them"),
    (
        event("TaskFailed", "RestartPartition"),
        "has the action 'RestartPartition', which is not allowed",
        f"use v1.14.0 {LATER}",
    ),
    (
        event("PodPending"),
        "has the event 'PodPending', which is not allowed",
        f"use v1.11.0 {LATER}",
    ),
)


def test_every_policy_with_a_fault_is_named_and_each_fault_once() -> None:
    wrong = policies(*(document for document, _, _ in WRONG_POLICIES))
    wrong["spec"]["tasks"][0]["policies"] = [event("PodFailed"), event("*")]
    expected = [
        (f"spec.policies[{at}]", f"spec.policies[{at}] {fault}", now)
        for at, (_, fault, now) in enumerate(WRONG_POLICIES)
    ]
    field, any_event = "spec.tasks[0].policies", "have the event * beside PodFailed"
    expected.append((field, f"{field} {any_event}", "keep * alone, or the rest"))
    found = told(wrong, rule="job-refused-for-policy")
    assert sorted(found) == sorted(expected)
    assert told(policies(event("Foo", "Bar")), rule="job-refused-for-policy") == [
        (
            "spec.policies[0]",
            "spec.policies[0] has the event 'Foo', which is not allowed",
            OF_EVENTS,
        ),
        (
            "spec.policies[0]",
            "spec.policies[0] has the action 'Bar', which is not allowed",
            OF_ACTIONS,
        ),
    ]


def test_every_volume_and_partition_policy_with_a_fault_is_named() -> None:
    claim = {"volumeClaim": {"resources": {"requests": {"storage": "1Gi"}}}}
    some: list[Document] = [{}, {"mountPath": "/a", **claim}, {"mountPath": "/a"}]
    assert [
        message for _, message, _ in told(job("a", task("w", 1), volumes=some), rule=VOLUME)
    ] == [
        "spec.volumes[0] has no mountPath",
        "spec.volumes[0] has neither volumeClaim nor volumeClaimName",
        "spec.volumes[2] has the mountPath /a of another volume",
        "spec.volumes[2] has neither volumeClaim nor volumeClaimName",
    ]
    empty = job("a", task("w", 1, partitionPolicy={"totalPartitions": 0, "partitionSize": -1}))
    assert [message for _, message, _ in told(empty, rule="job-refused-for-partitions")] == [
        "totalPartitions 0 is not above 0",
        "partitionSize -1 is not above 0",
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        policies(event("Foo"), event("PodFailed", "Bar")),
        job("a", task("w", 1), plugins={"nix": []}),
        job("a", task("w", 1), plugins={"raj": []}),
    ],
)
def test_what_is_said_in_the_same_words_is_one_finding(wrong: Document) -> None:
    issues = found(wrong)
    assert {one.releases for one in issues} == {ALL}
    assert len({(one.rule, one.message) for one in issues}) == len(issues)
