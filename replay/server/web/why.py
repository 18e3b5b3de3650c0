"""The page of an answer: why an object waits, since when, what would help, and other releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec

from ....engine.volcano.releases import RELEASES
from ....engine.volcano.session.history import resolve
from ...answers.answer import Why
from ...answers.records import Evidence, Nodes, PodGroupState, Step
from ...answers.since import begins_of
from ...compare.session_claims import BOUND, ENQUEUED, SessionClaim
from ...compare.subjects import LogSubject
from ...facade.documents import document
from ...facade.log import Log
from ...moments.times import first_time, last_time
from ...pages.why import reasons_of
from ...render.simulation import spans
from ...render.why import few, no_change_text, tried_text
from ...what_if.help import WouldHelp
from ..reach import reach_cache
from .bounded import MOST_ROWS
from .look import Look
from .notes import file_name, filled_in, sentences
from .page import page

HELP_BUDGET = "20s"
"""How long changes are tried that may help."""


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """A time during which one answer held.

    :param point: from when on; ``time`` says it in words. :param begin: and ``width``: in percent
        of the whole time; the width is 0 if the times are not known. :param unsure: for so long
        before it may have begun. :param cause: a few words
        that name the answer.
    """

    point: str
    time: str
    cause: str
    sentence: str
    begin: float
    width: float
    unsure: float
    now: bool
    events: tuple[Evidence, ...]
    more: int


class OtherReleases(msgspec.Struct, frozen=True, kw_only=True):
    """What neighbouring releases answer on the same snapshot.

    :param releases: as people write them. :param last: the newest of them.
    """

    releases: str
    last: str
    holds: bool
    text: str


class WhyPage(msgspec.Struct, frozen=True, kw_only=True):
    """An answer.

    :param name: of the object, as links name it. :param conf: the name of the configuration.
    :param stretches: oldest first.
    :param steps: of the session, about the object; the last ones.
    :param help: and ``others``: None if it was not asked for.
    :param can_help: changes can be tried.
    :param question: what was asked of the other releases, in words.
    """

    name: str
    conf: str
    why: Why
    steps: tuple[Step, ...]
    stretches: tuple[Stretch, ...]
    steps_left_out: int
    can_help: bool
    help: WouldHelp | None
    question: str
    others: tuple[OtherReleases, ...] | None
    not_known: tuple[str, ...]


def _json(found: WhyPage) -> Any:
    """Return the answer as the command prints it, with what else was asked for."""
    more: dict[str, Any] = {}
    if found.help is not None:
        more["would_help"] = document(found.help)
    if found.others is not None:
        more["other_releases"] = msgspec.to_builtins(found.others)
    return {**document(found.why), **more}


def _shown(found: WhyPage, _look: Look) -> Mapping[str, Any]:
    no_change = "" if found.help is None else no_change_text(found.help)
    faulty = [] if found.help is None else few(found.help.by_fault)[0]
    tried = "" if found.help is None else tried_text(found.help)
    reasons = reasons_of(found.why)
    return {"reasons": reasons, "no_change": no_change, "faulty": faulty, "tried": tried}


@page(
    "why/{kind}/{key:path}",
    template="why_page.html",
    title="Why",
    long=True,
    json=_json,
    show=_shown,
)
def why(log: Log, look: Look, kind: str, key: str) -> WhyPage:
    """Return why an object waits; ``help`` and ``others`` of the query ask for more.

    :raises ObjectNotFound: there is no such object at that moment.
    :raises UsageError: it is no pod, job, podgroup, queue or node.
    """
    moment, named = log.moment(look.at), f"{kind}/{key}"
    reach_cache(log, moment, [look.release])
    found = log.why(named, at=moment, release=look.named_release)
    waits = bool(found.waits) and found.asked.kind in {"pod", "job", "podgroup"}
    helps = waits and look.get("help") == "yes"
    question = _question(found) if waits else None
    asks = question is not None and look.get("others") == "yes"
    return WhyPage(
        name=f"{found.asked.kind}/{found.asked.name}",
        conf=file_name(found.asked.conf),
        why=found,
        steps=found.steps[-MOST_ROWS:],
        stretches=tuple(_stretches(found, log.truth(moment).time)),
        steps_left_out=len(found.steps[:-MOST_ROWS]),
        can_help=waits,
        help=log.what_would_help(named, at=moment, release=look.release, budget=HELP_BUDGET)
        if helps
        else None,
        question="" if question is None else str(question),
        others=tuple(_others(LogSubject(log, moment), question))
        if question is not None and asks
        else None,
        not_known=(*sentences(found.not_known), *filled_in(log, moment)),
    )


def _stretches(found: Why, now: int | None) -> Iterator[Stretch]:
    """Yield the answers so far, each from when it held until the next one."""
    begun = [stage.since.begin for stage in found.stages]
    firsts, begins = [first_time(one) for one in begun], [last_time(one) for one in begun]
    first, last = (firsts[0] if firsts else None), now
    whole = 0 if first is None or last is None else last - first
    ends = [*firsts[1:], last][: len(begun)]
    words = begins_of(found.stages)
    for stage, said, earliest, begin, end in zip(
        found.stages, words, firsts, begins, ends, strict=True
    ):
        known = whole > 0 and begin is not None and end is not None
        yield Stretch(
            point=stage.since.at,
            time=said,
            cause=stage.cause,
            sentence=stage.sentence,
            begin=round(100 * ((begin or 0) - (first or 0)) / whole, 2) if known else 0.0,
            width=round(100 * max(0, (end or 0) - (begin or 0)) / whole, 2) if known else 0.0,
            unsure=round(100 * ((begin or 0) - (earliest or 0)) / whole, 2) if known else 0.0,
            now=stage is found.stages[-1],
            events=stage.since.events,
            more=stage.since.more,
        )


def _question(found: Why) -> SessionClaim | None:
    """Return what to ask other releases: whether a pod is bound, or the PodGroup enqueued."""
    pods = [link.pod for link in found.chain if isinstance(link, Nodes)]
    if found.asked.kind == "pod":
        return SessionClaim(BOUND, found.asked.name)
    if pods:
        return SessionClaim(BOUND, pods[-1])
    groups = [link.podgroup for link in found.chain if isinstance(link, PodGroupState)]
    return SessionClaim(ENQUEUED, groups[-1]) if groups else None


def _others(subject: LogSubject, question: SessionClaim) -> Iterator[OtherReleases]:
    """Yield what the session of each release answers, neighbours with one answer together."""
    names = [str(one) for one in RELEASES if not one.ours]
    answers = [(name, question.of(subject.session(resolve(name)))) for name in names]
    for answer, some in groupby(answers, key=lambda one: one[1]):
        same = [name for name, _ in some]
        yield OtherReleases(
            releases=spans(same), last=same[-1], holds=answer.holds, text=answer.text
        )


PAGES = (why,)
