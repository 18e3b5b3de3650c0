"""Ingest: from paths to events in a log, in one order, all or nothing.

First everything is read and ordered; only if all of it could be read, appending begins. So an input
with a fault stores nothing. An ingest that was interrupted while appending is completed by the same
call: events that the log has are counted as known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

from ...engine.errors import FormatUnknown, InputDamaged, InputError, LogNotFound, UsageError
from ...engine.events import Event
from ...engine.events.storable import fault_of_event, fault_of_text
from ...engine.ingest.format_registry import recognise
from ...engine.ingest.lists.listing import PAGE
from ...engine.ingest.objects.identity import FIRST_REVISION
from ...engine.ingest.objects.kept_fields import stored
from ...engine.ingest.order import EventOrder
from ...engine.ingest.reading.formats import Context, Format, InitialList
from ...engine.ingest.reading.inputs import Document, InputFile, documents, find_files, unknown
from ...engine.ingest.reading.sizes import in_batches
from ...engine.ingest.unwrapping import recognise_document
from ...engine.ingest.watch.received import NOTHING, ReceivingTimes
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import format_time, year_of
from ...engine.log import MAIN, LogStore, check_place, open_log
from ..logs.assumptions import assumed_sentences
from ..moments.contradicting_versions import contradiction_text, version_text
from ..moments.log_clock import clock_of
from .appended_batch import append_batch
from .asserted import FORMATS as ASSERTABLE
from .asserted import AssertedLists, until
from .ingest_records import IngestOptions, IngestSummary, SkippedFile
from .split_lists import SUMMING_UP, begun_before, split_lists, without_list
from .unversioned import UnversionedObjects

if TYPE_CHECKING:
    from ...engine.ingest.objects.redaction import Redaction


class Reach:
    """The least and the greatest revision and time of some events."""

    def __init__(self) -> None:
        self.revisions: tuple[int | None, int | None] = (None, None)
        self._times: tuple[int | None, int | None] = (None, None)

    def widen(self, batch: Sequence[Event]) -> None:
        """Include more events."""
        revisions = [event.revision for event in batch if event.revision is not None]
        self.revisions = _widened(self.revisions, revisions)
        bounds = [event.latest if event.earliest is None else event.earliest for event in batch]
        times = [time for time in bounds if time is not None]
        self._times = _widened(self._times, times)

    def times(self) -> tuple[str | None, str | None]:
        """Return the least and the greatest time as text."""
        first, last = self._times
        return (
            None if first is None else format_time(first),
            None if last is None else format_time(last),
        )


def _widened(
    reach: tuple[int | None, int | None], values: list[int]
) -> tuple[int | None, int | None]:
    all_values = [*values, *(value for value in reach if value is not None)]
    return (min(all_values), max(all_values)) if all_values else (None, None)


__all__ = ["IngestOptions", "IngestSummary", "SkippedFile", "ingest", "ingest_at"]

Progress = Callable[[str, int, int], None]
"""Called with (``read`` or ``append``, done, total); the total is 0 if not known."""

_UNDATED: Final = frozenset({"klog", "panic"})
"""The formats whose times lack a year; read last, when the other inputs show the year."""

_TIMED: Final = frozenset({"watch-stream", "object-list"})
"""Formats for which an archive is searched for receiving times."""

_EXAMPLES = 10
_REMEMBERED = 10_000
_BATCH_BYTES = 32 * 2**20
_EMPTY = "it is empty"


def ingest(
    store: LogStore,
    paths: Sequence[str],
    options: IngestOptions | None = None,
    progress: Progress | None = None,
    *,
    stdin: BinaryIO | None = None,
) -> IngestSummary:
    """Read inputs, order their events, and append those that the log does not have.

    The order does not depend on the order of ``paths``.

    :param paths: files, folders, or ``-`` for standard input.
    :param stdin: the stream of ``-``, if not the process's own.
    :raises FormatUnknown: a named file is of no known format, or no file is of a known one.
    :raises InputError: an input is missing, damaged or malformed; then nothing was appended.
    :raises LogUnavailable: the connection was lost; whole batches may have been appended.
    """
    options, progress = options or IngestOptions(), progress or _silent
    with _read(paths, options, progress, store=store, stdin=stdin) as reading:
        return _append(store, reading, options, progress)


def ingest_at(
    place: str | Path,
    paths: Sequence[str],
    options: IngestOptions | None = None,
    progress: Progress | None = None,
) -> IngestSummary:
    """Ingest into the log at a path or URL; create it if there is none.

    It is created after all inputs were read, so that a fault in them leaves no empty log.

    :raises FormatUnknown: as :func:`ingest`. :raises InputError: as :func:`ingest`.
    :raises LogUnavailable: a log cannot be created at this place, or the connection was lost.
    """
    options, progress = options or IngestOptions(), progress or _silent
    with ExitStack() as stack:
        store = _existing(place)
        if store is not None:
            stack.enter_context(store)
        reading = stack.enter_context(_read(paths, options, progress, store=store))
        if store is None:
            store = stack.enter_context(open_log(place, create=True))
        return _append(store, reading, options, progress)


def _existing(place: str | Path) -> LogStore | None:
    try:
        return open_log(place)
    except LogNotFound:
        check_place(place)
        return None


@contextmanager
def _read(
    paths: Sequence[str],
    options: IngestOptions,
    progress: Progress,
    *,
    store: LogStore | None,
    stdin: BinaryIO | None = None,
) -> Iterator[_Reading]:
    """Read everything; resources are released at the end of the context."""
    if options.complete and options.partial_lists:
        raise UsageError("lists cannot be complete and partial", now="leave out one of them")
    if not options.cluster.strip():
        raise UsageError("a cluster needs a name", now="give --cluster NAME, or leave it out")
    if fault := fault_of_text(options.cluster):
        raise UsageError(f"a cluster's name {fault}", now="give another with --cluster NAME")
    if store is not None:
        store.last(options.branch)  # Raises for an unknown branch before the long work.
    elif options.branch != MAIN:
        raise UsageError(f"no branch {options.branch!r}", now=f"a new log has only {MAIN}")
    with EventOrder() as order:
        reading = _Reading(options, order, progress, stdin)
        reading.read(paths, store)
        yield reading


def _silent(_phase: str, _done: int, _total: int) -> None:
    """Show no progress."""


class _Reading:
    """Reads inputs into ordered events and a summary."""

    def __init__(
        self,
        options: IngestOptions,
        order: EventOrder,
        progress: Progress,
        stdin: BinaryIO | None,
    ) -> None:
        self.summary = IngestSummary()
        self.order = order
        self.parts: dict[tuple[str, str, int], str] = {}
        self._options = options
        self._progress = progress
        self._stdin = stdin
        self._total = 0
        self._done = 0
        self._last_observed: int | None = None
        self._undated: dict[str, list[str]] = {}
        self._received = ReceivingTimes(InputFile("", named=False, size=0))
        self._initial_lists: list[InitialList] = []
        self._unversioned = UnversionedObjects()
        self._asserted = AssertedLists() if options.complete else None
        self._fine: set[str] = set()  # Texts that a log can store.
        self._noted: dict[str, dict[str, None]] = {}  # The files of each note.

    def read(self, paths: Sequence[str], store: LogStore | None) -> None:
        """Read everything; logs without years last."""
        files = find_files(paths, self._skip_file)
        self._total = sum(file.size for file in files)
        for file in files:
            self._read_file(file, self._options.year, None)
        year = self._year(store)
        for file in files:
            if file.path in self._undated:
                self._read_file(file, year, frozenset(self._undated[file.path]))
        if not self.summary.formats:
            self._refuse_all(paths)
        runs, branch, cluster = self._initial_lists, self._options.branch, self._options.cluster
        # Before anything is appended: a contradiction stores nothing.
        if store is not None:
            self._unversioned.check(store, branch=branch, cluster=cluster)
        begun = [] if store is None else begun_before(store, runs, branch=branch, cluster=cluster)
        self._place_asserted(paths)
        parts, notes = split_lists(runs, begun)
        self.parts |= parts
        of_files = [_said_of(note, tuple(files)) for note, files in self._noted.items()]
        self.summary.notes = [*of_files, *self.summary.notes, *notes]

    def _place_asserted(self, paths: Sequence[str]) -> None:
        """Add the lists that are complete because the caller said so."""
        if self._asserted is None:
            return
        for event in self._asserted.events(paths, self._options.cluster):
            if event.revision is None:
                self.order.place(event, until(event))
            else:
                self.order.begin_source()
                self.order.add(event)

    def _read_file(self, file: InputFile, year: int | None, only: frozenset[str] | None) -> None:
        """Read the documents of a file; only those in ``only``, if given."""
        self._received = ReceivingTimes(file)
        try:
            for document in documents(file, stdin=self._stdin, read=self._advance):
                if only is None or document.source in only:
                    self._read_document(file, document, year, final=only is not None)
        except InputDamaged as fault:
            if not self._options.skip_malformed:
                raise
            self._reject(str(fault), file.path)

    def _read_document(
        self, file: InputFile, document: Document, year: int | None, *, final: bool
    ) -> None:
        context = Context(
            source=document.source,
            cluster=self._options.cluster,
            taken_at=self._options.taken_at,
            year=year,
            partial_lists=self._options.partial_lists,
            skip_malformed=self._options.skip_malformed,
        )
        recognised = recognise_document(document, context)
        if recognised is None and document.look_further():
            recognised = recognise(document.head, document.name)
        if recognised is None:
            self._skip_document(document, context)
            return
        # Read again when other inputs have shown the year; a stream cannot be.
        if recognised.name in _UNDATED and year is None and not final and self._may_reopen(file):
            self._undated.setdefault(file.path, []).append(document.source)
            return
        if fault := fault_of_text(document.source):
            name = f"{document.source[:200]}…"
            raise InputError(
                f"an input's name {fault}",
                where=name,
                now="move it to a shorter path, or unpack it",
            )
        timed = recognised.name in _TIMED or document.source == file.path
        received = self._received.of(document.source) if timed else NOTHING
        if received.fault:
            fault = f"{received.path}: receiving times are not used: {received.fault}"
            self.summary.notes.append(fault)
        context.received = received.times
        formats = self.summary.formats
        formats[recognised.name] = formats.get(recognised.name, 0) + 1
        try:
            self._take(recognised, document, context)
        finally:
            self._report(context)

    def _take(self, recognised: Format, document: Document, context: Context) -> None:
        self.order.begin_source()
        # Local names: the loop runs for each event.
        add, last, fine = self.order.add, self._last_observed, self._fine
        redaction = _redaction() if self._options.redact else None
        observe = self._observer(recognised, context)
        try:
            for read in recognised.events(document.stream, context):
                event = stored(read)
                if redaction is not None:
                    event = redaction.redacted(event)
                about = event.reference
                # Texts repeat: most events pass these comparisons, and only a new or odd text is
                # checked.
                if (
                    event.actor not in fine
                    or about.namespace not in fine
                    or about.kind not in fine
                    or about.group not in fine
                    or not about.name.isascii()
                    or "\0" in about.name
                    or "\0" in about.uid
                ) and not self._can_hold(event, context):
                    continue
                if observe is not None:
                    event = observe(event)
                add(event)
                time = event.earliest
                if time is not None and (last is None or time > last):
                    last = time
        finally:
            self._last_observed = last
        self._conclude(context, redaction)

    def _observer(self, recognised: Format, context: Context) -> Callable[[Event], Event] | None:
        """Return what looks at each event of a document and may change it; None if nothing does."""
        asserted = self._asserted if recognised.name in ASSERTABLE else None
        if recognised.name not in ASSERTABLE and not context.removed:
            return None

        def observe(event: Event) -> Event:
            uid = event.reference.uid
            if event.revision == FIRST_REVISION and uid in context.unversioned:
                self._unversioned.add(event)
            if asserted is not None:
                asserted.add(event)
            if not context.removed:
                return event
            return msgspec.structs.replace(event, line=context.outer(event.line))

        return observe

    def _conclude(self, context: Context, redaction: Redaction | None) -> None:
        """Add the events about a whole document."""
        for revision, event in context.spans:
            placed = msgspec.structs.replace(event, line=context.outer(event.line))
            self.order.place(placed, revision)
        if (assumed := context.assumptions()) is not None:
            self.order.place(assumed, 0)
        if redaction is not None:
            account = redaction.account(source=context.source, cluster=context.cluster)
            self.order.place(account, 0)

    def _can_hold(self, event: Event, context: Context) -> bool:
        """Return whether a log can store an event; reject it if not.

        :raises EventMalformed: it cannot, unless malformed records are skipped.
        """
        if fault := fault_of_event(event):
            context.reject(fault, line=event.line)
            return False
        about = event.reference
        if len(self._fine) > _REMEMBERED:
            self._fine.clear()
        self._fine |= {event.actor, about.namespace, about.kind, about.group}
        return True

    def _may_reopen(self, file: InputFile) -> bool:
        return file.size > 0

    def _skip_document(self, document: Document, context: Context) -> None:
        if self._received.belongs_to_another(document.source):
            return
        from ...engine.ingest.unrecognised import why_unknown  # noqa: PLC0415 -- seldom needed

        why, now = why_unknown(document.head)
        for removed in reversed(context.removed):
            why = f"{why}, also not without {removed}"
        # An empty file is no fault, even if it is named.
        if document.named and why != _EMPTY:
            raise unknown(document, why, now)
        self._skip_file(document.source, why)

    def _skip_file(self, source: str, reason: str) -> None:
        self.summary.skipped_files.append(SkippedFile(source, reason))

    def _refuse_all(self, paths: Sequence[str]) -> None:
        """Raise because nothing was recognised, with the first few files and reasons."""
        skipped = self.summary.skipped_files
        now = "plinian ingest --help says what can be read"
        if self.summary.malformed:
            message, where = f"nothing can be read: {self.summary.malformed[0]}", ""
            now = "fetch the input again"
        elif len(skipped) == 1:
            message = f"cannot be ingested: {skipped[0].reason}"
            where = skipped[0].source
        else:
            few = "; ".join(
                f"{skipped_file.source}: {skipped_file.reason}" for skipped_file in skipped[:5]
            )
            more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
            message = f"nothing in it can be ingested ({few}{more})" if few else "it has no files"
            where = ", ".join(paths[:3])
        raise FormatUnknown(message, where=where, now=now)

    def _year(self, store: LogStore | None) -> int | None:
        """Return the year for logs without one; None if nothing shows it."""
        if self._options.year is not None or not self._undated:
            return self._options.year
        last = self._last_observed
        if last is None and store is not None:
            branch = self._options.branch
            last = clock_of(store, branch=branch, cluster=self._options.cluster).last()
        if last is None:
            return None
        year = year_of(last)
        self.summary.notes.append(
            f"logs without a year are read as of {year}; give another with --year"
        )
        return year

    def _report(self, context: Context) -> None:
        """Add the results of a document's context to the summary."""
        summary = self.summary
        for reason, count in context.skipped.items():
            first = context.first_skipped[reason]
            summary.skip(reason, f"{context.source}:{first}" if first else context.source, count)
        summary.malformed += context.malformed[: _EXAMPLES - len(summary.malformed)]
        for note in (*context.notes, *assumed_sentences(context.assumed_fields())):
            self._noted.setdefault(note, {})[context.source] = None
        if self._asserted is not None:
            self._asserted.broken.merge(context.broken)
        self.parts |= dict.fromkeys(context.pages, PAGE)
        self._initial_lists += context.initial_lists

    def _reject(self, fault: str, path: str) -> None:
        self.summary.skip("malformed", path)
        if len(self.summary.malformed) < _EXAMPLES:
            self.summary.malformed.append(fault)

    def _advance(self, size: int) -> None:
        self._done += size
        self._progress("read", self._done, max(self._total, self._done))


