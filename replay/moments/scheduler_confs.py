"""Scheduler configurations at a moment of a log, and configurations from files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import InputError
from ...engine.events import Event
from ...engine.events.input_names import distinct_names, without_folders
from ...engine.events.payloads import ConfigApplied
from ...engine.kubernetes.scheduler_confs import configs_in, parse_conf
from ...engine.kubernetes.yaml import YamlFault
from ...engine.log.store import LogStore, Query
from ...engine.text_encodings import text_of
from .clock import StoreKey
from .log import Log
from .moment import Moment

_CONFIG = "config.applied"
_SHOWN = 5

_FIELDS = frozenset({"actions", "tiers", "configurations", "metrics"})
"""Source: pkg/scheduler/conf/scheduler_conf.go SchedulerConfiguration."""


class ConfText(NamedTuple):
    """A scheduler configuration and its source."""

    text: str
    source: str


class AppliedConf(NamedTuple):
    """A configuration that was applied.

    :param revision: when; None for one that is valid from the beginning, such as a plain file.
    """

    revision: int | None
    conf: ConfText

    def is_known(self, revision: int | None) -> bool:
        """Return whether it was applied by a revision; None is the end of the log."""
        return self.revision is None or revision is None or self.revision <= revision


def conf_files(paths: Sequence[Path]) -> list[ConfText]:
    """Read configurations from files; their sources differ, although their names may not.

    :raises InputError: one is not text.
    """
    names = distinct_names(map(str, paths))
    return [conf_file(path)._replace(source=names[str(path)]) for path in paths]


def conf_file(path: Path) -> ConfText:
    """Read a configuration from a file, which may be a ConfigMap with one.

    :raises InputError: it is not text, or holds something else.
    """
    try:
        text = text_of(path.read_bytes())
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault}", where=str(path)) from fault
    return given_conf(text, without_folders(str(path)))


def given_conf(text: str, source: str) -> ConfText:
    """Return a configuration that a person gave: the text itself, or what is in a ConfigMap.

    What is no YAML, or no mapping, stays as it is: a scheduler rejects that. Another mapping has no
    field of a configuration. A scheduler would treat it as an empty one, so it is refused.

    :raises InputError: it is an object without a configuration, or something else.
    """
    try:
        parsed = parse_conf(text)
    except YamlFault:
        return ConfText(text, source)
    if not isinstance(parsed, dict) or not parsed or _FIELDS & parsed.keys():
        return ConfText(text, source)
    items = parsed.get("items")
    objects = [parsed, *(items if isinstance(items, list) else ())]
    found = [held for one in objects if _is_configmap(one) for _, held, _ in configs_in(one)]
    if found:
        return ConfText(found[0], source)
    what = parsed.get("kind") or ", ".join(str(key) for key in list(parsed)[:_SHOWN])
    raise InputError(
        f"no scheduler configuration: it has neither actions nor tiers ({what})",
        where=source,
        now="give the text of volcano-scheduler.conf, or the ConfigMap that holds it",
    )


def _is_configmap(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "ConfigMap"


def conf_at(store: LogStore, moment: Moment) -> ConfText | None:
    """Return the last configuration applied before a moment; None if the log has none."""
    return next(iter(confs_at(store, moment)), None)


def has_no_conf(log: Log, moment: Moment) -> bool:
    """Return whether a log has no configuration by a moment; scenarios have the built-in one."""
    return not log.coverage(moment).whole and conf_at(log.store, moment) is None


def confs_at(store: LogStore, moment: Moment) -> list[ConfText]:
    """Return the configurations that were applied before a moment, newest first.

    A configuration without a revision, such as a plain file, is valid from the beginning.
    """
    return [one.conf for one in applied_confs(store, moment) if one.is_known(moment.revision)]


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
