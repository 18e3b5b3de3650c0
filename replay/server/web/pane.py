"""The panel beside the events: one object at the position, as state, difference, drift or text.

It is no part of blocks: scripts replace it, and read the positions of its links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ....engine.errors import PlinianError
from ...answers.answer import Why
from ...facade.log import Log
from ...histories.history import Happening, History
from ...histories.name_life import Life, NameState
from ...moments.times import is_known, span_words
from ...objects.field_changes import FieldDifference, changes
from ...render.differences import value_text
from ...render.events import object_text
from ...render.tables import cut
from ...render.yaml_text import YamlWriter
from ..reach import reach_cache
from .lives import document_of, life_of, set_by, setter
from .look import Look

PANES = ("diff", "state", "drift", "raw", "why")
LONG_PANES = ("drift", "why")
"""Panes that run the scheduler's cache or a session."""

USUAL = "diff"

MOST_FIELDS = 200
_NOTHING = " No field differs."
_LONGEST = 300
_MOST_TEXT = 200_000


class ShownField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of an object.

    :param old: its value before; of the state, empty. :param sign: ``+``, ``-`` or ``~``.
    :param set_by: the event that set it last; 0 if that is not known.
    """

    path: str
    value: str
    old: str = ""
    sign: str = ""
    set_by: int = 0


class ShownDrift(msgspec.Struct, frozen=True, kw_only=True):
    """Where the scheduler's cache differs from the API server. :param since: this event."""

    name: str
    field: str
    truth: str
    belief: str
    since: int


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """What the panel shows.

    :param pane: which tab. :param object: as in ``pod/ml/train-0``; empty if none is selected.
    :param chosen: whether the query names it; else it is that of the event at the position.
    :param exists: at the position; ``phase`` is its status as ``get`` prints it, ``node`` that of
        a pod. :param changed: the event that changed it last; 0 if none is known.
    :param kind: of that event, and ``actor``: who caused it; empty if not known.
    :param says: one sentence above the rows. :param shown: the version that is shown; 0 if none.
    :param more: rows that are left out. :param fault: why there is no answer.
    :param waits: the answer is not computed yet, because it takes long.
    """

    pane: str
    object: str
    chosen: bool
    exists: bool = False
    phase: str = ""
    node: str = ""
    changed: int = 0
    kind: str = ""
    actor: str = ""
    says: str = ""
    shown: int = 0
    fields: list[ShownField] = []
    drift: list[ShownDrift] = []
    more: int = 0
    text: str = ""
    why: Why | None = None
    fault: str = ""
    waits: bool = False


def selected(log: Log, look: Look) -> str:
    """Return the selected object, or that of the event at the position; empty if it has none."""
    if look.select:
        return look.select
    events = log.events(positions=(look.position,)) if look.position else []
    reference = next((event.event.reference for event in events), None)
    return object_text(reference) if reference is not None and reference.name else ""


def pane_of(log: Log, look: Look, named: str) -> Pane:
    """Return the panel of an object at a position."""
    asked = look.get("pane", USUAL)
    pane = asked if asked in PANES else USUAL
    base = Pane(pane=pane, object=named, chosen=bool(look.select))
    # The page comes without it first; its script then asks for this part alone.
    if pane in LONG_PANES and not look.get("part") and not look.get("wait"):
        return msgspec.structs.replace(base, waits=True)
    try:
        if pane == "drift":
            return _drift(log, look, base)
        if not named:
            return base
        if pane == "why":
            return _why(log, look, base)
        life = life_of(log, named)
        return _versioned(log, look, base, life)
    except PlinianError as fault:
        now = f" {fault.now}" if fault.now else ""
        return msgspec.structs.replace(base, fault=f"{fault.what}.{now}")


def _versioned(log: Log, look: Look, base: Pane, life: Life) -> Pane:
    state, past, replace = (
        life.state(look.position),
        life.by(look.position),
        msgspec.structs.replace,
    )
    last = past.changed
    base = replace(
        base,
        exists=state.exists,
        phase=state.status,
        node=state.node,
        shown=state.version,
        changed=0 if last is None else last.position,
        kind="" if last is None else last.kind,
        actor="" if last is None else last.actor,
    )
    if not state.version:
        first = next(
            (happening.position for happening in life.history.happenings if happening.revision), 0
        )
        says = f"The log holds no version of it by @{look.position}"
        return replace(base, says=f"{says}; the first is @{first}." if first else f"{says}.")
    if base.pane == "raw":
        text = YamlWriter().text([document_of(log, state)])
        return replace(base, text=text[:_MOST_TEXT], more=max(len(text) - _MOST_TEXT, 0))
    if base.pane == "state":
        return _state(log, base, past, state)
    return _diff(log, look, base, life)


