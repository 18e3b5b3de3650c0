"""How questions reach the Python API."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from ....engine.kubernetes.resources import plural_of
from ...facade.documents import document
from ...objects.kind_names import plain_name
from .operation import Ask, OperationRequest
from .pages import ListPageSize, ListPart


def method(name: str, *first: str, progress: bool = False) -> Ask:
    """Return how a method of a log answers a question.

    :param first: the parameters that it takes by position.
    :param progress: it reports its progress, so the time it may take can be bounded.
    """

    def ask(asked: OperationRequest) -> Any:
        keywords = asked.keywords()
        given = [keywords.pop(word) for word in first]
        if progress:
            keywords["progress"] = asked.limit.progress
        return getattr(asked.log, name)(*given, **keywords)

    return ask


def events(asked: OperationRequest) -> ListPart:
    """Return a page of events; the offset of a page is a position."""
    keywords, page = asked.keywords(), asked.page
    payload = keywords.pop("payload", False)
    if page.offset:
        keywords["after"] = page.offset
    # One more than a page has: it says whether there is a next page.
    read_events = list(islice(asked.log.events(**keywords), page.limit + 1))
    page_events = read_events[: page.limit]
    more = len(read_events) > page.limit
    return ListPart(
        document=document(page_events, payload=payload),
        first=None,
        total=None,
        next=page_events[-1].position if more else None,
    )


def kinds(asked: OperationRequest) -> list[dict[str, Any]]:
    """Return the kinds of objects that exist at a moment, and how many of each."""
    truth = asked.log.truth(asked.moment or "end")
    return [
        {
            "group": group,
            "kind": kind,
            "resource": plural_of(group, kind),
            "name": plain_name(group, kind),
            "objects": len(truth.of(group, kind)),
        }
        for group, kind in sorted(truth.kinds())
    ]


def objects(asked: OperationRequest) -> ListPart:
    """Return a page of the objects of a kind at a moment."""
    log, page, keywords = asked.log, asked.page, asked.keywords()
    moment = log.moment(asked.moment or "end")
    kind, name = keywords.pop("kind"), keywords.pop("name", None)
    if name is not None:
        return _part(
            page, records := log.get(kind, name, **keywords), records[page.offset : page.end]
        )
    entries = log.entries(kind, **keywords)
    documents = log.documents(entries[page.offset : page.end], branch=moment.branch)
    return _part(page, entries, list(documents))


def explore(asked: OperationRequest) -> Any:
    """Search for races from a moment of the log."""
    from ...facade.exploring import explore_log  # noqa: PLC0415 -- loads much

    keywords = asked.keywords()
    keywords.pop("at", None)
    label = asked.log.moment(asked.moment or "end").label
    return explore_log(asked.log.place, label, **keywords)


def _part(page: ListPageSize, members: Sequence[object], shown: list[dict[str, Any]]) -> ListPart:
    total = len(members)
    return ListPart(
        shown, first=page.offset, total=total, next=page.end if page.end < total else None
    )
