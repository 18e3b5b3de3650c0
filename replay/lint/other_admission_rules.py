"""Rules about CronJobs, pods and annotated queues that Volcano's admission webhooks refuse.

Source: pkg/webhooks/admission/cronjobs/validate/admit_cronjob.go (since v1.13.0),
pods/validate/admit_pod.go, queues/validate/validate_queue.go; github.com/robfig/cron ParseStandard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.go.text import parse_int
from ...engine.model.queue import HIERARCHY, HIERARCHY_WEIGHTS
from ...engine.volcano.releases import final_release, landed
from .context import LintContext
from .findings import FaultEffect, FindingSubject, Issue
from .objects import BATCH

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

REFUSED = "Volcano's admission webhook refuses it"
_CRON, _WHOLE_STEPS = landed("v1.13.0"), landed("v1.11.0")
_LONGEST_CRON_NAME = 52
_ZONE = re.compile(r"[A-Za-z._0-9+-]{1,14}", re.ASCII)
_EVERY = re.compile(r"@every (?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+", re.ASCII)
_DESCRIPTORS = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NO_NAMES: Mapping[str, int] = MappingProxyType({})
_FIELDS: Final = (
    ("minute", 0, 59, _NO_NAMES),
    ("hour", 0, 23, _NO_NAMES),
    ("day of the month", 1, 31, _NO_NAMES),
    ("month", 1, 12, MappingProxyType({name: at for at, name in enumerate(_MONTHS, 1)})),
    ("day of the week", 0, 6, MappingProxyType({name: at for at, name in enumerate(_DAYS)})),
)
_BUDGETS = ("volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable")
_STATES = frozenset({"", "Open", "Closed"})
_SCHEDULER = "volcano"


def cron_job_refused(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A CronJob of Volcano that the webhook refuses: its schedule, its time zone, or its name.

    A schedule has five fields, and days of the week from 0 to 6; no time zone. A name has 52
    characters at most. Whether a time zone exists is not compared.
    """
    if not _CRON.reached(final_release(how.release)):
        return
    for manifest in given.world.written:
        if manifest.group_kind != (BATCH, "CronJob"):
            continue
        subject = manifest.subject(given.world.namespace)
        spec = manifest.document.get("spec")
        spec = spec if isinstance(spec, dict) else {}
        for fault in _schedule_faults(spec.get("schedule")):
            yield _refused(subject, "spec.schedule", fault)
        fault = _zone_fault(spec.get("timeZone"))
        if fault:
            yield _refused(subject, "spec.timeZone", fault)
        name = subject.name.rpartition("/")[2]
        if len(name) > _LONGEST_CRON_NAME:
            message = f"its name has {len(name)} characters, more than {_LONGEST_CRON_NAME}"
            yield _refused(subject, "metadata.name", message)


