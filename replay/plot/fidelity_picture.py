"""The picture of recorded sessions that were run again: how they came out over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...engine.kubernetes.counts import counted
from ..fidelity.report import NOT_EXPLAINED, Difference, Fidelity, SessionFidelity
from ..render.screen import one_line
from ..series.incidents import Incident
from ..series.period import Period, divided
from .compose import notes_of, numbered
from .picture import COUNT, DURATION, Chart, NumberLine, Picture, Role
from .picture_words import duration


def fidelity_picture(found: Fidelity, log: str) -> Picture:
    """Return the picture of sessions by how they came out, and of what was needed for that.

    Differences that are not explained are marked.
    """
    sessions = found.sessions
    times = [one.opened for one in sessions]
    period = divided(min(times, default=0), max(times, default=0))
    parts: list[list[SessionFidelity]] = [[] for _ in range(period.parts)]
    for one in sessions:
        parts[period.part_of(one.opened)].append(one)
    marks = numbered(_incidents(sessions))
    panels = [one for one in _panels(parts, period) if one.filled]
    exact = sum(one.exact for one in sessions)
    return Picture(
        title=f"Sessions run again: {exact} of {counted(len(sessions), 'session')} as recorded",
        log=log,
        period=period,
        panels=tuple(one._replace(marks=marks) for one in panels),
        notes=(*notes_of(marks, period), f"each step is {duration(period.step)}"),
        empty="" if panels else "no session was run again",
    )


def _panels(parts: Sequence[Sequence[SessionFidelity]], period: Period) -> Iterator[Chart]:
    step = duration(period.step)
    yield _counts(
        f"sessions in {step}",
        ("as recorded", [sum(_at_once(one) for one in some) for some in parts]),
        (
            "as recorded, with other deliveries or another order",
            [sum(one.exact and not _at_once(one) for one in some) for some in parts],
        ),
        ("not as recorded", [sum(not one.exact for one in some) for some in parts]),
    )
    bindings = [[one.bindings for one in some] for some in parts]
    yield _counts(
        f"bindings in {step}",
        ("exact", [sum(each.exact for each in some) for some in bindings]),
        ("to a node with the same score", [sum(each.tie for each in some) for some in bindings]),
        (
            "different, missed or invented",
            [
                sum(each.different + each.missed + each.invented for each in some)
                for some in bindings
            ],
        ),
    )
    late = tuple(
        max((each.us for one in some for each in one.deliveries), default=None) for some in parts
    )
    moved = NumberLine(Role.LONGEST, "farthest", late)
    yield Chart("how far deliveries were moved", DURATION, (moved,) if any(late) else ())


def _counts(title: str, *some: tuple[str, Sequence[int]]) -> Chart:
    """Return a panel of numbers: the same as recorded, the same in another way, different."""
    roles = (Role.SAME, Role.EXPLAINED, Role.DIFFERENT)
    lines = (
        NumberLine(role, label, tuple(values))
        for role, (label, values) in zip(roles, some, strict=True)
        if any(values)
    )
    return Chart(title, COUNT, tuple(lines))


def _at_once(one: SessionFidelity) -> bool:
    return one.exact and not one.deliveries and not one.order


def _incidents(sessions: Sequence[SessionFidelity]) -> Iterator[Incident]:
    """Yield what is not explained: of each session the first difference, and how many more."""
    for one in sessions:
        bad = [each for each in one.differences if each.cause in NOT_EXPLAINED]
        if bad:
            yield Incident(one.opened, None, "", _text(bad[0], len(bad) - 1))


def _text(one: Difference, more: int) -> str:
    others = f", and {more} more" if more else ""
    recorded, again = (one_line(text) or "none" for text in (one.recorded, one.again))
    return (
        f"session {one.session}: {one.about} of {one_line(one.name)} is {again}, recorded "
        f"{recorded}: {one.cause.value}{others}"
    )
