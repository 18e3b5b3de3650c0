"""With which changes an object starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from .fields import PROGRESS
from .why import BUDGET, QuestionOfWaiting

if TYPE_CHECKING:
    from ..logs.log import Log, Progress
    from ..what_if.help import WouldHelp


class WouldHelpQuestion(QuestionOfWaiting["WouldHelp"], frozen=True, kw_only=True):
    """Find changes with which an object starts, by running the session with each.

    Pairs of changes are tried if no single one but another release helps.
    """

    command = "why --what-would-help"
    name = "what-would-help"
    about = (
        "Single changes with which a pod, job or podgroup starts, found by running the session "
        "with each."
    )
    guide = (
        "For something that waits, if no particular change is asked about; for one that is, "
        "`what_if`. `starts` says when, `evicts` and `no_longer` who pays for it; `left` changes "
        "were not tried for lack of time. What `by_fault` lists helps only because a release "
        "fails to check something: never advise it."
    )

    budget: Annotated[str, BUDGET] = "30s"
    progress: Annotated[Progress | None, PROGRESS] = None

    def answer(self, log: Log) -> WouldHelp:
        """Return the changes: :func:`plinian.replay.what_if.help.what_would_help`.

        :raises ObjectNotFound: there is no such object at that moment.
        :raises UsageError: it is a queue or a node, or no object that may wait.
        """
        from ..budget import within  # noqa: PLC0415 -- doors read the fields only

        go_on = within(self.budget)
        return self.helps(log, self.why(log), go_on, self.progress)
