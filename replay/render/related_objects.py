"""Objects that may be meant, or that belong to an object, with the command that shows each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...engine.errors import ObjectNotFound
from ...engine.events import Reference
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import plural_of
from ..histories.related_objects import NameSuggestions, meant
from ..logs.given_names import never_known
from ..objects.kind_names import ObjectName, plain_name

if TYPE_CHECKING:
    from ..histories.history import History
    from ..logs.log import Log
    from ..moments.moment import Moment

_SHOWN = 10


def history_command(reference: Reference) -> str:
    """Return the command that shows an object's history."""
    option = f" -n {reference.namespace}" if reference.namespace not in {"", "default"} else ""
    return f"plinian history {plain_name(reference.group, reference.kind)}/{reference.name}{option}"


def meant_text(suggestions: NameSuggestions, name: str) -> str:
    """Return the objects that may be meant, one per line with the command that shows it."""
    lines: list[str] = []
    for title, references in (
        (f"names that begin with {name}", suggestions.begin),
        (f"objects that belong to {name}", suggestions.owned),
        ("in another namespace", suggestions.elsewhere),
        ("another kind with this name", suggestions.others),
        ("a similar name", suggestions.near),
    ):
        if references:
            lines.append(f"{title}:")
            lines += (f"  {history_command(reference)}" for reference in references[:_SHOWN])
            if len(references) > _SHOWN:
                plural = plural_of(references[0].group, references[0].kind)
                more = counted(len(references) - _SHOWN, "more", "more")
                lines.append(f"  and {more}: plinian get {plural}")
    return "\n".join(lines)


def belonging_lines(references: Sequence[Reference]) -> Iterator[str]:
    """Yield the objects that belong to an object, each name once, with commands to show them."""
    names = list(
        dict.fromkeys(msgspec.structs.replace(reference, uid="") for reference in references)
    )
    if not names:
        return
    belongs = "name belongs" if len(names) == 1 else "names belong"
    yield f"\n{len(names):,} object {belongs} to it:\n"
    for name in names[:_SHOWN]:
        yield f"  {history_command(name)}\n"
    if len(names) > _SHOWN:
        yield f"  ({len(names) - _SHOWN} more: -o json)\n"


_ADVICE = "plinian events --object KIND lists what it knows; -n chooses the namespace"


def never_held(log: Log, history: History, moment: Moment) -> ObjectNotFound | None:
    """Return the error for an object of which the log holds no version, with what may be meant.

    None if the log holds one, or requests about it, or if log lines that name the object are the
    best hint.
    """
    if history.uids or any(happening.requested for happening in history.happenings):
        return None
    reference, place = history.object, history.object.namespace
    target = ObjectName(reference.group, reference.kind, reference.name)
    may_be = meant(log.store, target, place, moment)
    lines = len(history.happenings)
    if lines and not may_be:
        return None
    scope = f" in namespace {place}" if place else ""
    message = f'the log holds no {plural_of(target.group, target.kind)} "{target.name}"{scope}'
    if lines:
        several = f"{lines} log lines that name it"
        message += f", and {'1 log line that names it' if lines == 1 else several}"
    kind = (target.group, target.kind)
    near = "" if may_be else never_known(log, kind, target.name, place)
    now = meant_text(may_be, target.name) if may_be else near or _ADVICE
    return ObjectNotFound(message, now=now)
