"""A report: all answers about one moment as one page, each with the command that gives it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from markupsafe import Markup

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time
from ...engine.log.location import log_name
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.state.facts import NodeFact
from ...engine.state.log_coverage import UnknownCause as Missing
from ..answers.answer import Why
from ..answers.why import whys_at
from ..coverage.coverage import NotListed, known_from, unknown_at, unknown_text, usual_kinds
from ..histories.first_seen import diff_at
from ..logs.earlier_moments import time_at
from ..logs.logged_confs import has_no_conf, runs_built_in
from ..logs.moment_commands import MomentCommands, beginning, commands_at
from ..moments.log_clock import when_is
from ..moments.moment import remarks_on
from ..moments.times import known_text
from ..objects.kind_names import ObjectName, plain_name
from ..overview.overview import overview_at
from ..overview.overview_task import OverviewTask
from ..pages.blocks import blocks_html
from ..pages.change import change_part
from ..pages.templates import rendered, style_hash, style_sheet
from ..pages.why_sections import why_part
from ..recorded.recorded_sessions import RecordedSession, recorded_sessions
from ..recorded.session_list import ListedSession, listing, within
from ..render.blocks import (
    Block,
    CommandLine,
    Drawn,
    Folded,
    ItemList,
    ListedItem,
    Marked,
    Section,
    Sentence,
    Words,
)
from ..render.listed_sessions import session_table
from ..render.overview import overview_sections
from ..render.session import session_tables
from ..render.short_names import short
from ..render.tables import Table
from ..sessions.session_answer import SessionAnswer, session_at
from .drawing import drawing_of
from .question import MOST_ANSWERS, ReportRequest, waiting
from .report_timeline import Timeline, extent_of, timeline_of
from .state import state_blocks

MOST_ROWS = 60
"""Rows of a table of the session."""

MOST_SESSIONS = 12
MOST_DECISIONS = 60

_HEADS = ("DECISION", "OBJECT", "NODE", "REASON")

Phase = Callable[[str, int, int], None]
"""Called with what is done, how much of it, and how much in all."""


class ReportPart(NamedTuple):
    """A part of a report.

    :param id: its place in the page. :param name: in the navigation; empty if it is not there.
    """

    id: str
    name: str
    title: str
    html: Markup


def report_page(question: ReportRequest, progress: Phase | None = None) -> str:
    """Return the report on a moment: HTML that needs nothing else, and no script.

    The same log and the same question give an equal report.

    :raises ObjectNotFound: a named object does not exist at the moment.
    :raises UsageError: a named object is no pod, job, podgroup, queue or node.
    """
    log, moment, conf = question.log, question.moment, question.conf
    tell = progress or _nothing
    commands = commands_at(log, moment, question.release, None if conf is None else conf.source)
    truth = log.truth(moment)
    # Named objects replace those that wait longest.
    waits = [] if question.named else waiting(truth)
    asked = question.named or waits[:MOST_ANSWERS]
    whys, cache = _whys(question, asked, tell)
    tell("session", 0, 1)
    # With the cache that the answers rest on: building it takes longest.
    answer = session_at(log, moment, release=question.release, conf=conf, cache=cache)
    sessions = recorded_sessions(log.store, moment)
    tell("session", 1, 1)
    # Before the parts are made: its navigation depends on whether there is one.
    timeline = _timeline(question, whys, sessions, tell)
    decided = chain(_decided(answer, commands), _later(question, sessions, commands))
    before = list(_change(question, commands))
    state = state_blocks(truth, commands, NotListed(log, moment))
    parts = [
        *([] if question.named else [_wrong(question, tell)]),
        _part("answer", "Why", "Why", _answers(question, asked, whys, len(waits), commands)),
        _part("timeline", "Timeline" if timeline else "", "Timeline", _drawn(timeline, commands)),
        _part("decisions", "Decisions", "What the session decides", decided),
        _part("state", "State", "The state at this moment", state),
        *([_part("change", "What changed", "What changed before", before)] if before else ()),
        _part("gaps", "Not known", "What is not known", _gaps(question, answer)),
    ]
    name = log_name(question.place)
    page = rendered(
        "report.html",
        log=name,
        at=moment.label,
        subject=dict(_subject(question, answer)),
        assumed=(*question.assumed, *_assumed_conf(question, answer)),
        style=Markup(style_sheet()),  # noqa: S704 -- our own file
        style_hash=style_hash(),
        parts=parts,
        commands=beginning(name),
    )
    return str(page)


def _part(place_id: str, name: str, title: str, blocks: Iterable[Block]) -> ReportPart:
    html = blocks_html([Section(list(blocks))], most=MOST_ROWS)
    return ReportPart(place_id, name, title, html)


def _wrong(question: ReportRequest, progress: Phase) -> ReportPart:
    """Return what is wrong at the moment, as ``plinian overview`` says it."""
    task = OverviewTask(
        moment=question.moment,
        release=question.release,
        conf=question.conf,
        assumed=tuple(question.assumed),
    )
    progress("overview", 0, 1)
    sections = list(overview_sections(overview_at(question.log, task)))
    progress("overview", 1, 1)
    html = blocks_html(sections, most=MOST_ROWS)
    return ReportPart("overview", "Overview", "What is wrong", html)


def _nothing(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""


def _subject(question: ReportRequest, answer: SessionAnswer) -> Iterator[tuple[str, str]]:
    """Yield what the report is about."""
    log, moment = question.log, question.moment
    # The hash says which log it was: the same question to another end differs.
    head = next(head_info for head_info in log.store.heads() if head_info.branch == moment.branch)
    time = known_text(when_is(log.store, moment)) if time_at(log, moment) is not None else ""
    said = [moment.label, *([time] if time not in {"", moment.label} else ())]
    said += [] if moment.revision is None else [f"rv:{moment.revision}"]
    yield "Moment", ", ".join(said)
    yield "Release", f"Volcano {answer.release}"
    yield "Configuration", answer.conf
    yield "Cluster", moment.cluster
    events = counted(log.store.last(moment.branch), "event")
    yield "Log", f"{events}, known up to @{moment.known}"
    yield "Hash of its end", head.hash


def _assumed_conf(question: ReportRequest, answer: SessionAnswer) -> list[str]:
    """Return what was assumed about the configuration."""
    if question.conf is None and has_no_conf(question.log, question.moment):
        return [runs_built_in(answer.release)]
    return [f"{answer.release} rejects the configuration: {fault}" for fault in answer.rejected]


def _whys(
    question: ReportRequest, asked: Sequence[ObjectName], progress: Phase
) -> tuple[Sequence[Why], SchedulerCache | None]:
    """Return why objects wait, and the scheduler's cache that the answers rest on."""
    if not asked:
        return (), None
    progress("why", 0, len(asked))
    return whys_at(
        question.log,
        asked,
        question.moment,
        namespace=question.namespace,
        basis=(question.release, question.conf, question.assumed),
        progress=lambda done, total: progress("why", done, total),
    )


