"""A cluster as a machine: an API server, components, and channels between them, in steps.

A state is a tuple of numbers: of what the API server holds, of what each component holds, and of
what waits in each channel. To fork a state is to keep the tuple, and to compare two states is to
compare numbers. Different orders of the same steps share nearly all of their work, see
:mod:`.transitions`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..kubernetes.object_table import ObjectTable
from .machine_channels import Channels
from .machine_faults import Faults
from .machine_layout import API, WAIT, ComponentPart, MachineLayout, MachineStep
from .processes import Processes
from .transitions import Done, Transitions

State = tuple[int, ...]
"""The numbers of the API server, of the components, and of the channels, in the layout's order.

If something can fail, the number of what has failed comes last, see :mod:`.machine_faults`.
"""

MakeFaults = Callable[[MachineLayout, Processes], Faults]


class Machine:
    """All states of a cluster that its steps lead to, worked out as they are needed.

    :param parts: the components by name. :param objects: numbers the documents.
    :param faults: makes the faults that can happen; by default none can.
    :ivar layout: what each number of a state stands for. :ivar wait: the step in which time passes.
    """

    def __init__(
        self,
        parts: Mapping[str, ComponentPart],
        objects: ObjectTable | None = None,
        faults: MakeFaults | None = None,
    ) -> None:
        self.layout = MachineLayout(parts)
        self.objects = objects or ObjectTable()
        self.transitions = Transitions(parts, self.layout, self.objects)
        self._steps = self.transitions.steps
        self._queues = Channels()
        self._empty = self._queues.empty
        self._processes = Processes(parts, self.layout, self.transitions, self._queues)
        self.wait = self._steps.number(WAIT)
        names = self.layout.names
        self._deliveries: dict[int, tuple[int, int]] = {}
        self._delivery_from: dict[int, int] = {}
        for (name, kind), place in self.layout.channels.items():
            step = self._steps.number(MachineStep(name, kind))
            self._deliveries[step] = (names.index(name), place)
            self._delivery_from[place] = step
        self._doer: dict[int, int] = {}
        self._channels = tuple(self.layout.channels.values())
        self._parts = range(len(names))
        self._last: tuple[int, ...] = ()
        self.faults = None if faults is None else faults(self.layout, self._processes)
        if self.faults is not None:
            self._last = (self.faults.start,)

    @property
    def start(self) -> State:
        """The state in which nothing exists, and all processes have just started."""
        parts = [self.transitions.new_process(part) for part in self._parts]
        channels = [self._empty] * len(self._channels)
        state = (self.transitions.empty_server(), *parts, *channels, *self._last)
        assert len(state) == self.layout.size + len(self._last), "a state has the layout's places"
        return state

    def step(self, number: int) -> MachineStep:
        """Return a step by its number."""
        return self._steps[number]

    def enabled(self, state: State) -> list[int]:
        """Return the numbers of all steps that can be made, in the order of the layout."""
        empty, delivery = self._empty, self._delivery_from
        possible = [delivery[place] for place in self._channels if state[place] != empty]
        ability = self.transitions.ability
        due = False
        for part in self._parts:
            steps, when = ability(part, state[part + 1])
            possible += steps
            due = due or when is not None
        # Until a process was started again, none waits for lists, and nothing is left out.
        if self._processes.restarts:
            possible = [step for step in possible if not self._waits_for_lists(state, step)]
        if self.faults is not None:
            possible += [failed for step in possible for failed in self.failing(state, step)]
            possible += self.faults.steps(state[-1])
        if due:
            possible.append(self.wait)
        return possible

    def enabled_of(self, part: int, state: State) -> list[int]:
        """Return the numbers of the steps that a component can make."""
        empty, delivery = self._empty, self._delivery_from
        places = self.layout.channels_of[part]
        steps = [delivery[place] for place in places if state[place] != empty]
        if not (self._processes.restarts and self._is_starting(part, state)):
            steps += self.transitions.ability(part, state[part + 1]).steps
        return steps

    def _waits_for_lists(self, state: State, step: int) -> bool:
        """Say whether a step, no delivery, has to wait until its process has all its lists."""
        return step not in self._deliveries and self._is_starting(self._part_of(step), state)

    def _is_starting(self, part: int, state: State) -> bool:
        """Say whether a component waits for its first lists, as after a restart."""
        channels = tuple([state[place] for place in self.layout.channels_of[part]])
        return self._processes.is_starting(part, channels)

    def steps_alone(
        self, part: int, held: int, channels: tuple[int, ...], api: int
    ) -> Iterator[tuple[int, Done, tuple[int, ...]]]:
        """Yield what a component can do that holds this, and what its channels hold then."""
        transitions = self.transitions
        for at, place in enumerate(self.layout.channels_of[part]):
            if channels[at] != self._empty:
                rest, notice = self._queues.pop(channels[at])
                left = (*channels[:at], rest, *channels[at + 1 :])
                yield self._delivery_from[place], transitions.deliver(part, held, notice, api), left
        if self._processes.is_starting(part, channels):
            return
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
            rest, notice = self._queues.pop(state[place])
            numbers = [*state]
            numbers[place] = rest
            done = self.transitions.deliver(part, state[part + 1], notice, state[API])
        elif step == self.wait:
            later = self.later(state)
            assert later is not None, "time passes only if something is due"
            return later, ""
        elif self.faults is not None and step in self.faults:
            return self.faults.after(state, step), ""
        elif self.faults is not None and self._steps[step].fault:
            return self._after_failure(self.faults, state, step)
        else:
            part = self._part_of(step)
            numbers = [*state]
            done = self.transitions.do(part, state[part + 1], step, state[API])
        numbers[part + 1] = done.part
        if done.api >= 0:
            self._write(numbers, part, done)
        return tuple(numbers), done.panic

    def _after_failure(self, faults: Faults, state: State, step: int) -> tuple[State, str]:
        """Return the state after a step of which a request fails."""
        part, numbers, notice = self._part_of(step), [*state], 0
        whole = self._steps.number(self._steps[step]._replace(fault=""))
        if whole in self._deliveries:
            part, place = self._deliveries[whole]
            # The notice is used up though a request fails: no informer delivers it again.
            numbers[place], notice = self._queues.pop(state[place])
        done = self.transitions.fail(part, state[part + 1], step, notice, state[API])
        numbers[part + 1] = done.part
        numbers[-1] = faults.request_failed(numbers[-1])
        self._write(numbers, part, done)
        return tuple(numbers), done.panic

    def failing(self, state: State, step: int) -> Sequence[int]:
        """Return the numbers of a component's step in which one of its requests fails."""
        if self.faults is None:
            return ()
        delivery = self._deliveries.get(step)
        if delivery is not None:
            part, place = delivery
            _, notice = self._queues.pop(state[place])
            done = self.transitions.deliver(part, state[part + 1], notice, state[API])
        else:
            part = self._part_of(step)
            done = self.transitions.do(part, state[part + 1], step, state[API])
        return tuple(self.faults.failing(state[-1], part, step, done.writes))

    def due(self, state: State) -> int | None:
        """Return how long it takes until the next thing is due, in microseconds."""
        ability = self.transitions.ability
        delays = (ability(part, state[part + 1]).due for part in self._parts)
        return min((due for due in delays if due is not None), default=None)

    def later(self, state: State) -> State | None:
        """Return the state in which the next thing is due; None if nothing ever is."""
        by = self.due(state)
        return None if by is None else self.passed(state, by)

    def passed(self, state: State, by: int) -> State:
        """Return the state after so many microseconds, in which nothing becomes due before."""
        numbers = [*state]
        for part in self._parts:
            numbers[part + 1] = self.transitions.wait(part, state[part + 1], by)
        return tuple(numbers)

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

    def _write(self, numbers: list[int], part: int, done: Done) -> None:
        """Note what a step wrote; a process that panicked lists everything again."""
        numbers[API] = done.api
        deaf: Collection[int] = () if self.faults is None else self.faults.deaf(numbers[-1])
        for notice, place in done.notices:
            if place not in deaf:
                numbers[place] = self._queues.push(numbers[place], notice)
        # After the notices: the new lists show what the step wrote, and replace what waited.
        if done.panic:
            parts = self._processes.restart(numbers, part)
            if self.faults is not None:
                numbers[-1] = self.faults.restarted(numbers[-1], parts)
