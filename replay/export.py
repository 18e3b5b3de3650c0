"""Export events of the log to files for other programs: JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, BinaryIO

import msgspec

from ..engine.errors import UsageError
from ..engine.events import Recorded
from ..engine.events.input_names import without_folders
from ..engine.log.creation import PRIVATE
from .tabular.record_columns import TimeColumn

_ROWS_AT_ONCE = 5_000

NDJSON, CSV, PARQUET = FORMATS = ("ndjson", "csv", "parquet")

SUFFIXES: Mapping[str, str] = MappingProxyType(
    {".ndjson": NDJSON, ".jsonl": NDJSON, ".csv": CSV, ".parquet": PARQUET, ".pq": PARQUET}
)
"""The format of each file suffix."""

_COMPRESSED = (".gz", ".xz", ".zst", ".bz2", ".zip")

Count = Callable[[int], None]


def format_of(name: str, given: str | None = None) -> str:
    """Return the format to write to a file of this name.

    Standard output (``-``) and names without a suffix, such as pipes, get JSON lines.

    :param given: the format that was chosen, if any.
    :raises UsageError: there is no such format, or the suffix is of another one or of none.
    """
    if given is not None and given not in FORMATS:
        raise UsageError(f"no format {given!r}", now=f"choose from: {', '.join(FORMATS)}")
    suffix = PurePath(name).suffix.lower()
    named = SUFFIXES.get(suffix)
    if suffix in _COMPRESSED:
        raise UsageError(
            "export does not compress",
            where=name,
            now=f"plinian export --format {given or NDJSON} - | gzip > {name}",
        )
    if given is not None and named not in {None, given}:
        raise UsageError(
            f"the name ends in {suffix}, but --format is {given}",
            where=name,
            now=f"leave out --format to write {named}, or choose another name",
        )
    if given is None and named is None and suffix:
        raise UsageError(
            f"the suffix {suffix} is of no known format",
            where=name,
            now=f"use {', '.join(SUFFIXES)}, or give --format {'|'.join(FORMATS)}",
        )
    return given or named or NDJSON


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One event with its whole envelope; times are microseconds since 1970 UTC.

    In the JSON export the payload is JSON; in the CSV and Parquet exports it is text.
    """

    position: int
    branch: str
    cluster: str
    kind: str
    schema: int
    group: str
    object_kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str
    revision: int | None
    earliest: TimeColumn | None
    latest: TimeColumn | None
    recorded_at: TimeColumn
    actor: str
    source: str
    line: int
    payload: msgspec.Raw


def line_of(recorded: Recorded) -> Line:
    """Return an event in its exported form."""
    event = recorded.event
    reference = event.reference
    return Line(
        position=recorded.position,
        branch=recorded.branch,
        cluster=event.cluster,
        kind=event.kind,
        schema=event.schema,
        group=reference.group,
        object_kind=reference.kind,
        namespace=reference.namespace,
        name=reference.name,
        uid=reference.uid,
        resource_version=event.resource_version,
        revision=event.revision,
        earliest=event.earliest,
        latest=event.latest,
        recorded_at=recorded.recorded_at,
        actor=event.actor,
        source=without_folders(event.source),
        line=event.line,
        payload=msgspec.Raw(event.payload),
    )


def write_ndjson(
    events: Iterable[Recorded], out: BinaryIO, *, progress: Count | None = None
) -> int:
    """Write one JSON object per line, and return their number; holds few events in memory."""
    encoder = msgspec.json.Encoder()
    written = 0
    for some in _in_parts(events):
        out.write(encoder.encode_lines([line_of(recorded) for recorded in some]))
        written += len(some)
        if progress is not None:
            progress(written)
    return written


def write_csv(events: Iterable[Recorded], out: BinaryIO, *, progress: Count | None = None) -> int:
    """Write a header line and one line per event, and return the number of events.

    Values are quoted as in RFC 4180; lines end in a line feed; unknown values are empty.
    """
    names = Line.__struct_fields__
    written = 0
    _write_rows(out, [names])
    for some in _in_parts(events):
        columns = _columns([line_of(recorded) for recorded in some])
        _write_rows(out, zip(*(columns[name] for name in names), strict=True))
        written += len(some)
        if progress is not None:
            progress(written)
    return written


def _write_rows(out: BinaryIO, rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    out.write(text.getvalue().encode())


def write_parquet(
    events: Iterable[Recorded], out: BinaryIO, *, progress: Count | None = None
) -> int:
    """Write a Parquet file, compressed with zstd, and return the number of rows.

    :raises UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as fault:
        raise UsageError(
            "writing Parquet needs pyarrow, which is not installed",
            now="pip install 'plinian[parquet]', or export ndjson",
        ) from fault
    types = {
        "position": pa.int64(),
        "schema": pa.int32(),
        "revision": pa.int64(),
        "earliest": pa.timestamp("us", tz="UTC"),
        "latest": pa.timestamp("us", tz="UTC"),
        "recorded_at": pa.timestamp("us", tz="UTC"),
        "line": pa.int64(),
    }
    repeated = ("branch", "cluster", "kind", "group", "object_kind", "namespace", "actor", "source")
    schema = pa.schema([(name, types.get(name, pa.string())) for name in Line.__struct_fields__])
    written = 0
    with pq.ParquetWriter(out, schema, compression="zstd", use_dictionary=list(repeated)) as writer:
        for some in _in_parts(events):
            columns = _columns([line_of(recorded) for recorded in some])
            writer.write_table(pa.table(columns, schema=schema))
            written += len(some)
            if progress is not None:
                progress(written)
    return written


def write_file(
    path: Path,
    write: Callable[[BinaryIO], int],
) -> int:
    """Write a file completely or not at all: first to a temporary file beside it.

    Only its owner can read a new file, like a log; an existing one keeps its mode. A pipe or a
    device is written directly; a file must not replace it.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as out:
            return write(out)
    path = path.resolve()  # Otherwise a link would be replaced instead of its target.
    beside = path.with_name(f".{path.name}.part")
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else PRIVATE
    beside.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as out:
            os.fchmod(out.fileno(), mode)
            written = write(out)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return written


def _columns(lines: list[Line]) -> dict[str, list[Any]]:
    columns = {
        name: [getattr(line, name) for line in lines]
        for name in Line.__struct_fields__
        if name != "payload"
    }
    return {**columns, "payload": [bytes(line.payload).decode() for line in lines]}


def _in_parts(events: Iterable[Recorded]) -> Iterator[list[Recorded]]:
    rest = iter(events)
    while some := list(islice(rest, _ROWS_AT_ONCE)):
        yield some
