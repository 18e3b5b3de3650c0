"""Numbers that are fields of an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from ...engine.errors import UsageError
from ...engine.state.coverage import Pair
from .blamed import Asking, Blame, Part, made_of
from .changes import changes_in
from .evidence import evidence_of
from .finding import ObjectKey
from .run import JOB, NODE, POD, PODGROUP, QUEUE

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


def field_changes(ask: Asking, sums: Iterable[str]) -> Blame:
    """Return the changes of a field of the object itself.

    :param sums: names of the numbers of such an object that are sums, for the message.
    :raises UsageError: no version of the object has the field.
    """
    names = _FIELDS.get(ask.pair, {})
    what, _, rest = ask.number.partition(".")
    path = (*names.get(what, (what,)), *([rest] if rest else []))
    about: ObjectKey = (ask.pair, ask.key)
    changes = list(changes_in(ask.log, ask.moment, about, lambda one: value_at(one, path)))
    if not changes or all(one.after is None for one in changes):
        raise _unknown(ask, what, {*sums, *names})
    events = evidence_of(ask.log, ask.moment, [one.recorded for one in changes])
    parts = [
        Part(amount=_text(one.after), before=_text(one.before), about=ask.about, event=event)
        for one, event in zip(changes, events, strict=True)
    ]
    made = made_of(ask, parts[-1].amount, f"field {'.'.join(path)}", parts)
    return msgspec.structs.replace(made, changed=f"{parts[-1].before} → {parts[-1].amount}")


def _unknown(ask: Asking, what: str, known: Iterable[str]) -> UsageError:
    if ask.pair == QUEUE and what in _OF_SESSIONS:
        return UsageError(
            f"no version of {ask.about} in the log sets {ask.number}",
            now=f"sessions compute it; see it with: plinian why {ask.about} -v",
        )
    if what in _FIELDS.get(ask.pair, {}):
        return UsageError(
            f"no version of {ask.about} in the log sets {ask.number}",
            now="ask about a number that the object has; plinian describe prints them",
        )
    return UsageError(
        f"{ask.about} has no number {ask.number!r} in any version that the log holds",
        now=f"as in {', '.join(sorted(known))}, or the path of a field, such as "
        "metadata.generation; a resource follows a dot, such as allocated.cpu",
    )


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
    found: object = document
    return found


def _text(value: object) -> str:
    if value is None:
        return "<none>"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
