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


def fidelity_review(report: Fidelity, *, unfold: bool) -> Review:
    """Return the differences that are not explained as a review.

    :param unfold: also those with a known cause, which do not fail.
    """
    known = sum(difference.cause not in NOT_EXPLAINED for difference in report.differences)
    return Review(
        "fidelity",
        f"{counted(len(report.sessions), 'session')} as {report.release}: "
        f"{counted(known, 'difference')} with a known cause",
        tuple(ReviewRule(_id(cause), about, "", PAGE) for cause, about in _ABOUT.items()),
        tuple(
            _result(difference)
            for difference in report.differences
            if unfold or difference.cause in NOT_EXPLAINED
        ),
        unknown="" if report.sessions else NOTHING,
    )


def _id(cause: Cause) -> str:
    return cause.name.lower().replace("_", "-")


def _result(difference: Difference) -> Result:
    fails = difference.cause in NOT_EXPLAINED
    kind = "Pod" if difference.about in {"binding", "eviction"} else "PodGroup"
    recorded, again = difference.recorded or "nothing", difference.again or "nothing"
    return Result(
        rule=_id(difference.cause),
        level=Level.ERROR if fails else Level.NOTE,
        key=f"session:{difference.session} {difference.about}",
        kind=kind,
        name=difference.name,
        message=f"session {difference.session}, {difference.about}: recorded {recorded}, again "
        f"{again}: {difference.why}",
        fails=fails,
        more={"session": difference.session, "position": difference.position},
    )
