"""The list of ignored devices as words of memory, with a writer and readers of it.

A scheduler's process has one list of the resources that shared devices count themselves. Each node
that is read writes it, and each list of resources that is read reads it. In Go a slice is three
words: a pointer to an array, a length, and a capacity. The memory model of Go says that such a
value may be written and read word by word, in any order; each word that is read was once written.
So a step here is a read or a write of one word, or of one element of an array.

Source: pkg/scheduler/api/node_info.go setNodeOthersResource, api/resource_info.go NewResource,
api/shared_device_pool.go; https://go.dev/ref/mem, "Implementation Restrictions".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..volcano.cache.device_list import DeviceList

WRITER = "writer"
LOCKS, UNLOCKS = "locks", "unlocks"
POINTER, LENGTH, CAPACITY = "pointer", "length", "capacity"
EMPTY = 0
"""The array of a slice without elements; Go has one for all of them, ``runtime.zerobase``."""


class Header(NamedTuple):
    """The three words of a slice; the pointer is the number of an array."""

    pointer: int
    length: int
    capacity: int


class ReaderOutcome(StrEnum):
    """What a reader found out about a resource."""

    IGNORED = "ignored"
    """It is on the list."""
    COUNTED = "counted"
    """It is not on the list, so it is a resource like any other."""
    BEYOND = "beyond"
    """The reader left the array: what it compares next is other memory."""


class ListReaderState(NamedTuple):
    """A reader, and what it has read: -1 are words that it has not.

    :param place: the element that it compares next. :param holds: it has the lock for readers.
    """

    pointer: int = -1
    length: int = -1
    place: int = 0
    outcome: ReaderOutcome | None = None
    holds: bool = False


class Memory(NamedTuple):
    """All that the model holds.

    :param arrays: their elements, by number. :param locked: the writer has the lock.
    :param at: which of its operations the writer is in.
    :param cells: what the array is to hold when the operation is over.
    :param target: what the header is to be then.
    """

    header: Header
    arrays: tuple[tuple[str, ...], ...]
    locked: bool
    at: int
    cells: tuple[str, ...]
    target: Header
    readers: tuple[ListReaderState, ...]


class Setting(NamedTuple):
    """What happens at the same time.

    :param form: how the list is written and read.
    :param devices: for each kind of devices, what it puts on the list.
    :param name: the resource that readers look for.
    :param writes: how many nodes are read, one after the other.
    :param readers: their names.
    :param stored: the order in which the words of a header are written; None is any order.
    :param loaded: the order in which the pointer and the length are read; None is any order.
    """

    form: DeviceList
    devices: tuple[tuple[str, ...], ...]
    name: str
    writes: int
    readers: tuple[str, ...]
    stored: tuple[str, ...] | None = None
    loaded: tuple[str, ...] | None = None


class DeviceListMemory:
    """A component of a machine: memory, and the goroutines that use it.

    At the start the list has been written once, completely.
    """

    kinds: tuple[str, ...] = ()

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._program = [*program(setting)] * setting.writes
        self._memory = self._settled(_before(setting))

    def deliver(self, *change: object) -> None:
        """See nothing: memory has no informer."""
        raise AssertionError(f"memory watches nothing, but got {change}")

    def steps(self) -> Sequence[str]:
        """Return what the goroutines could do now."""
        memory = self._memory
        steps = [f"{WRITER} {verb}" for verb in self._writing(memory)]
        for name, reader in zip(self._setting.readers, memory.readers, strict=True):
            steps += [f"{name} {verb}" for verb in self._reading(memory, reader)]
        return steps

    def step(self, name: str, _: object = None) -> None:
        """Let a goroutine do one thing."""
        actor, _, verb = name.partition(" ")
        self._memory = self._write(verb) if actor == WRITER else self._read(actor, verb)
        reading = any(reader.holds for reader in self._memory.readers)
        assert not (reading and self._memory.locked), "the writer has the lock alone"

    def due(self) -> int | None:
        """Return None: nothing waits for a time."""

    def advance(self, by: int) -> None:
        """Let time pass."""

    def kept(self) -> Memory:
        """Return all that the model holds."""
        return self._memory

    def restore(self, kept: Memory) -> None:
        """Hold what another one held."""
        self._memory = kept

    def _writing(self, memory: Memory) -> Iterator[str]:
        """Yield what the writer can do: elements are written before the header."""
        if memory.at == len(self._program):
            return
        doing = self._program[memory.at]
        if doing == LOCKS:
            if not any(reader.holds for reader in memory.readers):
                yield LOCKS
        elif doing == UNLOCKS:
            yield UNLOCKS
        elif (place := _changed_cell(memory)) is not None:
            yield f"stores element {place}"
        else:
            words = _changed_words(memory)
            order = self._setting.stored
            # In a fixed order only the first of the words that are left can be next.
            for word in words if order is None else sorted(words, key=order.index)[:1]:
                yield f"stores {word}"

    def _write(self, verb: str) -> Memory:
        memory = self._memory
        operand = verb.rpartition(" ")[2]
        if verb in {LOCKS, UNLOCKS}:
            memory = memory._replace(locked=verb == LOCKS)
            return self._settled(memory._replace(at=memory.at + 1))
        if operand.isdecimal():
            place, array = int(operand), memory.target.pointer
            cells = [*memory.arrays[array]]
            cells[place] = memory.cells[place]
            arrays = [*memory.arrays]
            arrays[array] = tuple(cells)
            memory = memory._replace(arrays=tuple(arrays))
        else:
            word = {operand: getattr(memory.target, operand)}
            memory = memory._replace(header=memory.header._replace(**word))
        if _changed_cell(memory) is None and not _changed_words(memory):
            memory = self._settled(memory._replace(at=memory.at + 1))
        return memory

    def _settled(self, memory: Memory) -> Memory:
        """Begin the writer's next operation; one that changes nothing is over at once."""
        while memory.at < len(self._program) and self._program[memory.at] not in {LOCKS, UNLOCKS}:
            memory = _begun(memory, self._program[memory.at])
            if _changed_cell(memory) is not None or _changed_words(memory):
                return memory
            memory = memory._replace(at=memory.at + 1)
        return memory

    def _reading(self, memory: Memory, reader: ListReaderState) -> Iterator[str]:
        """Yield what a reader can do: the loop reads the header once, then each element."""
        locks = self._setting.form is not DeviceList.UNLOCKED
        if reader.outcome is not None:
            if reader.holds:
                yield UNLOCKS
        elif locks and not reader.holds:
            if not memory.locked:
                yield LOCKS
        elif min(reader.pointer, reader.length) < 0:
            words = [word for word in (POINTER, LENGTH) if getattr(reader, word) < 0]
            order = self._setting.loaded
            for word in words if order is None else sorted(words, key=order.index)[:1]:
                yield f"loads {word}"
        else:
            yield f"compares element {reader.place}"

    def _read(self, actor: str, verb: str) -> Memory:
        memory, names = self._memory, self._setting.readers
        number = names.index(actor)
        reader = memory.readers[number]
        operand = verb.rpartition(" ")[2]
        if verb in {LOCKS, UNLOCKS}:
            reader = reader._replace(holds=verb == LOCKS)
        elif operand.isdecimal():
            reader = self._compared(memory, reader)
        else:
            reader = reader._replace(**{operand: getattr(memory.header, operand)})
        if reader.outcome is None and reader.length == reader.place and reader.pointer >= 0:
            reader = reader._replace(outcome=ReaderOutcome.COUNTED)
        readers = (*memory.readers[:number], reader, *memory.readers[number + 1 :])
        return memory._replace(readers=readers)

    def _compared(self, memory: Memory, reader: ListReaderState) -> ListReaderState:
        """Compare an element. A loop over a slice checks no bounds: its length is the bound."""
        array = memory.arrays[reader.pointer]
        if reader.place >= len(array):
            return reader._replace(outcome=ReaderOutcome.BEYOND)
        if array[reader.place] == self._setting.name:
            return reader._replace(outcome=ReaderOutcome.IGNORED)
        return reader._replace(place=reader.place + 1)