def _state(log: Log, base: Pane, past: History, state: NameState) -> Pane:
    places = set_by(past, state.version)
    rows = [
        ShownField(path=change.path, value=_text(change.new), set_by=setter(places, change.path))
        for change in changes({}, document_of(log, state))
    ]
    rows.sort(key=lambda row: (_rank(row.path), row.path))
    says = "" if state.exists else f"{_was_deleted(past)} This is its last version."
    return msgspec.structs.replace(
        base, fields=rows[:MOST_FIELDS], more=len(rows[MOST_FIELDS:]), says=says
    )


def _was_deleted(past: History) -> str:
    ended = past.ended
    if ended is None:
        return "It does not exist any more."
    return f"It was deleted{' before' if ended.note else ''} by @{ended.position}{_by(ended)}."


def _by(happening: Happening) -> str:
    return f" by {happening.actor}" if happening.actor else ""


def _rank(path: str) -> int:
    """Return where a part of an object stands: its status first, its metadata last."""
    order = ("status", "spec", "metadata")
    part = path.partition(".")[0]
    return order.index(part) if part in order else len(order)


def _diff(log: Log, look: Look, base: Pane, life: Life) -> Pane:
    if look.versus is not None:
        return _compared(log, look, base, life)
    past = life.by(look.position)
    last = past.changed
    field_differences: list[FieldDifference] = []
    says = ""
    if last is not None:
        field_differences = last.changes
        time = f" at {span_words(last.span)}" if is_known(last.span) else ""
        says = f"Last change{time}, {last.kind} (@{last.position}){_by(last)}."
        says += f" {last.note[0].upper()}{last.note[1:]}." if last.note else ""
        if not field_differences and not last.note:
            first = next(
                (happening.position for happening in past.happenings if happening.shows_version), 0
            )
            is_first = last.position == first
            says += " It is the first version that the log holds." if is_first else _NOTHING
    rows = list(_changed(field_differences))
    return msgspec.structs.replace(
        base, says=says, fields=rows[:MOST_FIELDS], more=len(rows[MOST_FIELDS:])
    )


def _compared(log: Log, look: Look, base: Pane, life: Life) -> Pane:
    """Return the panel with what differs from another position."""
    replace, versus = msgspec.structs.replace, look.versus or 0
    then, now = life.state(versus), life.state(look.position)
    if not then.exists or not now.exists:
        return replace(
            base, says=f"It does not exist at @{look.position if then.exists else versus}."
        )
    field_differences = changes(document_of(log, then), document_of(log, now))
    says = f"From @{versus} (version @{then.version}) to @{look.position}"
    says += ":" if field_differences else ", no field differs."
    rows = list(_changed(field_differences))
    return replace(base, says=says, fields=rows[:MOST_FIELDS], more=len(rows[MOST_FIELDS:]))


def _changed(field_differences: list[FieldDifference]) -> Iterator[ShownField]:
    for field_difference in field_differences:
        added, gone = field_difference.old is msgspec.UNSET, field_difference.new is msgspec.UNSET
        yield ShownField(
            path=field_difference.path,
            old="" if added else _text(field_difference.old),
            value="" if gone else _text(field_difference.new),
            sign="+" if added else "-" if gone else "~",
        )


def _text(value: Any) -> str:
    return cut(value if isinstance(value, str) and value else value_text(value), _LONGEST)


def _drift(log: Log, look: Look, base: Pane) -> Pane:
    reach_cache(log, log.moment(look.at), [look.release])
    drift = log.drift(at=look.at, release=look.release)
    name = base.object.partition("/")[2]
    rows = [
        ShownDrift(
            name=f"{difference.kind} {difference.name}",
            field=difference.field,
            truth=_side(difference.truth),
            belief=_side(difference.belief),
            since=difference.since,
        )
        for difference in drift.differences
        if not base.chosen or difference.name in {name, name.rpartition("/")[2]}
    ]
    of = f"of {base.object} " if base.chosen else ""
    count = f"{len(rows)} difference{'' if len(rows) == 1 else 's'}" if rows else "no difference"
    says = f"The scheduler's cache of {drift.release} has {count} {of}from the API server."
    if base.chosen and len(drift.differences) > len(rows):
        says += f" All objects have {len(drift.differences)}."
    return msgspec.structs.replace(
        base, drift=rows[:MOST_FIELDS], more=len(rows[MOST_FIELDS:]), says=says
    )


def _side(text: str | None) -> str:
    return "nothing" if text is None else text


def _why(log: Log, look: Look, base: Pane) -> Pane:
    reach_cache(log, log.moment(look.at), [look.release])
    why = log.why(base.object, at=look.at, release=look.named_release)
    return msgspec.structs.replace(base, why=why)
