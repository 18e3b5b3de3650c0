"""What queues are entitled to at a moment, what they hold, and what could be reclaimed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from .fields import Field
from .question import QuestionOfSessions

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..render.tables import Style
    from ..shares.entitlements import Shares


class SharesQuestion(QuestionOfSessions["Shares"], frozen=True):
    """Show what each queue is entitled to at a moment, and what it holds.

    For each resource: what a queue is guaranteed, deserves, may use, requests and holds. Then which
    queues hold more than they deserve, and which lack some of it, which quota is idle, and what
    could be reclaimed from each queue by the rules of the release. Of one queue it is shown step by
    step how its session came to what it deserves and may use. All numbers are those of the
    session that runs at that moment.
    """

    command = "shares"
    about = "What each queue is entitled to, holds and lacks, and what could be reclaimed from it."
    guide = (
        "Ask it when a person asks whether a queue or team gets its share, who has too much, or "
        "what could be taken back. `sentence` says it in short; `queues` has the amounts: "
        "`deserved` is what the session computed, `lacks` and `over` are the differences. `rules` "
        "and `reclaiming` say what could be reclaimed. With `queue`, `steps` or `rounds` of the "
        "only entry say how it came to that. Why jobs of a queue wait: `why`."
    )
    examples = ("plinian shares", "plinian shares gold --at -5m")
    reads_inputs = True
    says_release = True

    queue: Annotated[
        str | None,
        Field("Only this queue, step by step; else all.", "[QUEUE]", is_argument=True),
    ] = None

    def answer(self, log: Log) -> Shares:
        """Return the shares: :func:`plinian.replay.shares.session_shares.shares_at`.

        :raises ObjectNotFound: there is no such queue at that moment.
        """
        from ..answers.why import assumed_of  # noqa: PLC0415 -- doors read the fields only
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..shares.session_shares import SharesTask, shares_at  # noqa: PLC0415

        task = SharesTask(
            moment=log.moment(self.at),
            release=self.as_release,
            queue=(self.queue or "").removeprefix("queue/"),
            conf=conf_text(self.conf),
            assumed=tuple(assumed_of(self.release, self.as_release)),
        )
        return shares_at(log, task)

    def lines(self, shares: Shares, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.blocks import block_lines  # noqa: PLC0415
        from ..render.shares import shares_sections  # noqa: PLC0415

        return block_lines(shares_sections(shares), style=style)
