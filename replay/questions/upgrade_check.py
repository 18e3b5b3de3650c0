"""What another release would have decided differently over a whole log, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from .fields import JOBS, PROGRESS, Door, Field
from .question import QuestionOfRelease, Remark, taken, unsaid

if TYPE_CHECKING:
    from ..compare.verdict import Upgrade
    from ..logs.given_confs import Conf
    from ..logs.log import Log, Progress
    from ..moments.moment import Moment
    from ..moments.unknown import Unknown
    from ..render.tables import Style
    from ..review.review_records import Review
    from ..sessions.session_moments import SessionMoments
    from ..truth.points import Point

SAMPLE = 200
"""The number of moments that are checked if the log records no sessions."""

_BROKEN = 2


class UpgradeCheckQuestion(QuestionOfRelease["Upgrade"], frozen=True, kw_only=True):
    """Show what another release would have decided differently.

    Runs the sessions of a whole log with two releases, and shows what differs and why.

    The sessions are those that the log records; if it records none, one after every change of a
    pod, PodGroup, node or queue, and one at each moment from which lists make them known. Each is
    run with both releases on the recorded state, whatever the
    earlier sessions decided. A difference is attributed to the behaviour that removes it when it
    alone is set back, or to the smallest such set.
    """

    command = "upgrade-check"
    about = (
        "The sessions of the log as two releases: what another release would have decided "
        "differently, and which behaviours cause it."
    )
    guide = (
        "Read `verdict` first, then `groups`: each cause with its decisions. It holds for the "
        "sessions of this log, `sessions` of `known`, and says nothing of others. Of "
        "`behaviours`, those whose `part` is cache or controllers are not tried here. One moment "
        "as both: `compare`; the first release that decides otherwise about one object: `bisect`."
    )
    in_terminal = """

The first line is the verdict: crashes, a stop of all scheduling, placements, evictions or only
phases change, or nothing does. It is "not known" if no session could be run with all that it
needs: complete lists of nodes, queues, PodGroups and pods. Sessions in gaps, which lack them,
are run too, and marked: gap. Other texts, and other plans for
waiting pods, are counted in one line; --all shows them.

Exits with 2 if the verdict is not known, with or without --exit-code. Otherwise exits with 0;
with --exit-code, with 1 if the verdict names a change (with --all, if anything differs)."""
    examples = (
        "plinian upgrade-check --from v1.11.0 --to v1.12.1",
        "plinian upgrade-check --from v1.11.0 --to v1.12.1 --exit-code -o junit",
    )
    work = "sessions"
    forms = "text|wide|json|sarif|junit"
    exit_code = "Exit with 1 if the verdict names a change."
    reads_all = "differences of two releases"

    from_: Annotated[str, Field("The release that runs now.", "R1", name="from")]
    to: Annotated[str, Field("The release to upgrade to.", "R2")]
    at: Annotated[
        Point,
        Field(
            "Only sessions up to this moment: @POSITION, rv:REVISION, an RFC 3339 time, -5m "
            "(before the end), session:N or end; with a branch: what-if@1042.",
            "POINT",
            form="",
        ),
    ] = "end"
    conf: Annotated[Conf | None, Field("A configuration instead of the log's.", "FILE")] = None
    sample: Annotated[
        int | None,
        Field(
            "Check this many moments, evenly spread; 0 is all. By default all sessions that the "
            f"log records, else {SAMPLE} of the moments at which something changed.",
            "N",
            least=0,
        ),
    ] = None
    unfold: Annotated[
        bool,
        Field(
            "Also count other texts, and other plans for waiting pods, as differences.",
            name="all",
            only=Door.COMMAND,
        ),
    ] = False
    jobs: Annotated[int, JOBS] = 1
    progress: Annotated[Progress | None, PROGRESS] = None

    def moment(self, log: Log) -> Moment:
        """Return the moment by which the sessions opened."""
        return log.moment(self.at)

    @property
    def named_releases(self) -> Sequence[str]:
        """Return both releases."""
        return (self.from_, self.to)

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with known releases, and a configuration that both accept."""
        from ..sessions.assumed import accepted_conf  # noqa: PLC0415 -- doors read the fields only

        releases = [taken(name, remark, assume=self.assume) for name in (self.from_, self.to)]
        conf = accepted_conf(self.conf, releases, assume=self.assume, remark=remark)
        ready = {"from_": releases[0], "to": releases[1], "conf": conf, "at": log.moment(self.at)}
        return msgspec.structs.replace(self, **ready)

    def places(self, log: Log) -> SessionMoments:
        """Return the moments of the sessions, and what the log lacks there."""
        from ..sessions.session_moments import session_places  # noqa: PLC0415 -- only needed here

        return log.kept(session_places, log.moment(self.at))

    def unknown(self, log: Log) -> Sequence[Unknown]:
        """Return what sessions need and the log does not know somewhere."""
        return self.places(log).not_known

    def remarks(self, log: Log) -> Iterator[str]:
        """Yield how many sessions are left out, and which configurations a release rejects."""
        from ..sessions.assumed import rejected_in_log  # noqa: PLC0415
        from ..sessions.session_moments import left_out_text  # noqa: PLC0415 -- only needed here

        moment, count = log.moment(self.at), self.places(log).left_out
        if count:
            yield left_out_text(log, moment, count)
        if self.needs_conf:
            yield from rejected_in_log(log, moment, self.named_releases)

    def answer(self, log: Log) -> Upgrade:
        """Return what differs, and why: :func:`plinian.replay.compare.upgrade.upgrade_check`.

        :raises UsageError: a release is not known, or it rejects the configuration.
        """
        from ..compare.upgrade import CheckedUpgrade, upgrade_check  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415

        places, sample = self.places(log), self.sample
        if sample is None:
            sample = 0 if places.logged else SAMPLE
        asked = CheckedUpgrade(log.place, (self.from_, self.to), conf_text(self.conf))
        jobs, progress = self.jobs, self.progress
        return upgrade_check(places, asked, sample=sample, jobs=jobs, progress=progress)

    def lines(self, upgrade: Upgrade, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.upgrade import upgrade_lines  # noqa: PLC0415

        return upgrade_lines(upgrade, unfold=self.unfold, style=style)

    def review(self, upgrade: Upgrade) -> Review:
        """Return the answer as a review."""
        from ..review.upgrade_review import upgrade_review  # noqa: PLC0415

        return upgrade_review(upgrade, unfold=self.unfold)

    def beside_lines(self, upgrade: Upgrade) -> Iterator[str]:
        """Yield how many behaviours differ outside of sessions."""
        from ...engine.volcano.table import Part  # noqa: PLC0415
        from ..compare.releases import release_diff  # noqa: PLC0415

        current, target = upgrade.releases
        count = len(release_diff(current, target, parts=(Part.CACHE, Part.CONTROLLERS)))
        if count:
            yield (
                f"{count} behaviours of the cache and the controllers also differ, which sessions "
                f"do not show: plinian release diff {current} {target} --part cache "
                "--part controllers"
            )

    def code(self, upgrade: Upgrade, *, asked: bool) -> int:
        """Return 2 if the verdict is not known; else 1 if it names a change, and that is asked."""
        from ..compare.verdict import UNKNOWN, verdict_of  # noqa: PLC0415

        judged = verdict_of(upgrade)
        if judged.level == UNKNOWN:
            return _BROKEN
        return int(asked and (bool(upgrade) if self.unfold else judged.noticed))
