"""What an action uses where a configuration leaves an argument out: the value it had before.

Actions are created once in a process. They read their arguments in each session. Where an argument
is absent or has the wrong type, the value of an earlier session stays.

Source: ``parseArguments`` of the actions; ``framework/arguments.go``.
"""

from __future__ import annotations

import msgspec

from .session import Session


class ActionArguments(msgspec.Struct):
    """The process's memory: the last arguments of its actions, by action and name."""

    by_action: dict[str, dict[str, int | bool]] = msgspec.field(default_factory=dict)


class KeptArguments:
    """The arguments of an action, read each time that it runs."""

    def __init__(self, ssn: Session, action: str) -> None:
        self._given = ssn.conf.action_arguments(action)
        known = ssn.process.memory.of(ActionArguments).by_action
        self._kept = known.setdefault(action, {})

    def get_int(self, key: str, default: int) -> int:
        """Return an integer; ``default`` is used if the process never got one."""
        value = self._given.get_int(key, int(self._kept.get(key, default)))
        self._kept[key] = value
        return value

    def get_bool(self, key: str, default: bool) -> bool:  # noqa: FBT001 - a value like the others
        """Return a boolean; ``default`` is used if the process never got one."""
        value = self._given.get_bool(key, bool(self._kept.get(key, default)))
        self._kept[key] = value
        return value
