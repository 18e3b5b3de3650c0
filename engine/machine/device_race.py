"""Every order in which the list of ignored devices is written and read, and what goes wrong."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ..volcano.cache.behaviours import CacheBehaviours
from .device_list_memory import DeviceListMemory, Memory, ReaderOutcome, Setting
from .machine import Machine, State
from .machine_layout import ComponentPart
from .natural import StateViolation
from .state_search import EveryState, Exhaustive, FaultyState

PART, INVARIANT = "scheduler", "I-09b"
WATCHED = "volcano.sh/vgpu-memory"
DEVICES = (("",), (WATCHED, "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"))
"""What shared GPUs and virtual GPUs put on the list up to v1.12; the first is a blank.

Source: pkg/scheduler/api/devices/nvidia GetIgnoredDevices.
"""
AS_COMPILED = (("length", "capacity", "pointer"), ("pointer", "length"))
"""The orders of stores and loads that Go 1.26 compiles for these lines, for amd64 and arm64."""


class ReaderFault(StrEnum):
    """What can go wrong with a reader."""

    TORN = "torn read"
    """It has the pointer of one list and the length of another, and leaves the array."""
    SILENT = "silent misreading"
    """It sees a list that lacks what was on the list before and will be on it again."""


class Race(NamedTuple):
    """What is searched: see :class:`.device_list_memory.Setting`.

    :param as_compiled: only the orders of :data:`AS_COMPILED`, and not all that Go permits.
    """

    devices: tuple[tuple[str, ...], ...] = DEVICES
    name: str = WATCHED
    writes: int = 2
    readers: tuple[str, ...] = ("session",)
    as_compiled: bool = False


class RaceStep(NamedTuple):
    """A step of an anomaly: who did what, and what memory holds after it."""

    actor: str
    verb: str
    memory: Memory


class DeviceAnomaly(NamedTuple):
    """Something wrong, and the shortest way to it."""

    kind: ReaderFault
    sentence: str
    moments: tuple[RaceStep, ...]


class Explored(NamedTuple):
    """What a search found.

    :param release: whose behaviours were searched. :param form: how it writes and reads the list.
    :param anomalies: each sentence once, those of few steps first.
    :param states: distinct ones. :param steps: how many were made. :param complete: all were seen.
    """

    release: str
    form: str
    race: Race
    anomalies: tuple[DeviceAnomaly, ...]
    states: int
    steps: int
    complete: bool


def explore_device_list(behaviours: CacheBehaviours, race: Race | None = None) -> Explored:
    """Try every order of the steps of a writer and readers of the list, as a release makes them."""
    race = race or Race()
    setting = setting_of(behaviours, race)
    machine = machine_of(setting)

    def check(state: State) -> tuple[StateViolation, ...]:
        wrong = wrong_with(memory_in(machine, state), race)
        return () if wrong is None else (wrong,)

    search = Exhaustive(EveryState(machine), machine.start, check)
    anomalies = [_anomaly(machine, faulty_state) for faulty_state in search.run(lambda _: False)]
    return Explored(
        release=behaviours.release,
        form=setting.form,
        race=race,
        anomalies=tuple(anomalies),
        states=len(search.reached),
        steps=search.made,
        complete=search.complete,
    )


def setting_of(behaviours: CacheBehaviours, race: Race) -> Setting:
    """Return what happens at the same time in a release."""
    stored, loaded = AS_COMPILED if race.as_compiled else (None, None)
    return Setting(
        form=behaviours.ignored_devices_list,
        devices=race.devices,
        name=race.name,
        writes=race.writes,
        readers=race.readers,
        stored=stored,
        loaded=loaded,
    )


def machine_of(setting: Setting) -> Machine:
    """Return a machine of nothing but this memory and its goroutines."""
    return Machine({PART: ComponentPart((), lambda: DeviceListMemory(setting))})


def memory_in(machine: Machine, state: State) -> Memory:
    """Return the memory of a state."""
    memory = machine.transitions.kept(0, state[machine.layout.place[PART]])
    assert isinstance(memory, Memory)
    return memory


def wrong_with(memory: Memory, race: Race) -> StateViolation | None:
    """Return what a reader has wrong, of a :class:`ReaderFault`; None if all are right."""
    always = any(race.name in names for names in race.devices)
    for name, reader in zip(race.readers, memory.readers, strict=True):
        if reader.outcome is ReaderOutcome.BEYOND:
            size = len(memory.arrays[reader.pointer])
            message = (
                f"the {name} has the pointer to {_elements(size)} and the length {reader.length}, "
                "so it compares memory that is not the list's"
            )
            return StateViolation(INVARIANT, message, ReaderFault.TORN)
        if reader.outcome is ReaderOutcome.COUNTED and always:
            message = (
                f"the {name} saw a list of length {reader.length} and counts {race.name}, which "
                "is ignored"
            )
            return StateViolation(INVARIANT, message, ReaderFault.SILENT)
    return None


def _elements(number: int) -> str:
    return f"{number} element" if number == 1 else f"{number} elements"


def _anomaly(machine: Machine, faulty_state: FaultyState) -> DeviceAnomaly:
    state, moments = machine.start, []
    for step in faulty_state.steps:
        state, _ = machine.after(state, step)
        memory = memory_in(machine, state)
        actor, _, verb = machine.step(step).name.partition(" ")
        moments.append(RaceStep(actor, verb, memory))
    return DeviceAnomaly(
        ReaderFault(faulty_state.violation.kind), faulty_state.violation.sentence, tuple(moments)
    )
