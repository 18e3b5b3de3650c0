"""Reads one watch, event by event: the versions in it, its initial list, and what it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json
from ...events.payloads import WatchInterrupted
from ...kubernetes.resources import GroupKind
from ...kubernetes.units import SECOND_US
from ..lists.excerpts import EXCERPTS, excerpt_refused
from ..lists.listing import list_event, scope
from ..objects.derived_facts import extra_events
from ..objects.identity import first_version, identify
from ..objects.object_defaults import fill_in
from ..objects.version_events import decode_slim, revision_of, version_event
from ..reading.broken import BrokenLists
from ..reading.formats import Context, InitialList, WatchRequest
from ..reading.json_text import (
    DECODE_FAULTS,
    LONE_SURROGATE,
    ends_in_lone_surrogate,
    fault_of,
    repeated_key,
)
from .watch_span import WatchSpan

_INITIAL_END = "k8s.io/initial-events-end"
_VERBS = MappingProxyType({"ADDED": "created", "MODIFIED": "updated", "DELETED": "deleted"})

_WITHIN_SECOND = SECOND_US - 1

_WRAPPER = len('{"type":"","object":}')
_WRAPPER_QUOTES = 6
_MARKER = len('"managedFields":0,')


class WatchReader:
    """Reads one stream.

    It continues from a revision, without an initial list, if ``context.asked`` says so.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._asked = context.asked
        self._initial = True
        self._highest = -1
        self._last: Reference | None = None
        self._kind = self._group = ""  # Those of _last, compared for every line.
        self._line = 0
        self._kinds: set[tuple[str, str]] = set()
        self._span = WatchSpan(context)
        # The objects of the initial list, if the stream is in one, and all namespaces so far.
        self._listed: dict[str, str] = {}
        self._listing = True
        self._namespaces: dict[str, None] = {}
        self._spaces: dict[str, None] = {}  # Of the current kind.
        # The newest stamp in the last version of each object, if no version can be missing.
        self._stamps: dict[str, int | None] = {}
        self._has_times = (
            len(context.received) > 0 or context.taken_at is not None or (context.clock is not None)
        )
        # No record of the initial list was skipped, and none since a change.
        self._whole = self._sure = True
        self._only_initial = True  # All lines so far are the initial list.
        context.lost, context.grow = self._lost, self.grow
        if self._asked is not None:
            self._begin_as_asked(self._asked)
        if context.cut_begin:
            self._lost()

    def read(self, line: int, text: bytes, *, may_be_cut: bool) -> Sequence[Event]:
        """Return the events of one watch event."""
        self._line = line
        return self._read(line, text, may_be_cut=may_be_cut)

    def _begin_as_asked(self, asked: WatchRequest) -> None:
        """Begin with what the client asked for."""
        self._turn_to(Reference(asked.group, asked.kind))
        if asked.since is not None:
            self._initial = self._listing = self._only_initial = False
            self._highest = asked.since

    def _lost(self) -> None:
        """Note that a record was skipped: it may have had any change."""
        self._stamps.clear()
        self._whole = self._sure = False
        self._end_span()
        self._span.restart(sure=False)

    def end(self) -> None:
        """Leave what the stream covers, at its end."""
        if self._only_initial and self._listed:
            self._leave_initial_list(None)
        self._end_span()

    def grow(self) -> int | None:
        """Leave what the stream covers so far; what follows continues it.

        :returns: up to which revision that is; None if nothing is covered yet.
        """
        last, span = self._last or Reference(), self._span
        span.grow(last.group, last.kind, sorted(self._spaces), line=self._line)
        return None if span.since is None else span.top

    def _leave_initial_list(self, revision: int | None) -> None:
        last = self._last or Reference()
        self._context.initial_lists.append(
            InitialList(
                source=self._context.source,
                group=last.group,
                kind=last.kind,
                uids=frozenset(self._listed),
                revision=revision,
            )
        )

    def _end_span(self, *, interrupted: bool = False) -> None:
        """Leave what the stream covers up to here, without a gap."""
        last = self._last or Reference()
        spaces = sorted(self._spaces)
        self._span.end(last.group, last.kind, spaces, line=self._line, interrupted=interrupted)

    def _read(self, line: int, text: bytes, *, may_be_cut: bool) -> Sequence[Event]:
        try:
            value, written_at, slim = decode_slim(text, "object")
        except EventMalformed as fault:
            self._reject(fault.problem, line, fault.path_from("$.object"))
            return ()
        except DECODE_FAULTS as fault:
            if ends_in_lone_surrogate(text):
                self._reject(LONE_SURROGATE, line)
            elif may_be_cut and not isinstance(fault, RecursionError):
                self._context.notes.append(
                    f"line {line} is cut off, as the recording ended; what came before it is kept"
                )
            else:
                self._reject(fault_of(fault)[0], line)
            return ()
        kind, document = _parts(value)
        if document is None or not isinstance(kind, str):
            self._reject("expected a watch event: an object with type and object", line)
        elif kind in _VERBS:
            cut = slim is not text
            return self._version(kind, document, line, written_at, slim.rstrip(), cut=cut)
        elif kind == "BOOKMARK":
            return list(self._bookmark(document, line))
        elif kind == "ERROR":
            return (self._error(document, line),)
        else:
            self._reject(f"no such watch event: {kind[:40]!r}", line, path="$.type")
        return ()

    def _reject(self, what: str, line: int, path: str = "") -> None:
        self._context.reject(what, line=line, path=path)

    def _version(
        self,
        kind: str,
        document: dict[str, Any],
        line: int,
        written_at: int | None,
        text: bytes,
        *,
        cut: bool,
    ) -> Sequence[Event]:
        named = document.get("kind")
        if isinstance(named, str) and named in EXCERPTS:
            raise excerpt_refused(named, f"{self._context.source}:{line}")
        try:
            fill_in(document, self._context)
            unversioned = self._identify(kind, document)
            event = version_event(
                document,
                verb=_VERBS[kind],
                source=self._context.source,
                line=line,
                cluster=self._context.cluster,
                written_at=written_at,
            )
        except EventMalformed as fault:
            self._reject(fault.problem, line, fault.path_from("$.object"))
            return ()
        # Equal lengths prove that nothing was dropped. Otherwise there are spaces, escapes or a
        # repeated key.
        if len(text) != len(event.payload) + _WRAPPER + len(kind) + (_MARKER if cut else 0) and (
            not self._says_it_once(text, event, 2 if cut else 0, line)
        ):
            return ()
        revision = event.revision or 0
        verb, latest = self.place(kind, event.reference, revision, event.earliest, line)
        noun = event.kind.partition(".")[0]
        event = msgspec.structs.replace(event, kind=f"{noun}.{verb}", latest=latest)
        if unversioned:
            event = first_version(event, self._context)
        if event.reference.kind == "ConfigMap":
            return [event, *extra_events(document, event)]
        return (event,)

    def _identify(self, kind: str, document: dict[str, Any]) -> bool:
        """Give an object the identity that it lacks; return whether it lacked a resourceVersion.

        Only what existed before the stream gets one: changes would have no order.

        :raises EventMalformed: a change has no resourceVersion.
        """
        metadata = document.get("metadata")
        named = isinstance(metadata, dict) and metadata.get("resourceVersion") not in (None, "")
        if not named and isinstance(metadata, dict) and not (kind == "ADDED" and self._initial):
            raise EventMalformed(
                "a change without one has no place among others; record the watch with whole "
                "objects: kubectl get -w -o json --output-watch-events",
                path="$.metadata.resourceVersion",
            )
        return identify(document, self._context)

    def _says_it_once(self, text: bytes, event: Event, quotes: int, line: int) -> bool:
        key = repeated_key(text, event.payload, quotes=_WRAPPER_QUOTES + quotes)
        if key is not None:
            self._reject(f"the key {key[:60]!r} occurs twice in one object", line)
        return key is None

    def place(
        self, kind: str, reference: Reference, revision: int, stamp: int | None, line: int
    ) -> tuple[str, int | None]:
        """Note a version; return its verb, and its latest time.

        :param stamp: the newest in the object. If the version before had an older one, then this
            write set it, and took effect within its second.
        """
        namespace, uid = reference.namespace, reference.uid
        if reference.kind != self._kind or reference.group != self._group:
            self._turn_to(reference)
        if namespace not in self._spaces:
            self._namespaces[namespace] = self._spaces[namespace] = None
        if kind == "ADDED":
            verb = self._added(reference, revision)
        else:
            verb = _VERBS[kind]
            self._changed(kind, reference, revision)
        self._highest = max(self._highest, revision)
        received = self._context.received_at(line) if self._has_times else None
        if kind == "DELETED":
            self._stamps.pop(uid, None)
            return verb, received
        before = self._stamps.get(uid)
        self._stamps[uid] = stamp
        if stamp is None or not (
            verb == "created" or (verb == "updated" and before is not None and stamp > before)
        ):
            return verb, received
        within = stamp + _WITHIN_SECOND
        return verb, within if received is None or received > within else received

    def _added(self, reference: Reference, revision: int) -> str:
        # A client that knows what it asked for says itself where a list begins, by an ERROR.
        if revision <= self._highest and not self._initial and self._asked is None:
            self._initial = self._listing = True  # Not new: the stream repeats its list.
            self._only_initial = False
            self._end_span()
            self._span.restart(sure=self._sure)
        self._span.added(revision)
        self._listed[reference.uid] = reference.namespace
        return "observed" if self._initial else "created"

    def _changed(self, kind: str, reference: Reference, revision: int) -> None:
        span = self._span
        if span.since is None:
            span.changed(revision)
        elif revision > span.top:
            span.top = revision
        self._initial = self._only_initial = False
        self._sure = True
        if not self._listing:
            self._whole = True
            if self._listed:
                self._listed.clear()
        # Changes may come before the bookmark that completes the list: then they are part of it.
        elif kind == "DELETED":
            self._listed.pop(reference.uid, None)
        else:
            self._listed[reference.uid] = reference.namespace

    def _turn_to(self, reference: Reference) -> None:
        """Change to another kind: streams follow each other, or are mixed."""
        if self._last is not None:
            self._only_initial = False
        if not self._span.silent:
            self._begin_kind((reference.group, reference.kind))
        self._last, self._kind, self._group = reference, reference.kind, reference.group

    def _begin_kind(self, kind: tuple[str, str]) -> None:
        if self._last is not None:
            self._end_span()
            self._span.restart()
            self._spaces = {}
        # A kind that comes back shows mixed streams: nothing says which of them is complete.
        if kind in self._kinds:
            self._span.fall_silent()
            self._spaces = self._namespaces
        self._kinds.add(kind)

    def _bookmark(self, document: dict[str, Any], line: int) -> Iterator[Event]:
        given = document.get("metadata")
        metadata: dict[str, Any] = given if isinstance(given, dict) else {}
        annotations = metadata.get("annotations")
        if not isinstance(annotations, dict) or annotations.get(_INITIAL_END) != "true":
            self._context.skip("bookmark", line=line)
            at = revision_of(metadata.get("resourceVersion"))
            if at is not None:
                self._span.bookmark(at)
            return
        kind, revision = document.get("kind"), revision_of(metadata.get("resourceVersion"))
        group = str(document.get("apiVersion") or "").rpartition("/")[0]
        if not isinstance(kind, str) or revision is None:
            self._context.reject("a bookmark without kind or resourceVersion", line=line)
            return
        if self._last is None or kind != self._last.kind:
            self._turn_to(Reference(group, kind))
        if self._only_initial:
            self._leave_initial_list(revision)
        listed, self._listed = self._listed, {}
        whole, self._whole, self._sure = self._whole, True, True
        self._initial = self._listing = self._only_initial = False
        self._span.listed(revision)
        namespaces = (
            scope(group, kind, sorted(set(listed.values())), among=self._namespaces)
            if self._asked is None
            else self._asked.namespaces
        )
        if self._context.partial_lists:
            self._context.skip("bookmark", line=line)
        elif not whole:
            self._context.skip("completeness of a list with a skipped record", line=line)
            self._leave_broken((group, kind), revision, line)
        elif namespaces is None:
            self._context.skip("empty list that does not say of which namespaces", line=line)
        else:
            yield list_event(
                self._context,
                group=group,
                kind=kind,
                namespaces=namespaces,
                uids=listed,
                resource_version=str(revision),
                line=line,
                exact=True,
            )

    def _leave_broken(self, pair: GroupKind, revision: int, line: int) -> None:
        """Leave why the initial list is not complete: a record of it was skipped."""
        context, broken = self._context, BrokenLists()
        broken.add(pair, context.last_fault or f"{context.source}:1: the line lacks its begin")
        event = broken.event(
            pair, revision, source=context.source, line=line, cluster=context.cluster
        )
        context.spans.append((0, event))

    def _error(self, status: dict[str, Any], line: int) -> Event:
        """Return the event of an ERROR, after which the stream may begin again."""
        self._end_span(interrupted=True)
        self._span.restart()
        self._initial = self._listing = self._whole = self._sure = True
        self._only_initial = False
        self._listed = {}
        self._stamps.clear()
        code = status.get("code")
        last = self._last
        return Event(
            kind="watch.interrupted",
            reference=Reference(last.group, last.kind) if last else Reference(),
            payload=canonical_json(
                WatchInterrupted(
                    code=code if isinstance(code, int) else 0,
                    reason=str(status.get("reason") or ""),
                    message=str(status.get("message") or ""),
                )
            ),
            source=self._context.source,
            line=line,
            cluster=self._context.cluster,
        )


def _parts(value: Any) -> tuple[Any, dict[str, Any] | None]:
    if not isinstance(value, dict):
        return None, None
    document = value.get("object")
    return value.get("type"), document if isinstance(document, dict) else None
