"""How a release behaves: one record, complete, with a field for every effect that differs.

Code asks a field and never a release. A field is named by what an operator can see; its docstring
says what that is in either case.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UnknownAction(StrEnum):
    """What becomes of a configuration that names an action which does not exist."""

    REJECTS = "rejects"
    """The whole configuration is refused; the one before stays in force."""
    IGNORED = "ignored"
    """An error is logged, and the other actions run."""


@dataclass(frozen=True, slots=True)
class Behaviours:
    """What a release's scheduler does where releases differ."""

    release: str
    """The release that this is the behaviour of, or was before single fields were changed."""

    unknown_action: UnknownAction
    """What becomes of a configuration that names an unknown action."""

    gang_eviction_actions: bool
    """The actions ``gangpreempt`` and ``gangreclaim`` exist."""

    root_queue: bool
    """The scheduler creates a queue ``root`` when it starts, and queues have parents."""
