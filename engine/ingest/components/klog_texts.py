"""What Volcano's components say in their logs, as decisions: texts of v1.8 to v1.15.

Source: pkg/scheduler/{actions,cache,framework,plugins}, pkg/controllers/job, at the tags named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ...events.payloads import DecisionLogged

_TASK = r"<(?P<task>[^<>]+)>"
_JOB = r"<(?P<job>[^<>]+)>"


def _texts(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((verb, re.compile(text)) for verb, text in rows)


_BINDING = ("allocate", rf"Binding Task {_TASK} to node <(?P<node>[^<>]+)>")
_PIPELINED = ("pipeline", rf"After pipelined Task {_TASK} to Node <(?P<node>[^<>]+)>")
_INQUEUE = ("enqueue", r"job (?P<job>\S+) inqueue (?P<reason>true|false)")

DECISIONS: Mapping[bytes, tuple[tuple[str, re.Pattern[str]], ...]] = MappingProxyType(
    {
        b"overcommit.go": _texts(
            ("enqueue", rf"Sufficient resources, (?P<reason>permit) job {_JOB} to be inqueue"),
            ("enqueue", rf"Resource in cluster is overused, (?P<reason>reject) job {_JOB} to be"),
        ),
        b"proportion.go": _texts(_INQUEUE),
        b"capacity.go": _texts(_INQUEUE),
        b"allocate.go": _texts(
            _BINDING,
            (
                "enqueue",
                (
                    rf"Job {_JOB} Queue <(?P<queue>[^<>]+)> status update from pending to inqueue,"
                    r" reason: (?P<reason>.*)"
                ),
            ),
        ),
        b"backfill.go": _texts(_BINDING),
        b"preempt.go": _texts(
            ("preempt", rf"Try to preempt Task {_TASK} for Task <(?P<reason>[^<>]+)>"),
        ),
        b"reclaim.go": _texts(
            # Logged as an error up to v1.13, though nothing is wrong.
            ("reclaim", rf"Try to reclaim Task {_TASK} for Tasks <(?P<reason>[^<>]+)>"),
        ),
        b"shuffle.go": _texts(
            (
                "shuffle",
                (
                    r"pod (?P<name>\S+) from namespace (?P<namespace>\S+) and job (?P<job>\S+)"
                    r" will be evicted"
                ),
            ),
        ),
        b"session.go": _texts(_PIPELINED),
        b"statement.go": _texts(
            _PIPELINED,
            ("unpipeline", rf"After unpipelined Task {_TASK} to Node <(?P<node>[^<>]+)>"),
            ("unallocate", rf"Remove Task {_TASK} on node <(?P<node>[^<>]+)>"),
            ("discard", r"Discarding operations"),
            ("commit", r"Committing operations"),
        ),
        b"cache.go": _texts(
            ("evict", r"Evicting pod (?P<task>\S+), because of (?P<reason>.*)"),
            ("bind", r"bind ok, latency (?P<reason>\S+)"),
            ("bind-failed", rf"Failed to bind pod {_TASK} to node (?P<node>\S+) : (?P<reason>.*)"),
            ("cleanup", r"Job <[^<>:]*:(?P<job>[^<>]+)> was (?P<reason>deleted)\."),
        ),
        b"job_controller.go": _texts(
            ("execute", rf"Execute <(?P<reason>\w+)> on Job {_JOB} in "),
        ),
    }
)
"""Go file to (verb, text) of the decisions that are logged there."""

CLEANUPS = re.compile(r"(?:Try|Retry) to delete Job <[^<>:]*:(?P<job>[^<>]+)>|Just add pguid:")
"""cache.go: an attempt to delete a job from the scheduler's cache; often repeated."""

OPENED = re.compile(
    r"Open Session (?P<session>\S+) with <(?P<jobs>\d{1,9})> Job and <(?P<queues>\d{1,9})> Queues"
)
CLOSED = re.compile(r"Close Session (?P<session>\S+)")
SNAPSHOT = re.compile(
    r'"SnapShot for scheduling".* NodeNum=(\d{1,9})(?!\d)'
    r"|There are <\d+> Jobs, <\d+> Queues and <(\d{1,9})> Node"
)
ACTION = re.compile(r"(?P<verb>Enter|Leaving) (?P<action>[A-Za-z]+) \.\.\.$")

ACTION_STARTS: Mapping[bytes, tuple[str, re.Pattern[str]]] = MappingProxyType(
    {
        b"enqueue.go": ("enqueue", re.compile(r"Try to enqueue PodGroup to \d+ Queues")),
        b"allocate.go": ("allocate", re.compile(r"Try to allocate resource to \d+ Queues")),
        b"reclaim.go": ("reclaim", re.compile(r"There are <\d+> Jobs and <\d+> Queues in total")),
    }
)
"""First message of an action at verbosity 3, where its begin (verbosity 5) is not logged."""

FLAG = re.compile(r'FLAG: --(?P<name>[^=]+)="(?P<value>.*)"$')

WORTH_KEEPING = re.compile(
    r"Successfully loaded [Ss]cheduler conf|Finished loading scheduler config"
    r"|(?:Starting to|Successfully) dump info in scheduler"
)
"""Messages of severity I that are stored as ``message.logged``."""

COMPONENT_FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "scheduler-conf": "scheduler",
        "schedule-period": "scheduler",
        "max-requeue-num": "controllers",
        "worker-threads-for-podgroup": "controllers",
        "worker-threads": "controllers",
        "admission-conf": "webhooks",
        "webhook-service-name": "webhooks",
    }
)

OWN_LINES = re.compile(
    rb"\] (?:Open Session [0-9a-f]{8}-|Close Session [0-9a-f]{8}-|schedulerPodName )"
    rb"|FLAG: --(?:scheduler-conf|schedule-period|worker-threads-for-podgroup|max-requeue-num)="
    rb"|\b(?:job_controller_(?:plugins|actions|util|handler)|queue_controller(?:_action|_handler)?"
    rb"|pg_controller(?:_handler)?|jobflow_controller|jobtemplate_controller)\.go:\d+\]"
    rb"|\b(?:allocate|enqueue|backfill|preempt|reclaim|statement|overcommit|proportion|drf)\.go:"
    rb"\d+\] "
    rb"|\bvolcano\.sh/volcano/(?:pkg|cmd)/"
)
"""Texts that only logs of Volcano have, not those of Kubernetes' components."""


OWN_PACKAGE = re.compile(r"volcano\.sh/volcano/(?:pkg|cmd)/(?P<part>scheduler|controller|webhook)")
"""A package of a component, as stacks name it."""


def decision(file: bytes, message: str, component: str, session: str) -> DecisionLogged | None:
    """Return the decision that a message reports, None if it reports none."""
    for verb, pattern in DECISIONS.get(file, ()):
        match = pattern.match(message)
        if match:
            parts = {key: value for key, value in match.groupdict().items() if value}
            task = parts.get("task", "")
            # shuffle.go alone prints a pod's namespace and name apart.
            if "name" in parts:
                task = f"{parts['namespace']}/{parts['name']}"
            return DecisionLogged(
                component=component,
                verb=verb,
                session=session,
                task=task,
                job=parts.get("job", ""),
                queue=parts.get("queue", ""),
                node=parts.get("node", ""),
                reason=parts.get("reason", ""),
                message=message,
            )
    return None
