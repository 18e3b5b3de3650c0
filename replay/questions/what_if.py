"""The session of a moment, as it was and with something changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...engine.errors import UsageError
from .changed_cluster import QuestionOfChanges
from .fields import JOBS, PLOT, Door, Field
from .forecast import KEEP, PERIOD, RUN_FOR, START_AFTER, ForecastQuestion
from .question import Question

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..render.tables import Style
    from ..what_if.changed_sessions import WhatIf


def _with_for(field: Field) -> Field:
    """Return a field of a forecast as the command has it."""
    text = f"With --for: {field.help[0].lower()}{field.help[1:]}"
    return field._replace(help=text, only=Door.COMMAND)


class WhatIfQuestion(QuestionOfChanges["WhatIf"], frozen=True, kw_only=True):
    """Run the session of a moment with something changed.

    The objects, nodes, the configuration or the release are changed, and the session runs on what
    the scheduler would then hold. Prints the decisions that are not the same as without the
    changes. Nothing is written to the log.

    It is one session: what controllers, kubelets and later sessions would do does not happen.
    """

    command = "what-if"
    about = "The session of a moment as it was, and with something changed."
    guide = (
        "It is one session: what would be decided at once. `decisions` has only what differs; if "
        "it is empty, the change changes nothing. For what happens later ask `forecast`; to find "
        "a change that helps, `what_would_help`. For a new job, give its manifest to "
        "`would_start`."
    )
    in_terminal = """\
With --for it does: the cluster lives on as it was and as changed, without a change only as it was.
An interrupt prints the courses that are finished, names the others, and exits with 130."""
    examples = (
        "plinian what-if --at -5m --set queue/gold.spec.capability.cpu=40",
        "plinian what-if --at -5m --each --add-node like=node-3 --delete job/big",
        "plinian what-if --at -5m --for 10m --add-node like=node-3 --run-for job/big=5m",
        "plinian what-if -f queue.yaml --release v1.12.1 --release v1.13.0",
    )
    work = "sessions"
    forms = "table|wide|json|yaml"

    confs: Annotated[
        Sequence[str],
        Field(
            "The volcano-scheduler.conf of the session, instead of the log's. Given twice, or as "
            "the only change, the last one is that which is tried, as with --release.",
            "FILE",
            name="conf",
            only=Door.COMMAND,
        ),
    ] = ()
    releases: Annotated[
        Sequence[str],
        Field(
            "The release of the session. Given twice, or as the only change, the last one is the "
            "release that is tried, and v1.12.1 or the first one that of the original. With --for "
            "a single one is that of the original.",
            "RELEASE",
            name="release",
            only=Door.COMMAND,
        ),
    ] = ()
    lasts: Annotated[
        str | None,
        Field(
            "Let the cluster live on for so long, as in 10m: sessions run, pods start and finish, "
            "controllers make pods. Prints who starts earlier or later.",
            "DURATION",
            name="for",
            only=Door.COMMAND,
        ),
    ] = None
    start_after: Annotated[str | None, _with_for(START_AFTER)] = None
    run_for: Annotated[Sequence[str], _with_for(RUN_FOR)] = ()
    period: Annotated[str | None, _with_for(PERIOD)] = None
    no_arrivals: Annotated[
        bool, Field("With --for: without what users wrote after the moment.", only=Door.COMMAND)
    ] = False
    keep: Annotated[str, _with_for(KEEP)] = ""
    plot: Annotated[bool, PLOT] = False
    jobs: Annotated[int, JOBS._replace(only=Door.COMMAND)] = 1

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question that the options ask: of this session, or of what follows.

        :raises UsageError: they do not go together.
        """
        asked = dict(given)
        releases, confs, try_conf = asked.pop("releases"), asked.pop("confs"), asked["try_conf"]
        course = {name: asked.pop(name) for name in _OF_COURSES}
        lasts = course.pop("lasts")
        alone = lasts is None and not any(asked[name] for name in _CHANGES)
        _check_ambiguous(releases, confs, try_conf, alone=alone)
        alone = alone and try_conf is None
        release, other = _base_and_tried(releases, "releases", alone=alone and not confs)
        conf, tried = _base_and_tried(confs, "configurations", alone=alone and not releases)
        asked |= {"release": release, "try_release": other, "conf": conf}
        asked["try_conf"] = try_conf or tried
        if lasts is not None:
            arrivals = not course.pop("no_arrivals")
            return ForecastQuestion(lasts, **asked, **course, arrivals=arrivals)
        jobs = course.pop("jobs")
        needing = [name for name, value in course.items() if value]
        if needing:
            option = f"--{needing[0].replace('_', '-')}"
            raise UsageError(f"{option} needs --for", now="say for how long, as in --for 10m")
        return cls(**asked, jobs=jobs)

    def answer(self, log: Log) -> WhatIf:
        """Return both sessions: :func:`plinian.replay.what_if.changed_sessions.what_if`.

        :raises ObjectNotFound: a change is of an object that does not exist then.
        :raises UsageError: nothing is changed, or a change is wrong or has no effect on sessions.
        """
        from ..logs.given_confs import conf_text  # noqa: PLC0415 -- doors read the fields only
        from ..what_if.changed_sessions import what_if  # noqa: PLC0415

        return what_if(
            log,
            log.moment(self.at),
            self.variants,
            release=self.as_release,
            conf=conf_text(self.conf),
            progress=self.progress,
        )

    def lines(self, found: WhatIf, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.comparison import what_if_lines  # noqa: PLC0415 -- doors read the fields only

        return what_if_lines(found, style=style)

    def notes(self, found: WhatIf) -> Sequence[str]:
        """Return what the original is."""
        answer = found.sides[0].answer
        return (self.beginning("session at", answer.at, answer.conf),)


_CHANGES = ("fields", "files", "add_nodes", "cordon", "uncordon", "delete")
_OF_COURSES = (
    *("lasts", "start_after", "run_for", "period", "no_arrivals", "keep", "plot", "jobs"),
)


def _check_ambiguous(
    releases: Sequence[str], confs: Sequence[str], try_conf: str | None, *, alone: bool
) -> None:
    """Refuse one release and one configuration where only one of them can be what is tried.

    :param alone: nothing else is changed.
    :raises UsageError: they do not say what is tried.
    """
    if alone and try_conf is None and len(releases) == len(confs) == 1:
        raise UsageError(
            "--release and --conf do not say which of them is tried",
            now=f"try the configuration with --try-conf {Path(confs[0]).name}, or the release by "
            "giving that of the original before it",
        )
    if try_conf is not None and len(confs) > 1:
        raise UsageError(
            "more than one configuration to try",
            now="give --conf once, for the original, and --try-conf",
        )


def _base_and_tried(
    given: Sequence[str], what: str, *, alone: bool
) -> tuple[str | None, str | None]:
    """Return the release or configuration of the original, and the one that is tried, if named.

    :param what: they are, in words. :param alone: one of them is the only change.
    :raises UsageError: there are more than two.
    """
    if len(given) > 2:
        raise UsageError(f"more than two {what}", now="give that of the original, and one to try")
    if len(given) == 2:
        return given[0], given[1]
    single = given[0] if given else None
    return (None, single) if alone else (single, None)