def _answers(
    question: ReportRequest,
    asked: Sequence[ObjectName],
    whys: Sequence[Why],
    waits: int,
    commands: MomentCommands,
) -> Iterator[Block]:
    """Yield why objects wait. :param waits: how many wait in all, if none were named."""
    if not question.named and not waits:
        yield Sentence("Nothing waits at this moment.")
    # A reader must not take these few for all.
    elif waits > len(whys):
        text = f"{waits} jobs, PodGroups or pods wait. These are the {len(whys)} that wait longest."
        yield Sentence(text, "cut")
    for number, (named, why) in enumerate(zip(asked, whys, strict=True), start=1):
        yield Drawn(why_part(why, f"why-{number}"))
        name = f"{plain_name(named.group, named.kind)}/{why.asked.name}"
        yield CommandLine(commands.of_session("why", name, "-v"))


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


def _drawn(timeline: Timeline | None, commands: MomentCommands) -> Iterator[Block]:
    """Yield the picture of a timeline."""
    if timeline is None:
        yield Sentence("The log holds no times, so there is no timeline.")
        return
    drawing, parts = drawing_of(timeline), len(timeline.lanes[0].counts)
    parts_text = f"in {parts} equal parts; times are UTC. Each lane is as high as its largest part."
    yield Sentence(f"From {drawing.begin} to {drawing.end}, {parts_text}")
    yield Drawn(rendered("timeline.html", drawing=drawing, timeline=timeline))
    times = ("--since", format_time(timeline.begin), "--until", format_time(timeline.end))
    yield CommandLine(commands.of_events("events", *times))


def _decided(answer: SessionAnswer, commands: MomentCommands) -> Iterator[Block]:
    """Yield what the session at the moment decides."""
    release, result, doubt = answer.release, answer.result, _doubt(answer)
    yield Sentence(f"The session of {release} at this moment, run again on the scheduler's cache.")
    if doubt:
        panics = f"It panics here ({result.panic}), possibly only because of what the log lacks"
        unsure = Marked("It is not known what the session decides.", "name")
        yield Sentence(Words(unsure, f" {panics}: {doubt}"), "panic")
    elif result.panic is not None:
        yield Sentence(Words(Marked("The scheduler panics:", "name"), f" {result.panic}"), "panic")
    if not doubt:
        yield from _decisions(result)
    yield CommandLine(commands.of_session("session"))


