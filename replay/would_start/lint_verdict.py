"""What keeps manifests out of a cluster: Volcano's webhooks, and the API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ...engine.kubernetes.priority_classes import BUILT_IN_CLASSES
from ...engine.volcano.admission import DEFAULT_QUEUE
from ..answers.answering_session import JOB, POD, PRIORITY_CLASS, QUEUE
from ..lint.findings import FaultEffect, Finding
from ..lint.job_admission_rules import REFUSED
from ..lint.known_background import background_at
from ..lint.lint_inputs import Configuration
from ..lint.lint_task import LintTask, check
from ..lint.manifest_reading import WrittenFiles
from ..lint.objects import MADE
from ..lint.wrapped import is_checked
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import plain_name
from .submission import Submission

_OPEN = "Open"


class LintRemark(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule of ``lint`` finds in an object of the manifests.

    :param object: as in ``job default/train``. :param rule: its name; ``priority-class-missing``
        also of kinds that no rule is about. :param now: what to do about it.
    """

    object: str
    rule: str
    severity: str
    message: str
    now: str


class LintVerdict(NamedTuple):
    """What lint finds. :param refused: why an object, or its pods, are not let in."""

    refused: tuple[LintRemark, ...]
    others: tuple[LintRemark, ...]


def lint_verdict(
    log: Log,
    moment: Moment,
    written: WrittenFiles,
    *,
    release: str,
    conf: Configuration | None,
    namespace: str,
) -> LintVerdict:
    """Return what the rules of ``lint`` find in manifests, against the objects of a moment."""
    if not any(map(is_checked, written.manifests)):
        return LintVerdict((), ())
    # Only the objects would be applied; the scheduler has the configuration that is given.
    own = written._replace(confs=(), inner=(), holders=(), unread=())
    task = LintTask(own, background_at(log, moment), conf, namespace)
    findings = check(task, [release]).findings
    # Findings without a place in the files are about objects that the cluster has already.
    named = [finding for finding in findings if finding.issue.subject.place is not None]
    refused = [each for each in named if each.issue.effect is FaultEffect.REFUSED]
    others = [each for each in named if each.issue.effect is not FaultEffect.REFUSED]
    return LintVerdict(tuple(map(_remark, refused)), tuple(map(_remark, others)))


def _remark(finding: Finding) -> LintRemark:
    subject = finding.issue.subject
    return LintRemark(
        object=f"{plain_name(subject.group, subject.kind)} {subject.name}",
        rule=finding.rule,
        severity=finding.severity.value,
        message=finding.message,
        now=finding.issue.now,
    )


def refused_by_queue(submission: Submission, states: Mapping[str, str]) -> Iterator[LintRemark]:
    """Yield the jobs of Volcano whose queue does not exist, or is not open.

    A queue that is created with them is taken to be open by then.

    :param states: of the queues that exist, by name; empty if it has none.

    Source: pkg/webhooks/admission/jobs/validate/admit_job.go validateJobCreate.
    """
    given = {each.key.key for each in submission.objects if each.pair == QUEUE}
    for each in submission.tried:
        spec = each.document.get("spec") or {}
        name = str(spec.get("queue") or DEFAULT_QUEUE)
        if each.pair != JOB or name in given:
            continue
        # The scheduler creates those of MADE, so they exist even if the log lacks them.
        if name not in states and name not in MADE:
            rule, fault = "job-queue-missing", "does not exist"
            now = "apply the queue first, or correct the name"
        elif states.get(name, _OPEN) not in {"", _OPEN}:
            rule, fault, now = "job-queue-closed", f"is {states[name]}", "open the queue"
        else:
            continue
        message = f"{REFUSED}: its queue {name!r} {fault}"
        yield LintRemark(object=each.title, rule=rule, severity="error", message=message, now=now)


def missing_classes(submission: Submission, existing: Sequence[str]) -> Iterator[LintRemark]:
    """Yield the priority classes that pods of workloads name, and that do not exist.

    :param existing: the names of all classes of the cluster.
    """
    given = {each.key.key for each in submission.objects if each.pair == PRIORITY_CLASS}
    known = {*existing, *given, *BUILT_IN_CLASSES}
    for each in submission.tried:
        if each.pair in {JOB, POD}:
            continue  # A rule of lint is about them.
        names = [str(spec.get("priorityClassName") or "") for spec in each.templates]
        for name in dict.fromkeys(names):
            if name and name not in known:
                yield LintRemark(
                    object=each.title,
                    rule="priority-class-missing",
                    severity="error",
                    message=f"the priority class {name!r} does not exist: its pods are rejected",
                    now="apply the class first, or correct the name",
                )
