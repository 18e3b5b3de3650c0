"""A recorder that ends before it listed anything: it recorded nothing, and must not seem to."""

from __future__ import annotations

from collections import Counter

from .recorder import Recording, RecordingFailed


def never_listed(recording: Recording, server: str) -> RecordingFailed | None:
    """Return why no stream of a cluster was ever listed; None if one was.

    :param server: the address of the API server.
    """
    streams = [state for state in recording.streams if not state.may_be_silent]
    if recording.epochs or not streams or any(state.listed for state in streams):
        return None
    faults = Counter((state.fault, state.fault_now) for state in streams if state.fault)
    if faults:
        why, now = faults.most_common(1)[0][0]
    else:
        why, now = "no answer before it was stopped", ""
    answered = any(state.answered for state in streams)
    return RecordingFailed(
        f"listed nothing of {server}: {why}" if answered else f"never reached {server}: {why}",
        now=now or "try kubectl with this context, and let it record for longer",
    )
