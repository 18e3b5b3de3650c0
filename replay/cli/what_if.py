"""``plinian what-if``: the session of a moment, with something changed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from ..questions.defaults import DEFAULT_RELEASE
from . import options
from .assumption import check_confs, chosen, named_release
from .command import command
from .coverage_warnings import warn_sessions
from .shell import note, shows_progress, style, write_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..forecast.forecast_run import Forecast
    from ..forecast.recorded_durations import Wish
    from ..logs.log import Log
    from ..logs.scheduler_confs import ConfText
    from ..moments.moment import Moment
    from ..what_if.changed_sessions import Variant, WhatIf

T = TypeVar("T")


@command("what-if")
@options.log
@options.namespace
@options.at
@click.option(
    "--set",
    "fields",
    multiple=True,
    metavar="KIND/NAME.FIELD=VALUE",
    help="Another value of a field, as in queue/x.spec.capability.cpu=40; null takes it away.",
)
@click.option(
    "--filename",
    "-f",
    "files",
    multiple=True,
    metavar="FILE",
    help="Manifests: objects that exist get these fields, others are created; - is standard input.",
)
@click.option(
    "--add-node",
    "nodes",
    multiple=True,
    metavar="like=NODE",
    help="An empty node like one that exists.",
)
@click.option(
    "--count",
    default=1,
    show_default=True,
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How many nodes each --add-node adds.",
)
@click.option("--cordon", multiple=True, metavar="NODE", help="The node takes no more pods.")
@click.option("--uncordon", multiple=True, metavar="NODE", help="The node takes pods again.")
@click.option(
    "--delete",
    multiple=True,
    metavar="KIND/NAME",
    help="The object does not exist; with a job or a PodGroup also its pods.",
)
@options.conf_with(
    "The volcano-scheduler.conf of the session, instead of the log's. Given twice, or as the only "
    "change, the last one is that which is tried, as with --release.",
    several=True,
)
@click.option(
    "--try-conf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Try this volcano-scheduler.conf, whatever else is changed.",
)
@click.option(
    "--release",
    multiple=True,
    metavar="RELEASE",
    help="The release of the session. Given twice, or as the only change, the last one is the "
    "release that is tried, and v1.12.1 or the first one that of the original. With --for a single "
    "one is that of the original.",
)
@click.option("--each", is_flag=True, help="Try each change alone, with a column for each.")
@click.option(
    "--for",
    "lasts",
    metavar="DURATION",
    help="Let the cluster live on for so long, as in 10m: sessions run, pods start and finish, "
    "controllers make pods. Prints who starts earlier or later.",
)
@click.option(
    "--start-after",
    metavar="DURATION",
    help="With --for: how long a pod takes to start; by default as recorded.",
)
@click.option(
    "--run-for",
    "runs",
    multiple=True,
    metavar="KIND/NAME=DURATION",
    help="With --for: how long the pods of an object run, as in job/train=5m; by default as "
    "recorded.",
)
@click.option(
    "--period",
    metavar="DURATION",
    help="With --for: the time between two sessions; by default as recorded.",
)
@click.option(
    "--no-arrivals",
    is_flag=True,
    help="With --for: without what users wrote after the moment.",
)
@click.option(
    "--keep",
    metavar="NAME",
    help="With --for: write the changed course, or the only one, to the log as this new branch.",
)
@options.jobs
@options.plot
@options.table_json_or_yaml
@options.assume
@options.as_known_at
@options.strict
@options.cluster
@options.branch
def what_if(
    log: str,
    namespace: str | None,
    at: str,
    fields: tuple[str, ...],
    files: tuple[str, ...],
    nodes: tuple[str, ...],
    count: int,
    cordon: tuple[str, ...],
    uncordon: tuple[str, ...],
    delete: tuple[str, ...],
    conf: tuple[Path, ...],
    try_conf: Path | None,
    release: tuple[str, ...],
    each: bool,
    lasts: str | None,
    start_after: str | None,
    runs: tuple[str, ...],
    period: str | None,
    no_arrivals: bool,
    keep: str | None,
    jobs: int,
    plot: bool,
    output: str,
    assume: bool,
    as_known_at: str | None,
    strict: bool,
    cluster: str | None,
    branch: str,
) -> None:
    """Run the session of a moment with something changed.

    The objects, nodes, the configuration or the release are changed, and the session runs on what
    the scheduler would then hold. Prints the decisions that are not the same as without the
    changes. Nothing is written to the log.

    It is one session: what controllers, kubelets and later sessions would do does not happen. With
    --for it does: the cluster lives on as it was and as changed, without a change only as it was.
    An interrupt prints the courses that are finished, names the others, and exits with 130.
    """
    from ..logs.given_confs import conf_files
    from ..what_if.wanted import Wanted, variants_of
    from .open_log import opened
    from .pictures import check_plot
    from .store_beliefs import store_beliefs

    check_plot(output, plot=plot)
    wanted = Wanted(fields, files, nodes, count, cordon, uncordon, delete, namespace)
    alone = wanted == Wanted(how_many=count, namespace=namespace) and lasts is None
    names = chosen(release, assume=assume).names
    _check_ambiguous(names, conf, try_conf, alone=alone)
    read = conf_files([*conf, *([] if try_conf is None else [try_conf])])
    confs = read[: len(conf)]
    only_conf = alone and not names and try_conf is None
    only_release = alone and not conf and try_conf is None
    given, tried_conf = _base_and_tried(confs, "configurations", alone=only_conf)
    taken, tried = _base_and_tried(names, "releases", alone=only_release)
    if try_conf is not None:
        tried_conf = read[-1]
    how = _How(lasts, start_after, runs, period, no_arrivals, keep, namespace, plot)
    how.check()
    variants = variants_of(wanted, tried_conf, tried, each=each, none=lasts is not None)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        named = named_release(taken, opened_log, moment)
        original = named or DEFAULT_RELEASE
        check_confs([given, tried_conf], sorted({original, tried or original}), assume=assume)
        _note_unread(opened_log, moment, variants)
        warn_sessions(opened_log, moment, unconfigured=given is None, strict=strict)
        store_beliefs(log, opened_log, moment, [original])
        asked = Asked(opened_log, log, moment, variants, original, given)
        if lasts is None:
            _session(asked, output, named=named is not None)
        else:
            _live_on(asked, how, output, jobs=jobs, named=named is not None)


def _note_unread(log: Log, moment: Moment, variants: Sequence[Variant]) -> None:
    """Note the changed fields that no session reads, and resources that nothing has."""
    from ..what_if.changed_names import remarks

    for text in remarks(log, moment, (change for one in variants for change in one.changes)):
        note(text)


class _How(NamedTuple):
    """How the cluster lives on, as given."""

    lasts: str | None
    start_after: str | None
    runs: tuple[str, ...]
    period: str | None
    no_arrivals: bool
    keep: str | None
    namespace: str | None
    plot: bool

    def check(self) -> None:
        """Refuse options that need --for.

        :raises UsageError: there is one, and no --for.
        """
        from ...engine.errors import UsageError

        given = {
            "--start-after": self.start_after,
            "--run-for": self.runs,
            "--period": self.period,
            "--no-arrivals": self.no_arrivals,
            "--keep": self.keep,
            "--plot": self.plot,
        }
        alone = [name for name, value in given.items() if value]
        if self.lasts is None and alone:
            raise UsageError(f"{alone[0]} needs --for", now="say for how long, as in --for 10m")

    def wish(self) -> Wish:
        """Return the same as it is run.

        :raises UsageError: one of them is no duration.
        """
        from ..forecast.recorded_durations import wish_of

        return wish_of(
            self.lasts or "",
            self.start_after,
            self.runs,
            self.period,
            namespace=self.namespace,
            arrivals=not self.no_arrivals,
        )


class Asked(NamedTuple):
    """A question to a log. :param conf: instead of the log's."""

    log: Log
    place: str
    moment: Moment
    variants: Sequence[Variant]
    release: str
    conf: ConfText | None


