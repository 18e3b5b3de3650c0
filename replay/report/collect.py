"""Make a report: ask each part of Plinian about one moment, and put the answers together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.units import format_time
from ...engine.log.location import log_name
from ...engine.state.facts import NodeFact
from ...engine.state.log_coverage import UnknownCause as Missing
from ...engine.state.truth_fold import Truth
from ..answers.answer import Why
from ..answers.why import whys_at
from ..coverage.coverage import NotListed, known_from, unknown_at, unknown_text, usual_kinds
from ..histories.first_seen import diff_at
from ..logs.log import Log
from ..logs.logged_confs import has_no_conf
from ..moments.log_clock import when_is
from ..moments.moment import Moment, remarks_on
from ..moments.times import known_text
from ..objects.kind_names import ObjectName, plain_name
from ..recorded.recorded_sessions import RecordedSession, recorded_sessions
from ..recorded.session_list import ListedSession, listing, within
from ..render.short_names import short
from ..render.tables import Table
from ..sessions.session_answer import SessionAnswer, session_at
from .commands import MomentCommands, beginning, commands_at
from .question import MOST_ANSWERS, ReportRequest, time_at, waiting
from .report_records import (
    Answers,
    Bounded,
    Decided,
    Gap,
    Later,
    MomentReport,
    ReportAnswer,
    ReportChange,
    Subject,
    Timeline,
)
from .report_timeline import extent_of, timeline_of
from .state import state_of

MOST_SESSIONS = 12
MOST_DECISIONS = 60

_HEADS = ("DECISION", "OBJECT", "NODE", "REASON")


def later_sessions(
    log: Log, moment: Moment, sessions: Sequence[RecordedSession], commands: MomentCommands
) -> Later:
    """Return the sessions that were opened at the moment or after it.

    :param sessions: all sessions of the log, in order of their opening.
    """
    found = within(listing(sessions, log.clock(moment)), since=moment)
    number = _first(found, sessions)
    rows = _decisions(sessions[number - 1]) if number else []
    title = f"What session:{number} decided, as recorded"
    return Later(
        sessions=tuple(found[:MOST_SESSIONS]),
        more=len(found[MOST_SESSIONS:]),
        number=number,
        decided=Bounded(
            short(Table(_HEADS, rows[:MOST_DECISIONS]))._replace(title=title, total=len(rows)),
            commands.of_log("fidelity", "--at", f"session:{number}", "--all", *commands.session),
        ),
        command=commands.of_log("session", "list", "--since", commands.at),
    )


def _first(found: Sequence[ListedSession], sessions: Sequence[RecordedSession]) -> int:
    """Return the number of the first session that bound or evicted, else of one that wrote."""
    some = [(one.number, sessions[one.number - 1]) for one in found]
    placed = (number for number, one in some if one.binds or one.evictions)
    wrote = (number for number, one in some if one.groups)
    return next(placed, 0) or next(wrote, 0)


def _decisions(session: RecordedSession) -> list[tuple[str, ...]]:
    """Return what a recorded session did: pods bound and evicted, PodGroups written."""
    rows: list[tuple[str, ...]] = [
        ("bind", pod, node, "") for pod, node in sorted(session.binds.items())
    ]
    rows += [("evict", pod, "", reason) for pod, reason in sorted(session.evictions.items())]
    rows += [("phase", name, "", status[0]) for name, status in sorted(session.groups.items())]
    return rows


Phase = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and how much in all."""


def report_of(question: ReportRequest, progress: Phase | None = None) -> MomentReport:
    """Return the report on a moment.

    The same log and the same question give an equal report.

    :raises ObjectNotFound: a named object does not exist at the moment.
    :raises UsageError: a named object is no pod, job, podgroup, queue or node.
    """
    log, moment, conf = question.log, question.moment, question.conf
    tell = progress or _nothing
    commands = commands_at(log, moment, question.release, None if conf is None else conf.source)
    truth = log.truth(moment)
    answers, cache = _answers(question, truth, commands, tell)
    tell("session", 0, 1)
    answer = session_at(log, moment, release=question.release, conf=conf, cache=cache)
    sessions = recorded_sessions(log.store, moment)
    tell("session", 1, 1)
    name = log_name(question.place)
    return MomentReport(
        subject=_subject(question, name, answer),
        timeline=_timeline(question, [one.why for one in answers.answers], sessions, tell),
        timeline_command=_events_command(question, commands),
        answers=answers,
        change=_change(question, commands),
        state=state_of(truth, commands, NotListed(log, moment)),
        decided=Decided(
            answer,
            _doubt(answer),
            commands.of_session("session"),
            later_sessions(log, moment, sessions, commands),
        ),
        gaps=tuple(_gaps(question, answer)),
        commands=beginning(name),
    )


