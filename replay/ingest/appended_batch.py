"""Append events in one transaction, and say where they contradict what the log has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ...engine.events import Event
from ...engine.log import LogStore
from .ingest_contradictions import CONTRADICTED, contradicted


class BatchResult(NamedTuple):
    """What became of a batch.

    :param appended: new events, with those that say something new of a known version.
    :param known: events that the log had. :param kinds: of ``appended``.
    :param contradicted: versions of which the log now has two contents.
    :param last: the branch's last position afterwards.
    """

    appended: int
    known: int
    kinds: Counter[str]
    contradicted: Sequence[Event]
    last: int


def append_batch(store: LogStore, batch: Sequence[Event], branch: str) -> BatchResult:
    """Append a batch; versions that the log has with another content are appended as well."""
    result = store.append(batch, branch=branch)
    kinds = Counter(batch[index].kind for index in result.appended)
    kinds.update(result.besides)
    appended, last = len(result.appended) + sum(result.besides.values()), result.last
    others = list(contradicted(store, batch, result, branch))
    if others:
        both = store.append(others, branch=branch)
        appended, last = appended + len(both.appended), both.last
        kinds[CONTRADICTED] += len(both.appended)
    return BatchResult(appended, result.known, kinds, others, last)
