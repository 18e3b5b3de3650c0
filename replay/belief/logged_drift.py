"""Where the scheduler's cache differs from the API server at a moment, and since which event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.projector import Projector
from ...engine.cache.scheduler_flags import CacheOptions
from ...engine.log.store import NO_REVISION, LogStore
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.moment import Moment
from ..moments.ordered_events import OrderedEvent
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from .advancing_belief import Progress
from .belief import play
from .stored_belief import BeliefStart, start_of


class CacheDifference(msgspec.Struct, frozen=True):
    """One difference.

    :param truth: what the API server has, and ``belief``, what the cache has; None if it has none.
    :param since: position of the event that caused it.
    """

    kind: str
    name: str
    field: str
    truth: str | None
    belief: str | None
    since: int

    @property
    def object(self) -> str:
        """The object as links name it, as in ``pod/ml/train-0``."""
        return f"{self.kind.lower()}/{self.name}"


class Drift(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """All differences at a moment, in order of kind, name and field.

    :param at: the moment, as printed.
    :param crashes: the panics of the scheduler up to then, with their places, innermost first.
    :param not_known: of what the cache holds: what the log lacks, so no difference is seen there.
    :param compared: with a dump, how many of its nodes and jobs were compared; else None.
    """

    at: str
    release: str
    differences: list[CacheDifference]
    crashes: list[str]
    not_known: tuple[Unknown, ...] = ()
    compared: int | None = None

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the differences."""
        return {"differences": table_of(CacheDifference, self.differences)}


def drift_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    progress: Progress | None = None,
) -> Drift:
    """Return where the cache of a scheduler whose informers are never late differs from truth.

    :param options, use_stored, progress: as for :func:`.belief.belief_at`.
    """
    return both_at(
        store, moment, behaviours, options, use_stored=use_stored, progress=progress
    ).drift


class Both(NamedTuple):
    """The scheduler's cache, and where it differs from the API server."""

    cache: SchedulerCache
    drift: Drift


def both_at(
    store: LogStore,
    moment: Moment,
    behaviours: Behaviours,
    options: CacheOptions | None = None,
    *,
    use_stored: bool = True,
    progress: Progress | None = None,
) -> Both:
    """Return the cache and its differences, which costs no more than the differences alone.

    Parameters are those of :func:`drift_at`.
    """
    start = start_of(store, moment, behaviours) if use_stored and options is None else None
    if start is None:
        start = BeliefStart(Projector(behaviours, options), NO_REVISION, [])
    projector, after, history = start.projector, start.revision, start.drift()

    def compare(step: OrderedEvent) -> None:
        history.after(step.event, step.position)

    play(store, moment, projector, after=after, after_each=compare, progress=progress)
    drift = Drift(
        at=moment.label,
        release=behaviours.release,
        differences=[
            CacheDifference(*mismatch, since) for mismatch, since in history.differences()
        ],
        crashes=[str(crash) for crash in projector.crashes],
    )
    return Both(projector.cache, drift)
