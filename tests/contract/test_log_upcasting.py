"""A log of schema 1 still reads after a schema 2 exists, and its bytes stay as they are."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from pods import bound, message, pod

from plinian.engine.errors import LogNewer
from plinian.engine.events import KINDS, KindInfo
from plinian.engine.events.upcast import Upcaster, upcast
from plinian.engine.log import FoldWindow, LogStore, Query, open_log
from plinian.engine.log.location import parse_location
from plinian.engine.log.migrating import upgrade
from plinian.engine.log.sql_log import SqlLog
from plinian.engine.log.sqlite import SqliteDatabase

STORED = Path(__file__).parents[1] / "data" / "log-of-schema-1.db.xz"
"""Made by ``write_stored_log``; never made again, or it would prove nothing."""


def write_stored_log(path: Path) -> None:
    """Write what is stored in ``tests/data``."""
    with open_log(path, create=True) as log:
        log.append([pod(1), message("first"), bound("web-0", "node-1", at=2)])
        log.append([pod(2, actor="alice"), message("second")])


def _renamed(payload: dict[str, Any]) -> dict[str, Any]:
    text = payload.pop("message")
    return {**payload, "text": text, "words": len(text.split())}


KINDS_2: Mapping[str, KindInfo] = MappingProxyType(
    {
        **KINDS,
        "message.logged": msgspec.structs.replace(KINDS["message.logged"], schema=2),
        "pod.updated": msgspec.structs.replace(KINDS["pod.updated"], schema=3),
    }
)
UPCASTERS_2: Mapping[tuple[str, int], Upcaster] = MappingProxyType(
    {
        ("message.logged", 1): _renamed,
        ("pod.updated", 1): lambda payload: {**payload, "second": True},
        ("pod.updated", 2): lambda payload: {**payload, "third": payload["second"]},
    }
)


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """Unpack the log of schema 1."""
    path = tmp_path / "log.db"
    path.write_bytes(lzma.decompress(STORED.read_bytes()))
    upgrade(str(path))
    return str(path)


def _newer(place: str) -> LogStore:
    lift = partial(upcast, kinds=KINDS_2, upcasters=UPCASTERS_2)
    return SqlLog(SqliteDatabase(parse_location(place)), lift=lift)


def test_the_stored_log_verifies_and_reads_as_it_was_written(stored: str) -> None:
    with open_log(stored) as log:
        assert log.verify().events == 5
        assert [r.event.payload for r in log.read(Query(kinds=("message.*",)))] == [
            message("first").payload,
            message("second").payload,
        ]


def test_a_vocabulary_of_schema_2_reads_it_lifted(stored: str) -> None:
    with _newer(stored) as log:
        found = {r.position: r.event for r in log.read(Query())}
        assert msgspec.json.decode(found[2].payload) == {
            "kind": "message.logged",
            "component": "scheduler",
            "severity": "E",
            "text": "first",
            "words": 1,
        }
        assert msgspec.json.decode(found[4].payload)["third"] is True
        assert [found[p].schema for p in (1, 2, 3)] == [3, 2, 1]
        assert found[3].payload == bound("web-0", "node-1", at=2).payload
        assert msgspec.json.decode(log.payloads([5])[5])["words"] == 1
        (chunk,) = log.scan(FoldWindow(cluster="default", known=5))
        assert msgspec.json.decode(chunk.load(0))["third"] is True


def test_lifting_changes_no_stored_byte(stored: str) -> None:
    with open_log(stored) as log:
        head = log.verify().head
    with _newer(stored) as log:
        list(log.read(Query()))
        assert log.verify().head == head
        assert log.append([message("first")]).known == 1


def test_an_event_of_a_newer_schema_is_refused_on_reading(stored: str) -> None:
    with open_log(stored) as log:
        log.append([msgspec.structs.replace(message("third"), schema=2)])
        with pytest.raises(LogNewer, match=r"message\.logged"):
            list(log.read(Query()))
        assert log.verify().events == 6
