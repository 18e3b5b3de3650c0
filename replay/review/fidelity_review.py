"""Sessions that were run again as a review: a rule is a cause of differences."""

from __future__ import annotations

from types import MappingProxyType

from ...engine.kubernetes.counts import counted
from ..fidelity.report import NOT_EXPLAINED, Cause, Difference, Fidelity
from .review_records import Level, Result, Review, ReviewRule

PAGE = "docs/how-to/fidelity.md"
NOTHING = "the log has no session to compare"

_ABOUT = MappingProxyType(
    {
        Cause.TIE: "The scheduler picks one of several nodes with the same score at random.",
        Cause.MAP_ORDER: "It depends on the order of a Go map, which is random.",
        Cause.NOT_YET_DELIVERED: "An informer was elsewhere than the times of writes say.",
        Cause.SAMPLING: "In a large cluster the scheduler looks at some nodes only.",
        Cause.MISSING_INPUT: "The log does not know all that the session needs.",
        Cause.UNEXPLAINED: "Nothing that was tried comes out as recorded.",
    }
)


def fidelity_review(found: Fidelity, *, unfold: bool) -> Review:
    """Return the differences that are not explained as a review.

    :param unfold: also those with a known cause, which do not fail.
    """
    known = sum(one.cause not in NOT_EXPLAINED for one in found.differences)
    return Review(
        "fidelity",
        f"{counted(len(found.sessions), 'session')} as {found.release}: "
        f"{counted(known, 'difference')} with a known cause",
        tuple(ReviewRule(_id(cause), about, "", PAGE) for cause, about in _ABOUT.items()),
        tuple(_result(one) for one in found.differences if unfold or one.cause in NOT_EXPLAINED),
        unknown="" if found.sessions else NOTHING,
    )


def _id(cause: Cause) -> str:
    return cause.name.lower().replace("_", "-")


def _result(one: Difference) -> Result:
    fails = one.cause in NOT_EXPLAINED
    kind = "Pod" if one.about in {"binding", "eviction"} else "PodGroup"
    recorded, again = one.recorded or "nothing", one.again or "nothing"
    return Result(
        rule=_id(one.cause),
        level=Level.ERROR if fails else Level.NOTE,
        key=f"session:{one.session} {one.about}",
        kind=kind,
        name=one.name,
        message=f"session {one.session}, {one.about}: recorded {recorded}, again {again}: "
        f"{one.why}",
        fails=fails,
        more={"session": one.session, "position": one.position},
    )
