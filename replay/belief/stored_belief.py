"""Stored beliefs: the scheduler's cache at some revisions, to continue from there.

They are checkpoints like those of truth, with their own version: it depends on the handlers' code
and on the behaviours that a cache reads. They may be dropped at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
import numpy as np
from blake3 import blake3

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.drift.drift import CacheMismatch
from ...engine.cache.drift.drift_since import DriftHistory
from ...engine.cache.projector import WATCHED, Projector, key_of
from ...engine.cache.restored import decode_belief
from ...engine.cache.rules import contents_of
from ...engine.cache.stored import encode_belief
from ...engine.cache.stored_objects import KeptObjects, encode_objects
from ...engine.errors import LogCorrupt
from ...engine.events import Effect
from ...engine.log.store import NO_REVISION, Checkpoint, FoldWindow, LogStore
from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.state.clock import Clock
from ...engine.volcano.session.behaviours import Behaviours
from ..moments.later_events import has_earlier_event, has_later_event
from ..moments.log_clock import clock_of
from ..moments.moment import Moment
from ..moments.ordered_events import STRETCH, OrderedEvent, OrderedEvents, steering

Progress = Callable[[int, int], None]

CacheBasis = tuple[tuple[str, object], ...]
"""The behaviours that a cache reads, with their values: caches differ by these alone."""

FIRST_VERSION = 2**30
"""Versions of stored truths are smaller."""

_OBJECTS_VERSION = 2**29
"""Versions from here on, up to those of beliefs, are of stored objects."""

_FORMAT = 2
"""The version of what is stored beside a projector."""

FAR = 3 * STRETCH
"""At least this many events away, a stored belief is made on the way."""

OBJECTS_PER_EVENT = 3
"""A belief is stored after so many events that it holds at most so many objects for each.

So what storing costs grows with the events, not with the size of the cluster.
"""

LAST_AFTER = 1_000
"""At the end one is stored after at least so many events, however many objects it holds.

Most questions are about the end, so they start there and not some thousands of events before it.
"""

_HASH_BYTES = 16
_TRIES = 8
_CHANGING = (Effect.VERSION, Effect.DELETED, Effect.BOUND)
_SOURCES = (
    ("plinian.engine", ("kubernetes", "model", "cache")),
    ("plinian.replay.moments", ("ordered_events.py",)),
)


def believed(behaviours: Behaviours) -> CacheBasis:
    """Return the behaviours that a cache reads, with their values: caches differ by these alone."""
    consulted = RecordedBehaviours.of(behaviours)
    own = contents_of(SchedulerCache(consulted).own)
    read = ((name, getattr(consulted.plain, name)) for name in sorted(consulted.names))
    return (*read, *own)


Differing = list[tuple[str, str, list[tuple[str, str, str, str | None, str | None, int]]]]
"""By kind and name of a unit, its differences, each with the position since when."""


class BeliefStart(msgspec.Struct, frozen=True):
    """Where to continue from: the scheduler's cache after a revision.

    :param differing: where it then differed from truth, and since when.
    """

    projector: Projector
    revision: int
    differing: Differing

    def drift(self) -> DriftHistory:
        """Return the history of drift up to then, which continues; it reads all pods."""
        history = DriftHistory(self.projector)
        history.go_on(
            {
                (kind, name): [
                    (CacheMismatch(*difference[:5]), difference[5]) for difference in parted
                ]
                for kind, name, parted in self.differing
            }
        )
        return history


class _Kept(msgspec.Struct, array_like=True):
    """A stored belief.

    :param mark: the clock's mark for all events without a revision that had happened.
    :param steering: a digest of the starts of processes and of the marks of a scenario.
    """

    mark: int
    steering: bytes
    belief: bytes
    drift: Differing


class _Checked(msgspec.Struct, array_like=True):
    """Up to where it was checked that no object deleted by a list reappeared.

    :param objects: the greatest object id in the log then.
    """

    objects: int


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(_Kept).decode
_DECODE_CHECKED = msgspec.msgpack.Decoder(_Checked).decode


def version_of(behaviours: Behaviours) -> int:
    """Return the version of checkpoints of a release's cache."""
    # Releases whose caches behave alike have one version, so they share what is stored.
    identity = f"{_FORMAT} {_code()} {believed(behaviours)}".encode()
    return FIRST_VERSION | int.from_bytes(blake3(identity).digest()[:4]) % FIRST_VERSION


