"""Revisions as large as a log may hold are answered like small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from pods import SECOND, START, bound, listing, pod

from plinian.engine.events import Event
from plinian.engine.ingest.objects.version_events import MAX_REVISION
from plinian.engine.log import open_log
from plinian.replay.logs.log import Log
from plinian.replay.questions.history import HistoryQuestion
from plinian.replay.truth.truth import build_index

SMALL = range(1, 9)
LARGEST = [2**53 + 1, 2**60 + 3, 2**60 + 4, *range(MAX_REVISION - 4, MAX_REVISION + 1)]


def events(revisions: dict[int, int]) -> list[Event]:
    """Return the same story with other revisions, in the same order and at the same times."""
    told = []
    for small in SMALL:
        event = pod(small, f"web-{small % 2}", verb="created" if small < 3 else "updated")
        document = msgspec.json.decode(event.payload)
        document["metadata"].pop("resourceVersion")
        revision = revisions[small]
        told.append(
            msgspec.structs.replace(
                event,
                payload=msgspec.json.encode(document, order="sorted"),
                revision=revision,
                resource_version=str(revision),
            )
        )
    last = msgspec.structs.replace(
        listing(8, "web-0"), revision=revisions[8], resource_version=str(revisions[8])
    )
    return [*told, bound("web-0", "n1", at=5), last]


def answers(place: str, story: list[Event], revisions: dict[int, int], *, index: bool) -> list[Any]:
    with open_log(place, create=True) as store:
        store.append(story)
        if index:
            build_index(store, cluster="default", block_rows=2, checkpoint_events=3)
        log = Log(store)
        found: list[Any] = []
        for name in ("pod/web-0", "pod/web-1"):
            told = HistoryQuestion(name, namespace="shop").ask(log).happenings
            found += [(one.position, one.kind, one.time, one.note) for one in told]
        for at in ("end", *(f"rv:{revisions[small]}" for small in SMALL), "@5"):
            found.append(log.digest(at))
        for second in range(9):
            found.append(log.clock().revision_at(START + second * SECOND))
        largest = {revision: small for small, revision in revisions.items()}
        return [largest.get(one, one) if isinstance(one, int) else one for one in found]


@pytest.mark.parametrize("index", [False, True])
def test_the_greatest_revisions_are_answered_like_small_ones(
    log_place: str, tmp_path: Path, *, index: bool
) -> None:
    same = {small: small for small in SMALL}
    large = dict(zip(SMALL, LARGEST, strict=True))
    found = answers(log_place, events(large), large, index=index)
    with open_log(log_place) as store:
        store.verify()
    assert found == answers(str(tmp_path / "small.db"), events(same), same, index=False)


@pytest.mark.parametrize("largest", [2**62 - 1, 2**62 + 5, 2**63 - 2])
def test_history_shows_revisions_that_older_logs_took(sqlite_log_path: str, largest: int) -> None:
    with open_log(sqlite_log_path, create=True) as store:
        store.append([pod(1), *(pod(revision, observed_at=START) for revision in (7, largest))])
        told = HistoryQuestion("pod/web-0", namespace="shop").ask(Log(store)).happenings
    assert [one.revision for one in told] == [1, 7, largest]