def _doubt(answer: SessionAnswer) -> str:
    """Return what the log lacks, if a session panics that may do so only for that."""
    lacking = [
        unknown
        for unknown in answer.not_known
        if unknown.gap.why in {Missing.NEVER, Missing.BEFORE}
    ]
    return "" if answer.result.panic is None else unknown_text(lacking)


def _decisions(result: SessionResult) -> Iterator[Block]:
    """Yield what a session decides, and the statuses after it."""
    decisions, groups, queues, events, pending = session_tables(result)
    nothing = Sentence("No pod is bound or evicted, and no PodGroup is enqueued.")
    yield decisions if decisions.rows else nothing
    if pending.rows:
        yield pending._replace(title="Pods that are not placed, and why")
    if events.rows:
        yield events._replace(title="Events of the session")
    statuses = [
        groups._replace(title="PodGroups after the session"),
        queues._replace(title="Queues after the session"),
    ]
    yield Folded("Statuses after the session", statuses)


def _later(
    question: ReportRequest, recorded: Sequence[RecordedSession], commands: MomentCommands
) -> Iterator[Block]:
    """Yield what the cluster's scheduler did next. :param recorded: all sessions of the log."""
    log, moment = question.log, question.moment
    later = within(listing(recorded, log.clock(moment)), since=moment)
    yield Drawn(Markup("<h3>What the cluster's scheduler did next</h3>"))
    if later:
        table, title = (
            session_table(later[:MOST_SESSIONS]),
            "Sessions that the log records from this moment on",
        )
        yield table._replace(title=title, total=len(later))
    else:
        yield Sentence("The log records no session from this moment on.")
    yield CommandLine(commands.of_log("session", "list", "--since", commands.at))
    # A session that decided nothing would not show whether the scheduler agrees.
    if number := _first(later, recorded):
        rows = _recorded_decisions(recorded[number - 1])
        title = f"What session:{number} decided, as recorded"
        yield short(Table(_HEADS, rows[:MOST_DECISIONS]))._replace(title=title, total=len(rows))
        words = ("fidelity", "--at", f"session:{number}", "--all", *commands.session)
        yield CommandLine(commands.of_log(*words), "Run it again, and compare:")


def _first(found: Sequence[ListedSession], sessions: Sequence[RecordedSession]) -> int:
    """Return the number of the first session that bound or evicted, else of one that wrote."""
    numbered = [(session.number, sessions[session.number - 1]) for session in found]
    placed = (number for number, recorded in numbered if recorded.binds or recorded.evictions)
    wrote = (number for number, recorded in numbered if recorded.groups)
    return next(placed, 0) or next(wrote, 0)


def _recorded_decisions(session: RecordedSession) -> list[tuple[str, ...]]:
    """Return what a recorded session did: pods bound and evicted, PodGroups written."""
    rows: list[tuple[str, ...]] = [
        ("bind", pod, node, "") for pod, node in sorted(session.binds.items())
    ]
    rows += [("evict", pod, "", reason) for pod, reason in sorted(session.evictions.items())]
    rows += [("phase", name, "", status[0]) for name, status in sorted(session.groups.items())]
    return rows


def _change(question: ReportRequest, commands: MomentCommands) -> Iterator[Block]:
    """Yield what differs, from the first moment on at which anything is known."""
    log, before, after = question.log, question.before, question.moment
    if before is None:
        return
    remarks = list(question.remarks)
    later = known_from(log, before, after, usual_kinds(log, after))
    # Compared with nothing, all objects would seem new.
    if later is not None:
        remarks.append(f"nothing is known before {later.label}: the range begins there")
        before = later
    yield Drawn(change_part(diff_at(log, (before, after)), remarks))
    yield CommandLine(commands.of_log("diff", before.label, after.label))


def _gaps(question: ReportRequest, answer: SessionAnswer) -> Iterator[Block]:
    """Yield what the log does not know and the answers need, each once."""
    log, moment = question.log, question.moment
    gaps = [(text, "") for text in remarks_on(moment)]
    if question.conf is None and has_no_conf(log, moment):
        message = "the configuration of the scheduler: the log holds none"
        remedy = "give the cluster's volcano-scheduler.conf with --conf, or ingest it"
        gaps.append((message, remedy))
    unknown = [*unknown_at(log, moment, usual_kinds(log, moment)), *answer.not_known]
    gaps += [
        (f"{unknown_kind.name}: {unknown_kind.reason}", unknown_kind.remedy)
        for unknown_kind in unknown
    ]
    items = [
        ListedItem(
            Words(message, Marked(f"To know it: {remedy}.", "remedy")) if remedy else message
        )
        for message, remedy in dict.fromkeys(gaps)
    ]
    known = Sentence("Of what sessions need, the log knows everything at this moment.")
    yield ItemList(items, "gaps") if items else known
