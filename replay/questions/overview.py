"""What is wrong at a moment, and what was done shortly before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from .fields import PROGRESS, Field
from .question import QuestionOfSessions

if TYPE_CHECKING:
    from ..logs.log import Log, Progress
    from ..overview.problems import Overview
    from ..render.tables import Style


class OverviewQuestion(QuestionOfSessions["Overview"], frozen=True, kw_only=True):
    """Show what is wrong at a moment, the worst first.

    Jobs that wait are grouped by what keeps them, each group with the sentence of *why* about the
    job that waits longest. Then come nodes that are not ready or hold more than they have, queues
    that are full or hold more than they deserve, violated invariants, differences of the
    scheduler's cache, and errors that *lint* finds. What is fine takes no room. Below it is listed
    what people and components did shortly before.
    """

    command = "overview"
    about = "What is wrong at a moment, the worst first, and what was done shortly before."
    guide = (
        "Begin with it when it is not known what is wrong, or which jobs wait. `problems` has the "
        "worst first, each with the question that says more: ask it with the same `at`. `acts` has "
        "what people and components did before. What it does not name is fine, but for what "
        "`not_checked` lists. Faults of a whole log: `check`."
    )
    examples = ("plinian overview", "plinian overview --at -5m --recent 30m")
    work = "overview"
    reads_inputs = True
    says_release = True
    forms = "text|json"
    exit_code = "Exit with 1 if anything is wrong."

    recent: Annotated[
        str, Field("How long before the moment it is listed what was done.", "DURATION")
    ] = "10m"
    progress: Annotated[Progress | None, PROGRESS] = None

    def answer(self, log: Log) -> Overview:
        """Return what is wrong: :func:`plinian.replay.overview.overview.overview_at`.

        :raises UsageError: ``recent`` is no duration.
        """
        from ..answers.why import assumed_of  # noqa: PLC0415 -- doors read the fields only
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..overview.overview import overview_at  # noqa: PLC0415
        from ..overview.overview_task import OverviewTask, recent_of  # noqa: PLC0415

        task = OverviewTask(
            moment=log.moment(self.at),
            release=self.as_release,
            conf=conf_text(self.conf),
            assumed=tuple(assumed_of(self.release, self.as_release)),
            recent=recent_of(self.recent),
        )
        return overview_at(log, task, self.progress)

    def lines(self, overview: Overview, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.blocks import block_lines  # noqa: PLC0415
        from ..render.overview import overview_sections  # noqa: PLC0415

        return block_lines(overview_sections(overview, style.zone), style=style)

    def code(self, overview: Overview, *, asked: bool) -> int:
        """Return 1 if anything is wrong."""
        return int(asked and bool(overview.problems))
