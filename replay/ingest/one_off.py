"""A log that exists only for one question: for people who have a list, and no log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ..logs.log import Log, opened
from .ingest_run import IngestOptions, ingest


@contextmanager
def log_of(paths: Sequence[str], options: IngestOptions | None = None) -> Iterator[Log]:
    """Read files, folders and archives into a temporary log.

    :raises InputError: an input is missing, damaged or malformed.
    """
    with (
        TemporaryDirectory(prefix="plinian-") as folder,
        opened(Path(folder) / "log.db", create=True) as log,
    ):
        ingest(log.store, list(paths), options or IngestOptions())
        # What it remembers is of the empty log.
        log.forget()
        yield log
