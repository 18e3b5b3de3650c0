"""A machine that is walked by hand: steps by their words, and what the API server holds then."""

from __future__ import annotations

from pathlib import Path

from plinian.engine.kubernetes.api_server import Document, ObjectKey
from plinian.engine.machine.machine import Machine, State
from plinian.engine.machine.machine_layout import API
from plinian.engine.machine.natural import Natural
from plinian.replay.explore.explored_scenario import read_machine_case
from plinian.replay.explore.scenario_world import world_of

CORPUS = Path(__file__).parents[2] / "docs" / "corpus"


class WalkedMachine:
    """A cluster in one state; steps are named as a report names them."""

    def __init__(self, machine: Machine, start: State) -> None:
        self.machine, self.state = machine, start

    def can(self) -> list[str]:
        """Return all steps that can be made now."""
        return [str(self.machine.step(step)) for step in self.machine.enabled(self.state)]

    def make(self, *names: str) -> None:
        """Make steps, one after the other."""
        for name in names:
            found = [
                step
                for step in self.machine.enabled(self.state)
                if str(self.machine.step(step)) == name
            ]
            assert found, f"{name} cannot be done, only {self.can()}"
            self.state, panic = self.machine.after(self.state, found[0])
            assert not panic, panic

    def rest(self) -> State:
        """Leave the cluster alone until nothing happens any more."""
        found = Natural(self.machine).rest(self.state)
        assert found.reached, "the cluster does not come to rest"
        assert not found.panics, found.panics
        self.state = found.state
        return self.state

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object that the API server holds, or None."""
        return self.machine.transitions.server(self.state[API]).find(kind, key)

    def objects(self) -> list[tuple[ObjectKey, Document]]:
        """Return all that the API server holds."""
        return list(self.machine.transitions.server(self.state[API]).kept().objects)

    def component(self, name: str) -> object:
        """Return a component as it is now."""
        part = self.machine.layout.names.index(name)
        return self.machine.transitions.component(part, self.state[part + 1])


def of_corpus(name: str, release: str) -> WalkedMachine:
    """Return a scenario of the corpus as a machine of a release, at rest."""
    world = world_of(read_machine_case(CORPUS / f"{name}.case.json"), release)
    return WalkedMachine(world.machine, world.start)
