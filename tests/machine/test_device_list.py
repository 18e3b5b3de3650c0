"""The list of ignored devices: what unlocked readers see, and what locked readers never see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.machine.device_list_memory import (
    WRITER,
    DeviceListMemory,
    Header,
    ListReaderState,
    Memory,
    ReaderOutcome,
    listed,
)
from plinian.engine.machine.device_race import (
    DEVICES,
    WATCHED,
    DeviceAnomaly,
    Race,
    ReaderFault,
    explore_device_list,
    machine_of,
    memory_in,
    setting_of,
    wrong_with,
)
from plinian.engine.machine.machine import Machine, State
from plinian.engine.volcano.cache.device_list import DeviceList
from plinian.engine.volcano.releases.release import RELEASES
from plinian.engine.volcano.table import cache_behaviours

EVERY = [str(release) for release in RELEASES]
BROKEN = ["v1.8.0", "v1.8.1", "v1.8.2"]
BEYOND = "so it compares memory that is not the list's"
IGNORED = f"{WATCHED}, which is ignored"
TORN_AND_SILENT = {
    f"{ReaderFault.TORN}: the session has the pointer to 0 elements and the length 1, {BEYOND}",
    f"{ReaderFault.TORN}: the session has the pointer to 0 elements and the length 4, {BEYOND}",
    f"{ReaderFault.TORN}: the session has the pointer to 1 element and the length 4, {BEYOND}",
    f"{ReaderFault.SILENT}: the session saw a list of length 0 and counts {IGNORED}",
    f"{ReaderFault.SILENT}: the session saw a list of length 1 and counts {IGNORED}",
}


@pytest.mark.parametrize("release", EVERY)
@pytest.mark.parametrize("as_compiled", [False, True])
def test_the_races_are_in_the_releases_without_a_lock_and_in_no_other(
    release: str, *, as_compiled: bool
) -> None:
    found = explore_device_list(cache_behaviours(release), Race(as_compiled=as_compiled))
    assert found.complete
    assert {one.sentence for one in found.anomalies} == (
        TORN_AND_SILENT if release in BROKEN else set()
    )


def test_the_numbers_of_states_and_steps_are_the_same_in_every_run() -> None:
    seen = [explore_device_list(cache_behaviours("v1.8.2")) for _ in range(2)]
    assert seen[0] == seen[1]
    assert (seen[0].states, seen[0].steps) == (1150, 2608)


@pytest.mark.parametrize("release", ["v1.9.0", "v1.14.0"])
def test_two_readers_under_a_lock_read_the_whole_list(release: str) -> None:
    race = Race(readers=("session", "resync"))
    found = explore_device_list(cache_behaviours(release), race)
    assert found.complete
    assert not found.anomalies


def test_it_is_the_behaviour_that_decides_and_not_the_release() -> None:
    cured = cache_behaviours("v1.8.2", ignored_devices_list=DeviceList.REFILLED)
    assert not explore_device_list(cured).anomalies
    broken = cache_behaviours("v1.15.1", ignored_devices_list=DeviceList.UNLOCKED)
    assert {one.sentence for one in explore_device_list(broken).anomalies} == TORN_AND_SILENT


def test_the_shortest_way_to_the_silent_form_is_three_steps() -> None:
    first = explore_device_list(cache_behaviours("v1.8.2")).anomalies[0]
    assert first.kind is ReaderFault.SILENT
    assert [f"{one.actor} {one.verb}" for one in first.moments] == [
        "writer stores length",
        "session loads pointer",
        "session loads length",
    ]
    assert first.moments[-1].memory.header.length == 0


def test_a_name_that_no_device_puts_on_the_list_is_counted_rightly() -> None:
    race = Race(name="nvidia.com/gpu")
    found = explore_device_list(cache_behaviours("v1.8.2"), race)
    assert {one.kind for one in found.anomalies} == {ReaderFault.TORN}


# -- compared with goroutines that live on -------------------------------------------------------


class Goroutines:
    """The lines of v1.8.2 as two generators that share a list of words; one run of it."""

    def __init__(self) -> None:
        self.words = [("", *DEVICES[1]), 4]
        self.saw: list[str] = []

    def write(self) -> Iterator[None]:
        """Empty the list, and append twice; the length is stored before the pointer."""
        for names in ((), ("",), ("", *DEVICES[1])):
            self.words[1] = len(names)
            yield
            self.words[0] = names
            yield

    def read(self) -> Iterator[None]:
        """Read the header, the pointer first, then compare the elements."""
        pointer = self.words[0]
        yield
        length = self.words[1]
        yield
        assert isinstance(pointer, tuple)
        assert isinstance(length, int)
        for place in range(length):
            if place >= len(pointer):
                self.saw.append(f"beyond {len(pointer)} {length}")
                return
            if pointer[place] == WATCHED:
                self.saw.append(f"ignored {len(pointer)} {length}")
                return
        self.saw.append(f"counted {len(pointer)} {length}")


def run(choices: Sequence[bool]) -> list[str]:
    """Return what the reader saw if goroutines take turns like this."""
    both = Goroutines()
    writer, reader = both.write(), both.read()
    for reads in choices:
        next(reader if reads else writer, None)
    list(reader)
    return both.saw


def orders(writes: int, reads: int) -> Iterator[tuple[bool, ...]]:
    """Yield all orders of so many turns of the writer and the reader."""
    if not writes and not reads:
        yield ()
    if writes:
        yield from ((False, *rest) for rest in orders(writes - 1, reads))
    if reads:
        yield from ((True, *rest) for rest in orders(writes, reads - 1))


def outcomes(machine: Machine) -> set[str]:
    """Return what readers come to see in all states, by trying every step in each of them."""
    seen: set[State] = set()
    waiting, found = [machine.start], set()
    while waiting:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        waiting += [machine.after(state, step)[0] for step in machine.enabled(state)]
        memory = memory_in(machine, state)
        (reader,) = memory.readers
        if reader.outcome is not None:
            held = len(memory.arrays[reader.pointer])
            found.add(f"{reader.outcome} {held} {reader.length}")
    return found


def test_every_order_of_two_goroutines_leads_to_what_the_search_finds() -> None:
    race = Race(writes=1, as_compiled=True)
    machine = machine_of(setting_of(cache_behaviours("v1.8.2"), race))
    plain = {saw for choices in orders(7, 3) for saw in run(choices)}
    # A capacity that no reader reads makes no difference to what it sees.
    assert plain == outcomes(machine)
    assert {one.split()[0] for one in plain} == {"ignored", "counted", "beyond"}


def test_any_order_of_words_leads_to_no_other_kind_of_reading_than_a_mixture() -> None:
    race = Race(writes=1)
    machine = machine_of(setting_of(cache_behaviours("v1.8.2"), race))
    pairs = {tuple(map(int, one.split()[1:])) for one in outcomes(machine)}
    assert pairs == {(held, length) for held in (0, 1, 4) for length in (0, 1, 4)}


# -- properties ----------------------------------------------------------------------------------

NAMES = st.lists(st.sampled_from(["", "a", "b", "c", WATCHED]), max_size=4).map(tuple)
CHOICES = st.lists(st.integers(min_value=0, max_value=5), max_size=60)


def walk(memory: DeviceListMemory, choices: Sequence[int]) -> Iterator[Memory]:
    """Yield memory after each step of a walk at random."""
    for choice in choices:
        steps = memory.steps()
        if not steps:
            return
        memory.step(steps[choice % len(steps)])
        yield memory.kept()


@settings(deadline=None)
@given(
    form=st.sampled_from([DeviceList.REFILLED, DeviceList.EXTENDED]),
    devices=st.lists(NAMES, min_size=1, max_size=3).map(tuple),
    choices=CHOICES,
)
def test_a_reader_under_a_lock_reads_what_a_writer_left(
    form: DeviceList, devices: tuple[tuple[str, ...], ...], choices: list[int]
) -> None:
    race = Race(devices=devices, readers=("session", "resync"))
    behaviours = cache_behaviours("v1.9.0", ignored_devices_list=form)
    memory = DeviceListMemory(setting_of(behaviours, race))
    expected = ReaderOutcome.IGNORED if WATCHED in sum(devices, ()) else ReaderOutcome.COUNTED
    for now in walk(memory, choices):
        assert {one.outcome for one in now.readers} <= {None, expected}
        assert not (now.locked and any(one.holds for one in now.readers))


@settings(deadline=None)
@given(form=st.sampled_from(DeviceList), devices=st.lists(NAMES, max_size=3).map(tuple))
def test_a_writer_that_is_let_finish_leaves_what_devices_put_on_the_list(
    form: DeviceList, devices: tuple[tuple[str, ...], ...]
) -> None:
    behaviours = cache_behaviours("v1.8.2", ignored_devices_list=form)
    memory = DeviceListMemory(setting_of(behaviours, Race(devices=devices, readers=())))
    *_, last = [memory.kept(), *walk(memory, [0] * 200)]
    all_of_them = sum(devices, ())
    if form is DeviceList.EXTENDED:
        all_of_them = tuple(dict.fromkeys(name for name in all_of_them if name))
    assert listed(last) == all_of_them
    assert not memory.steps()


@settings(deadline=None)
@given(choices=CHOICES)
def test_a_word_that_is_read_was_written_by_somebody(choices: list[int]) -> None:
    memory = DeviceListMemory(setting_of(cache_behaviours("v1.8.2"), Race()))
    headers = [memory.kept().header]
    for now in walk(memory, choices):
        headers.append(now.header)
        (reader,) = now.readers
        assert reader.pointer in {-1, *(one.pointer for one in headers)}
        assert reader.length in {-1, *(one.length for one in headers)}


def test_a_reader_that_is_wrong_is_named() -> None:
    header = Header(0, 0, 0)
    reader = ListReaderState(pointer=0, length=1, outcome=ReaderOutcome.BEYOND)
    memory = Memory(header, ((),), False, 0, (), header, (ListReaderState(), reader))
    said = wrong_with(memory, Race(readers=("session", "resync")))
    assert said is not None
    assert said.kind is ReaderFault.TORN
    assert said.message.startswith("the resync has the pointer to 0 elements")


def test_memory_watches_nothing() -> None:
    memory = DeviceListMemory(setting_of(cache_behaviours("v1.8.2"), Race()))
    with pytest.raises(AssertionError):
        memory.deliver("ADDED", "Pod", "a", {}, None)
    assert memory.due() is None
    memory.advance(1)
    assert memory.steps()[0].startswith(WRITER)


def steps_of(anomaly: DeviceAnomaly) -> list[str]:
    """Return the steps of an anomaly as text."""
    return [f"{one.actor} {one.verb}" for one in anomaly.moments]


def test_what_is_found_comes_out_again_when_its_steps_are_made_again() -> None:
    race = Race()
    for anomaly in explore_device_list(cache_behaviours("v1.8.2"), race).anomalies:
        memory = DeviceListMemory(setting_of(cache_behaviours("v1.8.2"), race))
        for step in steps_of(anomaly):
            assert step in memory.steps()
            assert not wrong_with(memory.kept(), race)
            memory.step(step)
        wrong = wrong_with(memory.kept(), race)
        assert wrong is not None
        assert wrong.sentence == anomaly.sentence
