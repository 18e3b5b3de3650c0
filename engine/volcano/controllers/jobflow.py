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

    flow_jobs_labelled: bool
    """Jobs of a JobFlow have a label and an annotation that name it."""

    failed_jobs_fail_flows: bool
    """A running JobFlow fails with its first failed job."""

    terminated_jobs_fail_pending_flows: bool
    """A pending JobFlow fails with its first terminated job."""

    equal_flow_requests_merged: bool
    """Several changes of the jobs of one JobFlow or JobTemplate are worked on at once."""

    given_up_templates_crash: bool
    """The controllers crash when a JobTemplate's status could not be written for 16 times."""


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
        "flow_jobs_labelled",
        False,
        FIRST,
        source="pkg/controllers/jobflow/jobflow_controller_action.go loadJobTemplateAndSetJob",
        why="Jobs of a JobFlow name only their template.",
    ),
    Row(
        "flow_jobs_labelled",
        True,
        landed("v1.10.0"),
        source="pkg/controllers/jobflow/jobflow_controller_action.go loadJobTemplateAndSetJob",
        why="Jobs of a JobFlow can be selected by its name.",
        pull=3500,
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
    Row(
        "terminated_jobs_fail_pending_flows",
        False,
        FIRST,
        source="pkg/controllers/jobflow/state/pending.go Execute",
        why="A JobFlow stays Pending forever when a job was terminated before any ran.",
    ),
    Row(
        "terminated_jobs_fail_pending_flows",
        True,
        landed("v1.13.0"),
        source="pkg/controllers/jobflow/state/pending.go Execute",
        why="A JobFlow is Failed when a job was terminated before any ran.",
        pull=4443,
    ),
    Row(
        "equal_flow_requests_merged",
        False,
        FIRST,
        source="pkg/controllers/jobflow/jobflow_controller_handler.go enqueue",
        why="Each change of a job is a request, and a request that fails waits by itself.",
    ),
    Row(
        "equal_flow_requests_merged",
        True,
        landed("v1.9.0"),
        source="pkg/controllers/jobflow/jobflow_controller_handler.go enqueue",
        why="Changes that come together are worked on once.",
        pull=3134,
    ),
    Row(
        "given_up_templates_crash",
        False,
        FIRST,
        source="pkg/controllers/jobtemplate/jobtemplate_controller.go handleJobTemplateErr",
        why="A JobTemplate whose status cannot be written is given up with an event.",
    ),
    Row(
        "given_up_templates_crash",
        True,
        landed("v1.9.0"),
        source="pkg/controllers/jobtemplate/jobtemplate_controller.go handleJobTemplateErr",
        why="The controllers crash if a JobTemplate's status cannot be written in 16 attempts.",
        pull=3134,
    ),
    Row(
        "given_up_templates_crash",
        False,
        landed("v1.11.0"),
        source="pkg/controllers/jobtemplate/jobtemplate_controller.go handleJobTemplateErr",
        why="A JobTemplate whose status cannot be written is given up with an event.",
        pull=3791,
    ),
)
"""The rows of each behaviour, oldest first; behaviours in the order of the fields above."""