@cache
def _code() -> str:
    """Return a digest of the code that builds caches: other code may build different ones."""
    digest = blake3()
    for package, names in _SOURCES:
        for name in names:
            for source in _python(files(package) / name):
                digest.update(source.read_bytes())
    return digest.hexdigest()


def _python(place: Traversable) -> Iterator[Traversable]:
    if place.is_dir():
        for entry in sorted(place.iterdir(), key=lambda child: child.name):
            yield from _python(entry)
    elif place.name.endswith(".py"):
        yield place


def start_of(store: LogStore, moment: Moment, behaviours: Behaviours) -> BeliefStart | None:
    """Return the last stored belief up to a moment that is still valid, if there is one.

    :param behaviours: those of the scheduler's release.
    """
    for checkpoint, stored in _candidates(store, moment, behaviours):
        start = _start(store, moment, behaviours, checkpoint, stored)
        if start is not None:
            return start
    return None


def is_far(
    store: LogStore, moment: Moment, behaviours: Behaviours, events: int | None = None
) -> bool:
    """Return whether a moment is many events after the last stored belief of a release.

    :param events: at least so many; None is :data:`FAR`.
    """
    window = moment.window(last_stored(store, moment, behaviours))
    return store.revision_after(window, FAR if events is None else events) is not None


def last_stored(store: LogStore, moment: Moment, behaviours: Behaviours) -> int:
    """Return the revision of the last stored belief up to a moment, NO_REVISION if none is.

    Later events may change what a list deleted: then :func:`start_of` returns an earlier one.
    """
    candidates = _candidates(store, moment, behaviours)
    return next((checkpoint.revision for checkpoint, _ in candidates), NO_REVISION)


def _candidates(
    store: LogStore, moment: Moment, behaviours: Behaviours
) -> Iterator[tuple[Checkpoint, _Kept]]:
    """Yield stored beliefs up to a moment that order all events as the log does now; last first."""
    version, clock = version_of(behaviours), clock_of_moment(store, moment)
    until, steps = moment.revision, None
    for _ in range(_TRIES):
        window = FoldWindow(
            branch=moment.branch, cluster=moment.cluster, known=moment.known, until=until
        )
        checkpoint = store.nearest_checkpoint(window, version)
        if checkpoint is None or checkpoint.revision <= NO_REVISION:
            return
        stored = _opened(checkpoint)
        # A damaged one hides no other: the one before it may be whole.
        if stored is None:
            until = checkpoint.revision - 1
            continue
        if steps is None:
            steps = steering(store, moment, clock)
        if (stored.mark, stored.steering) == _placing(clock, steps, checkpoint.revision):
            yield checkpoint, stored
        until = checkpoint.revision // 2


def clock_of_moment(store: LogStore, moment: Moment) -> Clock:
    """Return the clock that orders events without a revision."""
    return clock_of(store, branch=moment.branch, cluster=moment.cluster)


def _placing(clock: Clock, steps: Sequence[OrderedEvent], revision: int) -> tuple[int, bytes]:
    """Return a digest of where all events without a revision are placed, up to a revision."""
    places = [(step.key, step.position) for step in steps if step.key <= revision * 2 + 1]
    return clock.mark(revision * 2), blake3(_ENCODE(places)).digest()[:_HASH_BYTES]


def _start(
    store: LogStore, moment: Moment, behaviours: Behaviours, checkpoint: Checkpoint, stored: _Kept
) -> BeliefStart | None:
    """Return the content of a checkpoint, unless later events change what a list deleted."""
    try:
        projector = decode_belief(
            stored.belief,
            behaviours,
            lambda positions: store.payloads(positions, moment.branch),
            _kept_objects(store, moment),
        )
    except LogCorrupt:
        return None
    then = msgspec.structs.replace(moment, revision=checkpoint.revision, time=None)
    # A doomed object is in the belief because a later event shows it; if this moment does not know
    # of that event, its cache lacks the object.
    if not all(has_later_event(store, then, reference) for reference in projector.lists.doomed):
        return None
    if _came_back(store, moment, projector, checkpoint):
        return None
    return BeliefStart(projector, checkpoint.revision, stored.drift)


