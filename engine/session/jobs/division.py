"""A job and its groups, as data.

Source: ``pkg/scheduler/api/sub_job_info.go`` since v1.14.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class SubJob(msgspec.Struct, eq=False):
    """One group of a job's tasks.

    :param uid: ``namespace/podgroup/policy-values``; the job's for tasks without a policy.
    :param policy: the id that groups of one policy share (``GID``).
    :param match_index: the value of the first key, if it is a number: by it groups are ordered.
    :param priority: the highest of its tasks', at least 0.
    :param divided: whether its job is divided into groups.
    :param topology: whether it has a network topology.
    :param tier: the highest tier that it may span; ``None`` if it is not limited.
    :param hypernode: where its tasks were placed so far; empty if nowhere.
    :param nominated: where room was made for it in this session; empty if nowhere.
    """

    uid: str
    policy: str
    job: int
    tasks: list[int]
    min_available: int
    match_index: int
    priority: int
    divided: bool
    topology: bool
    tier: int | None
    hypernode: str = ""
    nominated: str = ""


class Division(msgspec.Struct, eq=False):
    """A job and its groups.

    :param sub_jobs: in order of UID; only those that have tasks.
    :param minima: by policy, how many of its groups must be ready.
    :param tier: the highest tier that the job may span; ``None`` if it is not limited.
    :param hard: whether the job or a policy has a hard topology, even an impossible one.
    :param hypernode: where its tasks were placed so far; empty if nowhere.
    """

    sub_jobs: list[SubJob]
    minima: Mapping[str, int]
    topology: bool
    tier: int | None
    hard: bool
    hypernode: str = ""

    @property
    def near(self) -> bool:
        """Whether the job or one of its groups has a network topology."""
        return self.topology or any(sub.topology for sub in self.sub_jobs)
