"""A log of files for some questions from Python, as ``-i`` is on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...engine.log import MAIN
from .log import Log, opened
from .options import FilePath, paths_of


@contextmanager
def read(inputs: FilePath | list[FilePath], *, year: int | None = None) -> Iterator[Log]:
    """Read files into a log that exists only within ``with``, and give all its methods.

    So the output of ``kubectl get`` is enough for any question: ``with read("cluster.json") as log:
    log.session()``.

    :param inputs: files, folders or archives. :param year: of logs without one.
    :raises InputError: an input is missing, damaged or malformed.
    """
    with TemporaryDirectory(prefix="plinian-") as folder:
        place = str(Path(folder) / "log.db")
        with opened(place, create=True, branch=MAIN, cluster=None) as log:
            log.ingest(paths_of(inputs), year=year)
            log.forget()
            yield log
