"""The envelope of an answer: what it is about, what it rests on, and how to go on from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from ....engine.kubernetes.units import format_time
from ...answers.assumed_confs import unnamed
from ...facade.documents import document
from ...facade.log import Log
from ...logs.assumptions import assumptions_at
from ...logs.scheduler_release import release_at
from ...moments.log_clock import when_is
from ...moments.moment import Moment, remarks_on
from ...questions.defaults import DEFAULT_RELEASE
from ...render.documents import plain
from ...tabular.documents import API_VERSION
from ..reach import reach_all, reach_cache
from ..withheld import Withheld, confs_of, inputs_named
from .operation import Operation, OperationRequest
from .pages import Cut, ListPageSize, ListPart, bounded, page_of
from .parameters import given

ROOT = "/plinian/v1"

MOST_EVIDENCE = 100
"""How many events an answer names."""

_POSITIONS = frozenset({"position", "positions"})


class At(msgspec.Struct, frozen=True, kw_only=True):
    """The moment of an answer.

    :param point: how to name it again. :param position: only events up to it count.
    :param revision: the last resourceVersion that had happened.
    :param time: the best estimate, RFC 3339 in UTC. :param earliest: and ``latest``: its bounds.
    :param remarks: how the point was understood, and which changes are not sure.
    """

    point: str
    branch: str
    cluster: str
    position: int
    revision: int | None
    time: str | None
    earliest: str | None
    latest: str | None
    remarks: list[str]


class EvidencePositions(msgspec.Struct, frozen=True, kw_only=True):
    """The events that an answer names, by position.

    :param positions: the first of them. :param total: how many there are.
    """

    positions: list[int]
    total: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with what it is about and what it rests on.

    :param question: the name of the question. :param moment: null if it is not about a log.
    :param releases: of Volcano, that the answer is about. :param configurations: of the scheduler.
    :param not_known: which kinds of objects the log does not fully know at the moment, and why.
    :param assumed: what was assumed to answer. :param evidence: the events that it names.
    :param command: the command that gives the same answer in the terminal; empty if there is none.
    :param links: paths of this API for more. :param cut: lists that are not shown whole.
    :param next: the cursor of the next page; null if there is none. :param result: the answer, as
        the command prints it with ``-o json``.
    """

    api_version: str = msgspec.field(name="apiVersion", default=API_VERSION)
    question: str
    moment: At | None
    releases: list[str]
    configurations: list[str]
    not_known: list[dict[str, Any]]
    assumed: list[str]
    evidence: EvidencePositions
    command: str
    links: dict[str, str]
    cut: list[Cut]
    next: str | None
    result: Any


def request_of(
    operation: Operation, texts: Mapping[str, list[str]], *, limit: int | None = None
) -> tuple[Mapping[str, Any], ListPageSize]:
    """Return the values and the page that a request asks for.

    :param limit: how many members a list has if the request does not say.
    :raises UsageError: a value is wrong or missing, or there is no such parameter.
    """
    values = given(operation.parameters, texts)
    return values, page_of(values.get("limit", limit), values.get("cursor"))


def moment_of(
    operation: Operation, log: Log, values: Mapping[str, Any], page: ListPageSize, usual: str
) -> Moment | None:
    """Return the moment that a question is about; None if it is not about a log.

    :param usual: the point of the server. :raises PointUnknown: there is no such moment.
    """
    if not operation.point:
        return None
    text = values.get(operation.point)
    if text is None and operation.is_whole:
        text = values.get("until", "end")
    known = None if page.known is None else f"@{page.known}"
    return log.moment(text or operation.default or usual, as_known_at=known)


def answered(asked: OperationRequest) -> Answer:
    """Return the answer to a question.

    :raises PlinianError: there is none.
    """
    # First: a refusal must not take as long as the answer.
    _reach(asked)
    list_part = asked.operation.ask(asked)
    page = asked.page
    if isinstance(list_part, ListPart):
        result, cut, after = list_part.document, _cut(list_part, page), list_part.next
    else:
        # All long lists of an answer share one offset: pages go on until the longest list ends.
        whole = document(list_part, trace=bool(asked.values.get("trace")))
        result, cut, longest = bounded(whole, page)
        after = page.end if longest > page.end else None
    withheld = _withheld_from(asked, result)
    result = withheld.document(result)
    # Only of what this page shows: other pages name the events of their members.
    positions = sorted(set(_positions(result)))
    moment = asked.moment
    filled_in = [] if moment is None else list(assumptions_at(asked.log, moment))
    return Answer(
        question=asked.operation.name,
        moment=None if moment is None else _at(asked.log, moment),
        releases=_releases(asked, result),
        configurations=_named(result, "conf"),
        not_known=withheld.document(_not_known(asked, result)),
        assumed=[*_assumed(asked, result), *withheld.document(filled_in)],
        evidence=EvidencePositions(positions=positions[:MOST_EVIDENCE], total=len(positions)),
        command=asked.operation.command_line(asked),
        links=_links(asked, positions),
        cut=cut,
        next=None if after is None else page.cursor(after, 0 if moment is None else moment.known),
        result=result,
    )


