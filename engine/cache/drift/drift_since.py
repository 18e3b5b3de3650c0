"""Since when the cache differs: what an event may affect is compared after each event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...events import KINDS, Effect, Event, Reference
from ...kubernetes.objects import Pod
from ..job_cache import job_of
from ..projector import WATCHED, Projector, key_of
from .drift import DEFAULT, CacheComparison, CacheMismatch, Place, PodIndex, Unit
from .settled import Settled

_OF_A_NODE = frozenset({"Node", "CSINode"})


class DriftHistory:
    """Follows a projector; the truth is what was delivered to its informers.

    An event may affect its object; for a pod, also its job and nodes, and units in which the pod
    differs. After a list, the objects that it removed are compared; after a crash or a restart of
    the process, everything.
    """

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self._cache = projector.cache
        self._ignored = self._cache.node_cache.ignored
        self._pods = PodIndex(uncounted=self._cache.node_cache.uncounted)
        self._settled = Settled(self._cache)
        self._found: dict[Unit, dict[Place, tuple[CacheMismatch, int]]] = {}
        self._differing: dict[str, dict[Unit, None]] = {}

    def differences(self) -> list[tuple[CacheMismatch, int]]:
        """Return what differs now, with the positions since when, in order."""
        entries = [entry for places in self._found.values() for entry in places.values()]
        return sorted(entries, key=lambda entry: entry[0].place)

    def found(self) -> list[tuple[Unit, list[tuple[CacheMismatch, int]]]]:
        """Return what differs now by unit, with the positions since when."""
        return [(unit, list(places.values())) for unit, places in self._found.items()]

    def go_on(self, found: Mapping[Unit, Sequence[tuple[CacheMismatch, int]]]) -> None:
        """Continue from what another history of the same cache found (:meth:`found`)."""
        self._found = {
            unit: {mismatch.place: (mismatch, since) for mismatch, since in parted}
            for unit, parted in found.items()
        }
        for unit, places in self._found.items():
            self._note_pods(unit, (), places)
        # This history has followed no pods yet: those that the cache has already are counted now.
        self._reset()

    def after(self, event: Event, position: int) -> None:
        """Compare the units that an event may have changed."""
        reference, projector = event.reference, self._projector
        if (
            projector.cache is not self._cache
            or projector.cache.node_cache.ignored != self._ignored
        ):
            # A new process has a new cache. Once the list of ignored devices has grown, each amount
            # is read without them. So more may differ than the units of the event.
            self._reset()
            units = [*self._found, *self._comparison().units()]
            self._compare(dict.fromkeys(units), position)
        elif KINDS[event.kind].effect is Effect.LISTED:
            units = [*self._found]
            # An object that a list lacked may be why something differed, so what differed is
            # compared as well.
            for gone in projector.taken_out:
                units += self._reached(gone)
            self._compare(dict.fromkeys(units), position)
        elif (reference.group, reference.kind) in WATCHED:
            before = now = None
            if reference.kind == "Pod":
                before, now, units = self._pod_changed(key_of(reference))
            else:
                units = self._reached(reference)
            stays, kind = self._settled.stays, reference.kind
            units = [unit for unit in units if not stays(unit, kind, before, now)]
            if units:
                self._compare(units, position)

    def _reset(self) -> None:
        """Read the current cache and pods; nothing counts as settled."""
        self._cache = self._projector.cache
        self._ignored = self._cache.node_cache.ignored
        self._pods = PodIndex(uncounted=self._cache.node_cache.uncounted)
        self._settled = Settled(self._cache)
        for pod in self._cache.stores.of("Pod").values():
            self._settled.put(pod, self._pods.put(pod))

    def _comparison(self) -> CacheComparison:
        return CacheComparison(self._cache, self._cache.stores, self._pods)

    def _compare(self, units: Iterable[Unit], position: int) -> None:
        assert self._projector.cache is self._cache, "units of the current process are compared"
        comparison = self._comparison()
        for unit in units:
            before = self._found.pop(unit, {})
            differing = {
                mismatch.place: (
                    mismatch,
                    before[mismatch.place][1] if mismatch.place in before else position,
                )
                for mismatch in comparison.of(unit)
            }
            if differing:
                self._found[unit] = differing
            if before.keys() != differing.keys():
                self._note_pods(unit, before, differing)
            self._settled.note(unit, differs=bool(differing))

    def _note_pods(self, unit: Unit, before: Iterable[Place], now: Iterable[Place]) -> None:
        """Note which pods differ in a unit: the cache may have them in another unit."""
        for place in before:
            self._differing.get(_pod_of(place), {}).pop(unit, None)
        for place in now:
            self._differing.setdefault(_pod_of(place), {})[unit] = None

    def _reached(self, reference: Reference) -> list[Unit]:
        if reference.kind == "Pod":
            return self._pod_changed(key_of(reference))[2]
        if reference.kind in _OF_A_NODE:
            return [("Node", reference.name)]
        if reference.kind == "PodGroup":
            return [("PodGroup", f"{reference.namespace}/{reference.name}")]
        if reference.kind == "PriorityClass":
            return [("PriorityClass", reference.name), ("PriorityClass", DEFAULT)]
        return [("Queue", reference.name)] if reference.kind == "Queue" else []

    def _pod_changed(self, key: str) -> tuple[Pod | None, Pod | None, list[Unit]]:
        """Update a pod; return its old and new state, and the units that it affects."""
        before, request = self._pods.remove(key)
        now = self._cache.stores.get("Pod", key)
        if before is not None and request is not None:
            self._settled.remove(before, request)
        if now is not None:
            self._settled.put(now, self._pods.put(now))
        units = dict(self._differing.get(key, {}))
        for pod in (before, now):
            if pod is not None:
                units["PodGroup", job_of(pod)] = units["Node", pod.spec.node_name] = None
        units.pop(("PodGroup", ""), None)
        units.pop(("Node", ""), None)
        return before, now, list(units)


def _pod_of(place: Place) -> str:
    """Return the pod of a difference; empty if it has none."""
    kind, name, field = place
    if kind == "Node" and field.startswith("pods["):
        return field.removeprefix("pods[").removesuffix("]")
    return name if kind == "Pod" else ""