class Doing(NamedTuple):
    """What the writer does to the list.

    :param empties: before it adds. :param fresh: it becomes a new empty slice, not a shorter one.
    :param adds: what it appends at once. :param missing: only what the list lacks, and no blanks.
    """

    empties: bool = False
    fresh: bool = False
    adds: tuple[str, ...] = ()
    missing: bool = False


def program(setting: Setting) -> Iterator[Doing | str]:
    """Yield what a writer does for one node, in its order."""
    if setting.form is DeviceList.UNLOCKED:
        yield Doing(empties=True, fresh=True)
        yield from (Doing(adds=names) for names in setting.devices)
        return
    yield LOCKS
    if setting.form is DeviceList.REFILLED:
        yield Doing(empties=True)
        yield from (Doing(adds=names) for names in setting.devices)
    else:
        for names in setting.devices:
            yield from (Doing(adds=(name,), missing=True) for name in names)
    yield UNLOCKS


def listed(memory: Memory) -> tuple[str, ...]:
    """Return what the writer would find on the list, when it is not writing."""
    return memory.arrays[memory.header.pointer][: memory.header.length]


def _before(setting: Setting) -> Memory:
    """Return memory after one complete write."""
    header, arrays = Header(EMPTY, 0, 0), ((),)
    readers = (ListReaderState(),) * len(setting.readers)
    memory = Memory(header, arrays, False, 0, (), header, readers)
    for doing in program(setting):
        if isinstance(doing, Doing):
            memory = _begun(memory, doing)
            written = [*memory.arrays]
            written[memory.target.pointer] = memory.cells
            memory = memory._replace(header=memory.target, arrays=tuple(written))
    return memory


def _begun(memory: Memory, doing: Doing | str) -> Memory:
    """Return memory when an operation begins, with what it is to become.

    ``append`` writes into the array if it has room; else it makes an array, which no other code
    sees before its pointer is stored.
    """
    assert isinstance(doing, Doing), doing
    header, arrays = memory.header, memory.arrays
    if doing.empties:
        target = Header(EMPTY, 0, 0) if doing.fresh else header._replace(length=0)
        return memory._replace(target=target, cells=arrays[target.pointer])
    adds = doing.adds
    if doing.missing:
        adds = tuple(name for name in adds if name and name not in listed(memory))
    length = header.length + len(adds)
    if length <= header.capacity:
        cells = [*arrays[header.pointer]]
        cells[header.length : length] = adds
        return memory._replace(target=header._replace(length=length), cells=tuple(cells))
    # Go's append doubles the capacity of short slices.
    capacity = max(length, 2 * header.capacity)
    cells = [*listed(memory), *adds, *[""] * (capacity - length)]
    target = Header(len(arrays), length, capacity)
    return memory._replace(target=target, cells=tuple(cells), arrays=(*arrays, tuple(cells)))


def _changed_cell(memory: Memory) -> int | None:
    elements = memory.arrays[memory.target.pointer]
    pairs = enumerate(zip(elements, memory.cells, strict=True))
    return next((place for place, (old, new) in pairs if old != new), None)


def _changed_words(memory: Memory) -> list[str]:
    words = zip(Header._fields, memory.header, memory.target, strict=True)
    return [word for word, old, new in words if old != new]
