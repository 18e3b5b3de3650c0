"""Where the scheduler's cache differs from the API server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from .question import QuestionOfScheduler

if TYPE_CHECKING:
    from ..belief.logged_drift import Drift
    from ..logs.log import Log
    from ..render.tables import Style, Table


class DriftQuestion(QuestionOfScheduler["Drift"], frozen=True):
    """Show where the scheduler's cache differs from the API server.

    And since which event. Compared are nodes (resources and pods), PodGroups and the status of
    their pods, queues and priority classes. The scheduler is one of the release whose informers are
    never late, so every difference comes from its handlers alone.
    """

    command = "drift"
    about = "Where the scheduler's cache differs from the API server, and since which event."
    guide = (
        "For decisions that do not fit what `state` shows. Without `differences`, the cache held "
        "what the API server did."
    )
    examples = ("plinian drift --at rv:1042 --release v1.8.2",)
    work = "compare"
    is_table = True
    exit_code = "Exit with 1 if anything differs."

    def answer(self, log: Log) -> Drift:
        """Return the differences: :func:`plinian.replay.belief.logged_drift.drift_at`."""
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415
        from ..belief.logged_drift import drift_at  # noqa: PLC0415 -- doors read the fields only
        from ..coverage.coverage import SCHEDULING, unknown_at  # noqa: PLC0415

        moment = log.moment(self.at)
        drift = drift_at(log.store, moment, resolve(self.release), progress=self.progress)
        return msgspec.structs.replace(drift, not_known=tuple(unknown_at(log, moment, SCHEDULING)))

    def tables(self, drift: Drift, _style: Style) -> Iterable[Table]:
        """Return a row for each difference."""
        from ..render.believed import drift_table  # noqa: PLC0415

        return (drift_table(drift),)

    def nothing(self, drift: Drift) -> str:
        """Return that nothing differs, as far as the log knows."""
        if not drift.not_known:
            return f"The scheduler's cache matches the API server at {drift.at}."
        return (
            f"Nothing differs at {drift.at} in what the log knows. It lacks "
            f"{', '.join(unknown.name for unknown in drift.not_known)}."
        )

    def notes(self, drift: Drift) -> Sequence[str]:
        """Return which panics the scheduler had."""
        from ..render.believed import crash_texts  # noqa: PLC0415

        return crash_texts(drift)

    def code(self, drift: Drift, *, asked: bool) -> int:
        """Return 1 if anything differs."""
        return int(asked and bool(drift.differences))
