"""A cluster as a machine: an API server, components, and channels between them, in steps.

A state is a tuple of numbers: of what the API server holds, of what each component holds, and of
what waits in each channel. To fork a state is to keep the tuple, and to compare two states is to
compare numbers. Different orders of the same steps share nearly all of their work, see
:mod:`.transitions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..kubernetes.object_table import ObjectTable
from .layout import API, WAIT, Layout, Part, Step
from .table import Table
from .transitions import Done, Transitions

State = tuple[int, ...]
"""The numbers of the API server, of the components, and of the channels, in the layout's order."""


class Machine:
    """All states of a cluster that its steps lead to, worked out as they are needed.

    :param parts: the components by name. :param objects: numbers the documents.
    :ivar layout: what each number of a state stands for. :ivar wait: the step in which time passes.
    """

    def __init__(self, parts: Mapping[str, Part], objects: ObjectTable | None = None) -> None:
        self.layout = Layout(parts)
        self.objects = objects or ObjectTable()
        self.transitions = Transitions(parts, self.layout, self.objects)
        self._steps = self.transitions.steps
        self._queues: Table[tuple[int, ...]] = Table()
        self._empty = self._queues.number(())
        self.wait = self._steps.number(WAIT)
        self._popped: dict[int, tuple[int, int]] = {}
        self._pushed: dict[tuple[int, int], int] = {}
        names = self.layout.names
        self._deliveries: dict[int, tuple[int, int]] = {}
        self._delivery_from: dict[int, int] = {}
        for (name, kind), place in self.layout.channels.items():
            step = self._steps.number(Step(name, kind))
            self._deliveries[step] = (names.index(name), place)
            self._delivery_from[place] = step
        self._doer: dict[int, int] = {}
        self._channels = tuple(self.layout.channels.values())
        self._parts = range(len(names))

    @property
    def start(self) -> State:
        """The state in which nothing exists, and all processes have just started."""
        parts = [self.transitions.new_process(part) for part in self._parts]
        channels = [self._empty] * len(self._channels)
        return (self.transitions.empty_server(), *parts, *channels)

    def step(self, number: int) -> Step:
        """Return a step by its number."""
        return self._steps[number]

    def enabled(self, state: State) -> list[int]:
        """Return the numbers of all steps that can be made, in the order of the layout."""
        empty, delivery = self._empty, self._delivery_from
        found = [delivery[place] for place in self._channels if state[place] != empty]
        ability = self.transitions.ability
        due = False
        for part in self._parts:
            steps, when = ability(part, state[part + 1])
            found += steps
            due = due or when is not None
        if due:
            found.append(self.wait)
        return found

    def enabled_of(self, part: int, state: State) -> list[int]:
        """Return the numbers of the steps that a component can make."""
        empty, delivery = self._empty, self._delivery_from
        places = self.layout.channels_of[part]
        found = [delivery[place] for place in places if state[place] != empty]
        found += self.transitions.ability(part, state[part + 1]).steps
        return found

    def steps_alone(
        self, part: int, held: int, channels: tuple[int, ...], api: int
    ) -> Iterator[tuple[int, Done, tuple[int, ...]]]:
        """Yield what a component can do that holds this, and what its channels hold then."""
        transitions = self.transitions
        for at, place in enumerate(self.layout.channels_of[part]):
            if channels[at] != self._empty:
                rest, notice = self._pop(channels[at])
                left = (*channels[:at], rest, *channels[at + 1 :])
                yield self._delivery_from[place], transitions.deliver(part, held, notice, api), left
        for step in transitions.ability(part, held).steps:
            yield step, transitions.do(part, held, step, api), channels

    def channel(self, notices: tuple[int, ...]) -> int:
        """Return the number of a channel's content."""
        return self._queues.number(notices)

    def is_filled(self, queue: int) -> bool:
        """Say whether anything waits in a channel whose content has this number."""
        return queue != self._empty

    def after(self, state: State, step: int) -> tuple[State, str]:
        """Return the state after a step, and the message of the panic that it ended in, if any."""
        delivery = self._deliveries.get(step)
        if delivery is not None:
            part, place = delivery
            rest, notice = self._pop(state[place])
            made = [*state]
            made[place] = rest
            done = self.transitions.deliver(part, state[part + 1], notice, state[API])
        elif step == self.wait:
            later = self.later(state)
            assert later is not None, "time passes only if something is due"
            return later, ""
        else:
            part = self._part_of(step)
            made = [*state]
            done = self.transitions.do(part, state[part + 1], step, state[API])
        made[part + 1] = done.part
        if done.api >= 0:
            self._write(made, part, done)
        return tuple(made), done.panic

    def due(self, state: State) -> int | None:
        """Return how long it takes until the next thing is due, in microseconds."""
        ability = self.transitions.ability
        found = (ability(part, state[part + 1]).due for part in self._parts)
        return min((due for due in found if due is not None), default=None)

    def later(self, state: State) -> State | None:
        """Return the state in which the next thing is due; None if nothing ever is."""
        by = self.due(state)
        return None if by is None else self.passed(state, by)

    def passed(self, state: State, by: int) -> State:
        """Return the state after so many microseconds, in which nothing becomes due before."""
        made = [*state]
        for part in self._parts:
            made[part + 1] = self.transitions.wait(part, state[part + 1], by)
        return tuple(made)

    def waiting(self, state: State, part: str, kind: str) -> Sequence[int]:
        """Return the notices that wait in a channel."""
        return self.queue(state[self.layout.channels[part, kind]])

    def queue(self, number: int) -> Sequence[int]:
        """Return the notices in a channel whose content has this number."""
        return self._queues[number]

    def _part_of(self, step: int) -> int:
        part = self._doer.get(step)
        if part is None:
            part = self._doer[step] = self.layout.names.index(self._steps[step].part)
        return part

    def _write(self, made: list[int], part: int, done: Done) -> None:
        """Note what a step wrote; a process that panicked lists everything again."""
        made[API] = done.api
        for notice, place in done.notices:
            made[place] = self._push(made[place], notice)
        if done.panic:
            name = self.layout.names[part]
            for kind, notices in self.transitions.listed(part, done.api).items():
                made[self.layout.channels[name, kind]] = self._queues.number(notices)

    def _pop(self, queue: int) -> tuple[int, int]:
        known = self._popped.get(queue)
        if known is None:
            first, *rest = self._queues[queue]
            known = self._popped[queue] = (self._queues.number(tuple(rest)), first)
        return known

    def _push(self, queue: int, notice: int) -> int:
        known = self._pushed.get((queue, notice))
        if known is None:
            known = self._queues.number((*self._queues[queue], notice))
            self._pushed[queue, notice] = known
        return known
