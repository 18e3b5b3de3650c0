"""Numbers that are fields of an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.state.log_coverage import Pair
from ..lint.lint_fields import unknown_fields
from ..objects.field_paths import split_path
from .answering_session import JOB, NODE, POD, PODGROUP, QUEUE
from .blamed import Blame, NumberAsked, NumberPart, made_of
from .cluster_resources import no_such_resource, resources_in, there_are
from .evidence import evidence_of
from .finding import ObjectKey
from .object_changes import changes_in

Path = tuple[str, ...]
_FIELDS: Mapping[Pair, Mapping[str, Path]] = MappingProxyType(
    {
        QUEUE: MappingProxyType(
            {
                "capability": ("spec", "capability"),
                "deserved": ("spec", "deserved"),
                "guarantee": ("spec", "guarantee", "resource"),
                "weight": ("spec", "weight"),
                "parent": ("spec", "parent"),
                "state": ("status", "state"),
            }
        ),
        NODE: MappingProxyType(
            {
                "allocatable": ("status", "allocatable"),
                "capacity": ("status", "capacity"),
                "unschedulable": ("spec", "unschedulable"),
            }
        ),
        PODGROUP: MappingProxyType(
            {
                "phase": ("status", "phase"),
                "minMember": ("spec", "minMember"),
                "minResources": ("spec", "minResources"),
                "queue": ("spec", "queue"),
                "running": ("status", "running"),
            }
        ),
        JOB: MappingProxyType(
            {
                "phase": ("status", "state", "phase"),
                "minAvailable": ("spec", "minAvailable"),
                "queue": ("spec", "queue"),
                "running": ("status", "running"),
                "pending": ("status", "pending"),
            }
        ),
        POD: MappingProxyType({"phase": ("status", "phase"), "node": ("spec", "nodeName")}),
    }
)
"""Short names of fields, by kind."""

_OF_SESSIONS = frozenset(
    {"capability", "deserved", "guarantee", "elastic", "request", "share", "realCapability"}
)
"""What a session computes of a queue from all queues, where no field gives it."""


_OF_RESOURCES = frozenset(
    {
        *("capability", "deserved", "guarantee", "elastic", "request", "realCapability"),
        *("allocatable", "capacity", "minResources"),
    }
)
"""Names after which a resource follows."""


def field_changes(ask: NumberAsked, sums: Iterable[str]) -> Blame:
    """Return the changes of a field of the object itself.

    :param sums: names of the numbers of such an object that are sums, for the message.
    :raises UsageError: no version of the object has the field.
    """
    names = _FIELDS.get(ask.pair, {})
    name, *more = split_path(ask.number)
    rest = ".".join(more)
    # What follows is one step: a resource with dots is one key, and `value_at` splits other steps.
    path = (*names.get(name, (name,)), *([rest] if rest else []))
    about: ObjectKey = (ask.pair, ask.key)
    changes = list(
        changes_in(ask.log, ask.moment, about, lambda document: value_at(document, path))
    )
    if not changes or all(change.after is None for change in changes):
        raise _unknown(ask, {*sums, *names})
    events = evidence_of(ask.log, ask.moment, [part_change.recorded for part_change in changes])
    parts = [
        NumberPart(
            amount=_text(change.after), before=_text(change.before), about=ask.about, event=event
        )
        for change, event in zip(changes, events, strict=True)
    ]
    blame = made_of(ask, parts[-1].amount, f"field {'.'.join(path)}", parts)
    # A field is replaced and not added to, so its change is no sum.
    return msgspec.structs.replace(blame, changed=f"{parts[-1].before} → {parts[-1].amount}")


def _unknown(ask: NumberAsked, known: Iterable[str]) -> UsageError:
    """Return the error for a field that no version has, with what there is instead."""
    field_name, *rest = split_path(ask.number)
    unset = f"no version of {ask.about} in the log sets {ask.number}"
    if field_name in {"metadata", "spec", "status"}:
        before, name, there = _siblings(ask, split_path(ask.number))
        return UsageError(unset, now=there_are(name, there, before=before))
    if field_name not in {*_FIELDS.get(ask.pair, {}), *(_OF_SESSIONS if ask.pair == QUEUE else ())}:
        return UsageError(
            f"{ask.about} has no number {ask.number!r} in any version that the log holds",
            now=f"{there_are(field_name, known)}; or write the path of a field, such as "
            "metadata.generation; a resource follows a dot, such as allocated.cpu",
        )
    resource, known = ".".join(rest), resources_in(ask.log.truth(ask.moment))
    if resource and field_name in _OF_RESOURCES and resource not in known:
        now = there_are(resource, known, before=f"{field_name}.")
        return UsageError(no_such_resource(resource), now=now)
    if ask.pair == QUEUE and field_name in _OF_SESSIONS:
        now = f"sessions compute it; see it with: plinian why {ask.about} -v"
        return UsageError(unset, now=now)
    return UsageError(
        unset, now="ask about a number that the object has; plinian describe prints them"
    )


def _siblings(ask: NumberAsked, path: Path) -> tuple[str, str, tuple[str, ...]]:
    """Return the path before the first name that does not exist, that name, and what there is.

    A name that the kind does not have comes first; else it is one that the object does not have.
    """
    document: Any = ""
    for step in reversed(path):
        document = {step: document}
    for field in unknown_fields(*ask.pair, document):
        return field.path.removesuffix(field.name), field.name, field.there
    namespace, _, name = ask.key.rpartition("/")
    try:
        (value,) = ask.log.get(ask.pair, name, at=ask.moment, namespace=namespace or None)
    except ObjectNotFound:
        return "", path[-1], ()
    for number, step in enumerate(path):
        if not isinstance(value, dict) or step not in value:
            there = tuple(value) if isinstance(value, dict) else ()
            return "".join(f"{passed}." for passed in path[:number]), ".".join(path[number:]), there
        value = value[step]
    return "", path[-1], ()


def value_at(document: Any, path: Sequence[str]) -> object:
    """Return a part of a document; the last step may be a name with dots, or several steps."""
    for step in path:
        if not isinstance(document, dict):
            return None
        if step in document:
            document = document[step]
            continue
        head, dot, rest = step.partition(".")
        document = value_at(document.get(head), (rest,)) if dot else None
    value: object = document
    return value


def _text(value: object) -> str:
    if value is None:
        return "<none>"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
