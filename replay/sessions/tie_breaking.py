"""What a session does where the scheduler rolls dice: which of equal nodes, which at all."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.events.payloads import PodBound
from ...engine.session.framework.chooser import Chooser, LeastName, Recorded, Seeded
from ..moments.log import Log
from ..moments.moment import Moment

LEAST_NAME = "least-name"
RECORDED = "recorded"
_SEED_DIGITS = 1000


class Chance(NamedTuple):
    """How chance falls.

    :param chooser: which of several equals is taken.
    :param samples_nodes: in clusters of more than 100 nodes, only some are looked at, as the
        scheduler does it with one worker.
    """

    chooser: Chooser = LeastName()
    samples_nodes: bool = False


LEAST = Chance()
"""No lots are drawn: the least name wins, and all nodes are looked at."""


def chance_of(log: Log, moment: Moment, choose: str, *, samples_nodes: bool) -> Chance:
    """Return what a person asked for.

    :param choose: ``least-name``, ``recorded``, or a number: the seed.
    :raises UsageError: it is none of these.
    """
    if choose == LEAST_NAME:
        return Chance(LeastName(), samples_nodes)
    if choose == RECORDED:
        return Chance(Recorded(recorded_nodes(log, moment)), samples_nodes)
    if choose.isascii() and choose.isdecimal() and len(choose) <= _SEED_DIGITS:
        return Chance(Seeded(int(choose)), samples_nodes)
    raise UsageError(
        f"there is no way to choose {choose!r}", now=f"write {LEAST_NAME}, {RECORDED}, or a seed: 7"
    )


def recorded_nodes(log: Log, moment: Moment) -> dict[tuple[str, str], str]:
    """Return the node that each pod was bound to, as the whole log knows it, by what is chosen.

    Of several pods of one name, the first that was bound after the moment counts, if the log has
    times; else the last.
    """
    nodes: dict[tuple[str, str], str] = {}
    after: set[tuple[str, str]] = set()
    for recorded in log.events(kinds=("pod.bound",)):
        event = recorded.event
        key = ("node", f"{event.reference.namespace}/{event.reference.name}")
        if key in after:
            continue
        nodes[key] = msgspec.json.decode(event.payload, type=PodBound).node
        if moment.time is not None and (event.observed_at or 0) > moment.time:
            after.add(key)
    return nodes