def _session(asked: Asked, output: str, *, named: bool) -> None:
    from ..render.progress import counting
    from ..what_if.changed_sessions import what_if as run

    visible = shows_progress() and len(asked.variants) > 1
    with counting("sessions", visible=visible) as progress:
        found = run(
            asked.log,
            asked.moment,
            asked.variants,
            release=asked.release,
            conf=asked.conf,
            progress=progress,
        )
    _note(found, named=named)
    _write(found, output)


def _live_on(asked: Asked, how: _How, output: str, *, jobs: int, named: bool) -> None:
    """Let the cluster live on, and print what happens."""
    from ..forecast.forecast_run import ForecastRequest, forecast
    from ..render.progress import counting

    question = ForecastRequest(
        asked.moment,
        tuple(asked.variants),
        how.wish(),
        asked.release,
        asked.conf,
        place=asked.place,
        keep=how.keep or "",
    )
    with counting("time", visible=shows_progress()) as progress:
        found = forecast(asked.log, question, jobs=jobs or os.cpu_count() or 1, progress=progress)
    assumed = "" if named else ", assumed because no release was named"
    note(f"original: from {found.at} as {asked.release}{assumed}, with {found.courses[0].conf}")
    _write_forecast(found, output)
    if how.plot:
        from .pictures import write_answer_plot

        write_answer_plot(asked.log, asked.place, found)
    if how.keep and not found.missing:
        note(f"branch {how.keep} has the course {found.courses[-1].name}")


