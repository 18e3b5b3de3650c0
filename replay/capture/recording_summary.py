"""What a recorder did, as a document: ``plinian record -o json`` prints it at the end."""

from __future__ import annotations

import msgspec

from ...engine.kubernetes.units import format_time
from .recorder import Recording
from .stream_state import StreamState


class StreamSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one stream did.

    :param stream: the resource, within its namespace if it is restricted to one; or a file.
    :param revision: up to which it has everything; None if its first list was never whole.
    :param last_heard: when the server last sent anything for it, RFC 3339; None for never.
    :param events: that it delivered. :param received_bytes: how much was sent for it.
    :param fault: why it waited at the end, as where the cluster does not have the kind; or empty.
    :param reconnects: watches that ended, by any cause. :param expired: those that ended with 410.
    :param repaired: holes that were filled whole. :param holes: those that were not.
    :param malformed: records that could not be read.
    """

    stream: str
    revision: int | None
    last_heard: str | None
    events: int
    received_bytes: int
    fault: str
    reconnects: int
    expired: int
    repaired: int
    holes: int
    malformed: int


class RecordingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a recorder did.

    :param appended: the number of new events. :param known: of those that the log had before.
    :param commits: to the log. :param unwritten: events that were read and could not be stored.
    :param holes: of all streams, that remain.
    :param last_position: of the log's branch, afterwards.
    """

    appended: int
    known: int
    commits: int
    unwritten: int
    holes: int
    last_position: int
    streams: tuple[StreamSummary, ...]


def summary_of(recording: Recording) -> RecordingSummary:
    """Return what a recorder did, in words that stay."""
    done = recording.committed
    return RecordingSummary(
        appended=done.appended,
        known=done.known,
        commits=done.commits,
        unwritten=recording.waiting,
        holes=sum(state.holes for state in recording.streams),
        last_position=done.last,
        streams=tuple(map(_of_stream, recording.streams)),
    )


def _of_stream(state: StreamState) -> StreamSummary:
    return StreamSummary(
        stream=state.name,
        revision=state.revision,
        last_heard=format_time(state.heard_at) if state.heard_at else None,
        events=state.events,
        received_bytes=state.bytes,
        fault=state.fault,
        reconnects=state.reconnects,
        expired=state.expired,
        repaired=state.repaired,
        holes=state.holes,
        malformed=state.malformed,
    )
