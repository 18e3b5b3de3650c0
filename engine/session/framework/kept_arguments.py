"""What an action goes by where a configuration leaves an argument out: what it was given before.

Actions are made once in a process. Each session they read their arguments anew, and keep of those
before what is not there, or has another type.

Source: ``parseArguments`` of the actions; ``framework/arguments.go``.
"""

from __future__ import annotations

from .session import Session

_KEPT = "arguments of actions"


class KeptArguments:
    """The arguments of an action, to be read each time that it runs."""

    def __init__(self, ssn: Session, action: str) -> None:
        self._given = ssn.action_arguments(action)
        by_action: dict[str, dict[str, int | bool]] = ssn.process.kept.setdefault(_KEPT, {})
        self._kept = by_action.setdefault(action, {})

    def get_int(self, key: str, default: int) -> int:
        """Return an integer; ``default`` is that of a process that was never given any."""
        value = self._given.get_int(key, int(self._kept.get(key, default)))
        self._kept[key] = value
        return value

    def get_bool(self, key: str, default: bool) -> bool:  # noqa: FBT001 - a value like the others
        """Return a truth value; ``default`` is that of a process that was never given any."""
        value = self._given.get_bool(key, bool(self._kept.get(key, default)))
        self._kept[key] = value
        return value
