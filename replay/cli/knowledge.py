"""What commands say of what the log does not know: one warning, or with ``--strict`` an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .shell import note

if TYPE_CHECKING:
    from ...engine.state.coverage import Pair
    from ..coverage import Unknown
    from ..log import Log
    from ..moment import Moment
    from ..session import SessionAnswer


def warn(
    log: Log,
    moment: Moment,
    kinds: Iterable[Pair] | None = None,
    namespace: str | None = None,
    *,
    strict: bool = False,
) -> list[Unknown]:
    """Say on standard error what of some kinds is not known at a moment, and return it.

    :param kinds: None is those that a question about everything is about.
    :param namespace: only in it; None is everywhere.
    :raises NotKnown: something is not, and ``strict``.
    """
    from ..coverage import refuse, told, unknown_at, usual_kinds

    asked = usual_kinds(log, moment) if kinds is None else kinds
    found = unknown_at(log, moment, asked, namespace)
    if strict:
        refuse(found)
    if found:
        note(f"warning: {told(found)}")
    return found


def warn_sessions(log: Log, moment: Moment, *, strict: bool = False) -> list[Unknown]:
    """Say the same of what sessions need, and what comes of it where a log knows none of a kind."""
    from ..coverage import SCHEDULING, lacking

    found = warn(log, moment, SCHEDULING, strict=strict)
    for text in lacking(log, moment, found):
        note(f"warning: {text}")
    return found


def refuse_own_panic(answers: Iterable[SessionAnswer], unknown: Sequence[Unknown]) -> None:
    """Refuse to tell of a crash that may come of what the log does not know.

    A scheduler that never met such a cluster never crashed on it.

    :param unknown: what sessions need and is not known at their moment.
    :raises NotKnown: a session crashed, and a kind is not known as a whole.
    """
    from ...engine.errors import NotKnown
    from ...engine.state.coverage import Why
    from ..coverage import told

    lacking = [one for one in unknown if one.gap.why in (Why.NEVER, Why.BEFORE)]
    for answer in answers:
        if lacking and answer.result.panic is not None:
            raise NotKnown(
                f"the session of {answer.release} at {answer.at} ends in a panic, which may come "
                f"of what is missing here: {told(lacking)}",
                now=lacking[0].remedy,
            )


def first_of(
    log: Log, text: str, *, as_known_at: str | None = None, strict: bool = False
) -> Moment:
    """Return the moment at which a range begins: the log's first, if the point lies before it.

    :raises NotKnown: it does, and ``strict``.
    """
    from ...engine.errors import NotKnown, PointTooEarly

    try:
        return log.moment(text, as_known_at=as_known_at)
    except PointTooEarly as fault:
        if strict:
            raise NotKnown(fault.what, now=fault.now) from fault
        note(f"warning: {fault.what}: this begins there")
        return log.moment(fault.first, as_known_at=as_known_at)


def range_of(
    log: Log,
    ends: tuple[Moment, Moment],
    kinds: Sequence[Pair] | None,
    namespace: str | None,
    *,
    strict: bool,
) -> tuple[Moment, Moment]:
    """Return a range that begins when something of what is asked is known, and say what is not.

    :param kinds: None is those that a question about everything is about.
    :raises NotKnown: something is not known at an end, and ``strict``.
    """
    from ..coverage import known_from, refuse, told, unknown_at, usual_kinds

    before, after = ends
    asked = usual_kinds(log, after) if kinds is None else kinds
    parts = []
    later = None if strict else known_from(log, before, after, asked)
    if later is not None:
        before = later
        parts.append(f"nothing of it is known before {later.label}: this begins there")
    found = unknown_at(log, before, asked, namespace) or unknown_at(log, after, asked, namespace)
    if strict:
        refuse(found)
    if found:
        parts.append(told(found))
    if parts:
        note(f"warning: {'; '.join(parts)}")
    return before, after


def note_left_out(log: Log, moment: Moment, count: int) -> None:
    """Say on standard error how many sessions are left out because too little is known there."""
    from ..coverage import beginning_of, plurals

    begin = beginning_of(log, moment)
    if count:
        note(
            f"{count} sessions before rv:{begin.revision} are left out: there is no complete list "
            f"of {plurals(begin.latest)} before it"
        )
    if begin.never:
        note(f"warning: the log holds no complete list of {plurals(begin.never)}")
