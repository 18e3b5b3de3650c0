"""What a machine consists of, and where a state has the number of each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..controllers.component import Component
from ..kubernetes.api_server import Document

API = 0
"""Where a state has the number of the API server."""


def everything(kind: str, document: Document) -> Document:  # noqa: ARG001 -- of any kind
    """Return all of an object."""
    return document


class ComponentPart(NamedTuple):
    """How a component is made.

    :param kinds: the kinds that its informers watch, each in a separate channel, in the order in
        which a process that starts lists them.
    :param make: makes one that has just started, and has seen nothing.
    :param sees: what of an object the component uses. A change of anything else is not delivered:
        it would do nothing.
    :param process: components of one process start together, and end together; empty if it is one
        by itself.
    :param waits_for_lists: a process that starts does nothing itself before all lists are
        delivered.
    :param tombstones: kinds of which a handler takes a missed deletion for something else than a
        deletion.
    """

    kinds: tuple[str, ...]
    make: Callable[[], Component]
    sees: Callable[[str, Document], Document] = everything
    process: str = ""
    waits_for_lists: bool = True
    tombstones: tuple[str, ...] = ()


class MachineStep(NamedTuple):
    """One thing that can happen.

    :param part: the component; empty where time passes.
    :param kind: whose channel delivers; empty if a component does something by itself.
    :param name: what it does. :param fault: which of its requests fails, and how; see
        :mod:`.failing`.
    """

    part: str
    kind: str = ""
    name: str = ""
    fault: str = ""

    def __str__(self) -> str:
        action = f"sees {self.kind}" if self.kind else self.name
        done = f"{self.part} {action}" if self.part else action
        return f"{done}, and {self.fault}" if self.fault else done


FAULTS = "faults"
"""The name under which faults are made: there is no component of that name."""

WAIT = MachineStep("", "", "wait")
"""Time passes until the next thing is due."""


class MachineLayout:
    """Places of components and channels in a state.

    :ivar names: of the components, in the order of their places, which begin at 1.
    :ivar channels: the place of the channel of a component's informer of a kind.
    :ivar channels_of: the places of a component's channels, by its number from 0.
    :ivar watching: the components that watch a kind, and the places of their channels.
    :ivar size: how many numbers a state has.
    """

    def __init__(self, parts: Mapping[str, ComponentPart]) -> None:
        self.names = tuple(parts)
        self.place = {name: API + 1 + at for at, name in enumerate(parts)}
        pairs = [(name, kind) for name, part in parts.items() for kind in part.kinds]
        first = API + 1 + len(parts)
        self.channels = {pair: first + at for at, pair in enumerate(pairs)}
        self.channels_of = tuple(
            tuple(self.channels[name, kind] for kind in part.kinds) for name, part in parts.items()
        )
        self.watching: dict[str, tuple[tuple[str, int], ...]] = {}
        for (name, kind), at in self.channels.items():
            self.watching[kind] = (*self.watching.get(kind, ()), (name, at))
        self.size = first + len(pairs)
        places = [API, *self.place.values(), *self.channels.values()]
        assert places == list(range(self.size)), "each number of a state has a place to itself"
