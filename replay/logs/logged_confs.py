"""Scheduler configurations at a moment of a log.

A change of a ConfigMap reaches the scheduler when the kubelet has written it into the pod, often a
minute later; until then, sessions run with the one before. The scheduler logs whenever it reads the
file, with the names of its actions and plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ...engine.events import Event
from ...engine.events.input_names import without_folders
from ...engine.events.payloads import ConfigApplied, MessageLogged
from ...engine.kubernetes.units import SECOND_US
from ...engine.log.store import LogStore, Query
from ...engine.state.clock import UNDATED, Clock, TimeSpan
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.store_key import StoreKey
from .log import Log

_CONFIG, _MESSAGE = "config.applied", "message.logged"

_LOADED = re.compile(
    r"(?:Successfully loaded [Ss]cheduler conf,|Finished loading scheduler config\. Final state:)"
    r" actions[:=] ?\[([^\]]*)\], plugins[:=] ?\[([^\]]*)\]"
)
"""Source: pkg/scheduler/scheduler.go loadSchedulerConf at v1.8.0, and at v1.14.0."""

_LATEST = 300 * SECOND_US
"""The longest time that the kubelet is thought to take."""


class ConfText(NamedTuple):
    """A scheduler configuration and its source."""

    text: str
    source: str


class AppliedConf(msgspec.Struct, frozen=True):
    """A configuration that was applied.

    :param revision: when; None for one that is valid from the beginning, such as a plain file.
    :param loaded: when the scheduler read it, microseconds; None if no log says so.
    """

    revision: int | None
    conf: ConfText
    loaded: int | None = None

    def is_known(self, revision: int | None, time: int | None = None) -> bool:
        """Return whether it was applied by a revision; None is the end of the log.

        :param time: of the revision; it counts if it is known when the scheduler read it.
        """
        if self.loaded is not None and time is not None:
            return self.loaded <= time
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
    confs, revision, time = applied_confs(store, moment), moment.revision, moment.time
    if time is None and revision is not None and any(conf.loaded is not None for conf in confs):
        time = clock_of(store, branch=moment.branch, cluster=moment.cluster).time_of(revision)
    return [conf.conf for conf in confs if conf.is_known(revision, time)]


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
    confs = [AppliedConf(event.revision, _conf_text(event)) for event in applied]
    # What was in force before the oldest one is not known, so it always counts.
    if any(conf.revision is not None for conf in confs[1:]):
        loads = list(_loads(opened.store, msgspec.structs.replace(query, kinds=(_MESSAGE,))))
        clock = clock_of(opened.store, branch=branch, cluster=cluster)
        for place, event in enumerate(applied[1:], start=1):
            changed = _changed(event, clock)
            confs[place] = _with_load(confs[place], loads, changed)
    return tuple(reversed(confs))


def _changed(event: Event, clock: Clock) -> TimeSpan:
    """Return between which times a ConfigMap got its text; not known without a revision."""
    if event.revision is None:
        return UNDATED
    before = clock.span_of(event.revision)
    latest = before.latest if event.latest is None else event.latest
    return msgspec.structs.replace(before, latest=latest)


class _Load(NamedTuple):
    """The scheduler read its file. :param names: of actions, and of plugins."""

    at: int
    names: tuple[tuple[str, ...], tuple[str, ...]]


def _loads(store: LogStore, query: Query) -> Iterator[_Load]:
    """Yield when the scheduler read its file."""
    for recorded in store.read(query):
        said = msgspec.json.decode(recorded.event.payload, type=MessageLogged)
        loaded, at = _LOADED.match(said.message), recorded.event.observed_at
        if loaded and at is not None:
            yield _Load(at, (tuple(loaded[1].split()), tuple(loaded[2].split())))


def _with_load(conf: AppliedConf, loads: Sequence[_Load], changed: TimeSpan) -> AppliedConf:
    """Return a configuration with the first time after its change at which its names were read."""
    if changed.earliest is None or changed.latest is None:
        return conf
    # Most logs have one configuration, and reading another takes much to import.
    from ...engine.volcano.conf import names_in  # noqa: PLC0415
    from ...engine.volcano.conf_yaml import ConfInvalid  # noqa: PLC0415

    try:
        names = names_in(conf.conf.text)
    except ConfInvalid:
        return conf
    end = changed.latest + _LATEST
    times = (load.at for load in loads if load.names == names)
    loaded = min((at for at in times if changed.earliest <= at <= end), default=None)
    return msgspec.structs.replace(conf, loaded=loaded)


def _conf_text(event: Event) -> ConfText:
    applied = msgspec.json.decode(event.payload, type=ConfigApplied)
    return ConfText(applied.text, applied.configmap or without_folders(event.source))