def _kept_objects(store: LogStore, moment: Moment) -> KeptObjects | None:
    """Return the objects that are stored beside the beliefs of a log, if there are any."""
    checkpoint = _stored_objects(store, moment)
    body = None if checkpoint is None else _verified(checkpoint)
    try:
        return None if body is None else KeptObjects(body)
    except (ValueError, msgspec.DecodeError):
        return None


def _stored_objects(store: LogStore, moment: Moment) -> Checkpoint | None:
    # Those that were stored last: what an event told stays the same, so those of a later revision
    # serve as well, if their events are known at the moment.
    window = FoldWindow(branch=moment.branch, cluster=moment.cluster, known=moment.known)
    return store.nearest_checkpoint(window, _version_of_objects())


def _version_of_objects() -> int:
    digest = blake3(f"{_FORMAT} {_code()} objects".encode()).digest()
    return _OBJECTS_VERSION | int.from_bytes(digest[:4]) % _OBJECTS_VERSION


def _came_back(
    store: LogStore, moment: Moment, projector: Projector, checkpoint: Checkpoint
) -> bool:
    """Return whether an object that a list deleted may have appeared again since the last check."""
    until, objects = _looked_for(store, moment, checkpoint)
    if until >= moment.known:
        return False
    window = FoldWindow(branch=moment.branch, cluster=moment.cluster, known=moment.known)
    stores = projector.cache.stores
    for chunk in store.scan(window, after_position=until):
        # A greater number is that of an object which was new since then: no list had deleted it.
        changing = np.isin(chunk.effects, _CHANGING) & (chunk.objects <= objects)
        numbers = np.unique(chunk.objects[changing & (chunk.revisions >= 0)]).tolist()
        for reference in store.references(numbers).values():
            if (reference.group, reference.kind) not in WATCHED:
                continue
            item = stores.get(reference.kind, key_of(reference))
            if item is None or item.uid != reference.uid:
                then = msgspec.structs.replace(
                    moment, known=until, revision=checkpoint.revision, time=None
                )
                if has_earlier_event(store, then, reference):
                    return True
    return False


def _looked_for(store: LogStore, moment: Moment, checkpoint: Checkpoint) -> tuple[int, int]:
    """Return the position of the last check, and the greatest object id then.

    On a branch, the position is at most that of its fork.
    """
    last = store.last(checkpoint.branch)
    window = FoldWindow(
        branch=checkpoint.branch,
        cluster=checkpoint.cluster,
        known=last,
        after=NO_REVISION,
        until=NO_REVISION,
    )
    checked = store.nearest_checkpoint(window, checkpoint.version)
    body = None if checked is None else _verified(checked)
    if checked is None or body is None:
        # It was never checked, so all objects count.
        return checkpoint.known, 2**62
    known, branch = checked.known, moment.branch
    forks = {info.name: info for info in store.branches()}
    while branch != checkpoint.branch:
        known, parent = min(known, forks[branch].fork), forks[branch].parent
        assert parent is not None, "a checkpoint belongs to the branch or to one of its parents"
        branch = parent
    return known, _DECODE_CHECKED(body).objects


def _opened(checkpoint: Checkpoint) -> _Kept | None:
    body = _verified(checkpoint)
    try:
        return None if body is None else _DECODE(body)
    except msgspec.DecodeError:
        return None


def _verified(checkpoint: Checkpoint) -> bytes | None:
    """Return the content of a checkpoint if it is intact, else None."""
    body = checkpoint.data[_HASH_BYTES:]
    return body if checkpoint.data[:_HASH_BYTES] == _hash(checkpoint, body) else None


def _hash(place: Checkpoint, body: bytes) -> bytes:
    content = (place.branch, place.cluster, place.version, place.revision, place.known, body)
    return blake3(_ENCODE(content)).digest()[:_HASH_BYTES]


