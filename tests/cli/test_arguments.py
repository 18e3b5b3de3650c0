"""Arguments are taken in every form that kubectl takes."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from click.testing import Result

import reference
from plinian.replay.cli.arguments import arranged

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("get pods -o=json", "get pods -o json"),
        ("get pods -ojson", "get pods -o json"),
        ("get pods -o json", "get pods -o json"),
        ("get pods --output=json", "get pods --output=json"),
        ("get pods -o=jsonpath={.a}=b", "get pods -o jsonpath={.a}=b"),
        ("get pods -n=ml -l=a=b", "get pods -n ml -l a=b"),
        ("get pods -nml", "get pods -n ml"),
        ("get pods -o==x", "get pods -o =x"),
        ("get pods -Ao=json", "get pods -A -o json"),
        ("get pods -Aojson", "get pods -A -o json"),
        ("get pods -A=true", "get pods -A"),
        ("get pods -A=false", "get pods"),
        ("get pods --no-headers=true", "get pods --no-headers"),
        ("get pods --no-headers=0", "get pods"),
        ("simulate x --scores=false", "simulate x --no-scores"),
        ("simulate x --no-scores=false", "simulate x --scores"),
        ("get pods -l -o=json", "get pods -l -o=json"),
        ("get pods --log -n=x", "get pods --log -n=x"),
        ("get pods -- -o=json", "get pods -- -o=json"),
        ("get pods -Z=1", "get pods -Z=1"),
        ("get pods --frob=1", "get pods --frob=1"),
        ("--log x.db get pods", "get --log x.db pods"),
        ("--log=x.db get pods", "get --log=x.db pods"),
        ("-n ml get pods", "get -n ml pods"),
        ("-n=ml -A get pods -o=name", "get -n ml -A pods -o name"),
        ("-An get get pods", "get -A -n get pods"),
        ("--log x.db db info", "db info --log x.db"),
        ("db --log x.db info", "db info --log x.db"),
        ("-o json release --part cache diff A B", "release diff -o json --part cache A B"),
        ("--log x.db frob", "frob --log x.db"),
        ("--log x.db --frob get", "--frob get --log x.db"),
        ("--log x.db", ""),
        ("--log x.db db", "db"),
        ("--log x.db --help", "--help"),
        ("--log x.db --version", "--version"),
        ("--log", ""),
    ],
)
def test_a_way_of_writing_arguments_is_read_as_kubectl_reads_it(written: str, read: str) -> None:
    assert arranged(reference.command_tree(), written.split()) == read.split()


def test_an_empty_value_is_one() -> None:
    assert arranged(reference.command_tree(), ["get", "-n=", "pods"]) == ["get", "-n", "", "pods"]


def test_a_point_with_a_dash_is_no_option() -> None:
    root = reference.command_tree()
    assert arranged(root, ["diff", "-5m", "-1h30m"]) == ["diff", " -5m", " -1h30m"]
    assert arranged(root, ["get", "pods", "--at", "-5m"]) == ["get", "pods", "--at", "-5m"]


def test_a_flag_that_is_neither_true_nor_false_is_refused(run: Run) -> None:
    with pytest.raises(click.BadParameter, match="true or false"):
        arranged(reference.command_tree(), ["get", "pods", "--no-headers=maybe"])
    assert run("get", "pods", "--no-headers=maybe").exit_code == 2


def test_an_option_takes_a_value_in_every_command_or_in_none() -> None:
    """Options before the command are read without knowing which command it will be."""
    takes: dict[str, set[bool]] = {}
    for _, command in reference.walk(reference.command_tree()):
        for item in command.params:
            for written in (*item.opts, *item.secondary_opts):
                takes.setdefault(written, set()).add(bool(getattr(item, "is_flag", False)))
    assert [name for name, kinds in takes.items() if len(kinds) > 1] == []


def test_the_forms_give_the_same_answer(run: Run, small_log: str) -> None:
    plain = run("get", "pods", "-A", "-o", "json", "--log", small_log).stdout
    assert plain.startswith("{")
    assert run("--log", small_log, "get", "pods", "-Ao=json").stdout == plain
    assert run("--log", small_log, "-A", "-ojson", "get", "pods").stdout == plain
    elsewhere = run("-n=elsewhere", "--log", small_log, "get", "pods")
    assert elsewhere.stderr.endswith("No resources found in elsewhere namespace.\n")


def test_what_no_command_knows_is_still_complained_of(run: Run) -> None:
    for words, told in (
        (("--frob", "get", "pods"), "--frob"),
        (("--log", "x.db", "frobnicate"), "frobnicate"),
        (("-l", "a=b", "verify"), "-l"),
        (("get", "pods", "-Z=1"), "-Z"),
    ):
        result = run(*words)
        assert result.exit_code == 2
        assert told in result.stderr


def test_the_version_is_told_by_an_option_too(run: Run) -> None:
    assert run("--version").stdout == run("version").stdout
    assert run("--version").stdout.startswith("plinian ")
