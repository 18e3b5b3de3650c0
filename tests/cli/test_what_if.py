"""``what-if``, and what would help, on the command line: what they print, and what they refuse."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

import plinian
from plinian.engine.errors import UsageError

Run = Callable[..., Result]

AT = "2026-11-21T01:53:36Z"
QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {"name": "fresh"},
    "spec": {"weight": 1},
    "status": {"state": "Open"},
}


@pytest.fixture
def ask(run: Run, demo_log: str) -> Run:
    return lambda *words: run(*words, "--at", AT, "--log", demo_log)


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_decisions_that_are_not_the_same_are_printed_beside_the_original(ask: Run) -> None:
    ran = ask("what-if", "--add-node", "like=node-3")
    assert ran.stdout.startswith("changed: 1 more node like node-3\n\n")
    assert ["DECISION", "OBJECT", "original", "changed"] in rows(ran.stdout)
    assert ["bind", "default/gpu-2-gpu-0", "<none>", "node-3-new-1"] in rows(ran.stdout)
    assert "assumed because no release was named" in ran.stderr


def test_each_change_has_a_column(ask: Run) -> None:
    words = ("what-if", "--each", "--delete", "job/gpu-1", "--cordon", "node/node-1")
    ran = ask(*words)
    head = next(line for line in ran.stdout.splitlines() if line.startswith("DECISION"))
    assert head.split("  ")[-2:] == [" cordon node-1", " delete job/gpu-1"]
    assert "The session decides the same with cordon node-1.\n" in ran.stdout
    printed = json.loads(ask(*words, "-o", "json").stdout)
    assert [side["name"] for side in printed["sides"]] == [
        *("original", "cordon node-1", "delete job/gpu-1")
    ]
    assert printed == yaml.safe_load(ask(*words, "-o", "yaml").stdout)


def test_manifests_are_applied(ask: Run, tmp_path: Path) -> None:
    path = tmp_path / "change.yaml"
    changed = {**QUEUE, "metadata": {"name": "gold"}, "spec": {"weight": 9}, "status": None}
    path.write_text(yaml.safe_dump_all([QUEUE, changed]))
    printed = json.loads(ask("what-if", "-f", str(path), "-o", "json").stdout)
    original, side = printed["sides"]
    assert side["changes"] == ["apply queue/fresh", "apply queue/gold"]
    assert "fresh" in side["queues"]
    assert "fresh" not in original["queues"]


@pytest.fixture
def confs(tmp_path: Path) -> tuple[str, str]:
    """Write a configuration that enqueues only, and one that does nothing but backfill."""
    files = []
    for name, action in (("enqueue.conf", "enqueue"), ("backfill.conf", "backfill")):
        path = tmp_path / name
        path.write_text(f'actions: "{action}"\ntiers:\n- plugins:\n  - name: gang\n')
        files.append(str(path))
    return files[0], files[1]


def sides(ask: Run, *words: str) -> list[tuple[str, bool, bool]]:
    """Return of each side its configuration, and whether it enqueues and binds anything."""
    printed = json.loads(ask("what-if", *words, "-o", "json").stdout)
    return [
        (Path(one["conf"]).name, bool(one["enqueued"]), bool(one["binds"]))
        for one in printed["sides"]
    ]


def test_a_configuration_is_that_of_both_sessions_as_in_why(
    ask: Run, confs: tuple[str, str]
) -> None:
    told = sides(ask, "--conf", confs[0], "--add-node", "like=node-3")
    assert [name for name, _, _ in told] == ["enqueue.conf", "enqueue.conf"]
    assert not any(binds for _, _, binds in told)
    why = ask("why", "job/gpu-2", "--conf", confs[0], "-o", "json")
    assert Path(json.loads(why.stdout)["asked"]["conf"]).name == "enqueue.conf"


def test_a_configuration_is_tried_as_the_only_change_the_second_or_with_try_conf(
    ask: Run, confs: tuple[str, str]
) -> None:
    one, other = confs
    alone = [name for name, *_ in sides(ask, "--conf", one)]
    assert alone[1] == "enqueue.conf"
    assert alone[0] != alone[1]
    both = ["enqueue.conf", "backfill.conf"]
    node = ("--add-node", "like=node-3")
    for words in (
        ("--conf", one, "--conf", other),
        ("--conf", one, "--try-conf", other),
        ("--conf", one, "--try-conf", other, *node),
        ("--conf", one, "--try-conf", other, "--release", "v1.13.0"),
    ):
        assert [name for name, *_ in sides(ask, *words)] == both
    assert sides(ask, "--try-conf", one, *node)[1][0] == "enqueue.conf"


def test_a_configuration_and_a_release_that_do_not_say_what_is_tried_are_refused(
    ask: Run, confs: tuple[str, str]
) -> None:
    one, other = confs
    for words, message in (
        (("--conf", one, "--release", "v1.13.0"), "do not say which of them is tried"),
        (("--conf", one, "--conf", other, "--conf", one), "more than two configurations"),
        (("--conf", one, "--conf", other, "--try-conf", one), "more than one configuration to try"),
    ):
        ran = ask("what-if", *words)
        assert ran.exit_code == 2
        assert message in ran.stderr


@pytest.mark.parametrize(
    ("releases", "ran"),
    [
        (("v1.11.0",), ("v1.12.1", "v1.11.0")),
        (("v1.11.0", "v1.13.0"), ("v1.11.0", "v1.13.0")),
        (("v1.11.0", "--cordon", "node-1"), ("v1.11.0", "v1.11.0")),
    ],
)
def test_a_release_is_a_change_if_it_is_the_only_one_or_the_second(
    ask: Run, releases: tuple[str, ...], ran: tuple[str, str]
) -> None:
    first, *others = releases
    words = ["--release", first]
    words += ["--release", *others] if others[:1] == ["v1.13.0"] else others
    printed = json.loads(ask("what-if", *words, "-o", "json").stdout)
    assert tuple(side["release"] for side in printed["sides"]) == ran


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (
            "queue/gold.spec.extendClusters=[]",
            "no session reads spec.extendClusters of a Queue, so it changes nothing",
        ),
        ("node/node-3.spec.podCIDR=a", "no session reads spec.podCIDR of a Node"),
        ("queue/gold.spec.weight=2", ""),
        ("queue/gold.spec.guarantee.resource.cpu=2", ""),
        ("pod/gpu-2-gpu-0.spec.nodeSelector.disk=ssd", ""),
        ("pod/gpu-2-gpu-0.metadata.labels.a=b", ""),
        ("pod/gpu-2-gpu-0.spec.tolerations=[]", ""),
        ("node/node-3.status.allocatable.cpu=2", ""),
    ],
)
def test_fields_that_no_session_reads_are_named(ask: Run, field: str, said: str) -> None:
    ran = ask("what-if", "--set", field)
    assert ran.exit_code == 0
    assert said in ran.stderr
    assert ("no session reads" in ran.stderr) is bool(said)
    printed = json.loads(ask("what-if", "--set", field, "-o", "json").stdout)
    assert [text for text in printed["unread"] if said in text] == printed["unread"]
    assert bool(printed["unread"]) is bool(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing is changed"),
        (("--set", "queue/gold=1"), "is no field of an object"),
        (("--set", "queue/gold.spec.wieght=2"), "did you mean spec.weight? there are: affinity"),
        (("--set", "queue/gold.spec.capabilty.cpu=1"), "did you mean spec.capability?"),
        (("--set", "node/node-3.spec.unschedulabel=true"), "mean spec.unschedulable?"),
        (("--set", "pod/gpu-2-gpu-0.spec.nodeSelctor.a=b"), "did you mean spec.nodeSelector?"),
        (("--set", "queue/gold.spec.capability.foo=1"), "sessions do not count a resource 'foo'"),
        (("--set", "job/gpu-2.spec.minAvailable=1"), "sessions do not see a job"),
        (("--add-node", "like=node-9"), "the log shows no node node-9 at"),
        (("--delete", "pod/nothing"), "the log shows no pod default/nothing at"),
        (("--release", "v1.11.0", "--release", "v1.12.0", "--release", "v1.13.0"), "more than two"),
        (("-f", "nothing.yaml"), "nothing.yaml"),
    ],
)
def test_what_cannot_be_tried_is_refused(ask: Run, words: tuple[str, ...], said: str) -> None:
    ran = ask("what-if", *words)
    absent = said.startswith("the log shows no")
    assert ran.exit_code == (1 if absent else 2)
    assert said in ran.stderr
    assert not ran.stdout


def test_for_some_time_prints_who_starts_when_and_how_sure_that_is(ask: Run) -> None:
    ran = ask("what-if", "--for", "60s", "--add-node", "like=node-3", "--jobs", "1")
    lines = rows(ran.stdout)
    (starts,) = [line for line in lines if line[:3] == ["starts", "job", "default/gpu-2"]]
    assert starts[3:] == ["gold", "+37s", "+0s", "(37s", "earlier)"]
    assert "COURSE" in ran.stdout
    assert "of 21 bindings that the log records until +1m, the original has 21" in ran.stdout
    assert "assumed because no release was named" in ran.stderr


def test_the_record_of_the_demonstration_is_predicted(ask: Run) -> None:
    found = json.loads(ask("what-if", "--for", "1m", "-o", "json", "--jobs", "1").stdout)
    seen = found["calibration"]
    assert (seen["recorded"], seen["predicted"], seen["invented"]) == (21, 21, 0)
    assert seen["off"] < 500_000
    (course,) = found["courses"]
    assert course["summary"]["started"] == 6
    assert found["differences"] == []
    (gpus,) = [
        one
        for one in course["queues"]
        if (one["queue"], one["resource"]) == ("gold", "nvidia.com/gpu")
    ]
    assert gpus["peak"] == 4
    assert len(gpus["series"]) == 60


def test_for_some_time_each_change_is_a_course(ask: Run) -> None:
    words = ("what-if", "--for", "20s", "--each", "--delete", "job/gpu-1", "--cordon", "node-0")
    found = json.loads(ask(*words, "-o", "json", "--jobs", "2").stdout)
    names = [course["name"] for course in found["courses"]]
    assert names == ["original", "cordon node-0", "delete job/gpu-1"]
    assert found == json.loads(ask(*words, "-o", "json", "--jobs", "1").stdout)
    assert found == yaml.safe_load(ask(*words, "-o", "yaml", "--jobs", "1").stdout)


def test_a_course_is_kept_as_a_branch(run: Run, demo_log: str, tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    shutil.copy(demo_log, own)
    words = ("what-if", "--for", "30s", "--at", AT, "--log", str(own), "--keep", "more")
    ran = run(*words, "--add-node", "like=node-3")
    assert "branch more has the course changed" in ran.stderr
    pods = run("get", "pod", "gpu-2-gpu-0", "-o", "json", "--log", str(own), "--branch", "more")
    assert json.loads(pods.stdout)["spec"]["nodeName"] == "node-3-new-1"
    assert not pods.stderr
    before = run("get", "pods", "--at", AT, "-o", "name", "--log", str(own))
    begin = run("get", "pods", "--at", AT, "-o", "name", "--log", str(own), "--branch", "more")
    assert begin.stdout == before.stdout
    again = run(*words)
    assert again.exit_code == 2
    assert "a branch 'more' already exists" in again.stderr
    several = run(*words[:-1], "other", "--each", "--cordon", "node-1", "--cordon", "node-2")
    assert "only one course can be kept" in several.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--for", "0"), "--for: "),
        (("--for", "0s"), "--for: 0s is no time"),
        (("--for", "-5m"), "--for: "),
        (("--for", "48h"), "--for: 48h is more than 24h"),
        (("--for", "1m", "--start-after", "soon"), "--start-after: 'soon' is not a duration"),
        (("--for", "1m", "--run-for", "job/gpu-2"), "'job/gpu-2' gives no duration"),
        (("--for", "1m", "--run-for", "gpu-2=1m"), "'gpu-2' is not an object"),
        (("--for", "1m", "--period", "0s"), "--period: 0s is no time"),
        (("--for", "1m", "--cordon", "node-9"), "the log shows no node node-9 at"),
        (("--no-arrivals", "--cordon", "node-1"), "--no-arrivals needs --for"),
        (("--period", "1s", "--cordon", "node-1"), "--period needs --for"),
    ],
)
def test_a_time_that_cannot_be_run_is_refused(ask: Run, words: tuple[str, ...], said: str) -> None:
    ran = ask("what-if", *words)
    assert ran.exit_code == (1 if said.startswith("the log shows no") else 2)
    assert said in ran.stderr
    assert not ran.stdout


def test_a_moment_after_the_end_is_refused(run: Run, demo_log: str) -> None:
    ran = run("what-if", "--for", "1m", "--at", "2026-11-22T01:53:36Z", "--log", demo_log)
    assert ran.exit_code != 0
    assert "what there is at 2026-11-22T01:53:36Z is not known" in ran.stderr
    assert not ran.stdout


def test_what_would_help_comes_after_the_reasons(ask: Run) -> None:
    ran = ask("why", "job/gpu-2", "--what-would-help")
    lines = ran.stdout.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("WOULD HELP"))
    assert lines[0].startswith("job default/gpu-2 waits because")
    assert lines[begin + 1].split("  ")[0] == "one more node like node-3"
    assert lines[-1].startswith("Found by running the session with each of ")
    printed = json.loads(ask("why", "job/gpu-2", "--what-would-help", "-o", "json").stdout)
    assert printed["would_help"]["found"][0]["kind"] == "node"
    assert printed["would_help"]["left"] == 0


def test_of_what_does_not_wait_nothing_is_tried(ask: Run) -> None:
    assert "WOULD HELP" not in ask("why", "job/train-a", "--what-would-help").stdout


@pytest.mark.parametrize(
    ("named", "other"),
    [
        ("node/node-3", "ask about one that waits, as pod/default/gpu-2-gpu-0."),
        ("queue/gold", "ask about one that waits, as podgroup/default/"),
        ("node/node-2", "ask about "),
    ],
)
def test_of_a_queue_or_a_node_it_says_what_to_ask_instead(ask: Run, named: str, other: str) -> None:
    ran = ask("why", named, "--what-would-help")
    assert ran.exit_code == 0
    kind, _, _ = named.partition("/")
    assert ran.stdout.startswith(f"{kind} ") or "jobs of queue" in ran.stdout
    said = ran.stdout.splitlines()[-1]
    begin = "What would help says with which changes a pod or a job starts, and a "
    assert said.startswith(f"{begin}{kind} does not start: {other}")
    printed = ask("why", named, "--what-would-help", "-o", "json")
    assert "would_help" not in json.loads(printed.stdout)
    assert f"a {kind} does not start" in printed.stderr
    text = re.search(r"as (\S+)\.$", said)
    if text is not None:
        assert ask("why", text[1]).exit_code == 0


def test_in_python_a_queue_is_refused_with_the_same_words(demo_log: str) -> None:
    refused = pytest.raises(UsageError, match="and a queue does not start")
    with plinian.open(demo_log, read_only=True) as log, refused:
        log.what_would_help("queue/gold", at="2026-11-21T01:53:36Z")


@pytest.mark.parametrize("name", ["nvidia.com/gpu", r"nvidia\.com/gpu"])
def test_both_forms_of_a_name_with_dots_change_the_same(ask: Run, name: str) -> None:
    ran = ask("what-if", "--set", f"queue/gold.spec.capability.{name}=0", "-o", "json")
    (_, changed) = json.loads(ran.stdout)["sides"]
    assert changed["changes"] == [r"queue/gold.spec.capability.nvidia\.com/gpu=0"]


def test_a_resource_that_nothing_has_is_named(ask: Run) -> None:
    ran = ask("what-if", "--set", "queue/gold.spec.capability.amd.com/gpu=1")
    assert ran.exit_code == 0
    assert "no node, queue, pod or PodGroup has a resource 'amd.com/gpu'" in ran.stderr
    assert "there are: " in ran.stderr