def pod_refused_for_budget(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A pod for Volcano with annotations of a disruption budget that the webhook refuses.

    One of them may be there: a whole number above 0, or a percentage from 1% to 99%.
    """
    for key, pod in given.world.pods.items():
        subject = given.world.subject("Pod", key)
        if subject.place is None or pod.spec.scheduler_name != _SCHEDULER:
            continue
        written = [name for name in _BUDGETS if name in pod.annotations]
        for name in written:
            fault = _budget_fault(pod.annotations[name])
            if fault:
                message = f"{name} {pod.annotations[name]!r:.40} {fault}"
                yield _refused(subject, f"metadata.annotations[{name}]", message)
        if len(written) > 1:
            message = f"it has both {' and '.join(written)}"
            yield _refused(subject, "metadata.annotations", message)


def queue_refused_for_hierarchy(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A queue whose annotated path leads to a queue that is there before it.

    So ``root/eng/dev`` must be applied after ``root/eng``. In releases before v1.11.0 a path must
    also not begin another step of it: ``root/eng`` after ``root/engine``.
    """
    # Before v1.11.0 the webhook compared the beginning of the text, not whole steps.
    slash = "/" if _WHOLE_STEPS.reached(final_release(how.release)) else ""
    before: list[tuple[str, str]] = []
    for name, queue in given.world.queues.items():
        subject = given.world.subject("Queue", name)
        path = queue.annotations.get(HIERARCHY, "")
        if subject.place is not None and (path or queue.annotations.get(HIERARCHY_WEIGHTS)):
            for earlier, below in before:
                if below.startswith(f"{path}{slash}"):
                    message = f"its path {path!r} leads to {below!r} of queue {earlier!r}"
                    now = f"apply it before {earlier!r}, or choose another path"
                    yield _refused(subject, f"metadata.annotations[{HIERARCHY}]", message, now)
                    break
        if path:
            before.append((name, path))


def queue_refused_for_state(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A queue with a state the webhook refuses: only ``Open`` and ``Closed`` may be written."""
    for name, queue in given.world.queues.items():
        subject = given.world.subject("Queue", name)
        if subject.place is not None and queue.status.state not in _STATES:
            message = f"the state {queue.status.state!r:.40} is neither Open nor Closed"
            yield _refused(subject, "status.state", message, "remove it")


def _refused(subject: FindingSubject, field: str, fault: str, now: str = "") -> Issue:
    return Issue(subject, field, FaultEffect.REFUSED, f"{REFUSED}: {fault}", now)


def _schedule_faults(schedule: Any) -> Iterator[str]:
    """Yield why a schedule is refused."""
    if not isinstance(schedule, str) or not schedule:
        yield "it has no schedule"
        return
    # As the webhook: the letters anywhere, as CRON_TZ= and TZ= begin a schedule with its zone.
    if "TZ" in schedule:
        yield "the schedule has a time zone, which belongs into timeZone"
        return
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS and _EVERY.fullmatch(schedule) is None:
            yield f"the schedule {schedule!r:.60} is not known"
        return
    parts = schedule.split()
    if len(parts) != len(_FIELDS):
        yield f"the schedule {schedule!r:.60} has {counted(len(parts), 'field')}, and not five"
        return
    for part, (unit, least, most, names) in zip(parts, _FIELDS, strict=True):
        if not all(_is_range(range_, least, most, names) for range_ in part.split(",")):
            yield f"the {unit} {part!r:.40} of the schedule is not within {least} to {most}"


def _is_range(text: str, least: int, most: int, names: Mapping[str, int]) -> bool:
    """Return whether a text is a number, a range, or ``*``, perhaps with a step."""
    span, slash, step = text.partition("/")
    if slash and not (step.isascii() and step.isdecimal() and int(step) > 0):
        return False
    if span in {"*", "?"}:
        return True
    numbers = [_number(end, names) for end in span.split("-")]
    known = [number for number in numbers if number is not None and least <= number <= most]
    rises = all(low <= high for low, high in pairwise(known))
    return len(known) == len(numbers) <= len(("from", "to")) and rises


def _number(text: str, names: Mapping[str, int]) -> int | None:
    if text.isascii() and text.isdecimal():
        return int(text)
    return names.get(text.lower())


def _zone_fault(zone: Any) -> str:
    if zone is None:
        return ""
    if not isinstance(zone, str) or not zone:
        return "its timeZone is empty"
    if zone.lower() == "local":
        return "its timeZone is Local, which is no name of a zone"
    parts = zone.split("/")
    wrong = any(
        part in {".", ".."} or part.startswith("-") or _ZONE.fullmatch(part) is None
        for part in parts
    )
    return f"its timeZone {zone!r:.40} is not known" if wrong else ""


def _budget_fault(value: str) -> str:
    """Return why a number or a percentage is refused. Source: validateIntPercentageStr."""
    # As strconv.Atoi: unlike Python's int, it takes no spaces, no underscores and no other digits.
    number = parse_int(value)
    if number is not None:
        return "" if number > 0 else "is not above 0"
    part = parse_int(value.replace("%", ""))
    return "" if part is not None and 0 < part < 100 else "is no percentage from 1% to 99%"
