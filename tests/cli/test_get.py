"""``plinian get`` answers as kubectl would have, at any moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from textwrap import dedent

import pytest
import yaml
from click.testing import Result

Run = Callable[..., Result]
Ask = Callable[..., str]


def table(text: str) -> str:
    """Return an indented table as it is printed."""
    return dedent(text).lstrip("\n")


def test_a_pod_is_what_it_was_at_a_revision(ask: Ask) -> None:
    assert ask("get", "pods", "--at", "rv:13") == table(
        """
        NAME      READY   STATUS    RESTARTS   AGE
        train-0   0/1     Pending   0          4s
        """
    )
    assert ask("get", "pods", "--at", "rv:15") == table(
        """
        NAME      READY   STATUS    RESTARTS   AGE
        train-0   1/1     Running   0          6s
        """
    )


def test_a_wide_pod_tells_its_node_its_queue_and_what_it_asks_for(ask: Ask) -> None:
    assert ask("get", "po", "-o", "wide", "--at", "rv:15") == table(
        """
        NAME      READY   STATUS    RESTARTS   AGE   NODE   PODGROUP   QUEUE   REQUESTS
        train-0   1/1     Running   0          6s    n1     train      gold    cpu=2,memory=1Gi
        """
    )


def test_a_node_shows_what_its_pods_ask_of_it(ask: Ask) -> None:
    assert ask("get", "nodes", "--at", "rv:15") == table(
        """
        NAME   STATUS   ROLES    AGE   VERSION   CPU   MEMORY
        n1     Ready    <none>   6s    v1.32.2   2/8   1Gi/16Gi
        """
    )
    before = ask("get", "nodes", "--at", "rv:13", "--no-headers").split()
    assert before[-2:] == ["<unknown>/8", "<unknown>/16Gi"]  # The log holds no list of pods.


def test_a_queue_shows_its_limits_and_what_its_pods_hold(ask: Ask) -> None:
    before = ask("get", "q", "gold", "--at", "rv:15").splitlines()
    headers = ["NAME", "STATE", "WEIGHT", "PARENT", "CAPABILITY", "DESERVED", "GUARANTEE"]
    assert before[0].split() == [*headers, "ALLOCATED+BELOW", "PODS+BELOW", "AGE"]
    limits = ["gold", "Open", "4", "root", "cpu=4", "<none>", "<none>"]
    assert before[1].split() == [*limits, "cpu=2,memory=1Gi", "1", "6s"]
    after = ask("get", "queue/gold").splitlines()
    assert after[1].split()[4:9] == ["cpu=6", *["<none>"] * 2, *["<unknown>"] * 2]


def test_a_podgroup_counts_its_members_by_status(ask: Ask) -> None:
    assert ask("get", "pg", "--at", "rv:15").splitlines()[1].split() == (
        ["train", "Running", "1", "Running=1", "gold", "6s"]
    )


def test_a_kind_that_nobody_knows_is_shown_by_name_and_age(ask: Ask) -> None:
    assert ask("get", "widgets", "-A") == table(
        """
        NAMESPACE   NAME   AGE
        default     w1     9s
        """
    )


def test_several_kinds_are_tables_with_the_kind_before_the_name(ask: Ask) -> None:
    found = ask("get", "no,q", "--no-headers")
    assert [line.split()[0] for line in found.splitlines() if line] == (
        ["node/n1", "queue.scheduling.volcano.sh/gold"]
    )


def test_json_of_one_named_object_is_that_object_and_else_a_list(ask: Ask) -> None:
    one = json.loads(ask("get", "pod", "train-0", "-o", "json", "--at", "rv:15"))
    assert (one["kind"], one["metadata"]["resourceVersion"]) == ("Pod", "15")
    many = json.loads(ask("get", "pods", "-A", "-o", "json", "--at", "rv:15"))
    assert many == {
        "apiVersion": "v1",
        "items": [one],
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
    none = json.loads(ask("get", "pods", "-n", "elsewhere", "-o", "json"))
    assert none["items"] == []


def test_yaml_says_the_same_as_json(ask: Ask) -> None:
    for names in (["queue/gold"], ["no,q,po"], ["services"]):
        as_json = json.loads(ask("get", *names, "-o", "json"))
        assert yaml.safe_load(ask("get", *names, "-o", "yaml")) == as_json


def test_names_and_jsonpath_and_columns_are_kubectls(ask: Ask) -> None:
    assert ask("get", "no,q", "-o", "name") == "node/n1\nqueue.scheduling.volcano.sh/gold\n"
    path = 'jsonpath={range .items[*]}{.kind}{"\\t"}{.metadata.name}{"\\n"}{end}'
    assert ask("get", "no,q", "-o", path) == "Node\tn1\nQueue\tgold\n"
    assert ask("get", "queue/gold", "-o", "jsonpath={.spec.weight}") == "4"
    assert ask("get", "q", "-o", "custom-columns=Q:.metadata.name,CPU:.spec.capability.cpu") == (
        "Q      CPU\ngold   6\n"
    )


@pytest.mark.parametrize(
    ("selector", "found"),
    [("app=train", True), ("app!=train", False), ("app in (a, train)", True), ("!app", False)],
)
def test_a_selector_chooses_by_labels(ask: Ask, selector: str, *, found: bool) -> None:
    names = ask("get", "pods", "-l", selector, "-o", "name", "--at", "rv:15")
    assert names == ("pod/train-0\n" if found else "")


def test_objects_are_sorted_by_a_field_as_numbers_where_they_are_some(
    run: Run, demo_log: str
) -> None:
    result = run("get", "pc", "--sort-by", ".value", "-o", "name", "--log", demo_log)
    names = [line.partition("/")[2] for line in result.stdout.splitlines()]
    assert names == ["low", "normal", "urgent", "system-cluster-critical", "system-node-critical"]


def test_a_namespace_is_default_unless_another_or_all_are_asked_for(
    run: Run, small_log: str
) -> None:
    result = run("get", "pods", "-n", "other", "--log", small_log)
    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr.endswith("\nNo resources found in other namespace.\n")
    everywhere = run("get", "pods", "-A", "--log", small_log)
    assert everywhere.stdout.startswith("NAMESPACE   NAME ")


def test_a_name_that_is_not_there_exits_with_1_and_the_others_are_printed(
    run: Run, small_log: str
) -> None:
    result = run("get", "pods", "train-0", "nobody", "--log", small_log, "--at", "rv:15")
    assert result.exit_code == 1
    assert "train-0" in result.stdout
    assert result.stderr.splitlines()[1] == (
        'plinian: pods "nobody" not found in namespace default at rv:15'
    )
    assert result.stderr.splitlines()[2].strip().startswith("there may be one: ")


def test_jobs_are_volcanos(run: Run, demo_log: str) -> None:
    found = run("get", "jobs", "--log", demo_log).stdout.splitlines()
    assert found[0].split()[:4] == ["NAME", "STATUS", "MINAVAILABLE", "RUNNINGS"]
    assert len(found) > 10
    batch = run("get", "jobs.batch", "--log", demo_log)
    assert batch.stdout == ""
    assert batch.stderr.endswith("\nNo resources found in default namespace.\n")


def test_what_is_known_later_can_be_left_out_of_account(ask: Ask) -> None:
    assert ask("get", "pods", "-o", "name", "--as-known-at", "@3") == ""
    assert ask("get", "pods", "-o", "name", "--at", "@4") == "pod/train-0\n"


def test_clean_prints_manifests_and_refuses_tables(ask: Ask, run: Run, small_log: str) -> None:
    printed = ask("get", "queues", "-o", "json", "--clean")
    (queue,) = json.loads(printed)["items"]
    assert set(queue) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(queue["metadata"]) <= {"name", "labels"}
    for words in (["--clean"], ["--node-names", "-o", "json"], ["--clean", "-w", "-o", "json"]):
        refused = run("get", "queues", *words, "--log", small_log)
        assert (refused.exit_code, "are for manifests" in refused.stderr) == (2, True)
