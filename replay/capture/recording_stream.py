"""One kind of a live cluster, read by one thread: lines in, events out."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from time import monotonic
from typing import BinaryIO, NamedTuple, cast

import msgspec

from ...engine.events import Event, Reference, canonical_json
from ...engine.events.input_names import RECORDED
from ...engine.events.payloads import WatchRepaired
from ...engine.ingest.reading.formats import Context, WatchRequest
from ...engine.ingest.watch.stream import FORMAT
from .cluster_access import Access
from .event_taker import EventTaker
from .hole_repair import Repair
from .outbox import Outbox
from .recorded_kinds import RecordedKind
from .stream_state import StreamState
from .stream_thread import StreamThread
from .watched_lines import Hearing, Pace, WatchedLines

GROW_SECONDS = 0.5
"""How often a busy stream says what it covers."""


class StreamPlan(NamedTuple):
    """What one stream reads. :param namespace: empty for all.

    :param since: the revision from which it continues; None if the log has nothing of it.
    """

    kind: RecordedKind
    namespace: str = ""
    since: int | None = None

    @property
    def source(self) -> str:
        """The name of the input, as events have it; another run continues the same one."""
        within = f"{self.namespace}/" if self.namespace else ""
        return f"{RECORDED}{within}{self.kind.resource}"


class RecordingStream(StreamThread):
    """Reads one kind until it is stopped; what it reads goes to its outbox.

    :param now: microseconds since 1970.
    """

    def __init__(
        self,
        access: Access,
        plan: StreamPlan,
        outbox: Outbox,
        *,
        cluster: str,
        now: Callable[[], int],
        pace: Pace,
        redact: bool = False,
        seen: Callable[[Event], None] | None = None,
    ) -> None:
        kind = plan.kind
        state = StreamState(resource=kind.resource, namespace=plan.namespace, revision=plan.since)
        super().__init__(plan.source, state, outbox)
        self.plan = plan
        self._taker = EventTaker(outbox, self.state, redact=redact, seen=seen)
        self._grown_at = monotonic()
        asked = WatchRequest(
            group=kind.group,
            kind=kind.kind,
            namespaces=(plan.namespace,) if plan.namespace else (),
            since=plan.since,
        )
        self._asked = asked
        self._context = Context(
            source=plan.source,
            cluster=cluster,
            clock=now,
            skip_malformed=True,  # One bad object must not end a recording; it is a gap.
            asked=asked,
        )
        hearing = Hearing(self._between, self._found, now)
        self._lines = WatchedLines(
            access,
            plan.kind,
            self.state,
            hearing,
            namespace=plan.namespace,
            since=plan.since,
            pace=pace,
        )

    def stop(self) -> None:
        """End the stream soon."""
        self._lines.stop()

    def read(self) -> None:
        """Read until the stream is stopped, or cannot go on."""
        lines = _Lines(self._lines.lines())
        for event in FORMAT.events(cast("BinaryIO", lines), self._context):
            self._taker.take(event, self._context)
        self._between(pauses=True)
        self._taker.account(self._context)

    def _between(self, *, pauses: bool) -> int | None:
        """Hand over what is covered, now and then; called when all lines so far were taken."""
        if not pauses and monotonic() - self._grown_at < GROW_SECONDS:
            return None
        self._grown_at = monotonic()
        reached = self._context.grow()
        self._taker.cover(self._context)
        return reached

    def _found(self, repair: Repair) -> None:
        """Take what was found in a hole that stays one; it covers nothing."""
        context = self._context
        self._between(pauses=True)
        past = Context(
            source=context.source,
            cluster=context.cluster,
            partial_lists=True,
            skip_malformed=True,
            clock=context.clock,
            # What is added there was created there.
            asked=msgspec.structs.replace(self._asked, since=repair.after),
        )
        for event in FORMAT.events(io.BytesIO(b"".join(repair.lines)), past):
            self._taker.take(event, past, aside=True)
        asked = self._asked
        about = Reference(asked.group, asked.kind, self.plan.namespace)
        payload = WatchRepaired(
            group=asked.group,
            listed=asked.kind,
            namespaces=asked.namespaces,
            after=repair.after,
            before=repair.until,
            versions=len(repair.lines),
            requests=repair.requests,
            unseen=repair.unseen,
        )
        self.outbox.add(
            Event(
                kind="watch.repaired",
                reference=about,
                payload=canonical_json(payload),
                source=context.source,
                cluster=context.cluster,
            ),
            aside=True,
        )


class _Lines(io.RawIOBase):
    """Lines as a stream that formats read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        super().__init__()
        self._lines = lines

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> bytes:  # noqa: ARG002 -- lines come whole
        return next(self._lines, b"")

    def read(self, size: int = -1, /) -> bytes:
        """Return the next line; asked of a stream that ended before its first one."""
        return self.readline(size)
