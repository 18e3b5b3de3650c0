"""The kinds from which parts of what is shown of another kind are computed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from ...engine.kubernetes.resources import CLUSTER_SCOPED
from ...engine.state.log_coverage import Pair
from .coverage import unknown_at, unknown_between

if TYPE_CHECKING:
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..truth.log_states import LogStates

_POD: Pair = ("", "Pod")
_PODGROUP: Pair = ("scheduling.volcano.sh", "PodGroup")

IN_TABLES: Mapping[Pair, tuple[Pair, ...]] = MappingProxyType(
    {
        ("", "Node"): (_POD,),
        ("scheduling.volcano.sh", "Queue"): (_PODGROUP, _POD),
        _PODGROUP: (_POD,),
    }
)
"""What a node or a queue holds, and the members of a PodGroup."""

IN_WIDE_TABLES: Mapping[Pair, tuple[Pair, ...]] = MappingProxyType(
    {**IN_TABLES, _POD: (_PODGROUP,)}
)
"""And the queue of a pod, which is its PodGroup's."""

IN_DESCRIPTIONS: Mapping[Pair, tuple[Pair, ...]] = MappingProxyType(
    {**IN_WIDE_TABLES, ("batch.volcano.sh", "Job"): (_POD,)}
)
"""And the pods of a job."""

NOTHING: Mapping[Pair, tuple[Pair, ...]] = MappingProxyType({})
"""Objects as they are: nothing of them is computed."""


class Shown(msgspec.Struct, frozen=True):
    """What is shown of a kind.

    :param computed: from which kinds parts of it are computed, as :data:`IN_TABLES`.
    :param namespace: only in it; None is everywhere. What has no namespace is computed from all.
    """

    kind: Pair
    computed: Mapping[Pair, tuple[Pair, ...]]
    namespace: str | None = None


def unknown_in(
    log: LogStates, moment: Moment, shown: Shown, *, first: int | None = None
) -> list[Unknown]:
    """Return what is not known of a kind, and of those from which parts of it are computed.

    :param first: somewhere between this revision and the moment; None is at the moment.
    """
    kinds = (shown.kind, *shown.computed.get(shown.kind, ()))
    place = None if shown.kind in CLUSTER_SCOPED else shown.namespace
    if first is None:
        return unknown_at(log, moment, kinds, place)
    return unknown_between(log, first, moment, kinds, place)
