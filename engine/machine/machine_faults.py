"""Faults of the machine that a cluster runs on: watches that break, restarts, requests that fail.

Each kind of fault may happen so often in a run as its limit says, at any moment.

- ``watch``: a watch of a process breaks. What is written then is missed, until the process lists
  the kind again: what is new is delivered as added, what has changed as changed, what is gone as a
  tombstone. An object that was deleted and created again meanwhile is seen as changed, once.
- ``request``: one request that writes fails, before or after the API server carries it out.
- ``restart``: a process is killed, and starts again with empty hands.
- ``resync``: an informer delivers all objects of a kind once more.

Source: k8s.io/client-go/tools/cache reflector.go ListAndWatch, delta_fifo.go Replace, Resync.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from .failing import ways_to_fail
from .machine_layout import API, FAULTS, MachineLayout, MachineStep
from .processes import Processes
from .value_numbers import ValueTable


class FaultLimits(NamedTuple):
    """How often each kind of fault may happen in a run."""

    watch: int = 0
    request: int = 0
    restart: int = 0
    resync: int = 0


NO_FAULTS = FaultLimits()
FAULT_KINDS = FaultLimits._fields


class Faulty(NamedTuple):
    """What may still fail in a state, and what has failed.

    :param left: how often each kind may still happen.
    :param broken: watches that are broken, by number, each with what the API server held then.
    """

    left: FaultLimits
    broken: tuple[tuple[int, int], ...] = ()


class ProcessWatch(NamedTuple):
    """The watch of a kind by a process.

    :param channels: the components that it serves, each with the place of its channel.
    """

    process: str
    kind: str
    channels: tuple[tuple[int, int], ...]


class _Act(Enum):
    """What a step of faults does."""

    BREAK = "break the watch of {kind} by {process}"
    LIST = "end: {process} lists {kind} again"
    RESYNC = "resync {kind} in {process}"
    RESTART = "restart {process}"


_KIND_OF: Mapping[_Act, str] = MappingProxyType(
    {
        _Act.BREAK: "watch",
        _Act.LIST: "watch",
        _Act.RESYNC: "resync",
        _Act.RESTART: "restart",
    }
)
"""The kind of fault that each belongs to."""


class _Fault(NamedTuple):
    """A step of faults. :param watch: its number; for a restart, one of the process's."""

    act: _Act
    watch: int