def _said_of(note: str, files: Sequence[str]) -> str:
    """Return a note with the files that it is about."""
    more = f" and {counted(len(files) - 1, 'more file')}" if len(files) > 1 else ""
    return f"{files[0]}{more}: {note}"


def _append(
    store: LogStore, reading: _Reading, options: IngestOptions, progress: Progress
) -> IngestSummary:
    summary, total = reading.summary, len(reading.order)
    events = _without_parts(reading)
    kinds: Counter[str] = Counter()
    unnamed: Counter[str] = Counter()
    twice: dict[str, None] = {}
    reach = Reach()
    done = 0
    for batch in in_batches(events, most=options.batch_size, most_bytes=_BATCH_BYTES):
        result = append_batch(store, batch, options.branch)
        summary.appended += result.appended
        summary.known += result.known
        kinds.update(result.kinds)
        twice |= dict.fromkeys(map(version_text, result.contradicted))
        unnamed.update([_kind_of(event) for event in batch if event.kind.startswith("object.")])
        reach.widen(batch)
        done += len(batch)
        progress("append", done, total)
    summary.kinds = {kind: count for kind, count in sorted(kinds.items()) if count}
    if unnamed:
        known = ", ".join(f"{kind} ({count})" for kind, count in sorted(unnamed.items()))
        summary.notes.append(f"kinds without their own event kinds, kept as object.*: {known}")
    if twice:
        # They were made when nothing contradicted the versions in them.
        store.drop_derived(checkpoints=True, facts=False, clock=False)
        summary.notes.append(contradiction_text(list(twice)))
    summary.first_revision, summary.last_revision = reach.revisions
    summary.first_observed, summary.last_observed = reach.times()
    summary.last_position = store.last(options.branch)
    return summary


def _redaction() -> Redaction:
    from ...engine.ingest.objects.redaction import Redaction  # noqa: PLC0415 -- many patterns

    return Redaction()


def _kind_of(event: Event) -> str:
    reference = event.reference
    return f"{reference.kind}.{reference.group}" if reference.group else reference.kind


def _without_parts(reading: _Reading) -> Iterator[Event]:
    """Yield the events without conclusions from a part of a list."""
    parts = reading.parts
    for event in reading.order.events():
        if parts and event.kind in SUMMING_UP:
            rest, reason = without_list(event, parts)
            if reason:
                reading.summary.skip(reason, f"{event.source}:{event.line}")
            if rest is not None:
                yield rest
            continue
        yield event
