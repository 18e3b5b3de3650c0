"""What a session does where the scheduler picks at random: one of equal nodes, nodes to look at."""

from __future__ import annotations

import msgspec

from ...engine.errors import UsageError
from ...engine.events.payloads import PodBound
from ...engine.session.framework.chooser import Chooser, LeastName, RecordedChoice, Seeded
from ..logs.log import Log
from ..moments.moment import Moment

LEAST_NAME = "least-name"
RECORDED = "recorded"
_SEED_DIGITS = 1000


class TieBreaking(msgspec.Struct, frozen=True):
    """How random choices are made.

    :param chooser: picks one of several equal nodes.
    :param samples_nodes: in clusters of more than 100 nodes look at some only, as the scheduler
        does with one worker.
    """

    chooser: Chooser = LeastName()
    samples_nodes: bool = False


LEAST = TieBreaking()
"""Nothing is random: the least name wins, and all nodes are considered."""


def chance_of(log: Log, moment: Moment, choose: str, *, samples_nodes: bool) -> TieBreaking:
    """Return the tie breaking for an option.

    :param choose: ``least-name``, ``recorded``, or a number: the seed.
    :raises UsageError: it is none of these.
    """
    if choose == LEAST_NAME:
        return TieBreaking(LeastName(), samples_nodes)
    if choose == RECORDED:
        return TieBreaking(RecordedChoice(recorded_nodes(log, moment)), samples_nodes)
    if choose.isascii() and choose.isdecimal() and len(choose) <= _SEED_DIGITS:
        return TieBreaking(Seeded(int(choose)), samples_nodes)
    raise UsageError(
        f"invalid --choose {choose!r}", now=f"write {LEAST_NAME}, {RECORDED}, or a seed: 7"
    )


def recorded_nodes(log: Log, moment: Moment) -> dict[tuple[str, str], str]:
    """Return the node that each pod was bound to in the whole log, by pod.

    If several pods had a name, the first one bound after the moment counts, if the log has times;
    else the last.
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
