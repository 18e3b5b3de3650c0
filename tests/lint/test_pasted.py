"""What people paste: the sentence about it says what is wrong, and nothing that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import TREE, Document, cron_job, flow, found, inputs_of, job, queue, task

from plinian.engine.errors import InputError
from plinian.replay.lint.findings import FaultEffect
from plinian.replay.lint.manifest_reading import read_files

QUEUE = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"


def generated(name: str, replicas: int) -> Document:
    made = job(name, task("w", replicas))
    return {**made, "metadata": {"generateName": name, "namespace": "ml"}}


def test_objects_whose_names_are_made_up_are_not_the_same_one() -> None:
    world = inputs_of(generated("a-", 1), generated("a-", 2), generated("b-", 3))
    assert sorted(world.jobs) == ["ml/a-", "ml/a-#2", "ml/b-"]
    assert world.repeated == []
    assert found(generated("a-", 1), generated("a-", 2)) == []
    faults = found(generated("a-", -1), generated("a-", -2), rule="job-refused-for-number")
    assert len(faults) == 2


def test_each_object_without_a_name_is_said() -> None:
    places = [one.issue.subject.place for one in found(queue(""), queue(""), rule="object-unnamed")]
    assert len(places) == len({*places}) == 2
    assert found(queue(""), queue(""), rule="object-repeated") == []


@pytest.mark.parametrize(
    "conf",
    [
        'actions: "enqueue, allocate\ntiers: []\n',
        "actions: [enqueue, allocate]\ntiers: []\n",
        "actions: allocate\ntiers:\n- plugins:\n\t- name: gang\n",
    ],
)
def test_a_configuration_that_cannot_be_read_has_no_other_fault(conf: str) -> None:
    assert {one.rule for one in found(conf=conf)} == {"conf-rejected"}


@pytest.mark.parametrize(
    "conf", [TREE.replace("actions:", "x:"), TREE.replace("enqueue, allocate, backfill", "")]
)
def test_a_configuration_without_actions_is_said_to_have_none(conf: str) -> None:
    messages = {one.message for one in found(conf=conf, rule="action-unknown")}
    kept = "the previous configuration, or the built-in one, stays in force"
    assert messages == {f"it has no actions: {kept}", "it has no actions: nothing runs"}


def test_actions_without_commas_are_to_be_divided() -> None:
    (first, *_) = found(
        conf=TREE.replace("enqueue, allocate", "enqueue allocate"), rule="action-unknown"
    )
    assert first.issue.now == "divide them by commas: enqueue, allocate"


def test_an_unknown_action_of_a_rejected_configuration_does_not_let_others_run() -> None:
    conf = "actions: allocat\ntiers:\n- plugins: gang\n"
    (only,) = found(conf=conf, rule="action-unknown")
    assert only.issue.effect is FaultEffect.REFUSED


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n"


@pytest.mark.parametrize(
    ("text", "what", "now"),
    [
        (
            f"{QUEUE}metadata:\n\tname: a\n",
            "not YAML: a tab indents the line",
            "indent with spaces",
        ),
        (
            f"```yaml\n{QUEUE}metadata: {{name: a}}\n```\n",
            "not YAML: a fence of Markdown",
            "between",
        ),
        ("[null]", "expected a Kubernetes object, found null", "kubectl get -o yaml"),
        ("NAME   WEIGHT\na  1\n", 'found "NAME   WEIGHT a  1"', "kubectl get -o yaml"),
        ("kind: Queue\n", "one without apiVersion", "apiVersion: scheduling.volcano.sh/v1beta1"),
        ("kind: Job\nspec: {tasks: []}\n", "without apiVersion", "batch.volcano.sh/v1alpha1"),
        ("kind: Job\nspec: {}\n", "without apiVersion", "kubectl get -o yaml"),
        ("apiVersion: 1\nkind: Queue\n", "one whose apiVersion is 1, not text", "v1beta1"),
        ("apiVersion: topology.volcano.sh/v1alpha1\n", "one without kind", "such as HyperNode"),
        (
            f"{CONFIG_MAP}  volcano-scheduler.conf: 3\n",
            "data.volcano-scheduler.conf of a ConfigMap is 3, not text",
            "volcano-scheduler.conf: |",
        ),
        (
            f"{CONFIG_MAP}  volcano-scheduler.conf: {{actions: allocate, tiers: []}}\n",
            "data.volcano-scheduler.conf of a ConfigMap is {",
            "volcano-scheduler.conf: |",
        ),
    ],
)
def test_what_cannot_be_read_is_said_with_what_to_do(
    tmp_path: Path, text: str, what: str, now: str
) -> None:
    path = tmp_path / "pasted.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        read_files([str(path)])
    assert what in caught.value.what
    assert now in caught.value.now


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("a", False),
        ("a-1.b", False),
        ("A", True),
        ("a_b", True),
        ("a b", True),
        ("-a", True),
        ("a.", True),
        ("a" * 253, False),
        ("a" * 254, True),
    ],
)
def test_a_name_that_no_api_server_accepts_is_said_once(name: str, *, refused: bool) -> None:
    rule = "object-name-refused"
    assert len(found(queue(name), rule=rule)) == refused
    of_job = found(job(name, task("w", 1)))
    assert len([one for one in of_job if one.issue.field == "metadata.name"]) == (
        refused or len(name) > 63
    )


def test_namespaces_and_begins_of_names_are_checked_too() -> None:
    rule = "object-name-refused"
    assert found(generated("a-", 1), rule=rule) == []
    (begin,) = found(generated("A-", 1), rule=rule)
    assert begin.issue.field == "metadata.generateName"
    dotted = job("a", task("w", 1))
    dotted["metadata"]["namespace"] = "a.b"
    (namespace,) = found(dotted, rule=rule)
    assert namespace.message == "no API server accepts the namespace 'a.b'"


def test_the_queues_that_a_scheduler_makes_are_there_before_all_others() -> None:
    rule = "queue-before-parent"
    for parent in ("root", "default"):
        assert found(queue("a", parent=parent), queue(parent), rule=rule) == []
    assert len(found(queue("a", parent="b"), queue("b"), rule=rule)) == 1


def messages(*documents: Document, rule: str) -> set[str]:
    """Return what a rule says in the newest release."""
    some = found(*documents, rule=rule)
    return {one.message.rpartition("refuses it: ")[2] for one in some if "v1.15.1" in one.releases}


def test_each_of_several_circles_is_named_once() -> None:
    waits = {"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"], "e": ["e"], "f": ["a"]}
    parts = [task(name, 1, dependsOn={"name": others}) for name, others in waits.items()]
    assert messages(job("j", *parts), rule="job-refused-for-dependency") == {
        "task 'a' waits for itself (a → b → a)",
        "task 'c' waits for itself (c → d → c)",
        "task 'e' waits for itself (e → e)",
    }
    circles = {text[:19] for text in messages(flow("f", **waits), rule="flow-cycle")}
    assert circles == {"flow 'a' waits for ", "flow 'c' waits for ", "flow 'e' waits for "}


def test_each_wrong_part_of_a_schedule_and_of_a_path_is_named() -> None:
    wrong = cron_job("c", "61 * * 13 *", task("w", 1))
    assert messages(wrong, rule="cron-job-refused") == {
        "the minute '61' of the schedule is not within 0 to 59",
        "the month '13' of the schedule is not within 1 to 12",
    }
    odd = {"volcano.sh/hierarchy": "root/a/b", "volcano.sh/hierarchy-weights": "1/0"}
    assert messages(queue("q", annotations=odd), rule="queue-hierarchy-annotations") == {
        "the path 'root/a/b' has 3 steps, but there are 2 weights",
        "'1/0' are not all numbers above 0",
    }


@pytest.mark.parametrize("weights", ["1/ 2", "1/1_0", "1/\u0662"])
def test_a_weight_of_a_hierarchy_is_a_number_as_go_reads_it(weights: str) -> None:
    odd = {"volcano.sh/hierarchy": "root/a", "volcano.sh/hierarchy-weights": weights}
    assert messages(queue("q", annotations=odd), rule="queue-hierarchy-annotations") == {
        f"{weights!r} are not all numbers above 0"
    }
