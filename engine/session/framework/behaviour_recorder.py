"""Which behaviours a session read, and when: a behaviour that it did not read had no effect."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ...volcano.session.behaviours import Behaviours
from .trace import Trace, TraceStep

_NAMES = frozenset(field.name for field in dataclasses.fields(Behaviours)) - {"release"}


class RecordedBehaviours(Behaviours):
    """The behaviours of a release, which record that they were read.

    Values are those of the original record (:meth:`of`).
    """

    __slots__ = ("_asked", "_opening", "_steps", "_trace", "plain")

    plain: Behaviours
    """The original record; reads of it are not recorded."""

    _asked: dict[str, None]
    _steps: dict[str, list[int]]
    """By behaviour: how many steps the trace had when it was read, ascending."""

    _opening: dict[str, set[str]]
    """By behaviour: the plugins that read it when they were opened."""

    _trace: Trace | None

    @classmethod
    def of(cls, behaviours: Behaviours) -> RecordedBehaviours:
        """Return a record with the same values and no reads yet."""
        plain = behaviours.plain if isinstance(behaviours, RecordedBehaviours) else behaviours
        values = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
        record = cls(**values)
        record._set(plain=plain, _asked={}, _steps={}, _opening={}, _trace=None)
        return record

    def begin(self, trace: Trace) -> None:
        """Start a session: reads from now on count for its steps."""
        self._set(_steps={}, _opening={}, _trace=trace)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)  # the record itself is frozen

    def __getattribute__(self, name: str) -> Any:
        """Return a behaviour, and record that it was read."""
        if name in _NAMES:
            self._note(name)
        return object.__getattribute__(self, name)

    def _note(self, name: str) -> None:
        self._asked[name] = None
        trace = self._trace
        if trace is None or not trace.on:
            return
        if trace.opening:
            self._opening.setdefault(name, set()).add(trace.opening)
            return
        steps = self._steps.setdefault(name, [])
        if not steps or steps[-1] != len(trace.steps):
            steps.append(len(trace.steps))

    @property
    def names(self) -> frozenset[str]:
        """All behaviours that were ever read."""
        return frozenset(self._asked)

    def at(self, trace: Sequence[TraceStep], number: int) -> list[str]:
        """Return the behaviours that were read for a step, by name.

        They are those that were read between the previous step and this one, when its plugin was
        opened, and when its action began: code may read once and use the value later.

        :param number: from 0.
        """
        if number >= len(trace):
            return self._between({number})
        step = trace[number]
        first = number
        while first and trace[first - 1].action == step.action:
            first -= 1
        opened = {name for name, plugins in self._opening.items() if step.by in plugins}
        return sorted(opened.union(self._between({number, first})))

    def _between(self, counts: set[int]) -> list[str]:
        return sorted(name for name, steps in self._steps.items() if not counts.isdisjoint(steps))
