"""Scheduler configurations at a moment of a log."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from ...engine.events import Event
from ...engine.events.input_names import without_folders
from ...engine.events.payloads import ConfigApplied
from ...engine.log.store import LogStore, Query
from ..moments.log_clock import StoreKey
from ..moments.moment import Moment
from .log import Log

_CONFIG = "config.applied"


class ConfText(NamedTuple):
    """A scheduler configuration and its source."""

    text: str
    source: str


class AppliedConf(msgspec.Struct, frozen=True):
    """A configuration that was applied.

    :param revision: when; None for one that is valid from the beginning, such as a plain file.
    """

    revision: int | None
    conf: ConfText

    def is_known(self, revision: int | None) -> bool:
        """Return whether it was applied by a revision; None is the end of the log."""
        return self.revision is None or revision is None or self.revision <= revision


def conf_at(store: LogStore, moment: Moment) -> ConfText | None:
    """Return the last configuration applied before a moment; None if the log has none."""
    return next(iter(confs_at(store, moment)), None)


def has_no_conf(log: Log, moment: Moment) -> bool:
    """Return whether a log has no configuration by a moment; scenarios have the built-in one."""
    return not log.coverage(moment).whole and conf_at(log.store, moment) is None


def runs_built_in(release: str) -> str:
    """Return the sentence of a log that holds no configuration: a release runs with its own."""
    return f"the log holds no configuration of the scheduler: {release} runs with its built-in one"


def confs_at(store: LogStore, moment: Moment) -> list[ConfText]:
    """Return the configurations that were applied before a moment, newest first.

    A configuration without a revision, such as a plain file, is valid from the beginning.
    """
    return [conf.conf for conf in applied_confs(store, moment) if conf.is_known(moment.revision)]


def applied_confs(store: LogStore, moment: Moment) -> list[AppliedConf]:
    """Return all configurations that the log has at a position, newest first.

    The log is read once; use this for the configurations at many revisions.

    :param moment: its revision does not count.
    """
    return list(_applied(StoreKey(store), moment.branch, moment.cluster, moment.known))


@lru_cache(maxsize=4)  # No index finds these events, and every page of a server needs them.
def _applied(opened: StoreKey, branch: str, cluster: str, known: int) -> tuple[AppliedConf, ...]:
    query = Query(branch=branch, cluster=cluster, until=known, kinds=(_CONFIG,))
    applied = [recorded.event for recorded in opened.store.read(query)]
    applied.sort(key=lambda event: event.revision or 0)
    return tuple(AppliedConf(event.revision, _conf_text(event)) for event in reversed(applied))


def _conf_text(event: Event) -> ConfText:
    applied = msgspec.json.decode(event.payload, type=ConfigApplied)
    return ConfText(applied.text, applied.configmap or without_folders(event.source))
