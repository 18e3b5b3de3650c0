"""Values are completed, in every form, fast, and from the log that is meant."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copy

import pytest
from click.testing import Result
from processes import PLINIAN

import plinian
from plinian.replay.cli.completion_candidates import candidates_of
from plinian.replay.cli.main import app
from plinian.replay.lint.lint_rules import RULES
from plinian.replay.lint.rule_names import RULE_NAMES
from plinian.replay.logs.completion_names import open_names
from plinian.replay.logs.log import Log
from plinian.replay.logs.log import opened as open_any

Run = Callable[..., Result]

PODGROUP = ("scheduling.volcano.sh", "PodGroup")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["get", "pods", "-o", "j"], ["json", "jsonpath="]),
        (["get", "pods", "-o=j"], ["-o=json", "-o=jsonpath="]),
        (["get", "pods", "-oj"], ["-ojson", "-ojsonpath="]),
        (["get", "pods", "--output=y"], ["--output=yaml"]),
        (["get", "pods", "-o", "=", "y"], ["yaml"]),
        (
            ["get", "pods", "-o", "="],
            ["custom-columns=", "json", "jsonpath=", "name", "wide", "yaml"],
        ),
        (["session", "-o", "w"], ["wide"]),
        (["events", "-o", "nd"], ["ndjson"]),
        (["get", "pods", "-n", ""], ["default"]),
        (["-n", ""], ["default"]),
        (["-n", "default", "get", "no", ""], ["n1"]),
        (
            ["--no-"],
            ["--no-arrivals", "--no-beliefs", "--no-checkpoint", "--no-headers", "--no-scores"],
        ),
        (["get", "-n=default", "pods", ""], ["train-0"]),
        (["get", "pods", "-n", "elsewhere", ""], []),
        (["get", "pods", "-n", "elsewhere", "-A", ""], ["train-0"]),
        (["get", "wid"], ["widgets"]),
        (["get", "widgets", ""], ["w1"]),
        (["get", "node/n1", "queue/"], ["queue/gold"]),
        (["get", "frobs", ""], []),
        (["get", "al"], ["all"]),
        (["events", "--kind", "pod.b"], ["pod.bound"]),
        (["events", "--kind", "pod.bound,pod.e"], ["pod.bound,pod.evicted"]),
        (["events", "--object", "queue/"], ["queue/gold"]),
        (["diff", "--kind", "quo"], ["quota"]),
        (["lint", "--ignore", "priority-class-m"], ["priority-class-missing"]),
        (["diff", "--ignore", ""], []),
        (["lint", "--release", "al"], ["all"]),
        (["upgrade-check", "--from", "v1.9"], ["v1.9.0", "v1.9.1"]),
        (["bisect", "--from", "e"], ["end"]),
        (["bisect", "--enqueued", ""], ["default/"]),
        (["bisect", "--enqueued", "default/"], ["default/train"]),
        (["bisect", "--bound", "default/tr"], ["default/train-0"]),
        (["why", "node/n1", "-o", "y"], ["yaml"]),
        (["why", "queue/"], ["queue/gold"]),
        (["why", "-v", "queue/"], ["queue/gold"]),
        (["report", "--why", "queue/"], ["queue/gold"]),
        (["export", "out.json", "--what", "sim"], ["simulator"]),
        (["blame", "queue/"], ["queue/gold"]),
        (["blame", "queue/gold", "idle.c"], ["idle.cpu"]),
        (["belief", "qu"], ["queues"]),
        (["belief", "nodes", ""], ["n1"]),
        (["get", "pods", "--branch", ""], ["main"]),
        (["get", "pods", "--cluster", ""], ["default"]),
        (
            ["get", "pods", "--field-selector", "spec.nodeName=n1,st"],
            ["spec.nodeName=n1,status.phase="],
        ),
        (["release", "show", "v1.9.1", "--part", "c"], ["cache", "controllers"]),
        (["release", "diff", "v1.9.1", "v1.9.0", "--subject", "pre"], ["preempt"]),
        (["session", "--choose", "l"], ["least-name"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["export", ""], []),
        (["get", "pods", "--conf"], []),
        (["frob", ""], []),
        (["-"], None),
        ([""], None),
    ],
)  # fmt: skip
def test_what_may_stand_there_is_known(
    run: Run, small_log: str, words: list[str], expected: list[str] | None
) -> None:
    result = run("__complete", "--", *words, env={"PLINIAN_LOG": small_log})
    assert result.exit_code == 0, result.stderr
    if expected is None:
        assert result.stdout
    else:
        assert result.stdout.splitlines() == expected


def test_the_log_is_the_one_that_the_words_name(run: Run, small_log: str, tmp_path: Path) -> None:
    for words in (["--log", small_log, "get", "no", ""], ["get", f"--log={small_log}", "no", ""]):
        assert run("__complete", "--", *words).stdout == "n1\n"
    (tmp_path / "odd.db").write_text("this is no database")
    for place in ("odd.db", "no.db", "frob://x", "postgresql://nobody@127.0.0.1:1/x"):
        result = run("__complete", "--", "--log", place, "get", "no", "")
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), place


def test_completion_sees_what_the_log_knows(demo_log: str) -> None:
    with plinian.open(demo_log) as log, open_names(demo_log, most=100_000) as seen:
        for kind in (("", "Pod"), ("", "Node"), PODGROUP):
            known = log.store.objects_of(*kind, cluster="default")
            told = sorted({(one.namespace, one.name) for one in known if one.uid})
            assert seen.names(kind, None, "") == told
        assert set(log.truth().kinds()) <= set(seen.kinds())
        assert seen.clusters() == list(log.store.clusters())
        assert seen.branches() == ["main"]
        assert "default" in seen.namespaces()


def test_completion_at_any_database_sees_the_same(run: Run, log_place: str, small_log: str) -> None:
    assert run("export", "x.ndjson", "--log", small_log).exit_code == 0
    with plinian.open(small_log) as log, plinian.open(log_place, create=True) as other:
        other.store.append([recorded.event for recorded in log.events()])
    with open_names(log_place) as seen:
        assert seen.names(("", "Pod"), "default", "tr") == [("default", "train-0")]
        assert seen.names(("", "Node"), "default", "") == [("", "n1")]
        assert seen.branches() == ["main"]
        assert seen.clusters() == ["default"]
        assert "default" in seen.namespaces()


def test_kinds_without_namespaces_are_completed_from_any_database(
    monkeypatch: pytest.MonkeyPatch, small_log: str
) -> None:
    def opened(_place: str, *, read_only: bool) -> Log:
        assert read_only
        return open_any(small_log, read_only=True)

    monkeypatch.setattr("plinian.replay.logs.log.opened", opened)
    with open_names("postgresql://any/log") as seen:
        assert seen.names(("", "Node"), "default", "") == [("", "n1")]
        assert seen.names(("", "Pod"), "default", "tr") == [("default", "train-0")]
        assert seen.names(("", "Pod"), "other", "") == []


def test_a_url_with_escapes_is_completed(tmp_path: Path, small_log: str) -> None:
    copy(small_log, tmp_path / "my log.db")
    with open_names(f"sqlite:///{tmp_path}/my%20log.db") as seen:
        assert seen.branches() == ["main"]


def test_ids_of_invariants_are_completed() -> None:
    found = candidates_of(app, ["check", "--invariant", "I-0"])
    assert found[:3] == ["I-01", "I-01b", "I-02"]


def test_the_names_of_rules_are_those_of_the_rules() -> None:
    assert list(RULE_NAMES) == sorted(rule.name for rule in RULES)


def cpu_seconds(*command: str) -> float:
    """Return the least seconds of processor time of some runs: the machine may be busy."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


@pytest.mark.parametrize(
    "words",
    [["get", "pods", ""], ["get", "po"], ["get", "pods", "-o", ""], ["lint", "--ignore", ""],
     ["session", "--release", ""], ["get", "pods", "-n", ""], ["events", "--kind", ""]],
)  # fmt: skip
def test_completion_is_there_before_the_next_key(demo_log: str, words: list[str]) -> None:
    """0.3 s on a machine that starts Python in 12 ms, as the one that it was measured on does."""
    start = cpu_seconds(sys.executable, "-c", "pass")
    spent = cpu_seconds(*PLINIAN, "__complete", "--", *words, "--log", demo_log, "")
    assert spent < max(0.3, 25 * start)


def test_completion_loads_no_database_and_no_numbers(small_log: str) -> None:
    """What keeps it fast, whatever the machine."""
    code = (
        "import sys; sys.argv = ['plinian', '__complete', '--', 'get', '--log', sys.argv[1],"
        " 'pods', '']\n"
        "from plinian.replay.cli.main import main\n"
        "main()\n"
        "heavy = {'numpy', 'sqlalchemy', 'alembic', 'psycopg', 'rich', 'yaml', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, small_log], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["train-0", "[]"]
