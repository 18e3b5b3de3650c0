"""Scheduler configurations that a person gives: files, and texts in requests."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from ...engine.errors import InputError
from ...engine.events.input_names import distinct_names, without_folders
from ...engine.kubernetes.scheduler_confs import configs_in, parse_conf
from ...engine.kubernetes.yaml import YamlFault
from ...engine.text_encodings import text_of
from .logged_confs import ConfText

_SHOWN = 5

_FIELDS = frozenset({"actions", "tiers", "configurations", "metrics"})
"""Source: pkg/scheduler/conf/scheduler_conf.go SchedulerConfiguration."""


Conf: TypeAlias = str | PathLike[str] | ConfText
"""A scheduler configuration: the path of a volcano-scheduler.conf, or its text with a name."""


def conf_text(conf: Conf | None) -> ConfText | None:
    """Return a configuration, read from its file if it is a path; None stays None.

    :raises InputError: the file is missing, or is not text.
    """
    return conf_file(Path(conf)) if isinstance(conf, str | PathLike) else conf


def conf_texts(confs: Conf | Sequence[Conf | None] | None) -> list[ConfText | None]:
    """Return configurations as :func:`conf_text` does; those of several files differ in source.

    :param confs: one, or several; none at all is the log's.
    """
    if confs is None or isinstance(confs, str | PathLike | ConfText):
        confs = [confs]
    asked = confs or [None]
    # All files together, as each name is made distinct among the others.
    read = iter(conf_files([Path(conf) for conf in asked if isinstance(conf, str | PathLike)]))
    return [next(read) if isinstance(conf, str | PathLike) else conf for conf in asked]


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
    # A List of ConfigMaps, as kubectl prints it for a label or a namespace.
    objects = [parsed, *(items if isinstance(items, list) else ())]
    texts = [
        text
        for config_map in objects
        if _is_configmap(config_map)
        for _, text, _ in configs_in(config_map)
    ]
    if texts:
        return ConfText(texts[0], source)
    content = parsed.get("kind") or ", ".join(str(key) for key in list(parsed)[:_SHOWN])
    raise InputError(
        f"no scheduler configuration: it has neither actions nor tiers ({content})",
        where=source,
        now="give the text of volcano-scheduler.conf, or the ConfigMap that holds it",
    )


def _is_configmap(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "ConfigMap"
