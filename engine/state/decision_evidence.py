"""Evidence of a scheduler's log for the times of bindings and evictions; pure.

A scheduler logs that it binds or evicts a pod before it sends the request. The line names the pod,
not its version. So it counts only if just one version fits, and only as a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec
import numpy as np

from ..events import NO_TIME, Event, Reference
from ..events.payloads import DecisionLogged
from ..kubernetes.units import SECOND_US
from .bounds import EVER, Bounds, Remark
from .event_columns import Int64s
from .marks import VersionMark

_WIDEST_US = 60 * SECOND_US
"""A version whose time is known less exactly may be of a later pod of the same name."""

_MARKS: Mapping[str, VersionMark] = MappingProxyType(
    {"allocate": VersionMark.BOUND, "evict": VersionMark.ENDING}
)
_DECODE = msgspec.json.Decoder(DecisionLogged).decode


class LoggedDecision(msgspec.Struct, frozen=True):
    """A logged decision about a pod.

    :param mark: what the resulting version shows: a node (``BOUND``), or a deletion (``ENDING``).
    :param time: microseconds since 1970 UTC. :param source: the input of the line.
    """

    namespace: str
    name: str
    mark: VersionMark
    time: int
    source: str


class DecisionFloors(msgspec.Struct, frozen=True, kw_only=True):
    """Lower bounds from decisions, sorted by ``places``, and inputs that were not used.

    :param places: index of the revision of each. :param times: microseconds.
    """

    places: Int64s
    times: Int64s
    remarks: tuple[Remark, ...]


def decision_of(event: Event) -> LoggedDecision | None:
    """Return the binding or eviction in an event; None if it has neither."""
    if event.kind != "decision.logged" or event.reference.kind != "Pod" or event.latest is None:
        return None
    mark = _MARKS.get(_DECODE(event.payload).verb)
    if mark is None:
        return None
    pod = event.reference
    return LoggedDecision(pod.namespace, pod.name, mark, event.latest, event.source)


def floors_of(
    decisions: Iterable[LoggedDecision],
    shown: Mapping[VersionMark, Sequence[tuple[Reference, int]]],
    bounds: Bounds,
) -> DecisionFloors:
    """Return lower bounds of revisions from decisions.

    For a version whose time is known to within a minute, the first decision in its bounds counts.
    An input is not used if one of its decisions is later than its effect: its clock is ahead. If a
    later pod of the name has that effect as well, the decision may be about that one.

    :param shown: by mark, the versions that are the first of their pod to show it, and the indices
        of their revisions.
    """
    lines: dict[tuple[VersionMark, str, str], list[tuple[int, str]]] = {}
    for decision in decisions:
        key = (decision.mark, decision.namespace, decision.name)
        lines.setdefault(key, []).append((decision.time, decision.source))
    within: dict[int, tuple[int, str]] = {}
    ahead: dict[str, list[int]] = {}
    for mark, versions in shown.items():
        last = _last_of_names(versions, bounds)
        for pod, place in versions:
            low, high = int(bounds.earliest[place]), int(bounds.latest[place])
            if low == NO_TIME or high == EVER or high - low > _WIDEST_US:
                continue
            about = lines.get((mark, pod.namespace, pod.name), ())
            # A pod of the same name may have come before or after: only lines near this version can
            # be of it.
            near = [line for line in about if low - _WIDEST_US <= line[0] <= high + _WIDEST_US]
            at, source = min(near, default=(low, ""))
            if at > high and at > last[pod.namespace, pod.name]:
                ahead.setdefault(source, []).append(at - high)
            elif low < at <= high:
                within[place] = at, source
    used = sorted((place, at) for place, (at, source) in within.items() if source not in ahead)
    return DecisionFloors(
        places=np.array([place for place, _ in used], np.int64),
        times=np.array([at for _, at in used], np.int64),
        remarks=tuple(
            Remark(what="ignored", source=-1, name=name, amount=max(amounts), count=len(amounts))
            for name, amounts in sorted(ahead.items())
        ),
    )


def _last_of_names(
    versions: Iterable[tuple[Reference, int]], bounds: Bounds
) -> Mapping[tuple[str, str], int]:
    """Return by namespace and name the latest time that one of its versions may have."""
    last: dict[tuple[str, str], int] = {}
    for pod, place in versions:
        name = (pod.namespace, pod.name)
        last[name] = max(last.get(name, NO_TIME), int(bounds.latest[place]))
    return last