def build_beliefs(
    store: LogStore,
    behaviours: Behaviours,
    *,
    branch: str,
    cluster: str,
    until: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Store the cache of a release at intervals and at the end.

    They only save time: without them every answer is the same. Continues from what is stored,
    unless later events made it invalid.

    :param until: the last revision that matters; None is the log's last one.
    :param progress: called with (position reached, last position) now and then.
    """
    last = store.last(branch)
    end = Moment(branch=branch, cluster=cluster, known=last, revision=None, time=None, label="end")
    version = version_of(behaviours)
    start = start_of(store, end, behaviours)
    if start is None:
        # Later events made them invalid, and new ones may be stored at other revisions.
        store.drop_checkpoints(branch=branch, cluster=cluster, version=version)
        start = BeliefStart(Projector(behaviours), NO_REVISION, [])
    objects = store.info().objects
    place = Checkpoint(
        branch=branch, cluster=cluster, revision=NO_REVISION, known=0, version=version, data=b""
    )
    extent = store.extent(known=last, cluster=cluster, branch=branch)
    until = extent.last_revision if until is None else until
    if until is not None and until > start.revision:
        stop = msgspec.structs.replace(end, revision=until)
        _play_on(store, stop, start, place, progress)
    # It is at no revision: it says up to which event later ones were looked at.
    _put(store, place, NO_REVISION, last, _ENCODE(_Checked(objects)))


def build_all(
    store: LogStore,
    several: Iterable[Behaviours],
    *,
    branch: str,
    cluster: str,
    progress: Progress | None = None,
) -> None:
    """Store the caches of several releases; releases with the same cache behaviour share them.

    :param progress: called with (position reached, last position) for each, from time to time.
    """
    for behaviours in {believed(release): release for release in several}.values():
        build_beliefs(store, behaviours, branch=branch, cluster=cluster, progress=progress)


def what_of(version: int) -> str:
    """Return the content of checkpoints of a version: ``truth``, ``belief`` or ``objects``."""
    if version >= FIRST_VERSION:
        return "belief"
    return "objects" if version >= _OBJECTS_VERSION else "truth"


def _play_on(
    store: LogStore, end: Moment, start: BeliefStart, place: Checkpoint, progress: Progress | None
) -> None:
    """Apply all events up to a revision; store the projector now and then, and at the end."""
    clock = clock_of_moment(store, end)
    steps = steering(store, end, clock)
    projector, history = start.projector, start.drift()
    events = OrderedEvents(store, end, start.revision)
    known = 0 if start.revision <= NO_REVISION else _known_at(store, end, start.revision, place)
    passed, is_stored = 0, False
    for until, ordered in events.stretches():
        assert until is not None, "the end has a revision, so each stretch has one"
        for step in ordered:
            projector.apply(step.event, position=step.position, lives_on=events.lives_on)
            history.after(step.event, step.position)
            known = max(known, step.position)
            passed += 1
        if not _worth_storing(projector, passed, last=until == end.revision):
            continue
        passed = 0
        mark, steered = _placing(clock, steps, until)
        stored = _Kept(mark, steered, encode_belief(projector), _drift(history))
        _put(store, place, until, known, _ENCODE(stored))
        is_stored = True
        if progress is not None:
            progress(min(known, end.known), end.known)
    if is_stored:
        _put_objects(store, end, projector, place, known)


def _put_objects(
    store: LogStore, end: Moment, projector: Projector, place: Checkpoint, known: int
) -> None:
    """Store the objects that a projector has at a revision, instead of those of an earlier one."""
    revision, version = end.revision, _version_of_objects()
    assert revision is not None, "a stored belief has a revision"
    before = _stored_objects(store, end)
    if before is None or before.revision <= revision:
        store.drop_checkpoints(branch=place.branch, cluster=place.cluster, version=version)
        beside = msgspec.structs.replace(place, version=version)
        _put(store, beside, revision, known, encode_objects(projector))


def _worth_storing(projector: Projector, passed: int, *, last: bool) -> bool:
    """Return whether to store a belief that is so many events after the last stored one."""
    return passed * OBJECTS_PER_EVENT >= projector.size or (last and passed >= LAST_AFTER)


def _known_at(store: LogStore, end: Moment, revision: int, place: Checkpoint) -> int:
    window = FoldWindow(branch=end.branch, cluster=end.cluster, known=end.known, until=revision)
    checkpoint = store.nearest_checkpoint(window, place.version)
    assert checkpoint is not None, "the block was just read"
    return checkpoint.known


def _drift(history: DriftHistory) -> Differing:
    return [
        (kind, name, [(*difference, since) for difference, since in parted])
        for (kind, name), parted in history.found()
    ]


def _put(store: LogStore, place: Checkpoint, revision: int, known: int, body: bytes) -> None:
    put = msgspec.structs.replace(place, revision=revision, known=known)
    store.put_checkpoint(msgspec.structs.replace(put, data=_hash(put, body) + body))
