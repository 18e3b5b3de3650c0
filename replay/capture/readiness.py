"""Whether a recorder records: what a probe asks."""

from __future__ import annotations

from collections.abc import Iterator

from .recorder import Recording
from .stream_state import StreamPhase

HEARD_WITHIN = 180.0
"""Seconds: API servers send a bookmark a minute, so a stream that is silent for longer is stuck."""

STORED_WITHIN = 10.0
"""Seconds that an event waits to be stored; five of them are usual."""


def unready(recording: Recording, *, now: int) -> Iterator[str]:
    """Yield why a recorder is not ready, one sentence for each cause; nothing if it is.

    It is ready if each stream of a kind that the cluster has heard an event or a bookmark within
    :data:`HEARD_WITHIN`, and if nothing waits to be stored for longer than :data:`STORED_WITHIN`.

    :param now: microseconds since 1970.
    """
    for state in recording.streams:
        if state.may_be_silent or state.phase is StreamPhase.ABSENT:
            continue
        why = f": {state.fault}" if state.fault else ""
        if not state.heard_at:
            yield f"{state.name}: nothing was heard yet{why}"
        elif (silent := (now - state.heard_at) / 1e6) > HEARD_WITHIN:
            yield f"{state.name}: nothing was heard for {silent:.0f} s{why}"
    if recording.oldest > STORED_WITHIN:
        fault = recording.fault
        why = "" if fault is None else f": {fault.what}"
        yield (
            f"{recording.waiting} events wait to be stored, the first of them for "
            f"{recording.oldest:.0f} s{why}"
        )
