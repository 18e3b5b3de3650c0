"""Pods of a job that the API server rejects, as the PriorityClass that they name does not exist."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...engine.kubernetes.priority_classes import BUILT_IN_CLASSES
from ...engine.volcano.table import controller_behaviours
from .amounts import joined
from .answering_session import PODGROUP, PRIORITY_CLASS, Run
from .finding import Blocked
from .records import Note

CAUSE = "no-priority-class"


class _Rejected(msgspec.Struct, frozen=True):
    """Tasks whose pods name a class that the log does not hold."""

    tasks: tuple[str, ...]
    name: str


def none_admitted(run: Run, key: str) -> Blocked | None:
    """Return that a job has no pods, as the API server rejects them; None if it does not.

    :param key: of the PodGroup.
    """
    rejected = next(_rejected(run, key), None)
    if rejected is None or not _knows_classes(run):
        return None
    text = (
        f"none of its pods exists: the API server rejects them, as their PriorityClass "
        f"{rejected.name} does not exist"
    )
    about = ((PODGROUP, key), (PRIORITY_CLASS, rejected.name))
    return Blocked(text, CAUSE, (Note(text=text, blocks=True),), about, (rejected.name,))


def not_known_whether(run: Run, key: str) -> str:
    """Return that it is not known whether pods are rejected; empty if that is known."""
    rejected = next(_rejected(run, key), None)
    if rejected is None or _knows_classes(run):
        return ""
    return (
        f"; it is not known whether their PriorityClass {rejected.name} exists, without which the "
        "API server rejects them: the log holds no complete list of priorityclasses"
    )


def rejected_beside(run: Run, key: str) -> str:
    """Return which pods are rejected of a job that has others; empty if none are known to be."""
    if not _knows_classes(run):
        return ""
    said = (
        f"the API server rejects new pods of task {joined(rejected.tasks)}, as their PriorityClass "
        f"{rejected.name} does not exist"
        for rejected in _rejected(run, key)
    )
    return "".join(f"; {text}" for text in said)


def _knows_classes(run: Run) -> bool:
    return not run.not_listed(PRIORITY_CLASS)


def _rejected(run: Run, key: str) -> Iterator[_Rejected]:
    """Yield the classes that pods of a job name, and that are not there, by name."""
    spec = run.job_spec(key)
    inherits = controller_behaviours(run.answer.release).pods_inherit_job_priority
    known = {*run.cache.stores.of("PriorityClass"), *BUILT_IN_CLASSES}
    by_class: dict[str, list[str]] = {}
    for task in spec.get("tasks") or ():
        own = ((task.get("template") or {}).get("spec") or {}).get("priorityClassName")
        name = own or (spec.get("priorityClassName") if inherits else "")
        # A task with no replicas gets no pods that could be rejected.
        if name and name not in known and task.get("replicas"):
            by_class.setdefault(name, []).append(task.get("name") or "default")
    for name, tasks in sorted(by_class.items()):
        yield _Rejected(tuple(tasks), name)
