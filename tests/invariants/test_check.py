"""The check over logs: one list, a recorded incident, sessions of releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from invariant_views import deleting
from shared_parent import scenario

import plinian
from clusters import compact, listed, watched
from plinian.replay.cli.main import app
from sessions import Document, group, node, pod, queue

APIS = {
    "Pod": "v1",
    "Node": "v1",
    "Queue": "scheduling.volcano.sh/v1beta1",
    "PodGroup": "scheduling.volcano.sh/v1beta1",
}
Ask = Callable[..., Any]


def whole(each: Document, revision: int, created: str = "2026-01-02T12:00:00Z") -> Document:
    """Return an object as kubectl prints it."""
    metadata = {
        **each["metadata"],
        "resourceVersion": str(revision),
        "creationTimestamp": created,
    }
    return {"apiVersion": APIS[each["kind"]], **each, "metadata": metadata}


def a_list(*items: Document) -> bytes:
    return compact({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items})


def check(log: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["check", "--log", str(log), *words])


def document(log: Path, *words: str) -> Any:
    return json.loads(check(log, "-o", "json", *words).stdout)


def named(found: Any) -> list[tuple[str, str]]:
    return [(one["invariant"], one["object"]["name"]) for one in found["violations"]]


@pytest.fixture
def ingest(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a log of some contents."""

    def made(**contents: bytes) -> Path:
        place = tmp_path / "check.db"
        with plinian.open(place, create=True) as log:
            for name, content in contents.items():
                path = tmp_path / f"{name}.json"
                path.write_bytes(content)
                log.ingest(path)
        return place

    return made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a log of a scenario in which two queues share a parent's capability."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "shared.case.json").write_text(json.dumps(scenario()), "utf-8")
    with plinian.open(folder / "shared.db", create=True) as log:
        log.ingest(folder / "shared.case.json")
    return folder / "shared.db"


OLD = [
    whole(node("n1"), 3),
    whole(queue("default"), 4),
    whole(group("g", 1, "Running"), 5),
    whole(pod("a", "g", on="n1"), 6),
    whole(pod("lost", "gone"), 7),
    whole(group("later", 1, "Pending"), 90, "2026-01-02T12:30:00Z"),
    whole(pod("new", "later"), 91, "2026-01-02T12:30:00Z"),
]


def test_one_list_is_enough(ingest: Callable[..., Path]) -> None:
    log = ingest(all=a_list(*OLD))
    for words in ((), ("--at", "end")):
        found = document(log, *words)
        assert named(found) == [("I-04", "lost")]
        (one,) = found["violations"]
        assert (one["since_before"], one["lasted_seconds"]) == (True, 1800.0)
    assert check(log, "--exit-code").exit_code == 1
    assert check(log, "--exit-code", "--invariant", "I-03").exit_code == 0


def test_a_violation_in_a_list_that_may_be_young_is_left_out(ingest: Callable[..., Path]) -> None:
    log = ingest(all=a_list(*OLD[:5]))
    found = document(log)
    assert named(found) == []
    assert [one["invariant"] for one in found["unsettled"]] == ["I-04"]
    assert named(document(log, "--settle", "0s")) == [("I-04", "lost")]


def test_a_violation_between_kinds_that_were_perhaps_listed_at_other_times_is_left_out(
    ingest: Callable[..., Path],
) -> None:
    found = document(ingest(all=a_list(*OLD[:-1])))
    assert named(found) == []
    assert [one["object"]["name"] for one in found["unsettled"]] == ["lost"]


def test_without_a_list_of_pods_nothing_about_pods_is_checked(ingest: Callable[..., Path]) -> None:
    log = ingest(queues=compact(listed(*OLD[1:2], kind="QueueList")))
    found = document(log)
    reasons = {one["invariant"]: one["reason"] for one in found["not_checked"]}
    assert "no complete list" in reasons["I-04"]
    assert "I-04" not in found["checked"]
    assert "not checked: " in check(log).stderr


def test_a_watch_that_reports_an_older_version(ingest: Callable[..., Path]) -> None:
    old, new = whole(OLD[3], 6), whole(OLD[3], 9)
    log = ingest(pods=watched(("ADDED", old), ("MODIFIED", new), ("MODIFIED", whole(OLD[3], 7))))
    found = document(log, "--invariant", "I-22")
    assert named(found) == [("I-22", "a")]
    assert [one["kind"] for one in found["violations"][0]["events"]] == ["pod.updated"]
    reason = document(log, "--invariant", "I-22", "--at", "end")["not_checked"][0]["reason"]
    assert "range" in reason


def test_pods_that_are_being_deleted_are_not_stuck(ingest: Callable[..., Path]) -> None:
    going = whole(deleting(OLD[4]), 7)
    assert named(document(ingest(all=a_list(*OLD[:4], going, *OLD[5:])))) == []


