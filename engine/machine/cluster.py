"""The machine of a cluster that runs Volcano: which components there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..cache.driver import LISTING_ORDER
from ..controllers.component import Component
from ..controllers.deployments import DeploymentController
from ..controllers.kubelet import Kubelets
from ..controllers.podgroup import PodGroupController
from ..controllers.replicasets import ReplicaSetController
from ..controllers.statefulsets import StatefulSetController
from ..kubernetes.object_table import ObjectTable
from .layout import Part
from .machine import Machine
from .scheduler import SchedulerComponent, Settings
from .user import Act, User

if TYPE_CHECKING:
    from ..volcano.conf import SchedulerConf
    from ..volcano.controllers.behaviours import ControllerBehaviours
    from ..volcano.session.behaviours import Behaviours

MADE_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Deployment": ("ReplicaSet",),
        "ReplicaSet": ("Pod",),
        "StatefulSet": ("Pod",),
        "Pod": ("PodGroup",),
    }
)
"""The kinds that controllers make of a kind."""


class ClusterSettings(NamedTuple):
    """What a cluster is made with.

    :param script: the writes of a user. :param now: the present of all sessions, in microseconds
        since 1970.
    """

    behaviours: Behaviours
    controllers: ControllerBehaviours
    conf: SchedulerConf
    script: Sequence[Act]
    now: int


def cluster(settings: ClusterSettings) -> Machine:
    """Return the machine of a cluster, with the components that the user's objects need."""
    objects = ObjectTable()
    return Machine(parts_of(settings, objects), objects)


def parts_of(settings: ClusterSettings, objects: ObjectTable) -> dict[str, Part]:
    """Return the components of a cluster by name."""
    kinds = kinds_in(act.document["kind"] for act in settings.script)
    watched = tuple(kind for kind in LISTING_ORDER if kind in kinds)
    scheduler = Settings(settings.behaviours, settings.conf, objects, watched, settings.now)
    makers: dict[str, Callable[[], Component]] = {"user": lambda: User(settings.script)}
    if "Deployment" in kinds:
        makers["deployments"] = lambda: DeploymentController(objects)
    if "ReplicaSet" in kinds:
        makers["replicasets"] = lambda: ReplicaSetController(objects)
    if "StatefulSet" in kinds:
        makers["statefulsets"] = lambda: StatefulSetController(objects)
    makers["podgroups"] = lambda: PodGroupController(settings.controllers, objects)
    makers["kubelets"] = lambda: Kubelets(objects)
    makers["scheduler"] = lambda: SchedulerComponent(scheduler)
    return {name: _part(make, kinds) for name, make in makers.items()}


def kinds_in(given: Iterable[str]) -> frozenset[str]:
    """Return the kinds that a cluster comes to have: those given, and what is made of them."""
    found: set[str] = set()
    left = [*given, "Queue"]
    while left:
        kind = left.pop()
        if kind not in found:
            found.add(kind)
            left += MADE_OF.get(kind, ())
    return frozenset(found)


def _part(make: Callable[[], Component], kinds: frozenset[str]) -> Part:
    return Part(tuple(kind for kind in make().kinds if kind in kinds), make)
