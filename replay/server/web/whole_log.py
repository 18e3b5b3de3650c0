"""What pages show of the whole log: the same at each position, so it is found once.

The results of the last few questions are kept until something is appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...facade.log import Log
from ...moments.clock import StoreKey
from ...moments.log import Log as AnyLog
from ...moments.session_list import ListedSession, listed_sessions
from ...series.node_use import NodeUse, node_use
from ...series.period import span_of
from ...series.queue_shares import QueueShares, queue_shares

Place = tuple[StoreKey, str, str | None, int]
"""A log, a branch, a cluster, and the end of the branch."""


def sessions_of(log: Log) -> Sequence[ListedSession]:
    """Return the sessions of a log, in order of their opening."""
    return _sessions(_place(log))


def queues_of(log: Log, resource: str, queue: str) -> QueueShares:
    """Return what queues held over the whole log.

    :param queue: only this one; empty is all.
    :raises UsageError: the log has no times, or no such queue or resource.
    """
    return _queues(_place(log), resource, queue)


def nodes_of(log: Log, resource: str) -> NodeUse:
    """Return how full nodes were over the whole log.

    :raises UsageError: the log has no times, or no such resource.
    """
    return _nodes(_place(log), resource)


def _place(log: Log) -> Place:
    return StoreKey(log.store), log.branch, log.cluster, log.store.last(log.branch)


def _log(place: Place) -> AnyLog:
    opened, branch, cluster, _ = place
    return AnyLog(opened.store, branch=branch, cluster=cluster)


@lru_cache(maxsize=1)
def _sessions(place: Place) -> Sequence[ListedSession]:
    log = _log(place)
    return listed_sessions(log.store, log.moment())


@lru_cache(maxsize=4)
def _queues(place: Place, resource: str, queue: str) -> QueueShares:
    log = _log(place)
    return queue_shares(log, span_of(log), resource, names=[queue] if queue else [])


@lru_cache(maxsize=4)
def _nodes(place: Place, resource: str) -> NodeUse:
    log = _log(place)
    return node_use(log, span_of(log), resource)
