"""Replaces the names in a pack, proves that no decision changes, and searches for what is left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np

from ...engine.errors import PackDiffers
from ...engine.events import KINDS as EVENT_KINDS
from ...engine.events import Event, Recorded
from ...engine.events.payloads import SliceBegan, SliceEnded
from ...engine.log import open_log
from ..logs.log import Log, opened
from .file import Progress, counter, replacing, seal, write_events
from .name_map import made_map, write_map
from .pack_answer import Answered
from .pack_events import about
from .pack_fields import KINDS, REASONS, field_names
from .pack_names import KNOWN_NAMES
from .pack_proof import moments_of, prove, proven
from .pack_reading import About, about_pack, summary_of
from .redact import NameRedaction

SHORTEST = 4
"""Shorter names are not searched: they occur by accident."""


def left_over(path: Path, names: Iterable[str], known: str) -> list[str]:
    """Return which of some names occur anywhere in a file, sorted.

    :param known: words that stay in the file; names that are part of one are not searched.
    """
    data = path.read_bytes()
    wanted = {name.encode() for name in names if _is_searched(name, known)}
    # Most names are ruled out by numbers of four bytes, so that few are searched in the whole file.
    there = _starts(data)
    likely = [name for name in wanted if _quick(name) <= there]
    return sorted(name.decode() for name in likely if name in data)


def _is_searched(name: str, known: str) -> bool:
    """Return whether a name would not occur by accident: numbers do, and parts of known words."""
    is_number = name.strip("0123456789.:-") == ""
    return len(name.encode()) >= SHORTEST and not is_number and name not in known


def _starts(data: bytes) -> set[int]:
    """Return every run of four bytes in some bytes, as a number."""
    if len(data) < SHORTEST:
        return set()
    numbers = np.frombuffer(data, np.uint8).astype(np.uint32)
    runs = (numbers[:-3] << 24) | (numbers[1:-2] << 16) | (numbers[2:-1] << 8) | numbers[3:]
    return set(np.unique(runs).tolist())


def _quick(name: bytes) -> set[int]:
    """Return the first and the last four bytes of a name, each as a number."""
    return {int.from_bytes(name[:SHORTEST]), int.from_bytes(name[-SHORTEST:])}


_OF_THE_PACK = frozenset({"slice.began", "slice.ended", "answer.expected"})


def redact_pack(path: Path, map_file: Path, salt: bytes, progress: Progress | None = None) -> None:
    """Replace a pack by one with new names, and write the map of names.

    :raises PackDiffers: sessions decide otherwise with new names, or an original name is left.
    :raises UsageError: there is a file for the map already.
    """
    redaction = NameRedaction(salt)
    with opened(path, read_only=True) as original, replacing(path) as beside:
        pack = about_pack(original)
        for event in _redacted(original, pack, redaction):
            del event  # The first pass only notes the names.
        name_map = made_map(salt, redaction.settle())
        moved = counter(progress, "replace names", pack.begin.slice.objects + pack.events)
        write_events(beside, _redacted(original, pack, redaction), progress=moved)
        _add_proof(original, beside, pack, redaction, (name_map.identity, progress))
        with opened(beside, read_only=True) as done:
            summary = summary_of(about_pack(done))
        seal(beside, summary, plain=True)
        # Last of all: a name that is left anywhere must not be sent.
        _search(beside, redaction)
        write_map(map_file, name_map)


def _redacted(original: Log, pack: About, redaction: NameRedaction) -> Iterator[Event]:
    """Yield the events of a pack with new names, up to the end of the slice."""
    last = pack.begin.position
    state, events = 0, 0
    events_redacted: list[Event] = []
    for recorded in original.events():
        new = None if _is_own(recorded) else redaction.redacted(recorded.event)
        if new is None:
            continue
        state += recorded.position <= last
        events += recorded.position > last
        events_redacted.append(new)
    for recorded in original.events(kinds=("slice.began",)):
        yield redaction.own(recorded.event, SliceBegan, objects=state)
    yield from events_redacted
    for recorded in original.events(kinds=("slice.ended",)):
        yield redaction.own(recorded.event, SliceEnded, events=events)


def _is_own(recorded: Recorded) -> bool:
    return recorded.event.kind in _OF_THE_PACK


def _add_proof(
    original: Log,
    path: Path,
    pack: About,
    redaction: NameRedaction,
    identified: tuple[str, Progress | None],
) -> None:
    """Run sessions of both logs, and append what was proved of the map of names."""
    identity, progress = identified
    at, release = pack.expected.at, pack.expected.release
    moments = moments_of(at, pack.begin.revision, pack.end)
    with opened(path, read_only=True) as redacted:
        moved = counter(progress, "compare sessions", len(moments))
        result = prove((original, redacted), redaction.joined, moments, release, moved)
        question = redaction.renaming.known(pack.expected.question)
        expected = Answered(redacted, at, release).expected(at=at, question=question)
        cluster = redacted.moment().cluster
    words = len(redaction.renaming.words)
    proof = proven(words, identity, release, moments, result)
    with open_log(path) as store:
        store.append(
            [about("answer.expected", expected, cluster), about("names.redacted", proof, cluster)]
        )


def _search(path: Path, redaction: NameRedaction) -> None:
    """Check that no original name is in the bytes of a file.

    A name that is part of a word that stays, such as ``node`` in ``nodeName``, cannot be searched.

    :raises PackDiffers: one is.
    """
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] or "" for row in connection.execute("SELECT sql FROM sqlite_master")]
    known = " ".join(
        (
            *tables,
            *(*EVENT_KINDS, *KINDS, *REASONS, *KNOWN_NAMES, *field_names()),
            *(name for info in EVENT_KINDS.values() for name in _members(info.payload)),
            *sorted(redaction.kept),
        )
    )
    left = left_over(path, redaction.renaming.names, known)
    if left:
        raise PackDiffers(
            f"{len(left)} original names are still in the file, the first is the name of a"
            f" {redaction.kind_of(left[0])}; no file was written",
            now="report this; if it is a word of four letters, it may be an accident: run it again",
        )


def _members(payload: type[msgspec.Struct] | None) -> tuple[str, ...]:
    return () if payload is None else payload.__struct_fields__
