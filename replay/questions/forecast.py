"""What happens next in a cluster, as it was and with something changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from .changed_cluster import NAMED, QuestionOfChanges
from .defaults import DEFAULT_RELEASE
from .fields import JOBS, PLOT, RELEASE, Door, Field, Names, several

if TYPE_CHECKING:
    from ..forecast.forecast_outcome import Forecast
    from ..logs.log import Log
    from ..render.tables import Style


START_AFTER = Field(
    "How long pods take to start; by default as recorded.", "DURATION", only=Door.PYTHON
)
RUN_FOR = Field(
    "How long the pods of objects run, as in job/train=5m; by default as recorded.",
    "KIND/NAME=DURATION",
    only=Door.PYTHON,
)
PERIOD = Field(
    "The time between two sessions; by default as recorded.", "DURATION", only=Door.PYTHON
)
KEEP = Field(
    "Write the changed course, or the only one, to the log as this new branch.",
    "NAME",
    only=Door.PYTHON,
)


class _QuestionOfTime(QuestionOfChanges["Forecast"], frozen=True):
    """A question about what follows a moment."""

    for_: Annotated[str, Field("For how long, as in 10m.", "DURATION", name="for")]


class ForecastQuestion(_QuestionOfTime, frozen=True, kw_only=True):
    """Return what happens for some time after a moment, as the cluster was and changed.

    Nothing needs to be changed.
    """

    command = "what-if"
    name = "forecast"
    about = (
        "What happens for some time after a moment, as the cluster was and with something changed."
    )
    guide = (
        "For when a job will start, and who starts later because of a change. `differences` has "
        "the result, `assumed` and `not_modelled` what it rests on. `calibration` says how the "
        "course without a change compares with what was recorded: say it, too."
    )
    work = "time"
    names_inputs = True
    must_change = False

    release: Annotated[str | None, RELEASE._replace(only=NAMED)] = DEFAULT_RELEASE
    start_after: Annotated[str | None, START_AFTER] = None
    run_for: Annotated[Names, RUN_FOR] = ()
    period: Annotated[str | None, PERIOD] = None
    arrivals: Annotated[
        bool,
        Field(
            "What users wrote after the moment, and what no component here makes, comes at its "
            "recorded times.",
            only=Door.PYTHON,
        ),
    ] = True
    keep: Annotated[str, KEEP] = ""
    plot: Annotated[bool, PLOT] = False
    jobs: Annotated[int, JOBS] = 1

    def answer(self, log: Log) -> Forecast:
        """Return what happens: :func:`plinian.replay.forecast.forecast_run.forecast`.

        :raises NotKnown: the log does not have all that a cluster needs to live on.
        :raises ObjectNotFound: a change is of an object that does not exist then.
        :raises UsageError: a change or a duration is wrong, or the moment has no time.
        """
        from ..forecast.forecast_run import ForecastRequest, forecast  # noqa: PLC0415
        from ..forecast.recorded_durations import wish_of  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415

        times = (self.for_, self.start_after, several(self.run_for), self.period)
        run = ForecastRequest(
            log.moment(self.at),
            tuple(self.variants),
            wish_of(*times, namespace=self.namespace, arrivals=self.arrivals),
            self.as_release,
            conf_text(self.conf),
            place=log.place,
            keep=self.keep,
        )
        return forecast(log, run, jobs=self.jobs, progress=self.progress)

    def lines(self, found: Forecast, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.forecast import forecast_lines  # noqa: PLC0415

        return forecast_lines(found, style=style)

    def notes(self, found: Forecast) -> Sequence[str]:
        """Return what the original is, and which branch has a course."""
        begins = self.beginning("from", found.at, found.courses[0].conf)
        written = f"branch {self.keep} has the course {found.courses[-1].name}"
        return (begins, written) if self.keep and not found.missing else (begins,)
