"""What another release would decide differently, as a review: a rule is a cause."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.kubernetes.counts import counted
from ..compare import verdict
from ..compare.verdict import CauseGroup, Upgrade
from ..render.comparison import cause_text, value_text
from ..render.upgrade import point_text, verdict_text
from .review_records import Level, Result, Review, ReviewRule

PAGE = "docs/behaviours.md"
NOT_FOUND = "cause-not-found"
SAME = "sessions-decide-the-same"

_SHOWN = 5
"""The decisions of a cause that a result names."""


def upgrade_review(upgrade: Upgrade, *, unfold: bool) -> Review:
    """Return the differences as a review; each cause is one result.

    :param unfold: also differences that no user notices count as failures.
    """
    judged = verdict.verdict_of(upgrade)
    before, after = upgrade.releases
    unknown = judged.level == verdict.UNKNOWN
    fails = bool(upgrade) if unfold else judged.noticed
    return Review(
        "upgrade-check",
        f"{counted(upgrade.sessions, 'session')} as {before} and as {after}: "
        f"{verdict_text(judged, upgrade)}",
        # A pipeline that shows nothing looks broken: one rule passes.
        (*([] if fails or unknown else [_same(upgrade)]), *_rules(upgrade)),
        tuple(_result(group, upgrade, unfold=unfold) for group in upgrade.groups),
        unknown=verdict_text(judged, upgrade) if unknown else "",
    )


def _same(upgrade: Upgrade) -> ReviewRule:
    before, after = upgrade.releases
    about = f"Sessions as {after} decide as those of {before}, as far as users notice."
    return ReviewRule(SAME, about, "", "docs/how-to/compare-releases.md")


def _rules(upgrade: Upgrade) -> Iterator[ReviewRule]:
    """Yield a rule for each cause that was found, with what its behaviours do."""
    why = {behaviour.behaviour: behaviour.why for behaviour in upgrade.behaviours}
    for group in upgrade.groups:
        names = list(dict.fromkeys(name for cause in group.causes for name in cause))
        about = " ".join(why.get(name, "") for name in names).strip()
        cause = cause_text(group.causes)
        more = f"The behaviour that makes the difference: {cause}."
        yield ReviewRule(_id(group), about or "The cause was not found.", more, PAGE)


def _id(group: CauseGroup) -> str:
    """Return the name of a rule: the behaviours that make the difference."""
    several = any(len(cause) > 1 for cause in group.causes)
    together = "no-single-behaviour,-but-together-" if several else ""
    return together + "-or-".join("-and-".join(cause) for cause in group.causes) or NOT_FOUND


def _result(group: CauseGroup, upgrade: Upgrade, *, unfold: bool) -> Result:
    noticed = any(verdict.level_of(decision) in verdict.NOTICED for decision in group.changed)
    before, after = upgrade.releases
    examples = [
        f"{point_text(each)} {each.kind} {each.about}: {value_text(each.values[0])} → "
        f"{value_text(each.values[1])}"
        for each in group.changed[:_SHOWN]
    ]
    count = counted(len(group.changed), "decision")
    return Result(
        rule=_id(group),
        level=Level.ERROR if noticed else Level.NOTE,
        key=f"{before} {after}",
        kind="",
        name="",
        message=f"{count} in {counted(group.sessions, 'session')} differ as {after} "
        f"from {before}: {'; '.join(examples)}",
        fails=noticed or unfold,
        more={"decisions": len(group.changed), "sessions": group.sessions},
    )
