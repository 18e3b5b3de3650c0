"""Scenario files: read, unpacked, and checked before they are run."""

from __future__ import annotations

import gzip
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from ...engine.errors import EventMalformed, InputDamaged, InputError, PlinianError
from ...engine.ingest.reading.json_text import DECODE_FAULTS
from ...engine.ingest.scenario.scenario_inputs import RECORD_TYPES, parse_record
from ...engine.kubernetes.object_store import Document, fault_of
from ...engine.kubernetes.units import SECOND_US, parse_time

CHANGES = frozenset({"ADDED", "MODIFIED", "DELETED"})
CONTROLS = frozenset(
    {
        *("RESTART", "CLEANUP_HOLD", "CLEANUP_STEP", "CLEANUP_RUN"),
        *("CLEANUP_BEGIN", "CLEANUP_END"),
    }
)
_SUFFIX = re.compile(r"(\.case)?\.json$")
_PACKED = re.compile(r"\.(gz|xz|zst)$")
_SEE = "see docs/how-to/scenarios.md for its format"
_YEAR_US = 365 * 86400 * SECOND_US


class _Part(msgspec.Struct, rename="camel"):
    """Base of the parts of a scenario; other fields in them are notes of the author."""


class Options(_Part):
    """Options of the scheduler in a scenario."""

    no_default_queues: bool = False
    no_pod_filter: bool = False
    scheduler_name: str = "volcano"
    no_feedback: bool = False


class CaseStep(_Part):
    """Events, and a session after them.

    :param events: each with a ``type``: a change of an ``object``, a control of the scheduler's
        process, or an input that is not an object.
    """

    events: tuple[Document, ...] = ()
    conf: str | None = None
    no_session: bool = False


class Case(_Part):
    """A scenario."""

    steps: tuple[CaseStep, ...]
    name: str = ""
    conf: str | None = None
    options: Options = msgspec.field(default_factory=Options)


def lacking(case: Case) -> Iterator[str]:
    """Yield as text what sessions need and a scenario has in none of its steps."""
    confs = [case.conf, *(step.conf for step in case.steps)]
    if not any(conf and conf.strip() for conf in confs):
        yield "no configuration of the scheduler: each release runs with its built-in configuration"
    objects = [event.get("object") for step in case.steps for event in step.events]
    kinds = {document.get("kind") for document in objects if isinstance(document, dict)}
    if "Node" not in kinds:
        yield "no nodes: sessions place no pods"
    if case.options.no_default_queues and "Queue" not in kinds:
        yield "no queues: sessions ignore every PodGroup"


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A scenario and its file; results are named after the file."""

    path: Path
    case: Case

    @property
    def name(self) -> str:
        """The file's name without the suffixes of a scenario."""
        return case_name(self.path)


def case_name(path: Path) -> str:
    """Return the name of the scenario in a file: ``a`` of ``a.case.json.gz``."""
    return _SUFFIX.sub("", _PACKED.sub("", path.name))


def read_case(path: Path) -> CaseFile:
    """Read a scenario, packed or not.

    :raises InputError: there is no such file, or it is no scenario; with the place in it.
    """
    data = read_packed(path)
    try:
        case = parse_case(data)
    except PlinianError as fault:
        raise type(fault)(fault.what, where=str(path), now=fault.now) from fault
    return CaseFile(path, case)


def read_packed(path: Path) -> bytes:
    """Return the text of a file, packed or not.

    :raises InputError: there is no such file, or its packing is damaged.
    """
    try:
        return _unpack(path)
    except FileNotFoundError as fault:
        raise InputError("there is no such file", where=str(path)) from fault
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as fault:
        raise InputDamaged(f"damaged compressed data: {fault}", where=str(path)) from fault


def _unpack(path: Path) -> bytes:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    return path.read_bytes()


def parse_case(data: bytes) -> Case:
    """Parse the text of a scenario.

    :raises InputError: it is not a scenario; the place is like ``$.steps[0].events[2].type``.
    """
    try:
        case = msgspec.json.decode(data, type=Case)
    except msgspec.ValidationError as fault:
        case = _parse_nullable(data, fault)
    except DECODE_FAULTS as fault:
        raise InputError(f"not JSON: {fault}") from fault
    for fault_text in _faults(case):
        raise InputError(f"not a scenario: {fault_text}", now=_SEE)
    return case


def _parse_nullable(data: bytes, fault: msgspec.ValidationError) -> Case:
    try:
        # As Go reads JSON, null is a field that is not written.
        document = _without_nulls(msgspec.json.decode(data))
        return msgspec.convert(document, type=Case)
    except msgspec.ValidationError:
        raise InputError(f"not a scenario: {fault}", now=_SEE) from fault
    except DECODE_FAULTS as broken:
        raise InputError(f"not JSON: {broken}") from broken


def _without_nulls(document: Any) -> Any:
    """Drop nulls of a scenario's own parts; its events keep theirs."""
    if isinstance(document, dict):
        return {
            key: value if key == "events" else _without_nulls(value)
            for key, value in document.items()
            if value is not None
        }
    return [_without_nulls(item) for item in document] if isinstance(document, list) else document


def _faults(case: Case) -> Iterator[str]:
    for i, step in enumerate(case.steps):
        for j, event in enumerate(step.events):
            if fault := _fault_of_event(event):
                yield f"{fault[1]} at $.steps[{i}].events[{j}]{fault[0]}"


def _fault_of_event(event: Document) -> tuple[str, str] | None:
    """Return where an event is wrong, and how; None if it is correct."""
    kind = event.get("type", "")
    if not isinstance(kind, str):
        return ".type", "expected a string"
    # A control of the process has no object to check.
    if kind in CONTROLS:
        return None
    if kind in CHANGES:
        fault = fault_of(event.get("object"))
        return (".object", fault) if fault else None
    if kind not in RECORD_TYPES:
        return ".type", f"unknown type {kind!r}"
    try:
        parse_record(event)
    except EventMalformed as malformed:
        return malformed.path_from(""), malformed.problem
    return None


def time_of(case: Case) -> int:
    """Return the current time of a scenario's sessions, in microseconds since 1970.

    It is a year after the newest time in the scenario, so that all shorter delays are over. It is
    the same in every run.
    """
    # From the scenario alone: the clock of the machine would give other results each time.
    newest = 0
    for step in case.steps:
        for event in step.events:
            text = _creation_time(event)
            if isinstance(text, str):
                try:
                    newest = max(newest, parse_time(text))
                except ValueError:
                    continue
    return newest + _YEAR_US


def _creation_time(event: Document) -> Any:
    """Return the creation time of an event's object, as written: it may have any type."""
    document = event.get("object")
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata.get("creationTimestamp") if isinstance(metadata, dict) else None