class Faults:
    """The faults of a machine, as steps.

    The last number of a state is that of a :class:`Faulty`.

    :param failing: the processes that can fail.
    :param resyncing: those of them whose informers deliver everything again from time to time.
    :ivar start: the number of the :class:`Faulty` in which nothing has failed.
    """

    def __init__(
        self,
        limits: FaultLimits,
        layout: MachineLayout,
        processes: Processes,
        failing: Collection[str],
        resyncing: Collection[str] = (),
    ) -> None:
        self._processes = processes
        self._transitions = processes.transitions
        self._channels = processes.channels
        self._faulty: ValueTable[Faulty] = ValueTable()
        self.start = self._faulty.number(Faulty(limits))
        self._parts = {part for name in failing for part in processes.parts_of.get(name, ())}
        self._watches = tuple(_watches(layout, processes, failing))
        served = [place for watch in self._watches for _, place in watch.channels]
        assert len(served) == len(set(served)), "a channel is served by one watch"
        self._resyncing = resyncing
        self._faults = dict(self._numbered(limits))
        self._known: dict[int, tuple[int, ...]] = {}

    def _numbered(self, limits: FaultLimits) -> Iterator[tuple[int, _Fault]]:
        """Yield the number of each step that the limits allow, and what it does."""
        seen: set[str] = set()
        for at, watch in enumerate(self._watches):
            for act in _Act:
                name = act.value.format(process=watch.process, kind=watch.kind)
                # A restart names its process only, so each watch of that gives the same step: it
                # counts once.
                may = act is not _Act.RESYNC or watch.process in self._resyncing
                if may and getattr(limits, _KIND_OF[act]) and name not in seen:
                    seen.add(name)
                    yield (
                        self._transitions.steps.number(MachineStep(FAULTS, "", name)),
                        _Fault(act, at),
                    )

    def __contains__(self, step: int) -> bool:
        return step in self._faults

    def steps(self, faulty: int) -> tuple[int, ...]:
        """Return the numbers of the faults that can happen, and of those that can end."""
        known = self._known.get(faulty)
        if known is None:
            now = self._faulty[faulty]
            known = self._known[faulty] = tuple(
                step for step, fault in self._faults.items() if _is_possible(now, fault)
            )
        return known

    def ends(self, step: int) -> bool:
        """Say whether a step ends a fault: that comes about by itself."""
        fault = self._faults.get(step)
        return fault is not None and fault.act is _Act.LIST

    def lasts(self, faulty: int) -> bool:
        """Say whether there is a fault that has not ended."""
        return bool(self._faulty[faulty].broken)

    def failing(self, faulty: int, part: int, step: int, writes: int) -> Iterator[int]:
        """Yield the numbers of a step in which one of so many requests fails."""
        if part in self._parts and self._faulty[faulty].left.request:
            base = self._transitions.steps[step]
            for way in ways_to_fail(writes):
                yield self._transitions.steps.number(base._replace(fault=str(way)))

    def request_failed(self, faulty: int) -> int:
        """Return what is left when a request has failed."""
        before = self._faulty[faulty]
        assert before.left.request, "no more requests fail than the limit says"
        left = before.left._replace(request=before.left.request - 1)
        return self._faulty.number(before._replace(left=left))

    def deaf(self, faulty: int) -> frozenset[int]:
        """Return the places of channels that get nothing, because their watch is broken."""
        broken = self._faulty[faulty].broken
        return frozenset(place for at, _ in broken for _, place in self._watches[at].channels)

    def restarted(self, faulty: int, parts: Collection[int]) -> int:
        """Return what is broken when components have started again: their watches are new."""
        before = self._faulty[faulty]
        broken = tuple(
            (watch, api)
            for watch, api in before.broken
            if not any(part in parts for part, _ in self._watches[watch].channels)
        )
        return self._faulty.number(before._replace(broken=broken))

    def after(self, state: tuple[int, ...], step: int) -> tuple[int, ...]:
        """Return the state after a fault, or the end of one."""
        numbers, faulty = [*state], self._faulty[state[-1]]
        act, number = self._faults[step]
        assert _is_possible(faulty, self._faults[step]), (
            "a fault happens and ends only where it can"
        )
        watch = self._watches[number]
        if act is _Act.BREAK:
            broken = tuple(sorted((*faulty.broken, (number, state[API]))))
            numbers[-1] = self._less(faulty._replace(broken=broken), act)
        elif act is _Act.LIST:
            self._list_again(numbers, watch, dict(faulty.broken)[number])
            left = tuple((at, api) for at, api in faulty.broken if at != number)
            numbers[-1] = self._faulty.number(faulty._replace(broken=left))
        elif act is _Act.RESYNC:
            for part, place in watch.channels:
                again = self._transitions.again(part, watch.kind, numbers[API])
                numbers[place] = self._channels.extended(numbers[place], again)
            numbers[-1] = self._less(faulty, act)
        else:
            parts = self._processes.restart(numbers, watch.channels[0][0])
            numbers[-1] = self.restarted(self._less(faulty, act), parts)
        return tuple(numbers)

    def _list_again(self, numbers: list[int], watch: ProcessWatch, then: int) -> None:
        for part, place in watch.channels:
            # It comes behind what was sent before the watch broke, and still waits.
            missed = self._transitions.missed(part, watch.kind, then, numbers[API])
            numbers[place] = self._channels.extended(numbers[place], missed)

    def _less(self, faulty: Faulty, act: _Act) -> int:
        """Return the same with one fault of a kind less to come."""
        kind = _KIND_OF[act]
        left = faulty.left._replace(**{kind: getattr(faulty.left, kind) - 1})
        return self._faulty.number(faulty._replace(left=left))


def _is_possible(faulty: Faulty, fault: _Fault) -> bool:
    is_broken = any(watch == fault.watch for watch, _ in faulty.broken)
    if fault.act is _Act.LIST:
        return is_broken
    left = getattr(faulty.left, _KIND_OF[fault.act])
    # A broken watch neither breaks nor resyncs before it lists again; a restart replaces it.
    return bool(left) and (fault.act is _Act.RESTART or not is_broken)


def _watches(
    layout: MachineLayout, processes: Processes, failing: Collection[str]
) -> Iterator[ProcessWatch]:
    """Yield the watches of processes: one for each kind, whatever components it serves."""
    for process, parts in processes.parts_of.items():
        if process not in failing:
            continue
        served: dict[str, list[tuple[int, int]]] = {}
        for (name, kind), place in layout.channels.items():
            part = layout.names.index(name)
            if part in parts:
                served.setdefault(kind, []).append((part, place))
        for kind, channels in served.items():
            yield ProcessWatch(process, kind, tuple(channels))
