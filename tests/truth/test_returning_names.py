"""Objects without a uid that were gone and came back: each list says what existed when it was made.

A uid that was generated from the name is the same for all objects of the name.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from doors import differences, doors_of
from hypothesis import given, settings
from hypothesis import strategies as st
from life_checks import compare
from msgspec.structs import replace
from pods import listing, pod

import plinian
from plinian.engine.errors import PointTooEarly
from plinian.engine.events import GENERATED, Event, Reference

WEB = Reference("", "Pod", "shop", "web-0", f"{GENERATED}web-0")
BARE = Reference("", "Pod", "shop", "web-0")
TIMES = [f"2026-11-20T10:{minute}:00Z" for minute in (10, 20, 30)]


def without_uid(event: Event) -> Event:
    """Return an event as of an input without uids."""
    uid = event.reference.uid.replace("uid-of-", GENERATED)
    payload = event.payload.replace(b"uid-of-", GENERATED.encode())
    return replace(event, reference=replace(event.reference, uid=uid), payload=payload)


_EVENTS = st.one_of(
    st.builds(pod, st.integers(1, 30), verb=st.sampled_from(["created", "observed", "deleted"])),
    st.builds(
        lambda revision, names, exact: listing(revision, *names, exact=exact),
        st.integers(1, 30),
        st.lists(st.sampled_from(["web-0", "web-1"]), max_size=2, unique=True),
        st.booleans(),
    ),
)


@settings(max_examples=25)
@given(st.lists(_EVENTS, min_size=2, max_size=8, unique_by=lambda one: (one.kind, one.revision)))
def test_a_life_of_a_generated_uid_follows_the_truth_in_any_order(some: list[Event]) -> None:
    with TemporaryDirectory() as folder, plinian.open(Path(folder) / "a.db", create=True) as log:
        for one in (pod(0, verb="created"), *some):
            log.store.append([without_uid(one)])
        compare(log, WEB, list(range(1, log.store.last() + 1)))


def bare(name: str, revision: int, node: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "resourceVersion": str(revision),
            "creationTimestamp": "2026-11-20T09:00:00Z",
        },
        "spec": {"containers": [{"name": "c"}], **({"nodeName": node} if node else {})},
        "status": {"phase": "Running" if node else "Pending"},
    }


def lists(folder: Path, *, exact: bool) -> list[Path]:
    """Write three lists: with the pod, without it, and with the next one of its name."""
    stays = bare("web-1", 5)
    paths = []
    for number, items in enumerate(
        ([bare("web-0", 10), stays], [stays], [bare("web-0", 45, "n1"), stays]), start=1
    ):
        revision = str(number * 20) if exact else ""
        kind = "PodList" if exact else "List"
        document = {"apiVersion": "v1", "kind": kind, "metadata": {"resourceVersion": revision}}
        path = folder / f"pods-{number}.json"
        path.write_text(json.dumps({**document, "items": items}))
        paths.append(path)
    return paths


@pytest.mark.parametrize("exact", [True, False], ids=["revision", "kubectl"])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_every_door_says_what_each_list_shows(
    order: tuple[int, ...], tmp_path: Path, *, exact: bool
) -> None:
    paths = lists(tmp_path, exact=exact)
    place = tmp_path / "a.db"
    with plinian.open(place, create=True) as log:
        for number in order:
            log.ingest(paths[number], taken_at=TIMES[number])
        found = [log.truth(at).find("", "Pod", "shop", "web-0") for at in TIMES]
        assert [one and one.fact.node for one in found] == ["", None, "n1"]
        held = [{row.pod for row in log.state("pods", at=at)} for at in TIMES]
        assert held == [{"web-0", "web-1"}, {"web-1"}, {"web-0", "web-1"}]
        lines = log.history("pod/shop/web-0").happenings
        assert [line.kind for line in lines] == ["pod.observed", "list.observed", "pod.observed"]
        end = log.store.last()
    with doors_of(place) as doors:
        for at in range(1, end + 1):
            assert differences(doors.all(BARE, at, commands=at == end)) == [], at


def test_a_list_without_any_version_counts_from_the_second_of_its_time(tmp_path: Path) -> None:
    one = bare("web-0", 0)
    del one["metadata"]["resourceVersion"]
    path = tmp_path / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [one]}))
    with plinian.open(tmp_path / "a.db", create=True) as log:
        log.ingest(path, taken_at=TIMES[0])
        assert {row.pod for row in log.state("pods", at=TIMES[0])} == {"web-0"}
        with pytest.raises(PointTooEarly):
            log.moment("2026-11-20T10:09:59Z")
