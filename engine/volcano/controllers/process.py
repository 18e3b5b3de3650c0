"""The controller manager as a process: which controllers run, and what they share."""

from __future__ import annotations

from ..releases import FIRST, behaviour, since, subject

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
_WITH_HYPERNODES = _FIRST | {"hyperNode-controller"}
_WITH_CRON_JOBS = _WITH_HYPERNODES | {"cronjob-controller"}
_WITH_SHARDS = _WITH_CRON_JOBS | {"colocation-config-controller", "sharding-controller"}


@subject
class ProcessBehaviours:
    """The controller manager as a process: what differs between releases."""

    informers_shared: bool = behaviour(
        "Controllers see objects of Volcano through the same informers.",
        since(FIRST, False).means(
            "One controller may see a PodGroup long before another; each lists them all."
        ),
        since("v1.10.0", True, pull=3497).means("All controllers see the same objects."),
        source="pkg/controllers/framework/interface.go ControllerOption",
    )

    controllers: frozenset[str] = behaviour(
        "The existing controllers; ``sharding`` runs only if --controllers names it.",
        since(FIRST, _FIRST).means(
            "Controllers for jobs, flows, queues, PodGroups of other pods, and garbage."
        ),
        since("v1.12.0", _WITH_HYPERNODES, pull=4322).means(
            "New: HyperNodes can be discovered, and are kept up to date."
        ),
        since("v1.13.0", _WITH_CRON_JOBS, pull=4560).means(
            "New: jobs can be created on a schedule."
        ),
        since("v1.14.0", _WITH_SHARDS, pull=4777).means(
            "New: nodes can be divided among schedulers, and configured for colocation."
        ),
        source="pkg/controllers/framework/factory.go RegisterController",
    )
