"""``diff --who`` and ``diff --summary``: who made each difference, and how many there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from cli.conftest import a_pod, at
from plinian.engine.events import Event, Reference
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import parse_time
from plinian.engine.log import open_log

Run = Callable[..., Result]
Ask = Callable[..., str]


def whole(ask: Ask, *arguments: str) -> dict[str, Any]:
    """Return a difference as JSON."""
    found: dict[str, Any] = json.loads(ask("diff", *arguments, "-o", "json"))
    return found


def test_each_difference_says_who_made_it_and_where_that_is_told(ask: Ask) -> None:
    found = whole(ask, "rv:13", "rv:18", "--who")
    (added,), (removed,), (queue,) = found["added"], found["removed"], found["changed"]
    assert added["who"] == {
        "actor": "controllers",
        "position": 9,
        "event": "pod.created",
        "time": at(9),
        "earliest": at(9),
        "latest": at(9),
    }
    assert (removed["who"]["actor"], removed["who"]["position"]) == ("admin", 8)
    assert removed["object"]["uid"] == "uid-of-train-0"
    (change,) = queue["changes"]
    assert (change["who"]["actor"], change["who"]["position"]) == ("admin", 7)
    plain = whole(ask, "rv:13", "rv:18")
    assert '"who"' not in json.dumps(plain)


def test_who_is_not_known_is_said_to_be_so(ask: Ask) -> None:
    found = whole(ask, "rv:13", "rv:15", "--who")
    (pod,) = found["changed"]
    makers = {change["path"]: change["who"] for change in pod["changes"]}
    assert makers["spec.nodeName"] == {
        "actor": None,
        "position": 5,
        "event": "pod.updated",
        "time": at(5),
        "earliest": at(5),
        "latest": at(5),
    }
    assert makers["status.phase"]["position"] == 6
    text = ask("diff", "rv:13", "rv:15", "--who")
    assert 'spec.nodeName: <none> → "n1"  by an unknown actor  @5' in text


def test_what_one_event_made_is_said_beside_the_object(ask: Ask) -> None:
    text = ask("diff", "rv:14", "rv:16", "--who")
    assert "~ queue/gold  by admin  @7  2026-01-02T12:00:07Z\n" in text
    assert text.count("@7") == 1


def test_in_numbers_objects_are_counted_by_kind_and_fields_by_how_often(ask: Ask) -> None:
    found = whole(ask, "rv:13", "rv:19", "--summary", "--who")
    assert found["kind"] == "DiffSummary"
    kinds = {one["kind"]: one for one in found["kinds"]}
    assert [kinds["Pod"][side] for side in ("added", "removed", "changed")] == [1, 1, 0]
    assert kinds["Queue"]["fields"] == [{"path": "spec.capability.cpu", "objects": 1}]
    assert found["actors"] == [
        {"actor": None, "added": 1, "removed": 0, "changed": 0},
        {"actor": "admin", "added": 0, "removed": 1, "changed": 1},
        {"actor": "controllers", "added": 1, "removed": 0, "changed": 0},
    ]
    text = ask("diff", "rv:13", "rv:19", "--summary", "--who")
    assert "FIELD OF QUEUES" in text
    assert text.endswith("2 added, 1 removed, 1 changed, 2 the same\n")
    assert "actors" not in whole(ask, "rv:13", "rv:19", "--summary")


def test_numbers_of_a_difference_are_those_of_its_objects(run: Run, demo_log: str) -> None:
    points = ("2026-11-21T01:53:36Z", "2026-11-21T01:54:11Z", "--log", demo_log, "-o", "json")
    objects = json.loads(run("diff", *points).stdout)
    numbers = json.loads(run("diff", *points, "--summary").stdout)
    assert numbers["summary"] == objects["summary"]
    for side in ("added", "removed", "changed"):
        assert sum(one[side] for one in numbers["kinds"]) == len(objects[side])
    paths = [change["path"] for one in objects["changed"] for change in one["changes"]]
    counted = [field for one in numbers["kinds"] for field in one["fields"]]
    assert sum(field["objects"] for field in counted) == len(paths)


def test_in_a_recording_every_difference_has_a_maker(run: Run, demo_log: str) -> None:
    points = ("2026-11-21T01:53:36Z", "2026-11-21T01:54:11Z", "--log", demo_log)
    found = json.loads(run("diff", *points, "--who", "-o", "json").stdout)
    makers = [one["who"] for side in ("added", "removed") for one in found[side]]
    makers += [change["who"] for one in found["changed"] for change in one["changes"]]
    assert all(maker["actor"] and maker["position"] for maker in makers)
    removed = {one["object"]["name"]: one["who"]["actor"] for one in found["removed"]}
    assert removed["node-4"] == "kubernetes-admin"


@pytest.mark.parametrize("later", [1, 61])
def test_a_deletion_without_a_uid_is_of_the_object_of_that_time(
    run: Run, tmp_path_factory: pytest.TempPathFactory, later: int
) -> None:
    """A request to delete what had the name before tells nothing of what has it now."""
    place = str(tmp_path_factory.mktemp("names") / "a.db")
    first = parse_time(at(0))
    pod = a_pod("p", phase="Running")
    versions = [
        version_event(
            {**pod, "metadata": {**pod["metadata"], "resourceVersion": str(revision)}},
            verb=verb,
            source="w",
            line=revision,
            earliest=first + second * 1_000_000,
            latest=first + second * 1_000_000,
        )
        for verb, revision, second in (("created", 10, 30), ("deleted", 20, 90))
    ]
    evicted = Event(
        kind="pod.evicted",
        reference=Reference("", "Pod", "default", "p"),
        payload=b"{}",
        actor="somebody",
        earliest=first + later * 1_000_000,
        latest=first + later * 1_000_000,
    )
    with open_log(place, create=True) as store:
        store.append([*versions, evicted])
    found = json.loads(run("diff", "rv:10", "rv:20", "--who", "--log", place, "-o", "json").stdout)
    (removed,) = found["removed"]
    assert removed["who"]["actor"] == ("somebody" if later == 61 else None)


def test_sessions_have_neither(run: Run, small_log: str) -> None:
    for option in ("--who", "--summary"):
        result = run("diff", "rv:13", option, "--release", "v1.12.1", "--log", small_log)
        assert result.exit_code == 2
        assert option in result.stderr
