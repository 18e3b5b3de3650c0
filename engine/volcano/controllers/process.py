"""The controller manager as a process: which controllers run, and what they share."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases import FIRST, Row, landed


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ProcessBehaviours:
    """The controller manager as a process: what differs between releases."""

    informers_shared: bool
    """Controllers see objects of Volcano through the same informers."""

    controllers: frozenset[str]
    """The existing controllers; ``sharding`` runs only if --controllers names it."""


_FIRST = frozenset(
    {
        "gc-controller",
        "job-controller",
        "jobflow-controller",
        "jobtemplate-controller",
        "pg-controller",
        "queue-controller",
    }
)

ROWS: tuple[Row, ...] = (
    Row(
        "informers_shared",
        False,
        FIRST,
        source="pkg/controllers/framework/interface.go ControllerOption",
        why="One controller may see a PodGroup long before another; each lists them all.",
    ),
    Row(
        "informers_shared",
        True,
        landed("v1.10.0"),
        source="pkg/controllers/framework/interface.go ControllerOption",
        why="All controllers see the same objects.",
        pull=3497,
    ),
    Row(
        "controllers",
        _FIRST,
        FIRST,
        source="pkg/controllers/framework/factory.go RegisterController",
        why="Controllers for jobs, flows, queues, PodGroups of other pods, and garbage.",
    ),
    Row(
        "controllers",
        _FIRST | {"hyperNode-controller"},
        landed("v1.12.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="New: HyperNodes can be discovered, and are kept up to date.",
        pull=4322,
    ),
    Row(
        "controllers",
        _FIRST | {"hyperNode-controller", "cronjob-controller"},
        landed("v1.13.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="New: jobs can be created on a schedule.",
        pull=4560,
    ),
    Row(
        "controllers",
        _FIRST
        | {
            "hyperNode-controller",
            "cronjob-controller",
            "colocation-config-controller",
            "sharding-controller",
        },
        landed("v1.14.0"),
        source="pkg/controllers/framework/factory.go RegisterController",
        why="New: nodes can be divided among schedulers, and configured for colocation.",
        pull=4777,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
