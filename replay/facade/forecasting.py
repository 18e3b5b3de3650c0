"""What happens next in a cluster, as it was and with something changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..logs.given_confs import Conf
from ..questions.defaults import DEFAULT_RELEASE
from ..questions.question import Names, several
from ..truth.points import Point
from .answering import AnsweringLog
from .options import FilePath
from .variants import Changes, Tried, variants_of

if TYPE_CHECKING:
    from ..forecast.forecast_run import Forecast


class ForecastingLog(AnsweringLog):
    """A log whose clusters live on from a moment."""

    def forecast(
        self,
        for_: str,
        *,
        at: Point = "end",
        fields: Names = (),
        files: FilePath | Sequence[FilePath] = (),
        add_nodes: Names = (),
        count: int = 1,
        cordon: Names = (),
        uncordon: Names = (),
        delete: Names = (),
        conf: Conf | None = None,
        try_conf: Conf | None = None,
        release: str = DEFAULT_RELEASE,
        try_release: str | None = None,
        each: bool = False,
        namespace: str | None = None,
        start_after: str | None = None,
        run_for: Names = (),
        period: str | None = None,
        arrivals: bool = True,
        keep: str = "",
        jobs: int = 1,
        assume: bool = False,
        strict: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Forecast:
        """Return what happens for some time after a moment, as the cluster was and changed.

        The other parameters are those of :meth:`what_if`; here nothing needs to be changed.

        :param for_: for how long, as in ``10m``. :param start_after: how long pods take to start;
            by default as recorded.
        :param run_for: how long the pods of objects run, as in ``job/train=5m``; by default as
            recorded. :param period: between two sessions; by default as recorded.
        :param arrivals: what users wrote after the moment, and what no component here makes, comes
            at its recorded times.
        :param keep: write the changed course, or the only one, to the log as this new branch.
        :param jobs: processes. With more than one, the program must be importable: guard its start
            with ``if __name__ == "__main__"``.
        :param progress: called with (microseconds run, all).
        :raises NotKnown: the log does not have all that a cluster needs to live on.
        :raises ObjectNotFound: a change is of an object that does not exist then.
        :raises UsageError: a change or a duration is wrong, or the moment has no time.
        """
        from ..forecast.forecast_run import ForecastRequest, forecast  # noqa: PLC0415
        from ..forecast.recorded_durations import wish_of  # noqa: PLC0415

        changes = Changes(fields, files, add_nodes, count, cordon, uncordon, delete, namespace)
        tried = Tried(conf, try_conf, release, try_release, each, assume)
        asked = variants_of(changes, tried, none=True)
        times = (for_, start_after, several(run_for), period)
        wish = wish_of(*times, namespace=namespace, arrivals=arrivals)
        moment = self.moment(at)
        self._check(moment, conf, strict=strict)
        question = ForecastRequest(
            moment,
            tuple(asked.variants),
            wish,
            asked.release,
            asked.conf,
            place=self.place,
            keep=keep,
        )
        return forecast(self, question, jobs=jobs, progress=progress)
