"""Logs of files from Python, as ``-i`` is on the command line; packs; the demo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ...engine.log import MAIN
from ..answers.answer import Why
from ..demo import recorded_inputs
from ..ingest.one_off import log_of
from ..logs.given_confs import Conf
from ..pack import opened as packs
from ..pack.opened import OpenedPack
from ..questions.why import WhyQuestion
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


def why(
    named: str,
    inputs: FilePath | list[FilePath],
    *,
    namespace: str | None = None,
    release: str | None = None,
    conf: Conf | None = None,
    assume: bool = False,
) -> Why:
    """Return why an object waits, by files alone, as from ``kubectl get``, without a log.

    :param inputs: files, folders or archives. The other parameters are those of :meth:`Log.why`.
    :raises InputError: an input is missing, damaged or malformed.
    """
    asked = WhyQuestion(named, namespace=namespace, release=release, conf=conf, assume=assume)
    with log_of(paths_of(inputs)) as log:
        return asked.ask(log)


def open_pack(
    file: FilePath,
    *,
    map: FilePath | None = None,  # noqa: A002 -- it is the option's name
    progress: Callable[[int, int], None] | None = None,
) -> OpenedPack:
    """Check a pack, run its session again, and compare with the expected answer.

    A pack is a log: :func:`plinian.open` opens it, for everything else.

    :param map: the map of its names; with it, decisions and the question have the original names.
    :param progress: called with (events checked, in all).
    :raises LogNotFound: there is no such file.
    :raises LogCorrupt: it is damaged.
    :raises LogNewer: a newer Plinian wrote it.
    :raises UsageError: it is a log, but no pack; or the map is that of another pack.
    """
    return packs.open_pack(str(file), map_file=None if map is None else str(map), progress=progress)


def demonstration(place: str) -> Log:
    """Create the log of the demo; errors are those of ``plinian.demo``."""
    log = opened(place, create=True, branch=MAIN, cluster=None)
    with recorded_inputs() as paths:
        log.ingest(paths)
    return log
