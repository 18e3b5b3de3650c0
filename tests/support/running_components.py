"""Components of a cluster that run on an API server, with everything delivered at once."""

from __future__ import annotations

from collections.abc import Sequence

from recording_client import RecordingClient

from plinian.engine.controllers.component import Component
from plinian.engine.kubernetes.api_server import ApiServer, Document


class RunningComponents:
    """Delivers all changes to all components, and lets them take steps until none is left.

    :ivar client: what the components send goes through it.
    """

    def __init__(self, *components: Component) -> None:
        self.components: Sequence[Component] = components
        self.api = ApiServer()
        self.client = RecordingClient(self.api)

    def create(self, document: Document) -> None:
        """Create an object, and settle."""
        self.api.create(document)
        self.settle()

    def change(self, kind: str, key: str, part: Document) -> None:
        """Merge parts of an object into it, and settle."""
        self.api.patch(kind, key, part)
        self.settle()

    def deliver(self) -> bool:
        """Deliver what there is to deliver; say whether there was anything."""
        changes = self.api.take_changes()
        for change in changes:
            for component in self.components:
                if change.kind in component.kinds:
                    component.deliver(*change, self.client)
        return bool(changes)

    def settle(self) -> None:
        """Deliver and take steps until nothing is left to do."""
        while self.deliver() or self._step():
            pass

    def wait(self, time: int) -> None:
        """Let microseconds pass, and settle."""
        for component in self.components:
            component.advance(time)
        self.settle()

    def _step(self) -> bool:
        for component in self.components:
            for name in component.steps():
                component.step(name, self.client)
                return True
        return False

    def sent(self) -> list[str]:
        """Return what was sent since this was last asked."""
        sent = [request["do"] for request in self.client.requests]
        self.client.requests.clear()
        return sent

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return [one["metadata"]["name"] for one in self.api.list(kind)]