@pytest.mark.parametrize(("release", "ids"), [("v1.11.0", {"I-07"}), ("v1.12.1", set())])
def test_releases_that_ignore_the_parent_let_it_use_too_much(
    shared: Path, release: str, ids: set[str]
) -> None:
    found = document(shared, "--release", release)
    assert {one["invariant"] for one in found["violations"]} == ids
    assert found["sessions"] > 0


def test_at_one_moment_one_session_is_run(shared: Path) -> None:
    assert document(shared, "--at", "end")["sessions"] == 1
    assert document(shared, "--at", "end", "--invariant", "I-04")["sessions"] == 0


def test_a_range_leaves_out_what_had_ended_before(shared: Path) -> None:
    words = ("--release", "v1.11.0", "--invariant", "capability-bound")
    assert document(shared, *words)["violations"]
    (first, *_) = document(shared, *words)["violations"]
    before = first["since"]["revision"] - 1
    assert document(shared, *words, "--until", f"rv:{before}")["violations"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--invariant", "I-4"), "did you mean I-04?"),
        (("--settle", "soon"), "is not a duration"),
        (("--at", "end", "--since", "rv:1"), "--at is one moment"),
        (("-o", "yaml"), "no output form"),
    ],
)
def test_wrong_options_are_refused(shared: Path, words: tuple[str, ...], message: str) -> None:
    refused = check(shared, *words)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_the_table_says_what_was_violated_and_what_was_not_checked(shared: Path) -> None:
    shown = check(shared, "--release", "v1.11.0")
    head, first, *_ = shown.stdout.splitlines()
    assert head.split() == ["SEVERITY", "INVARIANT", "OBJECT", "SINCE", "MESSAGE"]
    assert first.startswith("critical")
    assert "I-07 capability-bound" in first
    assert "run as v1.11.0" in shown.stderr
    wide = check(shared, "--release", "v1.11.0", "-o", "wide").stdout
    assert "LASTED" in wide.splitlines()[0]


def test_all_invariants_are_listed() -> None:
    shown = CliRunner().invoke(app, ["check", "--list"]).stdout
    rows = shown.partition("\n\n")[0].splitlines()[1:]
    assert [line.split()[0] for line in rows] == [one["invariant"] for one in plinian.invariants()]


def test_an_invariant_that_no_log_shows_says_why(shared: Path) -> None:
    shown = check(shared, "--invariant", "I-18")
    assert shown.exit_code == 0
    assert "not checked: I-18: no log shows it: what a process shares" in shown.stderr
    listed = CliRunner().invoke(app, ["check", "--list"]).stdout
    assert "never checked, as no log shows it: I-18: " in listed
    assert "I-18" not in document(shared)["checked"]


def test_a_tie_is_checked_only_if_it_is_named(shared: Path) -> None:
    assert "I-20" not in document(shared)["checked"]
    assert document(shared, "--invariant", "determinism")["checked"] == ["I-20"]


def test_without_a_configuration_the_tree_of_queues_is_not_checked(
    ingest: Callable[..., Path],
) -> None:
    found = document(ingest(all=a_list(*OLD)), "--at", "end")
    reasons = {one["invariant"]: one["reason"] for one in found["not_checked"]}
    assert "no configuration" in reasons["I-10"]
    assert "no configuration" in reasons["I-14"]
    assert "leave out --at" in reasons["I-17"]
    assert "no complete list" in reasons["I-02"]


def test_half_of_the_kinds_check_half_of_the_invariants(ingest: Callable[..., Path]) -> None:
    found = document(ingest(all=a_list(*OLD[:2])))
    reasons = {one["invariant"]: one["reason"] for one in found["not_checked"]}
    assert "pods" in reasons["I-04"]
    assert "pods" in reasons["I-03b"]
    assert "audit" in reasons["I-23"] or "no complete list" in reasons["I-23"]


def test_a_watch_that_goes_on_without_changes_shows_how_long_it_lasted(tmp_path: Path) -> None:
    """The last lines are bookmarks, and the times at which they were received are known."""
    first = {
        "Pod": watched(("ADDED", OLD[4])).splitlines(),
        "PodGroup": watched(("ADDED", OLD[2])).splitlines(),
    }
    place = tmp_path / "watch.db"
    with plinian.open(place, create=True) as log:
        for kind, name in (("Pod", "pods"), ("PodGroup", "podgroups")):
            lines = [*first[kind], bookmark(kind, 90, initial=True), bookmark(kind, 95)]
            (tmp_path / f"watch-{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
            times = [f"{1767355200 + 20 * number}.0" for number in range(len(lines))]
            (tmp_path / f"watch-{name}.recv").write_text("\n".join(times) + "\n", "utf-8")
            log.ingest(tmp_path / f"watch-{name}.jsonl")
    found = document(place, "--invariant", "I-04")
    assert named(found) == [("I-04", "lost")]


def bookmark(kind: str, revision: int, *, initial: bool = False) -> bytes:
    metadata: Document = {"resourceVersion": str(revision)}
    if initial:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    made = {"kind": kind, "apiVersion": APIS[kind], "metadata": metadata}
    return compact({"type": "BOOKMARK", "object": made})
