"""What one stream of a recorder does now, for people and for probes."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

NOT_SERVED = "the cluster does not serve it"
"""The fault of a stream of a kind that the cluster does not have."""


def is_address(place: str) -> bool:
    """Return whether a fault is of a server as a whole: its place is an address, and no path."""
    return "://" in place


class WaitCause(NamedTuple):
    """Why streams wait. :param now: what to do about it."""

    what: str
    where: str
    now: str


class StreamPhase(StrEnum):
    """What a stream does."""

    STARTING = "starting"
    LISTING = "listing"
    WATCHING = "watching"
    REPAIRING = "repairing"
    WAITING = "waiting"
    """It failed, and waits before it tries again."""
    ABSENT = "absent"
    """The cluster does not have the kind."""
    STOPPED = "stopped"


class StreamState(msgspec.Struct, kw_only=True):
    """One stream. Its own thread writes it; others read single fields, which may be a moment old.

    :param resource: ``pods``; ``namespace``: the one that it is restricted to, or empty.
    :param revision: up to which it has everything; None before its first list is whole.
    :param heard_at: when the server last sent anything for it, microseconds; 0 for never.
    :param events: that it delivered. :param bytes: that it received.
    :param fault: why it waits, or the last fault; empty if there was none.
    :param fault_at: where that was: a path of the API server, or its address; ``fault_now``: what
        to do about it.
    :param answered: whether the server answered anything. :param listed: whether a list was whole,
        or a watch goes on from where the log ends.
    :param reconnects: watches that ended, by any cause. :param expired: those that ended with 410.
    :param repaired: holes that were filled whole. :param holes: those that were not.
    :param may_be_silent: a file, or a webhook: it may have nothing to say for hours.
    :param malformed: records that could not be read. :param repeated: of these, those that were
        counted before, as a list that is read again shows them again.
    """

    resource: str
    namespace: str = ""
    phase: StreamPhase = StreamPhase.STARTING
    revision: int | None = None
    heard_at: int = 0
    events: int = 0
    bytes: int = 0
    fault: str = ""
    fault_at: str = ""
    fault_now: str = ""
    answered: bool = False
    listed: bool = False
    reconnects: int = 0
    expired: int = 0
    repaired: int = 0
    holes: int = 0
    malformed: int = 0
    repeated: int = 0
    may_be_silent: bool = False

    @property
    def cause(self) -> WaitCause:
        """Why it waits, if it does."""
        return WaitCause(self.fault, self.fault_at, self.fault_now)

    def wait(self, cause: WaitCause) -> None:
        """Note that it failed, and waits before it tries again."""
        self.fault, self.fault_at, self.fault_now = cause
        self.phase = StreamPhase.WAITING

    def forget_fault(self) -> None:
        """Note that what made it wait is over."""
        self.fault = self.fault_at = self.fault_now = ""

    @property
    def name(self) -> str:
        """The resource, within its namespace if it is restricted to one."""
        return f"{self.namespace}/{self.resource}" if self.namespace else self.resource
