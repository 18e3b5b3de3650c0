"""What a job asks for and a release does not read: it may start there, but not as it should.

The table of releases declares most of such faults, and the session can be run without them. Those
here are of fields that the older releases do not have at all, so nothing in them could read them.
"""

from __future__ import annotations

from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import PodGroup
from ...engine.volcano.releases import final_release, landed
from ...engine.volcano.session.history import resolve
from .cluster_changes import SetField, WhatIfChange
from .suggestion import group_name

_TIER_NAMES = landed("v1.14.0")
"""The first release whose PodGroups have ``highestTierName``."""


class Ignored(NamedTuple):
    """A field of a job that a release ignores.

    :param fault: in words. :param without: the change that takes the field away.
    """

    fault: str
    without: WhatIfChange


def ignored_in(release: str, podgroup: str, cache: SchedulerCache) -> tuple[Ignored, ...]:
    """Return the fields of a PodGroup that a release ignores, and newer ones read."""
    group = cache.stores.get("PodGroup", podgroup)
    if not isinstance(group, PodGroup):
        return ()
    named, ignored = group_name(podgroup), []
    topology = group.spec.network_topology
    if topology is not None and topology.highest_tier_name and not _has_tier_names(release):
        fault = "highestTierName of a PodGroup's networkTopology is ignored."
        ignored.append(Ignored(fault, SetField(named, ("spec", "networkTopology"), None)))
    if group.spec.sub_group_policy and not resolve(release).sub_groups:
        fault = "subGroupPolicy of a PodGroup is ignored."
        ignored.append(Ignored(fault, SetField(named, ("spec", "subGroupPolicy"), None)))
    return tuple(ignored)


def _has_tier_names(release: str) -> bool:
    return _TIER_NAMES.reached(final_release(release))
