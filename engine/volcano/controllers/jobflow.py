"""The JobFlow controller: flows of Volcano Jobs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..releases import FIRST, Row, landed


class FlowJobs(StrEnum):
    """Which Volcano Jobs belong to a JobFlow: they count in its status, and are deleted."""

    OWNED = "owned"
    """Those whose owner is a JobFlow of its name."""
    OF_TEMPLATES = "of its templates"
    """All in its namespace that were created from the templates that it names."""
    LABELLED = "labelled"
    """Those with a label that names it."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class JobFlowBehaviours:
    """The JobFlow controller: what differs between releases."""

    flow_jobs: FlowJobs
    """Which Volcano Jobs belong to a JobFlow."""

    failed_jobs_fail_flows: bool
    """A running JobFlow fails with its first failed job."""


ROWS: tuple[Row, ...] = (
    Row(
        "flow_jobs",
        FlowJobs.OWNED,
        FIRST,
        source="pkg/controllers/jobflow/jobflow_controller_action.go getAllJobStatus, "
        "deleteAllJobsCreatedByJobFlow",
        why="A JobFlow finds its jobs by their owner.",
    ),
    Row(
        "flow_jobs",
        FlowJobs.OF_TEMPLATES,
        landed("v1.9.0"),
        source="pkg/controllers/jobflow/jobflow_controller_action.go getAllJobsCreatedByJobFlow",
        why="Flows of the same templates count each other's jobs, and delete them.",
        pull=3090,
    ),
    Row(
        "flow_jobs",
        FlowJobs.LABELLED,
        landed("v1.10.1", "v1.11.1", "v1.12.0"),
        source="pkg/controllers/jobflow/jobflow_controller_action.go getAllJobsCreatedByJobFlow",
        why="A JobFlow finds its jobs by their label.",
        pull=4090,
    ),
    Row(
        "failed_jobs_fail_flows",
        False,
        FIRST,
        source="pkg/controllers/jobflow/state/running.go Execute",
        why="A JobFlow stays Running forever when one of its jobs has failed.",
    ),
    Row(
        "failed_jobs_fail_flows",
        True,
        landed("v1.12.0"),
        source="pkg/controllers/jobflow/state/running.go Execute",
        why="A JobFlow is Failed when one of its jobs is.",
        pull=4135,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
