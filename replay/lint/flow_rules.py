"""Rules about JobFlows: flows that wait for others, and the JobTemplates that they need.

Source: pkg/webhooks/admission/jobflows/validate/validate_jobflow.go (since v1.12.0);
pkg/controllers/jobflow/jobflow_controller_action.go deployJob, judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...engine.volcano.releases import final_release, landed
from .circles import circles
from .context import LintContext
from .findings import FaultEffect, Issue

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

REFUSED = "Volcano's admission webhook refuses it"
_CHECKED = landed("v1.12.0")
_POLICIES = ("retain", "delete")


def flow_dependency_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A flow that waits for one that its JobFlow does not have: it never starts."""
    for key, flow in given.world.flows.items():
        names = [part.name for part in flow.spec.flows]
        for number, part in enumerate(flow.spec.flows):
            for target in part.depends_on.targets if part.depends_on else ():
                if target not in names:
                    like = get_close_matches(target, names, n=1)
                    effect, then = _unmet(how)
                    yield Issue(
                        given.world.subject("JobFlow", key),
                        f"spec.flows[{number}].dependsOn.targets",
                        effect,
                        f"flow {part.name!r} waits for {target!r}, which is none of its flows "
                        f"({', '.join(names)}): {then}",
                        f"write {like[0]}" if like else "name one of its flows",
                    )


def flow_cycle(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A flow that waits for itself, perhaps through others: none of them ever starts."""
    for key, flow in given.world.flows.items():
        waits = {
            part.name: tuple(part.depends_on.targets if part.depends_on else ())
            for part in flow.spec.flows
        }
        effect, then = _unmet(how)
        for circle in circles(waits):
            number = next(at for at, part in enumerate(flow.spec.flows) if part.name == circle[0])
            yield Issue(
                given.world.subject("JobFlow", key),
                f"spec.flows[{number}].dependsOn.targets",
                effect,
                f"flow {circle[0]!r} waits for itself ({' → '.join(circle)}): {then}",
                "take one of these dependencies out",
            )


def flow_template_missing(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A flow without a JobTemplate of its name. Only if JobTemplates are known."""
    world = given.world
    for key, flow in world.flows.items() if world.templates else ():
        namespace = key.rpartition("/")[0]
        for number, part in enumerate(flow.spec.flows):
            if f"{namespace}/{part.name}" not in world.templates:
                yield Issue(
                    world.subject("JobFlow", key),
                    f"spec.flows[{number}].name",
                    FaultEffect.NEVER,
                    f"there is no JobTemplate {namespace}/{part.name}: neither its job is created "
                    "nor those of the flows after it",
                    world.or_where("apply the JobTemplate first, or correct the name"),
                )


def flow_repeated(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """Two flows of one name: they share one job."""
    for key, flow in given.world.flows.items():
        names = [part.name for part in flow.spec.flows]
        for name in sorted({name for name in names if names.count(name) > 1}):
            message = f"{names.count(name)} flows have the name {name!r}: they share one job"
            subject = given.world.subject("JobFlow", key)
            yield Issue(
                subject, "spec.flows", FaultEffect.DIFFERS, message, "give each its own name"
            )


def flow_policy_unknown(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A ``jobRetainPolicy`` that does not exist: the API server refuses the JobFlow."""
    for key, flow in given.world.flows.items():
        name = flow.spec.job_retain_policy
        if name and name not in _POLICIES:
            message = f"the API server refuses it: {name!r} is neither retain nor delete"
            subject = given.world.subject("JobFlow", key)
            yield Issue(subject, "spec.jobRetainPolicy", FaultEffect.REFUSED, message)


def _unmet(how: Behaviours) -> tuple[FaultEffect, str]:
    """Return the effect of a dependency that is never met, and what follows."""
    if _CHECKED.reached(final_release(how.release)):
        return FaultEffect.REFUSED, REFUSED
    return FaultEffect.NEVER, "it never starts"
