"""The whole table of releases, by part of Volcano: sessions, the scheduler's cache, controllers.

Each part has a separate history and record. Code that runs sessions uses only
:mod:`.session.history`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from .cache.behaviours import CacheBehaviours
from .controllers.behaviours import ControllerBehaviours
from .releases import PreRelease, Release, Row, history_of, known_release
from .session.behaviours import Behaviours
from .session.history import HISTORY, RECORDS_KEPT


class Part(StrEnum):
    """Which part of Volcano a behaviour is one of."""

    SESSION = "session"
    """What a session decides, for the same events in the same order."""
    CACHE = "cache"
    """What the scheduler's cache does besides sessions: its work queues, and what it writes."""
    CONTROLLERS = "controllers"
    """What the controllers do (vc-controller-manager)."""


_RECORDS: Mapping[Part, type] = MappingProxyType(
    {
        Part.SESSION: Behaviours,
        Part.CACHE: CacheBehaviours,
        Part.CONTROLLERS: ControllerBehaviours,
    }
)

TABLE: Mapping[Part, tuple[Row, ...]] = MappingProxyType(
    {
        Part.SESSION: HISTORY,
        Part.CACHE: history_of(CacheBehaviours),
        Part.CONTROLLERS: history_of(ControllerBehaviours),
    }
)
"""All rows by part, each part in the order in which they landed; no name is in two parts."""

_PARTS: Mapping[str, Part] = MappingProxyType(
    {row.behaviour: part for part, rows in TABLE.items() for row in rows}
)


def subjects_of(part: Part) -> dict[str, str]:
    """Return, by behaviour, its subject: the name of the module that declares it.

    Parts may have subjects of the same name, such as ``nodes``.
    """
    return {
        behaviour: base.__module__.rpartition(".")[2]
        for base in _RECORDS[part].__bases__
        for behaviour in base.__annotations__
    }


def part_of(behaviour: str) -> Part:
    """Return the part of Volcano that a behaviour belongs to.

    :raises KeyError: there is no such behaviour.
    """
    return _PARTS[behaviour]


@lru_cache(maxsize=RECORDS_KEPT * len(Part))
def rows_in(part: Part, release: Release | PreRelease) -> Mapping[str, Row]:
    """Return, by behaviour, the row of a part that holds for a release."""
    # Later rows of a behaviour replace earlier ones, as they are in the order of landing.
    return MappingProxyType({row.behaviour: row for row in TABLE[part] if row.is_in(release)})


def cache_behaviours(name: str, **changed: Any) -> CacheBehaviours:
    """Return what the scheduler's cache of a release or pre-release does, with fields changed.

    :raises UsageError: there is no such release.
    :raises TypeError: there is no such field.
    """
    return dataclasses.replace(_of_cache(known_release(name)), **changed)


def controller_behaviours(name: str, **changed: Any) -> ControllerBehaviours:
    """Return what the controllers of a release or pre-release do, with fields changed.

    :raises UsageError: there is no such release.
    :raises TypeError: there is no such field.
    """
    return dataclasses.replace(_of_controllers(known_release(name)), **changed)


@lru_cache(maxsize=RECORDS_KEPT)
def _of_cache(release: Release | PreRelease) -> CacheBehaviours:
    return CacheBehaviours(release=str(release), **_values(Part.CACHE, release))


@lru_cache(maxsize=RECORDS_KEPT)
def _of_controllers(release: Release | PreRelease) -> ControllerBehaviours:
    return ControllerBehaviours(release=str(release), **_values(Part.CONTROLLERS, release))


def _values(part: Part, release: Release | PreRelease) -> dict[str, Any]:
    return {behaviour: row.value for behaviour, row in rows_in(part, release).items()}