def _reach(asked: OperationRequest) -> None:
    """Make sure that the answer is soon found.

    :raises OutOfReach: it is not.
    """
    operation, values, moment = asked.operation, asked.values, asked.moment
    if moment is None:
        return
    named = asked.keywords().get("release") or DEFAULT_RELEASE
    releases = [*values.get("release", ())] if isinstance(values.get("release"), list) else [named]
    releases += [values["try_release"]] if "try_release" in values else []
    at_moment = operation.is_whole and "at" in values
    if operation.believes or at_moment:
        reach_cache(asked.log, moment, releases)
    elif operation.reads_all and "since" not in values:
        reach_all(asked.log, operation.reads_all, operation.command_line(asked))
    if operation.believes and "before" in values:
        reach_cache(asked.log, asked.log.moment(values["before"]), releases)


def _withheld_from(asked: OperationRequest, document: Any) -> Withheld:
    """Return what replaces paths in the answer to a question."""
    names = {*inputs_named(document), *confs_of(asked.log, asked.moment)}
    moment = asked.moment
    if asked.operation.names_inputs and moment is not None:
        source_infos = asked.log.store.sources(
            known=moment.known, cluster=moment.cluster, branch=moment.branch
        )
        names |= {source_info.source for source_info in source_infos}
    return Withheld(names, asked.log.place)


def _cut(part: ListPart, page: ListPageSize) -> list[Cut]:
    if part.next is None and not page.offset:
        return []
    return [Cut(field="", first=part.first, shown=len(part.document), total=part.total)]


def _at(log: Log, moment: Moment) -> At:
    revision = moment.revision
    if revision is None:
        extent = log.store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
        revision = extent.last_revision
    when = when_is(log.store, moment)
    return At(
        point=moment.label,
        branch=moment.branch,
        cluster=moment.cluster,
        position=moment.known,
        revision=revision,
        time=_time(when.estimate),
        earliest=_time(when.earliest),
        latest=_time(when.latest),
        remarks=remarks_on(moment),
    )


def _time(micros: int | None) -> str | None:
    return None if micros is None else format_time(micros)


def _positions(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        for member in value:
            yield from _positions(member)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in _POSITIONS:
                positions = member if isinstance(member, list) else [member]
                yield from (each for each in positions if isinstance(each, int) and each > 0)
            else:
                yield from _positions(member)


def _named(result: Any, name: str) -> list[str]:
    """Return the texts of a field of an answer, of its sides and of what it says was asked."""
    if not isinstance(result, dict):
        return []
    parts = [result, result.get("asked"), *(result.get("sides") or ())]
    texts = [part.get(name) for part in parts if isinstance(part, dict)]
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text))


def _releases(asked: OperationRequest, result: Any) -> list[str]:
    releases = _named(result, "release")
    if releases or not asked.operation.has_release:
        return releases
    return [str(asked.keywords().get("release") or DEFAULT_RELEASE)]


def _assumed(asked: OperationRequest, result: Any) -> list[str]:
    """Return what a result says that was assumed, and the release that neither names."""
    parts = [result, result.get("asked")] if isinstance(result, dict) else []
    lists = [part.get("assumed") for part in parts if isinstance(part, dict)]
    said = [str(text) for texts in lists if isinstance(texts, list) for text in texts]
    return list(dict.fromkeys((*said, *_unnamed(asked, result))))


def _unnamed(asked: OperationRequest, result: Any) -> Iterator[str]:
    """Yield that the release of an answer is assumed: neither the request nor an image names it."""
    is_named = asked.release is not None or "release" in asked.values
    if not asked.operation.has_release or is_named:
        return
    used = _releases(asked, result)
    if len(used) != 1:
        return
    read = None if asked.moment is None else release_at(asked.log, asked.moment)
    if used[0] != read:
        yield unnamed(used[0])


def _not_known(asked: OperationRequest, result: Any) -> list[dict[str, Any]]:
    if isinstance(result, dict) and isinstance(result.get("not_known"), list):
        return list(result["not_known"])
    if asked.moment is None:
        return []
    kinds = [asked.values["kind"]] if asked.operation.url.startswith("objects/") else ()
    return [plain(unknown) for unknown in asked.log.not_known(kinds, at=asked.moment)]


def _links(asked: OperationRequest, positions: Sequence[int]) -> dict[str, str]:
    links = {"openapi": f"{ROOT}/openapi.json"}
    if asked.moment is not None:
        at = f"at={quote(asked.moment.label, safe='@:')}"
        links |= {"log": f"{ROOT}/log", "queues": f"{ROOT}/state/queues?{at}"}
    if positions:
        links["events"] = f"{ROOT}/events?since=@{positions[0]}&until=@{positions[-1]}"
    return links
