"""The rows of ``plinian get --watch``, printed as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .object_arguments import ObjectFormat, ObjectQuery, RequestedKind, look_for, note_nothing
from .shell import fail, note, style

if TYPE_CHECKING:
    from ...engine.kubernetes.resources import GroupKind
    from ...engine.state.clock import TimeSpan
    from ...engine.state.truth_fold import Entry
    from ..logs.log import Log
    from ..logs.watch import ObjectChange, Watch
    from ..moments.moment import Moment
    from ..render.columns import TableContext
    from ..render.tables import Table

_DOCUMENTS = frozenset({"json", "yaml"})


def print_watch(
    look: ObjectQuery, wanted: Sequence[RequestedKind], tabled: ObjectFormat, *, only_news: bool
) -> None:
    """Print objects and their changes, until interrupted.

    :param only_news: leave out objects that exist at the moment.
    :raises UsageError: several kinds are named, or a form that a watch does not have.
    """
    from ...engine.errors import UsageError
    from ..logs.watch import Watch

    kinds = {requested_kind.kind for requested_kind in wanted}
    if len(kinds) != 1:
        raise UsageError("only one kind can be watched at a time", now="as in plinian get pods -w")
    if tabled.output not in {"", "wide", "name", *_DOCUMENTS}:
        raise UsageError(
            f"a watch has no output form {tabled.output!r}", now="choose: wide|json|yaml|name"
        )
    _, missing = look_for(look, wanted)  # raises for unreadable selectors, and for names
    if missing:
        fail(missing[0])
    kind = wanted[0].kind
    places = {requested.place or look.place for requested in wanted}
    if len(places) > 1:
        raise UsageError("only one namespace can be watched at a time", now="or use -A for all")
    look = look._replace(place=places.pop())
    names = _names(look, wanted)

    def choose(entries: Sequence[Entry]) -> list[Entry]:
        return _chosen(look, kind, names, entries)

    watch = Watch(look.log, kind, look.moment, choose)
    if tabled.output not in _DOCUMENTS:
        _note_waiting(look, wanted, watch, only_news=only_news)
    lines = _Lines(look, kind, tabled)
    for line in lines.of(watch, only_news=only_news):
        sys.stdout.write(line)
        sys.stdout.flush()


def _note_waiting(
    look: ObjectQuery, wanted: Sequence[RequestedKind], watch: Watch, *, only_news: bool
) -> None:
    """Note what a watch without any row is doing, as nothing else shows that it works."""
    if watch.entries() and not only_news:
        return
    if not watch.entries():
        note_nothing(wanted, look.place)
    note("plinian: waiting for changes (Ctrl-C ends it)")


def _names(look: ObjectQuery, wanted: Sequence[RequestedKind]) -> frozenset[str]:
    from ..logs.given_names import name_at

    return frozenset(
        name_at(look.log, requested_kind.kind, name, look.place, look.moment)
        for requested_kind in wanted
        for name in requested_kind.names
    )


def _chosen(
    look: ObjectQuery, kind: GroupKind, names: frozenset[str], entries: Sequence[Entry]
) -> list[Entry]:
    """Return those objects that the arguments select."""
    from ...engine.kubernetes.expressions.selector_text import parse_selector
    from ...engine.kubernetes.resources import CLUSTER_SCOPED
    from ..objects.field_selectors import parse_field_selector

    labels, fields = parse_selector(look.selector), parse_field_selector(look.fields)
    selected = [
        entry
        for entry in entries
        if (not names or entry.reference.name in names)
        and (
            look.place is None
            or kind in CLUSTER_SCOPED
            or entry.reference.namespace in {look.place, ""}
        )
        and labels.matches(entry.fact.labels)
    ]
    branch = look.moment.branch
    return fields.select(selected, lambda chosen: look.log.documents(chosen, branch=branch))


class _Lines:
    """Writes the lines of a watch: a table that grows, documents or names."""

    def __init__(self, look: ObjectQuery, kind: GroupKind, tabled: ObjectFormat) -> None:
        self._log: Log = look.log
        self._look = look
        self._kind = kind
        self._tabled = tabled
        self._short: Mapping[str, str] = {}

    def of(self, watch: Watch, *, only_news: bool) -> Iterator[str]:
        from ..render.tables import stream_lines

        entries = [] if only_news else watch.entries()
        if self._tabled.output in {"", "wide"}:
            first = list(self._first_rows(entries))
            yield from stream_lines(
                self._columns(),
                self._rows(first, watch),
                no_headers=self._tabled.no_headers,
                style=style(),
                look_ahead=max(1, len(first)),
                endless=True,
            )
            return
        for entry in entries:
            yield self._text("ADDED", entry)
        for seen in watch.changes():
            yield self._text(seen.what, seen.entry)

    def _columns(self) -> Table:
        """Return the table without rows."""
        table = self._table(self._context(self._look.moment), [])
        if not self._tabled.events:
            return table
        keep = (*table.keep, table.headers[0])
        return table._replace(headers=("EVENT", *table.headers), keep=keep)

    def _first_rows(self, entries: Sequence[Entry]) -> Iterator[list[str]]:
        table = self._table(self._context(self._look.moment), entries)
        for row in table.rows:
            yield [_padded("ADDED"), *row] if self._tabled.events else list(row)

    def _rows(self, first: Sequence[list[str]], watch: Watch) -> Iterator[list[str]]:
        yield from first
        for seen in watch.changes():
            row = self._row(seen)
            yield [_padded(seen.what), *row] if self._tabled.events else row

    def _row(self, seen: ObjectChange) -> list[str]:
        context = self._context(seen.moment, seen.when)
        return list(self._table(context, [seen.entry]).rows[0])

    def _context(self, moment: Moment, when: TimeSpan | None = None) -> TableContext:
        from ..coverage.coverage import NotListed
        from ..render.columns import TableContext

        # A function: only columns with totals need the whole state, and a watch has many moments.
        return TableContext(
            lambda: self._log.truth(moment), when=when, not_listed=NotListed(self._log, moment)
        )

    def _table(self, context: TableContext, entries: Sequence[Entry]) -> Table:
        from ..render.columns import table_of

        wide = self._tabled.output == "wide"
        return table_of(
            context,
            *self._kind,
            entries,
            wide=wide,
            namespaces=self._tabled.namespaces and not self._has_no_namespace(),
            labels=self._tabled.labels,
            short={} if wide else self._shortened(entries),
        )

    def _has_no_namespace(self) -> bool:
        from ...engine.kubernetes.resources import CLUSTER_SCOPED

        return self._kind in CLUSTER_SCOPED

    def _shortened(self, entries: Sequence[Entry]) -> Mapping[str, str]:
        """Return short names that are unique among all that the log knows so far."""
        from ..logs.given_names import PODGROUP, known_names, shortened

        if self._kind == PODGROUP and any(
            entry.reference.name not in self._short for entry in entries
        ):
            self._short = shortened(known_names(self._log, self._kind, None))
        return self._short

    def _text(self, what: str, entry: Entry) -> str:
        from ..objects.kind_names import resource_name
        from ..render.documents import json_text
        from ..render.yaml_text import YamlWriter

        if self._tabled.output == "name":
            return f"{resource_name(*self._kind)}/{entry.reference.name}\n"
        (document,) = self._log.documents([entry], branch=self._look.moment.branch)
        if self._tabled.events:
            document = {"type": what, "object": document}
        if self._tabled.output == "json":
            return json_text(document) + "\n"
        return f"---\n{YamlWriter().text(document)}"


def _padded(what: str) -> str:
    """Return ADDED, MODIFIED or DELETED, padded to the longest of them."""
    return f"{what:<8}"
