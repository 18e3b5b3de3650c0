"""Warnings about what the log does not know; with ``--strict``, errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from .doubts import ASSUMED, WARNING, Doubt, add, doubt

if TYPE_CHECKING:
    from ...engine.state.log_coverage import Pair
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..sessions.session_answer import SessionRun


def warn(
    log: Log,
    moment: Moment,
    kinds: Iterable[Pair] | None = None,
    namespace: str | None = None,
    *,
    strict: bool = False,
) -> list[Unknown]:
    """Warn on standard error which of some kinds are not fully known at a moment, and return them.

    :param kinds: None is the kinds that a command about everything needs.
    :param namespace: only in this namespace; None is everywhere.
    :raises NotKnown: something is not, and ``strict``.
    """
    from ..coverage.coverage import unknown_at, usual_kinds

    asked = usual_kinds(log, moment) if kinds is None else list(kinds)
    unknowns = unknown_at(log, moment, asked, namespace)
    warn_unknown(unknowns, strict=strict)
    note_assumed(log, moment, asked)
    return unknowns


def note_assumed(log: Log, moment: Moment, kinds: Collection[Pair] | None = None) -> None:
    """Note on standard error what objects of some kinds lacked, and was filled in.

    :param kinds: None is all.
    """
    from ..logs.assumptions import assumptions_at

    for text in assumptions_at(log, moment, kinds):
        doubt(ASSUMED, text, "fields that objects lacked were filled in")


def warn_sessions(
    log: Log,
    moment: Moment,
    unknown: Sequence[Unknown] | None = None,
    *,
    unconfigured: bool = False,
    strict: bool = False,
) -> Sequence[Unknown]:
    """Warn, before all output, of what sessions need and the log lacks.

    They need complete lists of some kinds, and a configuration of the scheduler.

    :param unknown: what is not known of these kinds; None is computed for the moment.
    :param unconfigured: sessions run with the log's configuration: warn if it has none.
    :returns: what is not known of the kinds.
    :raises NotKnown: something is missing, and ``strict`` is set.
    """
    from ..coverage.coverage import SCHEDULING, lacking, reasons, unknown_at
    from ..logs.logged_confs import has_no_conf
    from ..questions.question import GIVE_CONF, NO_CONF, check_known

    note_assumed(log, moment)
    unknowns = unknown_at(log, moment, SCHEDULING) if unknown is None else unknown
    if strict:
        check_known(log, moment, unknowns, is_configured=not unconfigured)
    bare = unconfigured and has_no_conf(log, moment)
    if not unknowns and not bare:
        return unknowns
    names = list(dict.fromkeys(lack.name for lack in unknowns))
    says = f"sessions need what the log lacks: {', '.join(names)}" if names else ""
    without = f"{NO_CONF}: each release runs with its built-in configuration"
    does = dict.fromkeys([*[GIVE_CONF] * bare, *(lack.remedy for lack in unknowns)])
    lines = (
        f"warning: THE LOG LACKS WHAT SESSIONS NEED ({moment.label}); the answer may be wrong:",
        *[f"  - {without}"] * bare,
        *(f"  - {text}" for text in (*reasons(unknowns), *lacking(log, moment, unknowns))),
        "What to do:",
        *(f"  - {text}" for text in does),
        "",
    )
    add(Doubt(WARNING, "; ".join(filter(None, (says, NO_CONF * bare))), lines))
    return unknowns


def warn_unknown(unknown: Sequence[Unknown], *, strict: bool) -> None:
    """Warn on standard error of what makes an answer uncertain.

    :raises NotKnown: there is anything, and ``strict`` is set.
    """
    from ..coverage.coverage import refuse, unknown_text

    if strict:
        refuse(unknown)
    if unknown:
        names = ", ".join(dict.fromkeys(lack.name for lack in unknown))
        doubt(WARNING, unknown_text(unknown), f"not fully known: {names}")


def refuse_own_panic(answers: Iterable[SessionRun], unknown: Sequence[Unknown]) -> None:
    """Refuse to report a crash that may only come from what the log does not know.

    A real scheduler never saw such an incomplete cluster.

    :param unknown: what sessions need and the log does not know at their moment.
    :raises NotKnown: a session crashed, and a kind is not fully known.
    """
    from ...engine.errors import NotKnown
    from ...engine.state.log_coverage import UnknownCause
    from ..coverage.coverage import unknown_text

    lacking = [
        lack for lack in unknown if lack.gap.why in (UnknownCause.NEVER, UnknownCause.BEFORE)
    ]
    for answer in answers:
        if lacking and answer.result.panic is not None:
            raise NotKnown(
                f"the session of {answer.release} at {answer.at} panics, possibly only because "
                f"of what the log lacks: {unknown_text(lacking)}",
                now=lacking[0].remedy,
            )


def first_of(
    log: Log, text: str, *, as_known_at: str | None = None, strict: bool = False
) -> Moment:
    """Return the moment at which a range begins: the log's first one, if the point is before it.

    :raises NotKnown: it is before it, and ``strict`` is set.
    """
    from ...engine.errors import NotKnown, PointTooEarly

    try:
        return log.moment(text, as_known_at=as_known_at)
    except PointTooEarly as fault:
        if strict:
            raise NotKnown(fault.what, now=fault.now) from fault
        doubt(WARNING, f"{fault.what}: the range begins there")
        return log.moment(fault.first, as_known_at=as_known_at)
