"""What the Event of a job says that a plugin does not let be enqueued.

Source: pkg/scheduler/plugins/util/util.go FormatResourceNames.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...framework.session import Session

UNSCHEDULABLE = "Unschedulable"
DEVICES = "dra-resource-exceeded"
"""How an Event names devices of which too few are left. Source: capacity.go jobEnqueueable."""


class EnqueueRefusal(msgspec.Struct, frozen=True):
    """A message of an Event, and the word that it has before the name of each resource."""

    text: str
    verb: str

    def naming(self, short: Sequence[str]) -> str:
        """Return the message with the names of resources; without any, the text alone."""
        listed = ", ".join(f"{self.verb} {name}" for name in short)
        return f"{self.text}: {listed}" if listed else self.text


QUOTA_INSUFFICIENT = EnqueueRefusal("queue resource quota insufficient", "insufficient")
OVERUSED = EnqueueRefusal("resource in cluster is overused", "overused")


def record_refusal(ssn: Session, job: int, refusal: EnqueueRefusal, short: Sequence[str]) -> None:
    """Record why a job is not enqueued.

    :param short: the names of what is lacking: cpu, memory, then the others by name. Volcano has
        the others in the order of a Go map, which is random.
    """
    named = ssn.behaviours.enqueue_events_name_resources
    ssn.record_event(job, UNSCHEDULABLE, refusal.naming(short) if named else refusal.text)