def _nothing(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""


def _subject(question: ReportRequest, name: str, answer: SessionAnswer) -> Subject:
    log, moment = question.log, question.moment
    head = next(one for one in log.store.heads() if one.branch == moment.branch)
    dated = time_at(log, moment) is not None
    return Subject(
        log=name,
        head=head.hash,
        events=log.store.last(moment.branch),
        cluster=moment.cluster,
        at=moment.label,
        time=known_text(when_is(log.store, moment)) if dated else "",
        revision=moment.revision,
        known=moment.known,
        release=answer.release,
        conf=answer.conf,
        assumed=(*question.assumed, *_assumed_conf(question, answer)),
    )


def _assumed_conf(question: ReportRequest, answer: SessionAnswer) -> list[str]:
    """Return what was assumed about the configuration."""
    if question.conf is None and has_no_conf(question.log, question.moment):
        lacks = "the log holds no configuration of the scheduler"
        return [f"{lacks}: {answer.release} runs with its built-in one"]
    return [f"{answer.release} rejects the configuration: {fault}" for fault in answer.rejected]


class _Answered(NamedTuple):
    """The answers, and the scheduler's cache that they rest on; None if there are none."""

    answers: Answers
    cache: SchedulerCache | None


def _answers(
    question: ReportRequest, truth: Truth, commands: MomentCommands, progress: Phase
) -> _Answered:
    chosen = not question.named
    found = waiting(truth) if chosen else list(question.named)
    asked = found[:MOST_ANSWERS] if chosen else found
    if not asked:
        return _Answered(Answers((), chosen, 0), None)
    progress("why", 0, len(asked))
    answers, cache = whys_at(
        question.log,
        asked,
        question.moment,
        namespace=question.namespace,
        basis=(question.release, question.conf, question.assumed),
        progress=lambda done, total: progress("why", done, total),
    )
    with_commands = tuple(
        ReportAnswer(why, commands.of_session("why", f"{_kind(named)}/{why.asked.name}", "-v"))
        for named, why in zip(asked, answers, strict=True)
    )
    return _Answered(Answers(with_commands, chosen, len(found) if chosen else 0), cache)


def _kind(named: ObjectName) -> str:
    return plain_name(named.group, named.kind)


def _timeline(
    question: ReportRequest,
    whys: Sequence[Why],
    sessions: Sequence[RecordedSession],
    progress: Phase,
) -> Timeline | None:
    log, moment = question.log, question.moment
    extent = extent_of(log, moment, question.before)
    if extent is None:
        return None
    nodes = {}
    if question.before is not None:
        for entry in log.truth(question.before).of("", "Node"):
            if isinstance(entry.fact, NodeFact):
                nodes[entry.reference.name] = entry.fact
    return timeline_of(
        log,
        moment,
        extent,
        (whys, sessions, nodes),
        lambda done, total: progress("timeline", done, total),
    )


def _events_command(question: ReportRequest, commands: MomentCommands) -> str:
    extent = extent_of(question.log, question.moment, question.before)
    if extent is None:
        return commands.of_events("events")
    times = ("--since", format_time(extent.begin), "--until", format_time(extent.end))
    return commands.of_events("events", *times)


def _change(question: ReportRequest, commands: MomentCommands) -> ReportChange | None:
    """Return what differs, from the first moment on at which anything is known."""
    log, before, after = question.log, question.before, question.moment
    if before is None:
        return None
    remarks = list(question.remarks)
    later = known_from(log, before, after, usual_kinds(log, after))
    if later is not None:
        remarks.append(f"nothing is known before {later.label}: the range begins there")
        before = later
    found = diff_at(log, (before, after))
    return ReportChange(found, commands.of_log("diff", before.label, after.label), tuple(remarks))


def _doubt(answer: SessionAnswer) -> str:
    """Return what the log lacks, if a session panics that may do so only for that."""
    lacking = [one for one in answer.not_known if one.gap.why in {Missing.NEVER, Missing.BEFORE}]
    return "" if answer.result.panic is None else unknown_text(lacking)


def _gaps(question: ReportRequest, answer: SessionAnswer) -> list[Gap]:
    """Return what the log does not know and the answers need, each once."""
    log, moment = question.log, question.moment
    found = [Gap(text, "") for text in remarks_on(moment)]
    if question.conf is None and has_no_conf(log, moment):
        found.append(
            Gap(
                "the configuration of the scheduler: the log holds none",
                "give the cluster's volcano-scheduler.conf with --conf, or ingest it",
            )
        )
    unknown = [*unknown_at(log, moment, usual_kinds(log, moment)), *answer.not_known]
    found.extend(Gap(f"{one.name}: {one.reason}", one.remedy) for one in unknown)
    return list(dict.fromkeys(found))
