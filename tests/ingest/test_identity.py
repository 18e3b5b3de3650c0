"""Objects without uid or resourceVersion, as people shorten them, are read and marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from clusters import compact, listed, pod
from plinian.engine.errors import EventMalformed, FormatUnknown
from plinian.engine.events import GENERATED
from plinian.engine.log import LogStore, Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest
from plinian.replay.logs.log import Log, opened
from plinian.replay.questions.history import HistoryQuestion


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogStore]:
    with open_log(tmp_path / "plinian.db", create=True) as store:
        yield store


def neat(name: str = "a", **fields: Any) -> dict[str, Any]:
    return {**pod(name, revision=None, uid=None), **fields}


def written(tmp_path: Path, name: str, *items: dict[str, Any]) -> str:
    path = tmp_path / name
    path.write_bytes(compact(listed(*items, kind="List", resourceVersion="")))
    return str(path)


def pods(log: LogStore) -> list[tuple[str, str]]:
    versions = (one.event for one in log.read(Query(kinds=("pod.*",))))
    return [(event.reference.uid, event.resource_version) for event in versions]


def test_an_object_without_identity_gets_one_that_is_marked(log: LogStore, tmp_path: Path) -> None:
    summary = ingest(log, [written(tmp_path, "neat.json", neat("a"), neat("b"))])
    (one, first), (other, second) = pods(log)
    assert one.startswith(GENERATED)
    assert other.startswith(GENERATED)
    assert one != other
    assert first == second == "1"
    (note,) = [note for note in summary.notes if "neither uid nor resourceVersion" in note]
    assert "2 pods" in note
    held = json.loads(next(iter(log.read(Query(kinds=("pod.*",))))).event.payload)
    assert held["metadata"]["uid"] == one


def test_the_same_name_has_the_same_identity_in_every_input(log: LogStore, tmp_path: Path) -> None:
    ingest(log, [written(tmp_path, "one.json", neat("a"))])
    again = ingest(log, [written(tmp_path, "two.json", neat("a"), neat("b"))])
    assert len(set(pods(log))) == 2
    assert again.kinds["pod.observed"] == 1


def created(at: str | None, revision: int | None, **fields: Any) -> dict[str, Any]:
    """Return a pod without a uid that was created at a minute."""
    found = {**pod("a", revision=revision, uid=None), **fields}
    found["metadata"].pop("creationTimestamp", None)
    if at is not None:
        found["metadata"]["creationTimestamp"] = f"2026-11-28T17:{at}:00Z"
    return found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("00", "00", True), (None, None, True), ("00", "05", False), ("00", None, False)],
)
def test_versions_with_two_creation_times_are_of_two_objects(
    log: LogStore, tmp_path: Path, one: str | None, other: str | None, *, same: bool
) -> None:
    ingest(log, [written(tmp_path, "one.json", created(one, 7))])
    ingest(log, [written(tmp_path, "two.json", created(other, 9))])
    assert len({uid for uid, _ in pods(log)}) == (1 if same else 2)
    assert all(uid.startswith(GENERATED) for uid, _ in pods(log))
    with opened(tmp_path / "plinian.db", read_only=True) as read:
        (only,) = read.get("pods")
        assert only["metadata"]["resourceVersion"] == "9"
        happenings = HistoryQuestion("pod/default/a").ask(read).happenings
    changes = [change.path for one in happenings for change in one.changes]
    assert "metadata.creationTimestamp" not in changes


@pytest.mark.parametrize("together", [True, False])
def test_two_objects_of_a_name_without_resource_version_are_refused(
    log: LogStore, tmp_path: Path, *, together: bool
) -> None:
    paths = [
        written(tmp_path, f"{at}.json", created(at, None, status={"phase": phase}))
        for at, phase in (("00", "Running"), ("05", "Pending"))
    ]
    if not together:
        ingest(log, paths[:1])
    with pytest.raises(EventMalformed, match="which of them is newer is not known"):
        ingest(log, paths if together else paths[1:])


@pytest.mark.parametrize("together", [True, False])
def test_two_states_of_one_object_without_resource_version_are_refused(
    log: LogStore, tmp_path: Path, *, together: bool
) -> None:
    one = written(tmp_path, "one.json", neat("a"))
    other = written(tmp_path, "two.json", neat("a", status={"phase": "Running"}))
    for first, second in permutations([one, other]):
        if not together:
            ingest(log, [first], IngestOptions(cluster=first))
        paths = [first, second] if together else [second]
        with pytest.raises(EventMalformed, match="which of them is newer is not known") as fault:
            ingest(log, paths, IngestOptions(cluster=first, skip_malformed=True))
        assert "resourceVersion" in fault.value.now


def names(place: Path) -> list[tuple[str, str]]:
    with opened(place) as log:
        truth = Log(log.store).truth(log.moment())
        return sorted((one.reference.name, one.reference.uid) for one in truth.of("", "Pod"))


def test_a_real_version_replaces_one_without_identity_whatever_comes_first(tmp_path: Path) -> None:
    trimmed = written(tmp_path, "neat.json", neat("a"), neat("b"))
    for number, real in enumerate((pod("a", 1), pod("a", 7))):
        whole = written(tmp_path, f"whole-{number}.json", real)
        found = []
        for turn, paths in enumerate(permutations([trimmed, whole])):
            place = tmp_path / f"{number}-{turn}.db"
            with open_log(place, create=True) as log:
                for path in paths:
                    ingest(log, [path], IngestOptions(partial_lists=True))
            found.append(names(place))
        assert found[0] == found[1]
        assert ("a", "uid-a") in found[0]
        assert len(found[0]) == 2


def test_a_version_without_resource_version_dates_no_other(log: LogStore, tmp_path: Path) -> None:
    late = neat("a")
    late["metadata"]["creationTimestamp"] = "2026-11-28T17:00:00Z"
    ingest(log, [written(tmp_path, "neat.json", late)])
    (version,) = [one.event for one in log.read(Query(kinds=("pod.*",)))]
    assert version.earliest is None


def test_a_manifest_is_still_none_of_a_cluster(log: LogStore, tmp_path: Path) -> None:
    for status in ("", "status: {}\n"):
        path = tmp_path / "pod.yaml"
        path.write_text(f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: {{}}\n{status}")
        with pytest.raises(FormatUnknown, match="a manifest"):
            ingest(log, [str(path)])


def test_a_single_object_with_a_status_is_read_without_identity(
    log: LogStore, tmp_path: Path
) -> None:
    as_yaml, as_json = tmp_path / "a.yaml", tmp_path / "a.json"
    as_yaml.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: ml\n"
        "status:\n  phase: Running\n"
    )
    as_json.write_bytes(compact(neat("b")))
    ingest(log, [str(as_yaml), str(as_json)])
    assert len(pods(log)) == 2


def watched(kind: str, *items: tuple[str, dict[str, Any]]) -> bytes:
    """Return lines of a watch."""
    lines = (
        {"type": verb, "object": {"apiVersion": "v1", "kind": kind, **one}} for verb, one in items
    )
    return b"".join(compact(line) + b"\n" for line in lines)


def test_a_watch_of_objects_without_a_uid_is_read(log: LogStore, tmp_path: Path) -> None:
    place = tmp_path / "watch.jsonl"
    changes = [
        ("ADDED", "a", "5"),
        ("ADDED", "b", "6"),
        ("MODIFIED", "a", "7"),
        ("DELETED", "b", "8"),
    ]
    place.write_bytes(
        watched(
            "Pod", *((verb, pod(name, revision=int(at), uid=None)) for verb, name, at in changes)
        )
    )
    summary = ingest(log, [str(place)])
    assert {one for one, _ in pods(log)} == {
        one for one, _ in pods(log) if one.startswith(GENERATED)
    }
    assert [version for _, version in pods(log)] == ["5", "6", "7", "8"]
    assert any("had no uid" in note for note in summary.notes)
    with opened(tmp_path / "plinian.db", read_only=True) as read:
        assert [one["metadata"]["name"] for one in read.get("pods")] == ["a"]


def test_a_change_without_a_resource_version_has_no_place(log: LogStore, tmp_path: Path) -> None:
    place = tmp_path / "watch.jsonl"
    place.write_bytes(watched("Pod", ("ADDED", neat("a")), ("MODIFIED", neat("a"))))
    with pytest.raises(EventMalformed, match="has no place among others"):
        ingest(log, [str(place)])
    summary = ingest(log, [str(place)], IngestOptions(skip_malformed=True))
    assert summary.kinds == {"pod.observed": 1, "input.assumed": 1}
