"""The JobFlow controller: flows of Volcano Jobs."""

from __future__ import annotations

from enum import StrEnum

from ..releases import FIRST, behaviour, landed, since, subject


class FlowJobs(StrEnum):
    """Which Volcano Jobs belong to a JobFlow: they count in its status, and are deleted."""

    OWNED = "owned"
    """Those whose owner is a JobFlow of its name."""
    OF_TEMPLATES = "of its templates"
    """All in its namespace that were created from the templates that it names."""
    LABELLED = "labelled"
    """Those with a label that names it."""


@subject
class JobFlowBehaviours:
    """The JobFlow controller: what differs between releases."""

    flow_jobs: FlowJobs = behaviour(
        "Which Volcano Jobs belong to a JobFlow.",
        since(FIRST, FlowJobs.OWNED).means(
            "A JobFlow finds its jobs by their owner.",
            source="pkg/controllers/jobflow/jobflow_controller_action.go getAllJobStatus, "
            "deleteAllJobsCreatedByJobFlow",
        ),
        since("v1.9.0", FlowJobs.OF_TEMPLATES, pull=3090).means(
            "Flows of the same templates count each other's jobs, and delete them.",
            source="pkg/controllers/jobflow/jobflow_controller_action.go "
            "getAllJobsCreatedByJobFlow",
        ),
        since(landed("v1.10.1", "v1.11.1", "v1.12.0"), FlowJobs.LABELLED, pull=4090).means(
            "A JobFlow finds its jobs by their label.",
            source="pkg/controllers/jobflow/jobflow_controller_action.go "
            "getAllJobsCreatedByJobFlow",
        ),
    )

    flow_jobs_labelled: bool = behaviour(
        "Jobs of a JobFlow have a label and an annotation that name it.",
        since(FIRST, False).means("Jobs of a JobFlow name only their template."),
        since("v1.10.0", True, pull=3500).means("Jobs of a JobFlow can be selected by its name."),
        source="pkg/controllers/jobflow/jobflow_controller_action.go loadJobTemplateAndSetJob",
    )

    failed_jobs_fail_flows: bool = behaviour(
        "A running JobFlow fails with its first failed job.",
        since(FIRST, False).means(
            "A JobFlow stays Running forever when one of its jobs has failed."
        ),
        since("v1.12.0", True, pull=4135).means("A JobFlow is Failed when one of its jobs is."),
        source="pkg/controllers/jobflow/state/running.go Execute",
    )

    terminated_jobs_fail_pending_flows: bool = behaviour(
        "A pending JobFlow fails with its first terminated job.",
        since(FIRST, False).means(
            "A JobFlow stays Pending forever when a job was terminated before any ran."
        ),
        since("v1.13.0", True, pull=4443).means(
            "A JobFlow is Failed when a job was terminated before any ran."
        ),
        source="pkg/controllers/jobflow/state/pending.go Execute",
    )

    equal_flow_requests_merged: bool = behaviour(
        "Several changes of the jobs of one JobFlow or JobTemplate are worked on at once.",
        since(FIRST, False).means(
            "Each change of a job is a request, and a request that fails waits by itself."
        ),
        since("v1.9.0", True, pull=3134).means("Changes that come together are worked on once."),
        source="pkg/controllers/jobflow/jobflow_controller_handler.go enqueue",
    )

    given_up_templates_crash: bool = behaviour(
        "The controllers crash when a JobTemplate's status could not be written for 16 times.",
        since(FIRST, False).means(
            "A JobTemplate whose status cannot be written is given up with an event."
        ),
        since("v1.9.0", True, pull=3134).means(
            "The controllers crash if a JobTemplate's status cannot be written in 16 attempts."
        ),
        since("v1.11.0", False, pull=3791).means(
            "A JobTemplate whose status cannot be written is given up with an event."
        ),
        source="pkg/controllers/jobtemplate/jobtemplate_controller.go handleJobTemplateErr",
    )
