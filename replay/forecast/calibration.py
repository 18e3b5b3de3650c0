"""How well a cluster that lives on agrees with what the log records: the error of the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from statistics import median
from typing import NamedTuple

import msgspec

from .forecast_course import Course
from .pod_lives import PodLife, alike


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Bindings of the cluster as it was, compared with the recorded ones.

    :param until: the last moment that is compared, microseconds since 1970.
    :param recorded: how many bindings the log records until then.
    :param predicted: how many of these happen in the run. :param same_node: on the same node.
    :param off: how far they are from the recorded time, microseconds: the median;
        :param off_most: what nine in ten keep; None if none is predicted.
    :param invented: bindings of the run that the log does not record.
    """

    until: int
    recorded: int
    predicted: int
    same_node: int
    off: int | None
    off_most: int | None
    invented: int


def calibrated(
    course: Course,
    lives: Mapping[str, PodLife],
    schedulers: Collection[str],
    *,
    begin: int,
    recorded_until: int,
) -> Calibration | None:
    """Compare a course with the record, until the earlier of their ends; None if that is nothing.

    Pods are compared by their names, of several of one name in order; those of ReplicaSets, whose
    names are picked at random, by what has made them.

    :param schedulers: only pods of these are compared.
    """
    until = min(course.until, recorded_until)
    if until <= begin:
        return None
    recorded: dict[str, list[_Bound]] = {}
    for life in lives.values():
        bound = life.bound
        if bound is not None and begin < bound <= until and life.scheduler in schedulers:
            like = alike(life.key, life.template)
            recorded.setdefault(like, []).append(_Bound(bound, life.node))
    predicted: dict[str, list[_Bound]] = {}
    for one in course.placements:
        if one.at <= until:
            predicted.setdefault(one.like, []).append(_Bound(one.at, one.node))
    pairs = list(_pairs(recorded, predicted))
    off = sorted(abs(one.at - other.at) for one, other in pairs)
    return Calibration(
        until=until,
        recorded=sum(map(len, recorded.values())),
        predicted=len(pairs),
        same_node=sum(one.node == other.node for one, other in pairs),
        off=round(median(off)) if off else None,
        off_most=off[-(-len(off) * 9 // 10) - 1] if off else None,
        invented=sum(map(len, predicted.values())) - len(pairs),
    )


class _Bound(NamedTuple):
    at: int
    node: str


def _pairs(
    recorded: Mapping[str, list[_Bound]], predicted: Mapping[str, list[_Bound]]
) -> Iterator[tuple[_Bound, _Bound]]:
    """Yield what is in both, in order of time."""
    for like, some in sorted(recorded.items()):
        yield from zip(sorted(some), sorted(predicted.get(like, ())), strict=False)
