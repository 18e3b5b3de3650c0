"""A machine without numbers and memory: components that live on, and channels as lists."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping

from plinian.engine.kubernetes.api_server import (
    ADDED,
    MODIFIED,
    ApiServer,
    Document,
    ObjectKey,
    WatchEvent,
)
from plinian.engine.machine.machine_layout import WAIT, ComponentPart, MachineStep
from plinian.engine.model.panic import Panic


class PlainMachine:
    """One run of a machine's parts; it can go no way but on."""

    def __init__(self, parts: Mapping[str, ComponentPart]) -> None:
        self._parts = parts
        self.server = ApiServer()
        self._known: dict[ObjectKey, Document] = {}
        self.components = {name: part.make() for name, part in parts.items()}
        self.channels = {
            (name, kind): deque[WatchEvent]() for name, part in parts.items() for kind in part.kinds
        }

    def step(self, step: MachineStep) -> None:
        """Make a step; a process that panics starts again."""
        if step == WAIT:
            dues = [one.due() for one in self.components.values()]
            by = min(due for due in dues if due is not None)
            for component in self.components.values():
                component.advance(by)
            return
        component = self.components[step.part]
        try:
            if step.kind:
                change = self.channels[step.part, step.kind].popleft()
                component.deliver(*change, self.server)
            else:
                component.step(step.name, self.server)
        except Panic:
            self._publish()
            self._restart(step.part)
        else:
            self._publish()

    def _publish(self) -> None:
        for change in self.server.take_changes():
            at = ObjectKey(change.kind, change.key)
            for (name, kind), channel in self.channels.items():
                if kind == change.kind:
                    sees = self._parts[name].sees
                    seen = sees(kind, change.document)
                    if change.verb != MODIFIED or sees(kind, self._known[at]) != seen:
                        channel.append(change._replace(document=seen))
            self._known[at] = change.document

    def _restart(self, name: str) -> None:
        self.components[name] = self._parts[name].make()
        for kind in self._parts[name].kinds:
            self.channels[name, kind] = deque(
                WatchEvent(ADDED, *place, self._parts[name].sees(kind, document))
                for place, document in self.server.kept().objects
                if place.kind == kind
            )

    def kept(self) -> dict[str, Hashable]:
        """Return what each component holds."""
        return {name: component.kept() for name, component in self.components.items()}
