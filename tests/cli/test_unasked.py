"""What a log cannot answer is never told as if it could: verdicts, differences, searches."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from clusters import compact, watched

Run = Callable[..., Result]

VOLCANO = "scheduling.volcano.sh/v1beta1"
PAIR = ("--from", "v1.10.2", "--to", "v1.12.1")
CONF = b'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
KLOG = b"""\
I0304 09:00:04.700101       1 session.go:186] Open Session 11111111-2222-3333-4444-555555555501 \
with <1> Job and <4> Queues
I0304 09:00:04.700901       1 session.go:242] Close Session 11111111-2222-3333-4444-555555555501
I0304 09:00:06.700101       1 session.go:186] Open Session 11111111-2222-3333-4444-555555555503 \
with <1> Job and <4> Queues
panic: resource is not sufficient to do operation: <cpu 1000.00> sub <cpu 2000.00>

goroutine 77 [running]:
volcano.sh/volcano/pkg/scheduler/api.(*Resource).Sub(0xc000, 0xc001)
\t/go/src/volcano.sh/volcano/pkg/scheduler/api/resource_info.go:230 +0x1b5
"""


def an_object(kind: str, name: str, revision: int, second: int = 0, **parts: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "uid": f"uid-of-{name}",
        "resourceVersion": str(revision),
        "creationTimestamp": f"2026-03-04T09:00:{second:02d}Z",
    }
    if kind in {"Pod", "PodGroup"}:
        metadata["namespace"] = "ml"
    api = VOLCANO if kind in {"Queue", "PodGroup"} else "v1"
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


def a_node(name: str, revision: int, second: int = 0, **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return an_object("Node", name, revision, second, spec=spec, status={"allocatable": amounts})


def a_queue(name: str, revision: int, second: int = 0, weight: int = 1) -> dict[str, Any]:
    return an_object("Queue", name, revision, second, spec={"weight": weight})


def a_group(revision: int, second: int = 0, phase: str = "Pending") -> dict[str, Any]:
    spec = {"minMember": 1, "queue": "default"}
    return an_object("PodGroup", "train", revision, second, spec=spec, status={"phase": phase})


def audited(verb: str, second: int, new: dict[str, Any], *, level: str = "RequestResponse") -> Any:
    """Return one line of an audit log: a write that was answered with an object."""
    metadata, group = new["metadata"], new["apiVersion"].rpartition("/")[0]
    resource = f"{new['kind'].lower()}s"
    ref = {"resource": resource, "name": metadata["name"], "apiVersion": "v1", "apiGroup": group}
    if "namespace" in metadata:
        ref["namespace"] = metadata["namespace"]
    times = [f"2026-03-04T09:00:{second:02d}.{micros:06d}Z" for micros in (1000, 9000)]
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": f"{verb}-{metadata['resourceVersion']}",
        "stage": "ResponseComplete",
        "requestURI": f"/apis/{resource}",
        "verb": verb,
        "user": {"username": "admin"},
        "objectRef": {key: value for key, value in ref.items() if value},
        "responseStatus": {"metadata": {}, "code": 201 if verb == "create" else 200},
        "requestReceivedTimestamp": times[0],
        "stageTimestamp": times[1],
    }
    if level != "Metadata":
        event |= {"requestObject": new, "responseObject": new}
    return compact(event) + b"\n"


WRITES = (
    ("create", 1, a_node("n1", 1, 1)),
    ("create", 2, a_queue("default", 2, 2)),
    ("create", 3, a_group(3, 3)),
)


def a_list(*items: dict[str, Any]) -> bytes:
    return compact({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": list(items)})


@pytest.fixture
def log_of(run: Run, tmp_path: Path) -> Callable[..., str]:
    """Ingest inputs into a log of their own, and return its path."""

    def ingested(*inputs: bytes) -> str:
        place = str(tmp_path / "own.db")
        for number, data in enumerate(inputs):
            name = "volcano-scheduler.conf" if data is CONF else f"{number}.in"
            (tmp_path / name).write_bytes(data)
            done = run("ingest", str(tmp_path / name), "--log", place, "--year", "2026")
            assert done.exit_code == 0, done.stderr
        return place

    return ingested


def warnings(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


# -- upgrade-check, comparisons -------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"".join(audited(*write, level="Metadata") for write in WRITES),
        b"".join(audited(*write) for write in WRITES),
        KLOG,
    ],
    ids=["requests only", "no complete list", "component log only"],
)
def test_what_could_not_be_asked_is_no_verdict_that_nothing_changes(
    run: Run, log_of: Callable[..., str], data: bytes
) -> None:
    check = ("upgrade-check", *PAIR, "--log", log_of(data, CONF), "-j", "1")
    for more in ((), ("--exit-code",), ("--all",)):
        result = run(*check, *more)
        assert result.exit_code == 2, result.stdout
        first = result.stdout.splitlines()[0]
        assert first.startswith("Verdict: not known whether anything changes: the log lacks what ")
        assert "nodes, queues, podgroups, pods: not fully known" in first
    document = json.loads(run(*check, "-o", "json").stdout)
    assert (document["verdict"], document["doubtful"]) == ("unknown", document["sessions"])


def test_a_verdict_counts_the_sessions_for_which_not_all_was_known(
    run: Run, log_of: Callable[..., str]
) -> None:
    pod = an_object("Pod", "p", 6, 4, spec={"containers": [{"name": "c"}]}, status={})
    later = an_object("Pod", "q", 30, 9, spec={"containers": [{"name": "c"}]}, status={})
    everything = a_list(a_node("n1", 5), a_queue("default", 6), a_group(7), {**pod})
    nodes = watched(("MODIFIED", a_node("n1", 20, unschedulable=True)), ("ADDED", later))
    log = log_of(everything, nodes, CONF)
    result = run("upgrade-check", *PAIR, "--log", log, "-j", "1")
    document = json.loads(run("upgrade-check", *PAIR, "--log", log, "-j", "1", "-o", "json").stdout)
    assert document["verdict"] == "nothing"
    assert document["doubtful"] + document["left_out"] > 0
    assert result.exit_code == 0
    sure = document["sessions"] - document["doubtful"]
    of = document["sessions"] + document["left_out"]
    assert f"nothing changes in the {sure} of {of} sessions" in result.stdout.splitlines()[0]


def test_a_verdict_says_that_it_rests_on_the_built_in_configuration(
    run: Run, log_of: Callable[..., str]
) -> None:
    pod = an_object("Pod", "p", 6, 4, spec={"containers": [{"name": "c"}]}, status={})
    log = log_of(a_list(a_node("n1", 5), a_queue("default", 6), a_group(7), pod))
    (first, *_) = run("upgrade-check", *PAIR, "--log", log, "-j", "1").stdout.splitlines()
    assert "with each release's built-in configuration" in first


def test_sessions_that_decide_the_same_on_less_than_they_need_are_not_called_the_same(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(a_list(a_group(7)), CONF)
    for question in (("session",), ("diff", "rv:7")):
        asked = (*question, "--release", "v1.10.2", "--release", "v1.12.1", "--log", log)
        assert run(*asked).exit_code == 0
        result = run(*asked, "--exit-code")
        assert result.exit_code == 2
        assert "All decide the same with what is in the log, but nodes" in result.stdout


# -- diff, digest ---------------------------------------------------------------------------------


def test_a_log_without_any_object_does_not_tell_of_no_difference_without_a_word(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(b"".join(audited(*write, level="Metadata") for write in WRITES))
    for question in (("diff", "@1"), ("digest",)):
        (warning,) = warnings(run(*question, "--log", log))
        assert warning.startswith("warning: nodes, queues, podgroups, pods: not fully known")
        assert run(*question, "--log", log, "--strict").exit_code == 2
    assert run("diff", "@1", "--log", log, "--exit-code").exit_code == 2


def test_an_object_that_may_have_been_there_is_first_seen_and_not_added(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(
        audited("create", 20, a_group(20, 20))
        + audited("update", 30, a_node("n1", 30, 1))
        + audited("create", 40, a_node("n2", 40, 40))
    )
    shown = run("diff", "rv:20", "--log", log).stdout
    assert "? node/n1  (first seen; it may have existed before)" in shown
    assert "+ node/n2\n" in shown
    assert [line.split()[:4] for line in shown.splitlines() if line.startswith("n")] == [
        ["n1", "not", "known", "→"],
        ["n2", "<none>", "→", "0"],
    ]
    assert shown.endswith("1 added, 1 first seen, 0 removed, 0 changed, 1 the same\n")
    counts = run("diff", "rv:20", "--log", log, "--summary").stdout
    assert ["nodes", "1", "1", "0", "0"] in [line.split() for line in counts.splitlines()]
    document = json.loads(run("diff", "rv:20", "--log", log, "--who", "-o", "json").stdout)
    assert document["summary"]["first_seen"] == 1
    assert [one["object"]["name"] for one in document["first_seen"]] == ["n1"]
    assert [one["object"]["name"] for one in document["added"]] == ["n2"]


def test_each_kind_is_compared_from_when_it_is_known(run: Run, log_of: Callable[..., str]) -> None:
    nodes = a_list(a_node("n1", 5))
    queues = a_list(a_queue("default", 20, 1), a_queue("ml", 21, 1))
    wider = copy.deepcopy(a_queue("ml", 30, 1, weight=4))
    log = log_of(nodes, queues, watched(("MODIFIED", wider)))
    result = run("diff", "rv:5", "--kind", "nodes,queues", "--log", log)
    assert "+ queue" not in result.stdout
    assert "? queue" not in result.stdout
    assert "~ queue/ml\n    spec.weight: 1 → 4\n" in result.stdout
    assert "0 added, 0 removed, 1 changed, 2 the same" in result.stdout
    assert "warning: queues: compared from rv:21 on" in result.stderr
    document = json.loads(run("diff", "rv:5", "--log", log, "-o", "json").stdout)
    assert [(one["kind"], one["point"]) for one in document["begun"]] == [("Queue", "rv:21")]


# -- bisect ---------------------------------------------------------------------------------------


def test_a_search_says_what_it_left_out_and_how_to_ask_it(
    run: Run, log_of: Callable[..., str]
) -> None:
    pod = an_object("Pod", "p", 40, 4, spec={"containers": [{"name": "c"}]}, status={})
    log = log_of(
        b"".join(audited(*write) for write in WRITES)
        + audited("update", 9, {**a_group(9, 3), "status": {"phase": "Running"}}),
        a_list(a_node("n1", 30, 1), a_queue("default", 31, 2), pod, a_group(9, 3)),
        CONF,
    )
    asked = ("bisect", "--enqueued", "ml/train", "--log", log, "-j", "1")
    result = run(*asked)
    assert "before rv:40 are left out: there is no earlier complete list of" in result.stderr
    assert "to include them, with what is known then: --from rv:1" in result.stderr
    left = json.loads(run(*asked, "-o", "json").stdout)["left_out"]
    assert left["before"] == "rv:40"
    assert left["count"] == int(result.stderr.partition(" moments of a change before")[0][-1])
    assert "left out" not in run(*asked, "--from", "rv:1").stderr


def test_a_search_that_finds_no_object_says_where_the_log_holds_it(
    run: Run, log_of: Callable[..., str]
) -> None:
    gone = copy.deepcopy(a_group(9, 3, "Running"))
    pod = an_object("Pod", "p", 40, 4, spec={"containers": [{"name": "c"}]}, status={})
    other = a_group(33, 5)
    other["metadata"] |= {"name": "other", "uid": "uid-of-other"}
    log = log_of(
        audited("create", 3, a_group(3, 3)),
        watched(("MODIFIED", gone), ("DELETED", a_group(12, 3))),
        a_list(a_node("n1", 30, 1), a_queue("default", 31, 2), pod, other),
        CONF,
    )
    asked = ("bisect", "--phase", "ml/train=Pending", "--log", log, "-j", "1")
    result = run(*asked)
    assert (
        "The log holds podgroup/ml/train from rv:3 to rv:12, when it was deleted" in result.stdout
    )
    document = json.loads(run(*asked, "-o", "json").stdout)
    assert (document["object_there"]["first"], document["object_there"]["last"]) == (3, 12)


def test_a_component_log_alone_answers_no_question_about_sessions(
    run: Run, log_of: Callable[..., str]
) -> None:
    result = run("bisect", "--panic", "--log", log_of(KLOG, CONF))
    assert result.exit_code == 2
    assert "panic: not known, because the log lacks what sessions need" in result.stdout
    assert "of the 2 sessions that the log records, none is known" in result.stdout
    assert "rv:-1" not in result.stdout
    assert "no panic; there is no node" in result.stdout
    assert "It holds nothing of the cluster before a crash" in result.stderr


# -- get --watch, and what comes after the end ---------------------------------------------------


def test_a_watch_says_what_is_not_known_of_what_it_shows(
    run: Run, log_of: Callable[..., str]
) -> None:
    log = log_of(a_list(a_group(7)), watched(("MODIFIED", a_node("n1", 20, 1))))
    for place in ((), ("--at", "rv:7")):
        result = run("get", "nodes", "-w", *place, "--log", log, "--strict")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "nodes, pods: not fully known" in result.stderr


QUESTIONS = (
    ("get", "nodes"),
    ("describe", "node/n1"),
    ("history", "node/n1"),
    ("digest",),
    ("session", "--conf", "volcano-scheduler.conf"),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda words: words[0])
def test_what_comes_after_the_end_of_a_log_is_not_known(
    run: Run, log_of: Callable[..., str], question: tuple[str, ...]
) -> None:
    pod = an_object("Pod", "p", 9, 9, spec={"containers": [{"name": "c"}]}, status={})
    log = log_of(a_list(a_node("n1", 5, 1), a_queue("default", 6, 2), a_group(7, 3), pod), CONF)
    asked = (*question, "--log", log, "--strict", "--at")
    for later in ("now", "2026-03-04T09:02:00Z"):
        result = run(*asked, later)
        assert (result.exit_code, result.stdout) == (2, ""), later
        assert "not known after rv:9 (after 2026-03-04T09:00:09Z)" in result.stderr
    for inside in ("end", "2026-03-04T09:01:00Z", "2026-03-04T09:00:30Z"):
        assert run(*asked, inside).exit_code == 0, inside
