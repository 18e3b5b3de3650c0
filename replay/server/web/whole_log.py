"""What pages show of the whole log or a span: the same at each position, so it is found once.

The results of the last few questions are kept until something is appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...facade.log import Log
from ...logs.log import Log as AnyLog
from ...moments.log_clock import StoreKey
from ...recorded.session_list import ListedSession, listed_sessions
from ...series.node_use import NodeUse, node_use
from ...series.period import ShownPeriod
from ...series.queue_shares import QueueShares, queue_shares

Place = tuple[StoreKey, str, str | None, int]
"""A log, a branch, a cluster, and the end of the branch."""


def sessions_of(log: Log) -> Sequence[ListedSession]:
    """Return the sessions of a log, in order of their opening."""
    return listed_sessions(log.store, log.moment())


def queues_of(log: Log, span: ShownPeriod, resource: str, queue: str) -> QueueShares:
    """Return what queues held over a span of the log.

    :param queue: only this one; empty is all.
    :raises UsageError: there is no such queue or resource.
    """
    return _queues(_place(log), span, resource, queue)


def nodes_of(log: Log, span: ShownPeriod, resource: str) -> NodeUse:
    """Return how full nodes were over a span of the log.

    :raises UsageError: there is no such resource.
    """
    return _nodes(_place(log), span, resource)


def _place(log: Log) -> Place:
    return StoreKey(log.store), log.branch, log.cluster, log.store.last(log.branch)


def _log(place: Place) -> AnyLog:
    opened, branch, cluster, _ = place
    return AnyLog(opened.store, branch=branch, cluster=cluster)


@lru_cache(maxsize=4)
def _queues(place: Place, span: ShownPeriod, resource: str, queue: str) -> QueueShares:
    return queue_shares(_log(place), span, resource, names=[queue] if queue else [])


@lru_cache(maxsize=4)
def _nodes(place: Place, span: ShownPeriod, resource: str) -> NodeUse:
    return node_use(_log(place), span, resource)
