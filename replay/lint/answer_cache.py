"""Results by the behaviours they read, so that releases that agree on them share a result.

There are many releases, and few of them differ in what one check reads. A check reads a record of
behaviours through :class:`ReadRecorder`, which remembers the fields; :class:`AnswerCache` runs it
again only for a release that differs in one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

T = TypeVar("T")


class ReadRecorder:
    """A record of behaviours that remembers which fields were read.

    :param changed: fields with other values, to find out what they alone do.
    """

    def __init__(self, behaviours: Behaviours, **changed: Any) -> None:
        self._behaviours = behaviours
        self._changed = changed
        self._asked: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Return a field, and remember its value."""
        # Not remembered: the effect of this field is fixed, so a result does not depend on the
        # release's.
        if name in self._changed:
            return self._changed[name]
        answer = self._asked[name] = getattr(self._behaviours, name)
        return answer

    @property
    def asked(self) -> dict[str, Any]:
        """Return the fields that were read, with their values."""
        return self._asked


def changed(behaviours: Behaviours, **fields: Any) -> Behaviours:
    """Return behaviours that differ in some fields; the others are read from the original."""
    return cast("Behaviours", ReadRecorder(behaviours, **fields))


class AnswerCache(Generic[T]):
    """A function of a release's behaviours, computed once for all releases that agree on its reads.

    The function must depend on nothing else.
    """

    def __init__(self, function: Callable[[Behaviours], T]) -> None:
        self._function = function
        self._known: list[tuple[dict[str, Any], T]] = []

    def __call__(self, behaviours: Behaviours) -> T:
        """Return the function's result for a release."""
        # A list is enough: releases differ in few of the fields that one check reads.
        for asked, answer in self._known:
            if all(getattr(behaviours, name) == value for name, value in asked.items()):
                return answer
        asking = ReadRecorder(behaviours)
        answer = self._function(cast("Behaviours", asking))
        self._known.append((asking.asked, answer))
        return answer
