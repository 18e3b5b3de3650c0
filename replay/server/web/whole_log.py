"""What pages show of a span of the log is the same at each position, so it is found once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, TypeVar

from ...facade.log import Log
from ...logs.log import Log as AnyLog
from ...moments.store_key import StoreKey

T = TypeVar("T")

Place = tuple[StoreKey, str, str | None, int]
"""A log, a branch, a cluster, and the end of the branch."""


def kept(log: Log, ask: Callable[..., T], *given: Hashable, **named: Hashable) -> T:
    """Return what a function finds in a log.

    The results of the last few questions are kept until something is appended.
    """
    place = StoreKey(log.store), log.branch, log.cluster, log.store.last(log.branch)
    result: T = _kept(ask, place, *given, **named)
    return result


@lru_cache(maxsize=8)
def _kept(ask: Callable[..., Any], place: Place, *given: Any, **named: Any) -> Any:
    opened, branch, cluster, _ = place
    return ask(AnyLog(opened.store, branch=branch, cluster=cluster), *given, **named)
