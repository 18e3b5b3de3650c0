"""What the job controller holds between steps, but for its queue of requests."""

from __future__ import annotations

from ...kubernetes.api_server import MODIFIED, Document
from ...kubernetes.object_table import ObjectTable
from ...kubernetes.work_queue import WorkQueue
from ...volcano.controllers.behaviours import ControllerBehaviours
from ..lister import Lister
from .controller_job_cache import LONGEST_DELAY_US, ControllerJobCache, ControllerJobInfo, key_of

KINDS = ("Job", "Pod", "PodGroup", "Queue", "PriorityClass", "Command")
"""The kinds that informers of the controller watch."""


class ControllerListers:
    """Listers, the controller's cache, and pods to be looked up.

    :ivar own: the behaviours of the release. :ivar listers: by kind.
    :ivar lookups: numbers of pods that could not be deleted, in the version that was known.
    """

    def __init__(self, own: ControllerBehaviours, objects: ObjectTable) -> None:
        self.own = own
        self.objects = objects
        self.listers = {kind: Lister(objects) for kind in KINDS}
        self.cache = ControllerJobCache(own, objects)
        self.lookups = WorkQueue[int](longest=LONGEST_DELAY_US)
        self.computed_groups: set[str] = set()
        """PodGroups whose minResources in the lister were computed here, not read as JSON.

        Releases that compare quantities with their texts find only these to be as they should be.
        """

    def deliver(self, verb: str, kind: str, key: str, document: Document) -> None:
        """Let an informer deliver a change to its lister."""
        self.listers[kind].deliver(verb, key, document)
        if kind == "PodGroup":
            self.computed_groups.discard(key)

    def find(self, kind: str, key: str) -> Document | None:
        """Return an object that a lister has, or None."""
        return self.listers[kind].get(key)

    def look_up(self, pod: Document) -> None:
        """Let a worker look a pod up later, the later the more often this was asked for."""
        self.lookups.add_rate_limited(self.objects.number(pod))

    def spoil_job(self, info: ControllerJobInfo, changed: Document) -> None:
        """Write to the job that a worker has in hand, and so to what the cache and informers have.

        A worker's copy of an entry has the same job in it as the cache, and the cache mostly that
        of the informer.
        """
        old = info.job
        assert old is not None
        info.job = changed
        self.cache.spoil(old, changed)
        self.spoil(old, changed)

    def spoil(self, old: Document, changed: Document) -> None:
        """Put a document in place of the one that a lister has, if it is that one."""
        lister, key = self.listers[old["kind"]], key_of(old)
        if lister.get(key) is old:
            lister.deliver(MODIFIED, key, changed)
