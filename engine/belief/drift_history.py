"""Since when belief and truth part: compared after every event, as far as that event can reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..events import KINDS, Effect, Event, Reference
from .drift import DEFAULT, Comparison, Difference, Place, PodIndex, Unit
from .job_cache import job_of
from .projector import WATCHED, Projector

_OF_A_NODE = frozenset({"Node", "CSINode"})


class DriftHistory:
    """Goes along with a projector; truth is what was delivered to its informers.

    An event reaches the object that it names, and the job and nodes of a pod. After a list, a crash
    or a new start of the process everything is compared.
    """

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self._cache = projector.cache
        self._pods = PodIndex()
        self._found: dict[Unit, dict[Place, tuple[Difference, int]]] = {}

    def differences(self) -> list[tuple[Difference, int]]:
        """Return what differs now and the positions since which it does, in order of place."""
        found = [entry for places in self._found.values() for entry in places.values()]
        return sorted(found, key=lambda entry: entry[0].place)

    def found(self) -> list[tuple[Unit, list[tuple[Difference, int]]]]:
        """Return what differs now by unit, with the positions since which it does."""
        return [(unit, list(places.values())) for unit, places in self._found.items()]

    def go_on(self, found: Mapping[Unit, Sequence[tuple[Difference, int]]]) -> None:
        """Go on from what another history had found of the same cache (:meth:`found`)."""
        self._found = {
            unit: {one.place: (one, since) for one, since in parted}
            for unit, parted in found.items()
        }
        self._pods = PodIndex(self._cache.stores.of("Pod").values())

    def after(self, event: Event, position: int) -> None:
        """Compare what an event can have set apart or brought together."""
        reference = event.reference
        listed = KINDS[event.kind].effect is Effect.LISTED
        if self._projector.cache is not self._cache or listed:
            self._cache = self._projector.cache
            self._pods = PodIndex(self._cache.stores.of("Pod").values())
            comparison = Comparison(self._cache, self._cache.stores, self._pods)
            self._compare(comparison, [*self._found, *comparison.units()], position)
        elif (reference.group, reference.kind) in WATCHED:
            units = self._reached(reference)
            comparison = Comparison(self._cache, self._cache.stores, self._pods)
            self._compare(comparison, units, position)

    def _compare(self, comparison: Comparison, units: list[Unit], position: int) -> None:
        for unit in units:
            before = self._found.pop(unit, {})
            found = {
                one.place: (one, before[one.place][1] if one.place in before else position)
                for one in comparison.of(unit)
            }
            if found:
                self._found[unit] = found

    def _reached(self, reference: Reference) -> list[Unit]:
        if reference.kind == "Pod":
            return self._reached_by_pod(f"{reference.namespace}/{reference.name}")
        if reference.kind in _OF_A_NODE:
            return [("Node", reference.name)]
        if reference.kind == "PodGroup":
            return [("PodGroup", f"{reference.namespace}/{reference.name}")]
        if reference.kind == "PriorityClass":
            return [("PriorityClass", reference.name), ("PriorityClass", DEFAULT)]
        return [("Queue", reference.name)] if reference.kind == "Queue" else []

    def _reached_by_pod(self, key: str) -> list[Unit]:
        pods = (self._pods.get(key), self._cache.stores.get("Pod", key))
        before, now = pods
        self._pods.remove(key)
        if now is not None:
            self._pods.put(now)
        units: dict[Unit, None] = {}
        for pod in (before, now):
            if pod is not None:
                units["PodGroup", job_of(pod)] = units["Node", pod.spec.node_name] = None
        units.pop(("PodGroup", ""), None)
        units.pop(("Node", ""), None)
        return list(units)
