"""The page of an answer: why an object waits, since when, what would help, and other releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from ....engine.volcano.releases import RELEASES
from ....engine.volcano.session.history import resolve
from ...answers.answer import Why
from ...answers.assumed_confs import unnamed
from ...answers.records import Nodes, PodGroupState
from ...answers.since import begins_of
from ...compare.session_claims import BOUND, ENQUEUED, SessionClaim
from ...compare.subjects import LogSubject
from ...facade.documents import document
from ...facade.log import Log
from ...moments.times import first_time, last_time
from ...pages.templates import rendered
from ...pages.why_sections import MADE_BY, RESTS_ON, badge
from ...render.blocks import (
    Block,
    Drawn,
    Folded,
    Marked,
    Ref,
    Section,
    Sentence,
    Words,
    here_ref,
    object_ref,
)
from ...render.session import step_table
from ...render.simulation import spans
from ...render.tables import TextColumn, table_of
from ...render.why import event_table, reasons_section, since_blocks
from ...render.would_help import help_sections
from ...what_if.help import WouldHelp
from ..reach import reach_cache
from .blocks import BlockPage
from .look import Look
from .notes import file_name, filled_in, sentences
from .page import page

HELP_BUDGET = "20s"
"""How long changes are tried that may help."""


class BarStretch(NamedTuple):
    """A time during which one answer held, as a part of a bar.

    :param time: since when, in words. :param cause: a few words that name the answer.
    :param begin: and ``width``: in percent of the whole time. :param unsure: for so long before it
        may have begun.
    """

    time: str
    cause: str
    begin: float
    width: float
    unsure: float


class OtherReleases(msgspec.Struct, frozen=True, kw_only=True):
    """What neighbouring releases answer on the same snapshot.

    :param releases: as people write them. :param last: the newest of them.
    """

    releases: str
    last: str
    holds: bool
    text: str


@page("why/{kind}/{key:path}", "Why", long=True, takes=("help", "others"))
def why(log: Log, look: Look, kind: str, key: str) -> BlockPage:
    """Return why an object waits; ``help`` and ``others`` of the query ask for more.

    :raises ObjectNotFound: there is no such object at that moment.
    :raises UsageError: it is no pod, job, podgroup, queue or node.
    """
    moment, named = log.moment(look.at), f"{kind}/{key}"
    reach_cache(log, moment, [look.release])
    answer = log.why(named, at=moment, release=look.named_release)
    asked, now = answer.asked, log.truth(moment).time
    can_help = bool(answer.waits) and asked.kind in {"pod", "job", "podgroup"}
    question = _question(answer) if can_help else None
    helping, others = None, None
    if can_help and look.get("help") == "yes":
        budget, release = HELP_BUDGET, look.release
        helping = log.what_would_help(named, at=moment, release=release, budget=budget)
    if question is not None and look.get("others") == "yes":
        others = tuple(_others(LogSubject(log, moment), question))

    def sections() -> Iterator[Section]:
        yield from _sections(answer, now)
        if can_help:
            yield from _help(helping)
        if question is not None:
            title = "In other releases, on the same snapshot"
            yield Section(_other_blocks(others, question, look.release), title, "others")
        yield from _evidence(answer)

    more = {} if helping is None else {"would_help": document(helping)}
    more |= {} if others is None else {"other_releases": msgspec.to_builtins(others)}
    return BlockPage(
        f"Why {asked.kind}/{asked.name}",
        sections,
        document({**document(answer), **more}) if more else answer,
        badge=badge(answer),
        assumed=tuple(line for line in asked.assumed if line != unnamed(asked.release)),
        not_known=(*sentences(answer.not_known), *filled_in(log, moment)),
    )


def _sections(why: Why, now: int | None) -> Iterator[Section]:
    """Yield the answer. :param now: the time of the moment; None if it is not known."""
    name = f"{why.asked.kind}/{why.asked.name}"
    about = object_ref(name, f"All about {name}")
    session = Ref(f"the session of {why.asked.release}", "session", about=why.asked.name)
    conf = f" with the configuration {file_name(why.asked.conf)}."
    checks = (" ", Ref("Every check of it", f"path/{name}"), ".") if why.asked.kind == "pod" else ()
    place = Sentence(Words(about, ". Found in ", session, conf, *checks))
    yield Section([Sentence(why.sentence, "sentence"), place])
    if why.chain:
        yield reasons_section(why)
    bar = list(_stretches(why, now))
    drawn = [Drawn(rendered("stretches.html", stretches=bar))] if bar else []
    yield Section([*drawn, *since_blocks(why)], "Since when, and did the reason change?")
    if why.made_by:
        yield Section([event_table("OBJECT", why.made_by, MADE_BY)], "Made so by")


def _evidence(why: Why) -> Iterator[Section]:
    """Yield the steps and the events that the answer rests on."""
    if why.steps:
        title = f"Steps of the session about it: {len(why.steps)}"
        yield Section([Folded(title, [step_table(why.steps)])])
    if why.events:
        title = f"Events that the answer rests on: {len(why.events)}"
        yield Section([Folded(title, [event_table("RESTS ON", why.events, RESTS_ON)])])


def _help(helping: WouldHelp | None) -> Iterator[Section]:
    """Yield the changes with which it starts, or how to try some."""
    if helping is None:
        text = "Try changes that may help"
        button = here_ref(text, "button", "help-it", help="yes")
        more = " Each change runs the session again; it takes up to 20 seconds."
        yield Section([Sentence(Words(button, more))], "What would help", "help-it")
        return
    first, *others = help_sections(helping)
    own = Sentence(Ref("Try changes of your own", "what-if"))
    yield Section([*first.blocks, own], "What would help", "help-it")
    yield from others


def _other_blocks(
    others: Sequence[OtherReleases] | None, question: SessionClaim, release: str
) -> Sequence[Block]:
    if others is None:
        text = "Run the session as every release"
        button = here_ref(text, "button", "others", others="yes")
        return [Sentence(Words(button, " It takes a session for each of them."))]
    columns: Sequence[TextColumn[OtherReleases]] = (
        TextColumn("RELEASES", lambda releases: releases.releases),
        TextColumn(
            "ANSWER",
            lambda releases: Marked(*(("yes", "good") if releases.holds else ("no", "bad"))),
        ),
        TextColumn("RESULT", lambda releases: releases.text),
        TextColumn("COMPARE", lambda releases: _beside(releases, release)),
    )
    table = table_of(columns, others, "Answers of releases")
    return [Sentence(f"Asked: {question}?"), table]


def _beside(releases: OtherReleases, release: str) -> str:
    if releases.last == release:
        return ""
    return Ref(f"{releases.last} beside {release}", "compare", vs_release=releases.last)


def _stretches(answer: Why, now: int | None) -> Iterator[BarStretch]:
    """Yield the answers so far, each from when it held until the next one; none without times."""
    begun = [stage.since.begin for stage in answer.stages]
    firsts, begins = [first_time(span) for span in begun], [last_time(span) for span in begun]
    first = firsts[0] if firsts else None
    if first is None or now is None or now <= first:
        return
    whole = now - first
    # What is between the first and the last possible time of a change belongs to neither.
    ends = [*firsts[1:], now]
    for stage, said, earliest, begin, end in zip(
        answer.stages, begins_of(answer.stages), firsts, begins, ends, strict=True
    ):
        known = begin is not None and end is not None
        yield BarStretch(
            time=said,
            cause=stage.cause,
            begin=round(100 * ((begin or 0) - first) / whole, 2) if known else 0.0,
            width=round(100 * max(0, (end or 0) - (begin or 0)) / whole, 2) if known else 0.0,
            unsure=round(100 * ((begin or 0) - (earliest or 0)) / whole, 2) if known else 0.0,
        )


def _question(answer: Why) -> SessionClaim | None:
    """Return what to ask other releases: whether a pod is bound, or the PodGroup enqueued."""
    pods = [link.pod for link in answer.chain if isinstance(link, Nodes)]
    if answer.asked.kind == "pod":
        return SessionClaim(BOUND, answer.asked.name)
    if pods:
        return SessionClaim(BOUND, pods[-1])
    groups = [link.podgroup for link in answer.chain if isinstance(link, PodGroupState)]
    return SessionClaim(ENQUEUED, groups[-1]) if groups else None


def _others(subject: LogSubject, question: SessionClaim) -> Iterator[OtherReleases]:
    """Yield what the session of each release answers, neighbours with one answer together."""
    names = [str(release) for release in RELEASES if not release.ours]
    answers = [(name, question.of(subject.session(resolve(name)))) for name in names]
    for said, alike in groupby(answers, key=lambda answer: answer[1]):
        same = [name for name, _ in alike]
        yield OtherReleases(releases=spans(same), last=same[-1], holds=said.holds, text=said.text)