def _write_forecast(found: Forecast, output: str) -> None:
    from ..forecast.forecast_outcome import forecast_document
    from ..render.documents import json_text, plain, write_yaml
    from ..render.forecast import forecast_lines

    if output == "json":
        sys.stdout.write(json_text(forecast_document(found), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(forecast_document(found))], single=True)
    else:
        write_lines(forecast_lines(found, style=style(), wide=output == "wide"))


def _check_ambiguous(
    releases: Sequence[str], confs: Sequence[Path], try_conf: Path | None, *, alone: bool
) -> None:
    """Refuse one release and one configuration where only one of them can be what is tried.

    :param alone: nothing else is changed.
    :raises UsageError: they do not say what is tried.
    """
    from ...engine.errors import UsageError

    if alone and try_conf is None and len(releases) == len(confs) == 1:
        raise UsageError(
            "--release and --conf do not say which of them is tried",
            now=f"try the configuration with --try-conf {confs[0].name}, or the release by giving "
            "that of the original before it",
        )
    if try_conf is not None and len(confs) > 1:
        raise UsageError(
            "more than one configuration to try",
            now="give --conf once, for the original, and --try-conf",
        )


def _base_and_tried(given: Sequence[T], what: str, *, alone: bool) -> tuple[T | None, T | None]:
    """Return the release or configuration of the original, and the one that is tried, if named.

    :param what: they are, in words. :param alone: one of them is the only change.
    :raises UsageError: there are more than two.
    """
    from ...engine.errors import UsageError

    if len(given) > 2:
        raise UsageError(f"more than two {what}", now="give that of the original, and one to try")
    if len(given) == 2:
        return given[0], given[1]
    one = given[0] if given else None
    return (None, one) if alone else (one, None)


def _note(found: WhatIf, *, named: bool) -> None:
    answer = found.sides[0].answer
    assumed = "" if named else ", assumed because no release was named"
    note(f"original: session at {answer.at} as {answer.release}{assumed}, with {answer.conf}")


def _write(found: WhatIf, output: str) -> None:
    from ..render.documents import json_text, plain, write_yaml
    from ..render.what_if import what_if_lines
    from ..what_if.changed_sessions import what_if_document

    if output == "json":
        sys.stdout.write(json_text(what_if_document(found), indent=2) + "\n")
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(what_if_document(found))], single=True)
    else:
        write_lines(what_if_lines(found, style=style(), wide=output == "wide"))
