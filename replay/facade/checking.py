"""Checks of invariants from Python, and their list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.errors import UsageError
from ...engine.volcano.session.history import resolve
from ..invariants.check_task import ALL, CheckReport, CheckTask, check, settle_window
from ..logs.given_confs import Conf
from ..moments.moment import Moment
from ..render.check import invariant_document
from ..sessions.assumed import accepted_conf
from ..truth.points import Point
from .options import release_of

if TYPE_CHECKING:
    from ..logs.log import Log, Progress


class Asked(NamedTuple):
    """What was asked of :meth:`.Log.check`, with the same names."""

    at: Point | None
    since: Point | None
    until: Point | None
    release: str
    invariants: tuple[str, ...]
    settle: str
    conf: Conf | None


def checked(
    log: Log, asked: Asked, end: Moment, *, assume: bool, progress: Progress | None
) -> CheckReport:
    """Check a log.

    :raises UsageError: as :meth:`.Log.check`.
    """
    if asked.at is not None and (asked.since is not None or asked.until is not None):
        raise UsageError("at is one moment, since and until are a range", now="leave one out")
    name = release_of(asked.release, assume=assume)
    task = CheckTask(
        end=end,
        behaviours=resolve(name),
        single=asked.at is not None,
        since=None if asked.since is None else log.moment(asked.since),
        ids=asked.invariants,
        settle=settle_window(asked.settle),
        conf=accepted_conf(asked.conf, [name], assume=assume),
    )
    return check(log, task, progress)


def invariants() -> list[dict[str, Any]]:
    """Return the invariants that ``check`` knows, by number, as ``check --list -o json`` does."""
    return [invariant_document(one) for one in ALL]
