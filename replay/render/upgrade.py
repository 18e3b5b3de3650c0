"""What another release would decide differently, by cause, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ..compare import verdict
from ..compare.verdict import CauseGroup, ChangedDecision, Upgrade, Verdict, VerdictEffect
from ..coverage.coverage import unknown_text
from .blocks import Section, TerminalLine, block_lines, first_rows
from .comparison import behaviour_table, cause_text, value_text
from .tables import NONE, PLAIN, Style, Table, TextColumn, table_of

_SHOWN = 5
"""The decisions of a group that the text shows; JSON has all."""


_DOES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        verdict.PLACEMENTS: ("placements change", "pod"),
        verdict.EVICTIONS: ("evictions change", "pod"),
        verdict.PHASES: ("phases change", "PodGroup"),
    }
)


def upgrade_lines(upgrade: Upgrade, *, unfold: bool = False, style: Style = PLAIN) -> Iterator[str]:
    """Yield the lines: the verdict, how much differs, why, and examples for every cause.

    :param unfold: also list differences without effect on pods; otherwise they are one line.
    """
    judged = verdict.verdict_of(upgrade)
    before, after = upgrade.releases
    of = "the last recorded at each revision" if upgrade.logged else "sessions after a change"
    where = "in the log" if upgrade.whole else "up to this moment"
    decide = "decides" if 1 in {upgrade.differing, upgrade.sessions} else "decide"
    differing = (
        f"{upgrade.differing} of {counted(upgrade.sessions, 'session')} {decide} differently "
        f"as {after} than as "
        f"{before} ({of}; {upgrade.known} {where})."
    )
    parts = [Section([TerminalLine(f"Verdict: {verdict_text(judged, upgrade)}"), differing])]
    # Differences that no user notices hide those that matter.
    groups = upgrade.groups if unfold else list(_noticed(upgrade.groups))
    if groups:
        parts += _groups_sections(upgrade, groups)
    unnoticed = (
        effect for effect in judged.effects if effect.level == verdict.UNNOTICED and not unfold
    )
    for effect in unnoticed:
        differences = counted(effect.decisions, "difference")
        of = "of texts and of plans for waiting pods (see them with --all)"
        parts.append(Section([f"Not shown: {differences} {of}"]))
    return block_lines(parts, style=style)


def verdict_text(judged: Verdict, upgrade: Upgrade) -> str:
    """Return a verdict as text."""
    noticed = [effect for effect in judged.effects if effect.level != verdict.UNNOTICED]
    if judged.level == verdict.UNKNOWN:
        return f"not known whether anything changes: {_why_unknown(upgrade)}"
    if not noticed:
        more = " but texts and plans for waiting pods" if judged.effects else ""
        return f"nothing changes{more}{_as_far(upgrade)}"
    said = [
        *_in_one_only(upgrade, verdict.CRASHES),
        *_in_one_only(upgrade, verdict.STOPS),
        *(_effect_text(effect) for effect in noticed if effect.level in _DOES),
    ]
    only = "only " * (judged.level == verdict.PHASES)
    sampled = f", {limit}" if (limit := _sampled(upgrade)) else ""
    return f"{only}{', '.join(said)}{sampled}{_if_sure(upgrade)}"


def _if_sure(upgrade: Upgrade) -> str:
    """Return that all differences are in gaps, if other sessions could be compared."""
    # A difference in a gap may come from what the log lacks there.
    every = (changed for group in upgrade.groups for changed in group.changed)
    if not upgrade.sure or any(changed.known for changed in every):
        return ""
    return f"; nothing changes{_as_far(upgrade)}"


def _why_unknown(upgrade: Upgrade) -> str:
    """Return why no session could be compared with all that it needs."""
    if upgrade.not_known:
        single = upgrade.sessions == 1
        needed = "the session needs" if single else f"all {upgrade.sessions:,} sessions need"
        return f"the log lacks what {needed} ({unknown_text(upgrade.not_known)})"
    if upgrade.left_out:
        before = counted(upgrade.left_out, "session")
        are = "is" if upgrade.left_out == 1 else "are"
        return f"{before} {are} before the first complete lists, and none is after them"
    return "the log has no session to compare"


def _sampled(upgrade: Upgrade) -> str:
    """Return which part of the sessions was compared; empty if all were."""
    if upgrade.sessions == upgrade.known:
        return ""
    return f"in the {upgrade.sessions:,} of {counted(upgrade.known, 'session')} that were compared"


def _as_far(upgrade: Upgrade) -> str:
    """Return the limits of "nothing changes", if not all sessions could be checked."""
    # "Nothing changes" is a strong sentence: each limit of it is named.
    limits = [limit] if (limit := _sampled(upgrade)) else []
    missed = upgrade.doubtful + upgrade.left_out
    if missed:
        whole = upgrade.sessions + upgrade.left_out
        limits.append(
            f"in the {upgrade.sure} of {counted(whole, 'session')} for which the log knows all "
            "that they need"
        )
    if upgrade.unconfigured:
        limits.append("with each release's built-in configuration, as the log has none")
    return "".join(f", {limit}" if number else f" {limit}" for number, limit in enumerate(limits))


def _effect_text(effect: VerdictEffect) -> str:
    does, noun = _DOES[effect.level]
    objects, sessions = counted(effect.objects, noun), counted(effect.sessions, "session")
    return f"{does} ({objects} in {sessions}{_of_them_doubtful(effect.sessions, effect.doubtful)})"


def _of_them_doubtful(sessions: int, doubtful: int) -> str:
    """Return how many of some sessions are where the log lacks what they need."""
    if not doubtful:
        return ""
    which = f" {doubtful:,} of them" if doubtful < sessions else " all" if doubtful > 1 else ""
    return f",{which} in {'a gap' if doubtful == 1 else 'gaps'} of the log"


_IN_ONE: Mapping[str, str] = MappingProxyType(
    {
        verdict.CRASHES: "{0} panics where {1} does not ({2})",
        verdict.STOPS: "all scheduling stops as {0} where it goes on as {1} ({2})",
    }
)


def _in_one_only(upgrade: Upgrade, level: str) -> Iterator[str]:
    """Yield which release panics, or stops, where the other does not, and in how many sessions."""
    every = [changed for group in upgrade.groups for changed in group.changed]
    of_level = [decision for decision in every if verdict.level_of(decision) == level]
    # Either release may be the one that panics.
    for affected, other in ((0, 1), (1, 0)):
        known = [decision.known for decision in of_level if decision.values[other] is None]
        if known:
            names = upgrade.releases[affected], upgrade.releases[other]
            doubtful = _of_them_doubtful(len(known), known.count(False))
            yield _IN_ONE[level].format(*names, f"{counted(len(known), 'session')}{doubtful}")


def _noticed(groups: Sequence[CauseGroup]) -> Iterator[CauseGroup]:
    """Yield groups without differences that have no effect, the worst and most frequent first."""
    noticed = []
    for group in groups:
        decisions = tuple(
            decision
            for decision in group.changed
            if verdict.level_of(decision) != verdict.UNNOTICED
        )
        if decisions:
            noticed.append(
                CauseGroup(group.causes, decisions, len({decision.at for decision in decisions}))
            )
    yield from sorted(noticed, key=lambda group: (_worst(group), -len(group.changed), group.causes))


def _worst(group: CauseGroup) -> int:
    return min(verdict.LEVELS.index(verdict.level_of(decision)) for decision in group.changed)


_CAUSES: Sequence[TextColumn[CauseGroup]] = (
    TextColumn("CAUSE", lambda cause_group: cause_text(cause_group.causes)),
    TextColumn("DECISIONS", lambda group: str(len(group.changed))),
    TextColumn("SESSIONS", lambda group: str(group.sessions)),
    TextColumn("FIRST AT", lambda group: point_text(group.changed[0])),
)


def _groups_sections(upgrade: Upgrade, groups: Sequence[CauseGroup]) -> Iterator[Section]:
    yield Section([table_of(_CAUSES, groups)])
    for group in groups:
        # Certain differences come before those in gaps.
        rows = sorted(group.changed, key=lambda changed: not changed.known)
        headers = ("AT", "EVENT", "DECISION", "OBJECT", *upgrade.releases)
        table = Table(headers, list(map(_row, rows)), keep=headers[2:])
        yield Section([TerminalLine(cause_text(group.causes)), *first_rows(table, _SHOWN)])
    named = {name for group in groups for cause in group.causes for name in cause}
    behaviours = [row for row in upgrade.behaviours if row.behaviour in named]
    if behaviours:
        yield Section([behaviour_table(behaviours, upgrade.releases)])


def _row(changed: ChangedDecision) -> tuple[str, ...]:
    values = map(value_text, changed.values)
    about = changed.about or NONE
    return point_text(changed), f"@{changed.position}", changed.kind, about, *values


def point_text(changed: ChangedDecision) -> str:
    """Return a point, and that the log lacks what the session there needs."""
    return changed.at if changed.known else f"{changed.at} (gap)"
