"""Where limits come from, and what a limit means for jobs that ask for none of a resource."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.counts import counted
from ...engine.session.framework.vote_details import Amounts, QueueLevel, ReservationCheck
from ...engine.session.plugins.overcommit import FACTOR
from ...engine.volcano.releases import RELEASES
from ...engine.volcano.session.history import resolve
from .amounts import in_order, joined, word
from .answering_session import Run

_NAMED = 2
_SLACK = 0.5
"""Amounts that differ by less are equal."""
OVERCOMMIT = "overcommit"


def asked_for(names: Sequence[str], wanted: Amounts) -> list[str]:
    """Return which of some resources a job or a pod asks for."""
    return [name for name in names if wanted.get(name, 0.0) > 0]


def stops_all(run: Run, names: Sequence[str], what: str) -> str:
    """Return that a release compares resources for which a job does not ask.

    :param names: the resources. :param what: which jobs are stopped.
    """
    release = run.answer.release
    return (
        f"the job asks for no {joined(names, 'or')}, but {release} compares all resources, and so "
        f"enqueues no job{what} (as {releases_like(run, 'compared_resources')})"
    )


def releases_like(run: Run, behaviour: str) -> str:
    """Return the releases around this one that behave as it does, as a range.

    :param behaviour: the name of the behaviour.
    """
    return _range_like(run.answer.release, behaviour)


@cache
def _range_like(release: str, behaviour: str) -> str:
    own, names = getattr(resolve(release), behaviour), list(map(str, RELEASES))
    like = [getattr(resolve(name), behaviour) == own for name in names]
    if release not in names:
        return release
    first = last = names.index(release)
    while first > 0 and like[first - 1]:
        first -= 1
    # Releases that Plinian adds stand after all others, and no cluster runs them.
    while last + 1 < len(names) and like[last + 1] and not RELEASES[last + 1].ours:
        last += 1
    return f"{names[first]} to {names[last]}" if first < last else names[first]


def source_of(run: Run, full: QueueLevel, names: Sequence[str]) -> str:
    """Return why the limit of a queue is what it is: what all nodes have, less guarantees.

    It is said only where these make up the limit; empty if the limit is the queue's capability.
    """
    parts = []
    for name in in_order(names):
        limit = (full.limit or {}).get(name, 0.0)
        # A limit that is the queue's own capability needs no source: it is in the spec.
        if full.compared != "realCapability" or (full.capability or {}).get(name) == limit:
            continue
        guaranteed = {
            queue: info.guarantee.get(name)
            for queue, info in sorted(run.cache.queues.items())
            if queue != full.queue and info.guarantee.get(name) > 0
        }
        total = on_nodes(run.cache, name)
        if guaranteed and abs(total - sum(guaranteed.values()) - limit) < _SLACK:
            has = f"all nodes have {word(total, name)}"
            parts.append(f"{word(limit, name)} {name}, as {has} and {_kept(guaranteed, name)}")
    return f"; its limit is {joined(parts)}" if parts else ""


def _kept(guaranteed: Mapping[str, float], name: str) -> str:
    """Return to which queues an amount is guaranteed."""
    most = sorted(guaranteed.items(), key=lambda entry: (-entry[1], entry[0]))
    named = [f"queue {queue}" for queue, _ in most[:_NAMED]]
    rest = len(most) - _NAMED
    more = [counted(rest, "other queue")] if rest > 0 else []
    return f"{word(sum(guaranteed.values()), name)} are guaranteed to {joined([*named, *more])}"


def on_nodes(cache: SchedulerCache, name: str) -> float:
    """Return how much of a resource all nodes have that the scheduler uses."""
    return sum(info.allocatable.get(name) for info in cache.nodes.values() if not info.reason)


def factor_words(run: Run, seen: ReservationCheck) -> str:
    """Return the plugin that limits reservations, and the argument that it multiplies with."""
    given = any(
        FACTOR in option.arguments.raw
        for tier in run.conf.tiers
        for option in tier
        if option.name == OVERCOMMIT
    )
    how = "" if given else ", the default"
    return f"plugin {OVERCOMMIT}, {FACTOR} {seen.factor:g}{how}"
