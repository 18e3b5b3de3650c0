"""Write tables of the state over time: JSON lines, CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import msgspec

from ...engine.errors import UsageError
from ..export import CSV, PARQUET
from ..tabular.column_table import arrow_schema
from ..tabular.record_columns import columns_of

_AT_ONCE = 5_000

Count = Callable[[int], None]


def write_rows(
    rows: Iterable[msgspec.Struct],
    shape: type[msgspec.Struct],
    form: str,
    out: BinaryIO,
    *,
    progress: Count | None = None,
) -> int:
    """Write rows of one shape in a format, and return their number.

    :param form: one of the formats of :mod:`..export`.
    :raises UsageError: pyarrow is needed, and not installed.
    """
    names = shape.__struct_fields__
    write, finish = _writer(shape, names, form, out)
    written = 0
    for part in _parts(rows):
        write(part)
        written += len(part)
        if progress is not None:
            progress(written)
    finish()
    return written


Write = Callable[[Sequence[msgspec.Struct]], None]


def _writer(
    shape: type[msgspec.Struct], names: Sequence[str], form: str, out: BinaryIO
) -> tuple[Write, Callable[[], None]]:
    if form == PARQUET:
        return _parquet(shape, names, out)
    if form == CSV:
        _csv(out, [names])

        def lines(part: Sequence[msgspec.Struct]) -> None:
            _csv(out, ([getattr(row, name) for name in names] for row in part))

        return lines, lambda: None
    encoder = msgspec.json.Encoder()

    def objects(part: Sequence[msgspec.Struct]) -> None:
        out.write(encoder.encode_lines(list(part)))

    return objects, lambda: None


def _csv(out: BinaryIO, rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    out.write(text.getvalue().encode())


def _parquet(
    shape: type[msgspec.Struct], names: Sequence[str], out: BinaryIO
) -> tuple[Write, Callable[[], None]]:
    try:
        import pyarrow as pa  # noqa: PLC0415 -- an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as fault:
        raise UsageError(
            "writing Parquet needs pyarrow, which is not installed",
            now="pip install 'plinian[parquet]', or export csv",
        ) from fault
    schema = arrow_schema(columns_of(shape))
    writer = pq.ParquetWriter(out, schema, compression="zstd")

    def columns(part: Sequence[msgspec.Struct]) -> None:
        by_column = {name: [getattr(row, name) for row in part] for name in names}
        writer.write_table(pa.table(by_column, schema=schema))

    return columns, writer.close


def _parts(rows: Iterable[msgspec.Struct]) -> Iterator[list[msgspec.Struct]]:
    rest = iter(rows)
    while part := list(islice(rest, _AT_ONCE)):
        yield part
