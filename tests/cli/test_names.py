"""Names are taken as people have them: shortened, or of the job that owns a PodGroup."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from click.testing import Result
from jobs_log import JOB_UIDS

from plinian.replay.logs.given_names import matching, nearest, owned_by, shortened

Run = Callable[..., Result]

ONE = "bert-09629e74-7499-407b-919d-48e2f6f7cdba"
NEAR = "bert-09629e74-7499-407b-919d-48e2f6f7cdbb"
FAR = "bert-180202c9-a35d-46c0-9351-8e9c5a68c3d6"


def test_a_uid_is_shortened_and_names_stay_apart() -> None:
    assert shortened(["train", ONE, FAR]) == {ONE: "bert-09629e74…", FAR: "bert-180202c9…"}
    between = "bert-09629e74-7499-5000-919d-48e2f6f7cdba"
    forms = shortened([ONE, between, FAR])
    assert forms == {
        ONE: "bert-09629e74-7499-407b…",
        between: "bert-09629e74-7499-5000…",
        FAR: "bert-180202c9…",
    }
    assert ONE not in shortened([ONE, NEAR])  # alike but for the last letter: both in full
    assert shortened([f"ml/{ONE}"]) == {f"ml/{ONE}": "ml/bert-09629e74…"}


def test_a_short_form_stands_for_what_it_shortens() -> None:
    names = {ONE, FAR, "train", "train-2"}
    for text in ("bert-09629e74…", "bert-09629e74...", "bert-0962", ONE):
        assert matching(text, names) == [ONE]
    assert matching("bert-…", names) == [ONE, FAR]
    assert matching("bert", names) == []
    assert matching("bert-09", names) == []  # too short to stand for a uid without a sign
    assert matching("tra", names) == []
    assert matching("train", names) == ["train"]
    assert owned_by("bert", names) == [ONE, FAR]
    assert owned_by("train", names) == []


def test_near_names_are_found_by_the_jobs_name_too() -> None:
    assert nearest("bart", {ONE, "gpu"}) == [ONE]
    assert nearest("zzz", {ONE, "gpu"}) == []


def test_tables_shorten_podgroups_and_other_forms_do_not(run: Run, demo_log: str) -> None:
    log = ("--at", "2026-11-21T01:53:36Z", "--log", demo_log)
    rows = run("get", "pg", *log).stdout.splitlines()[1:]
    assert all(re.fullmatch(r".+-[0-9a-f]{8}…", row.split()[0]) for row in rows)
    wide = run("get", "pg", "-o", "wide", *log).stdout.splitlines()[1:]
    full = [row.split()[0] for row in wide]
    assert all(len(name.rpartition("-")[2]) == 12 for name in full)
    names = run("get", "pg", "-o", "name", *log).stdout.split()
    assert [name.partition("/")[2] for name in names] == full
    for row, name in zip(rows, full, strict=True):
        again = run("get", "pg", row.split()[0], "-o", "name", *log).stdout
        assert again.strip().partition("/")[2] == name


def test_sessions_shorten_them_and_wide_does_not(run: Run, demo_log: str) -> None:
    words = ("session", "--at", "2026-11-21T01:53:36Z", "--trace", "--log", demo_log)
    short, wide = (run(*words, *form).stdout for form in ((), ("-o=wide",)))
    assert "default/big-gang-09629e74… " in short
    assert "09629e74-7499" not in short
    assert "default/big-gang-09629e74-7499-407b-919d-48e2f6f7cdba " in wide
    assert "…" not in wide


def test_a_podgroup_is_found_by_its_job_at_that_moment(run: Run, jobs_log: str) -> None:
    for word, moment in zip(JOB_UIDS, ("rv:3", "end"), strict=True):
        result = run("get", "pg", "bert", "-n=ml", "-o=name", "--at", moment, "--log", jobs_log)
        assert result.stdout == f"podgroup.scheduling.volcano.sh/bert-{word}\n"
    owned = run("get", "pg", "web", "-n=ml", "-o=name", "--log", jobs_log)
    assert owned.stdout == "podgroup.scheduling.volcano.sh/podgroup-of-web\n"
    described = run("describe", "pg/bert", "-n=ml", "--log", jobs_log)
    assert described.stdout.startswith(f"Name:               bert-{JOB_UIDS[1]}\n")


def test_a_name_of_two_podgroups_lists_them(run: Run, jobs_log: str) -> None:
    result = run("get", "pg", "bert-…", "-n=ml", "--at", "rv:2", "--log", jobs_log)
    assert result.exit_code == 1
    result = run("events", "--object", "pg/bert", "-n=ml", "--log", jobs_log)
    assert result.exit_code == 2
    assert all(f"bert-{uid}" in result.stderr for uid in JOB_UIDS)
    assert "fits 2 podgroups" in result.stderr


def test_history_takes_the_jobs_name(run: Run, jobs_log: str) -> None:
    result = run("history", "pg/bert", "-n=ml", "--log", jobs_log)
    assert f"podgroup/ml/bert-{JOB_UIDS[1]}  uid" in result.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("get", "pg", "bart", "-n=ml"),
        ("describe", "pg", "bart", "-n=ml"),
        ("history", "pg/bart", "-n=ml"),
        ("events", "--object", "pg/bart", "-n=ml"),
        ("bisect", "--enqueued", "ml/bart"),
        ("bisect", "--phase", "ml/bart=Running", "--releases", "v1.11.0..v1.12.1"),
    ],
)
def test_a_name_that_never_was_is_an_error_with_the_nearest(
    run: Run, jobs_log: str, words: tuple[str, ...]
) -> None:
    result = run(*words, "--log", jobs_log)
    assert result.exit_code == 1, result.stderr
    assert f"did you mean bert-{JOB_UIDS[1]}" in result.stderr or "bert-" in result.stderr
    assert result.stdout == ""


def test_a_name_of_another_namespace_is_told(run: Run, jobs_log: str) -> None:
    result = run("get", "pg", "bert", "--log", jobs_log)
    assert result.exit_code == 1
    assert "there is one in namespace ml: choose it with -n" in result.stderr


def test_what_was_there_at_another_time_is_told(run: Run, small_log: str) -> None:
    result = run("get", "pod", "train-0", "--at", "rv:12", "--log", small_log)
    assert result.exit_code == 1
    assert "it exists at another moment" in result.stderr
    assert "plinian history pod/train-0 -n default" in result.stderr


def test_bisect_takes_the_jobs_name(run: Run, demo_log: str) -> None:
    words = ("--from", "rv:1000", "--to", "rv:1010", "-o=json", "--log", demo_log)
    result = run("bisect", "--enqueued", "default/big-gang", *words)
    assert "default/big-gang-09629e74-7499-407b-919d-48e2f6f7cdba" in result.stdout, result.stderr


def test_belief_takes_short_names_and_the_jobs_and_guesses(run: Run, demo_log: str) -> None:
    words = ("--at", "rv:1000", "--log", demo_log)
    for name in ("default/big-gang", "default/big-gang-09629e74…"):
        found = run("belief", "jobs", name, *words)
        assert found.stdout.splitlines()[1].startswith("default/big-gang-09629e74… ")
    assert "-09629e74-7499" in run("belief", "jobs", "-o=wide", *words).stdout
    missing = run("belief", "nodes", "node-9", *words)
    assert missing.exit_code == 1
    assert "did you mean node-" in missing.stderr
