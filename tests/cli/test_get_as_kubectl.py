"""``plinian get`` and ``describe`` take and print what kubectl's do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import plinian
from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.replay.objects.field_selectors import parse_field_selector

Run = Callable[..., Result]
Ask = Callable[..., str]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=train-0", True),
        ("metadata.name==train-0", True),
        ("metadata.name!=train-0", False),
        ("metadata.name=other", False),
        ("metadata.namespace=default,metadata.name=train-0", True),
        ("metadata.namespace=default,metadata.name=other", False),
        ("spec.nodeName=n1", True),
        ("spec.nodeName=", False),
        ("status.phase!=Running", False),
        ("status.phase = Running", True),
        ("status.nominatedNodeName=", True),
        ("spec.schedulerName=volcano", True),
        ("metadata.labels.app=train", True),
        ("spec.containers[0].resources.requests.cpu=2", True),
        ("spec.containers[*].name!=c", False),
        ("status.containerStatuses[*].ready=true", True),
        ("status.containerStatuses[0].restartCount=0", True),
        ("", True),
    ],
)
def test_a_selector_chooses_by_fields(ask: Ask, selector: str, *, found: bool) -> None:
    names = ask("get", "pods", "--field-selector", selector, "-o", "name", "--at", "rv:15")
    assert names == ("pod/train-0\n" if found else "")


def test_a_field_selector_and_labels_must_both_hold(ask: Ask) -> None:
    both = ("--field-selector", "spec.nodeName=n1", "-l")
    assert ask("get", "pods", *both, "app=train", "-o", "name", "--at", "rv:15") == "pod/train-0\n"
    assert ask("get", "pods", *both, "app=other", "-o", "name", "--at", "rv:15") == ""


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("spec.nodename=n1", "none of pods has a field 'spec.nodename'"),
        ("spec.nodename=n1", "did you mean spec.nodeName"),
        ("spec.containers=c", "is a map or list"),
        ("metadata.name", "is not a condition on a field"),
        ("=x", "is not a condition on a field"),
    ],
)
def test_a_field_that_nothing_has_is_an_error(
    run: Run, small_log: str, selector: str, told: str
) -> None:
    result = run("get", "pods", "--field-selector", selector, "--log", small_log, "--at", "rv:15")
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


def test_a_value_may_have_commas_and_signs_with_a_backslash_before_them() -> None:
    (one, other) = parse_field_selector(r"a.b=x\,y\=z\\,c!=").conditions
    assert (one.field, one.value, one.equal) == ("a.b", "x,y=z\\", True)
    assert (other.field, other.value, other.equal) == ("c", "", False)
    with pytest.raises(UsageError, match="is not a condition"):
        parse_field_selector("a")


def test_labels_are_shown_in_a_last_column_or_in_their_own(ask: Ask) -> None:
    rows = ask("get", "pods", "--show-labels", "--at", "rv:15").splitlines()
    assert [row.split()[-1] for row in rows] == ["LABELS", "app=train"]
    own = ask("get", "no", "-L", "zone", "-L=acme.io/rack", "-o", "wide").splitlines()
    assert own[0].split()[-2:] == ["ZONE", "RACK"]
    assert own[1].split()[-1] == "a"
    none = ask("get", "q", "--show-labels").splitlines()
    assert none[1].split()[-1] == "<none>"


def test_all_is_kubectls_category_and_volcanos_kinds(ask: Ask) -> None:
    names = ask("get", "all", "-o", "name").split()
    assert names == [
        "pod/train-0",
        "podgroup.scheduling.volcano.sh/train",
        "queue.scheduling.volcano.sh/gold",
    ]
    assert ask("get", "all,no", "-o", "name").split() == [*names, "node/n1"]
    first = ask("get", "all", "--no-headers").splitlines()[0]
    assert first.startswith("pod/train-0 ")


def test_objects_of_several_kinds_and_several_names_are_found(run: Run, small_log: str) -> None:
    result = run("get", "pod/train-0", "node/n1", "pod/nobody", "q/silver", "--log", small_log)
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.stdout.splitlines() if line] == [
        *("NAME", "pod/train-0", "NAME", "node/n1"),
    ]
    told = [line for line in result.stderr.splitlines() if line.startswith("plinian: ")]
    assert told == [
        'plinian: pods "nobody" not found in namespace default at @10',
        'plinian: queues "silver" not found at @10',
    ]


def test_names_of_one_kind_in_a_row_are_one_table(ask: Ask) -> None:
    assert ask("get", "no/n1", "no/n1", "-o", "name") == "node/n1\n"
    assert ask("get", "no/n1", "q/gold", "no/n1").count("NAME") == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pods", "node/n1"), "'pods' is not KIND/NAME"),
        (("pod", "train-0", "-l", "app=train"), "names and a selector cannot be combined"),
        (("all", "train-0"), "names can follow one kind only"),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, small_log: str, words: tuple[str, ...], told: str
) -> None:
    result = run("get", *words, "--log", small_log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_what_is_not_found_can_be_ignored(run: Run, small_log: str) -> None:
    result = run("get", "pod", "nobody", "--ignore-not-found", "--log", small_log)
    assert (result.exit_code, result.stdout) == (0, "")


def test_several_objects_are_described_one_after_the_other(run: Run, small_log: str) -> None:
    result = run("describe", "node/n1", "queue/gold", "queue/silver", "--log", small_log)
    assert result.exit_code == 1
    heads = [line.split() for line in result.stdout.splitlines() if line.startswith("Name:")]
    assert heads == [["Name:", "n1"], ["Name:", "gold"]]
    assert 'queues "silver" not found at @10' in result.stderr


def test_describe_takes_the_beginning_of_a_name_a_whole_kind_and_selectors(ask: Ask) -> None:
    for words in (("pod", "tra"), ("pods",), ("pods", "-l", "app=train", "--at", "rv:15")):
        assert ask("describe", *words).startswith("Name:               train-0\n")


def test_amounts_of_quotas_are_written_as_kubernetes_does(run: Run, demo_log: str) -> None:
    moment = "2026-11-21T01:53:36Z"
    out = run("get", "pg", "-A", "-o", "wide", "--at", moment, "--log", demo_log).stdout
    assert "requests.memory=" in out
    assert all(part.endswith("i") for part in out.replace(",", " ").split() if "memory=" in part), (
        out
    )


def test_a_log_of_another_folder_is_asked_with_the_option_first(
    run: Run, small_log: str, tmp_path: Path
) -> None:
    assert run("--log", str(tmp_path / "no.db"), "get", "no").exit_code == 2
    assert run("--log", small_log, "get", "no", "-o=name").stdout == "node/n1\n"


def test_a_misspelt_namespace_is_answered_with_a_guess(run: Run, small_log: str) -> None:
    result = run("get", "pods", "-n=defualt", "--log", small_log)
    assert result.exit_code == 0
    assert "did you mean default?" in result.stderr


def test_the_python_api_selects_by_fields_and_takes_jobs_names(jobs_log: str) -> None:
    with plinian.open(jobs_log) as log:
        assert [one.reference.name for one in log.entries("pg", fields="spec.queue!=default")] == []
        assert len(log.entries("pg", fields="spec.queue=default", namespace="ml")) == 2
        (group,) = log.get("pg", "bert", namespace="ml")
        assert group["metadata"]["ownerReferences"][0]["name"] == "bert"
        with pytest.raises(ObjectNotFound):
            log.get("pg", "bart", namespace="ml")
