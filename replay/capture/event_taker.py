"""From what a format reads to an outbox: without secrets, and only what a log can store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...engine.events import Event
from ...engine.events.storable import fault_of_event
from ...engine.ingest.objects.kept_fields import stored
from ...engine.ingest.reading.formats import Context
from .outbox import Outbox
from .stream_state import StreamState

if TYPE_CHECKING:
    from ...engine.ingest.objects.redaction import Redaction


class EventTaker:
    """Puts the events of one stream into its outbox.

    :param redact: leave out what often holds secrets. :param seen: called with each event.
    """

    def __init__(
        self,
        outbox: Outbox,
        state: StreamState,
        *,
        redact: bool,
        seen: Callable[[Event], None] | None = None,
    ) -> None:
        self._outbox, self._state, self._seen = outbox, state, seen
        self._redaction = _redaction() if redact else None
        self._accounted = False

    def take(self, read: Event, context: Context, *, aside: bool = False) -> None:
        """Take an event; one that no log can store is counted as malformed.

        :param aside: it was found out about the past, beside the order of the stream.
        """
        event = stored(read)
        if self._redaction is not None:
            event = self._redaction.redacted(event)
        if fault := fault_of_event(event):
            context.reject(fault, line=event.line)
            return
        self._state.events += 1
        if self._seen is not None:
            self._seen(event)
        self._outbox.add(event, aside=aside)

    def cover(self, context: Context) -> None:
        """Hand over what a document covers so far, and count what could not be read."""
        self._outbox.cover(context.spans)
        context.spans = []
        context.initial_lists.clear()
        self._state.malformed = context.skipped.get("malformed", 0)
        # Early, so that the log says it also if the recorder is killed.
        if not self._accounted and self._state.events:
            self.account(context)

    def account(self, context: Context) -> None:
        """Say in the log that values were left out, if any are."""
        if self._redaction is not None:
            self._accounted = True
            account = self._redaction.account(source=context.source, cluster=context.cluster)
            self._outbox.add(account, aside=True)


def _redaction() -> Redaction:
    from ...engine.ingest.objects.redaction import Redaction  # noqa: PLC0415 -- many patterns

    return Redaction()
