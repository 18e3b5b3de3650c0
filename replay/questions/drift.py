"""Where the scheduler's cache differs from the API server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from ...engine.kubernetes.counts import counted
from .fields import Field
from .question import QuestionOfScheduler

if TYPE_CHECKING:
    from ..belief.logged_drift import Drift
    from ..logs.log import Log
    from ..render.tables import Style, Table


_WHOSE = (
    "the scheduler had something else than its release makes of what the log has: it missed or "
    "kept something, its release is another, the log lacks what it saw (plinian status), or "
    "Plinian rebuilds it wrongly"
)


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

    dump: Annotated[
        bool,
        Field(
            "Instead compare the last dump of the real scheduler's cache by then with the rebuilt "
            "cache."
        ),
    ] = False

    def answer(self, log: Log) -> Drift:
        """Return the differences: :func:`plinian.replay.belief.logged_drift.drift_at`.

        :raises UsageError: the log has no dump that can be compared, and ``dump`` wants one.
        """
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415
        from ..belief.logged_drift import drift_at  # noqa: PLC0415 -- doors read the fields only
        from ..belief.logged_dump_drift import dump_drift  # noqa: PLC0415
        from ..coverage.coverage import SCHEDULING, unknown_at  # noqa: PLC0415

        moment, behaviours = log.moment(self.at), resolve(self.as_release)
        if self.dump:
            drift, moment = dump_drift(log.store, moment, behaviours)
        else:
            drift = drift_at(log.store, moment, behaviours, progress=self.progress)
        return msgspec.structs.replace(drift, not_known=tuple(unknown_at(log, moment, SCHEDULING)))

    def tables(self, drift: Drift, _style: Style) -> Iterable[Table]:
        """Return a row for each difference."""
        from ..render.believed import drift_table  # noqa: PLC0415

        return (drift_table(drift),)

    def nothing(self, drift: Drift) -> str:
        """Return that nothing differs, as far as the log knows."""
        if drift.compared is not None:
            number = counted(drift.compared, "node or job", "nodes and jobs")
            return f"{number} that did not change about then: as in {drift.at}."
        if not drift.not_known:
            return f"The scheduler's cache matches the API server at {drift.at}."
        return (
            f"Nothing differs at {drift.at} in what the log knows. It lacks "
            f"{', '.join(unknown.name for unknown in drift.not_known)}."
        )

    def notes(self, drift: Drift) -> Sequence[str]:
        """Return which panics the scheduler had, and what a difference from a dump may mean."""
        from ..render.believed import crash_texts  # noqa: PLC0415

        whose = [_WHOSE] if drift.compared is not None and drift.differences else []
        return [*crash_texts(drift), *whose]

    def code(self, drift: Drift, *, asked: bool) -> int:
        """Return 1 if anything differs."""
        return int(asked and bool(drift.differences))
