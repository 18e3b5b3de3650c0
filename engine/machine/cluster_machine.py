"""The machine of a cluster that runs Volcano: which components there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..cache.driver import LISTING_ORDER
from ..controllers.component import Component
from ..controllers.deployments import DeploymentController
from ..controllers.garbage_collector import GarbageCollector
from ..controllers.job.controller import JobController
from ..controllers.jobflow_controller import JobFlowController
from ..controllers.jobtemplate import JobTemplateController
from ..controllers.kubelet import Kubelets
from ..controllers.owner_garbage_collector import OwnerGarbageCollector
from ..controllers.podgroup_controller import PodGroupController
from ..controllers.queue_controller import QueueController
from ..controllers.replicasets import ReplicaSetController
from ..controllers.statefulsets import StatefulSetController
from ..kubernetes.api_server import DELETED, ApiServer, Document
from ..kubernetes.object_table import ObjectTable
from . import seen
from .decoded import DecodedObjects
from .known_sessions import DecidedSession
from .machine import Machine, State
from .machine_faults import NO_FAULTS, FaultLimits, Faults
from .machine_layout import API, ComponentPart, MachineLayout, everything
from .natural import USER, Natural
from .other_scheduler import OtherScheduler, scheduler_of
from .processes import Processes
from .scheduler import SchedulerComponent, SchedulerSettings
from .user import UserAct, UserComponent

if TYPE_CHECKING:
    from ..volcano.conf import SchedulerConf
    from ..volcano.controllers.behaviours import ControllerBehaviours
    from ..volcano.session.behaviours import Behaviours

MADE_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Deployment": ("ReplicaSet",),
        "ReplicaSet": ("Pod",),
        "StatefulSet": ("Pod",),
        "JobFlow": ("JobTemplate", "Job"),
        "Job": ("Pod",),
        "Pod": ("PodGroup",),
    }
)
"""The kinds that controllers make of a kind, or read for it."""

_WITH_TEMPLATE = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
OWNERS_FIRST = (*MADE_OF, "JobTemplate", "PodGroup")
"""Kinds that own or are owned."""

OTHER_SCHEDULER = "other-scheduler"
"""The component that binds pods which do not wait for Volcano."""

COMPONENTS = frozenset(
    {
        *("deployments", "replicasets", "statefulsets", "jobs", "gc", "jobflows", "jobtemplates"),
        *("queues", "podgroups", "kubelets", "owners", OTHER_SCHEDULER, "scheduler"),
    }
)
"""All components that a machine can have, beside the user."""

WORKLOAD_CONTROLLERS = ("deployments", "replicasets", "statefulsets")
"""Components of Kubernetes that a search may take as prompt, to see more of Volcano's."""

KUBE_CONTROLLERS = "kube-controller-manager"
PROCESSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((*WORKLOAD_CONTROLLERS, "owners"), KUBE_CONTROLLERS),
        **dict.fromkeys(
            ("jobs", "gc", "jobflows", "jobtemplates", "queues", "podgroups"),
            "vc-controller-manager",
        ),
        "scheduler": "vc-scheduler",
        OTHER_SCHEDULER: "kube-scheduler",
    }
)
"""The process that each component belongs to; users and kubelets do not fail here."""

RESYNCING = (KUBE_CONTROLLERS,)
"""Processes whose informers deliver everything again from time to time: Volcano's never do.

Source: k8s.io/kubernetes/cmd/kube-controller-manager MinResyncPeriod; Volcano makes its informers
with a period of 0.
"""


class ClusterSettings(NamedTuple):
    """What a cluster is made with.

    :param script: the writes of a user.
    :param now: the present of all sessions, in microseconds since 1970.
    :param existing: objects that exist before any process starts, and that all of them know.
    :param faults: how often what may fail.
    """

    behaviours: Behaviours
    controllers: ControllerBehaviours
    conf: SchedulerConf
    script: Sequence[UserAct]
    now: int
    existing: Sequence[Document] = ()
    faults: FaultLimits = NO_FAULTS


class Cluster(NamedTuple):
    """A machine, and the state in which its user begins."""

    machine: Machine
    start: State


def cluster(settings: ClusterSettings) -> Cluster:
    """Return the machine of a cluster, with the components that the user's objects need.

    It is at rest: all informers have delivered what existed before.
    """
    objects = ObjectTable()
    limits = settings.faults

    def faults(layout: MachineLayout, processes: Processes) -> Faults:
        return Faults(limits, layout, processes, frozenset(PROCESSES.values()), RESYNCING)

    parts = parts_of(settings, objects)
    machine = Machine(parts, objects, faults if any(limits) else None)
    return Cluster(machine, _begun(machine, settings.existing))


def parts_of(settings: ClusterSettings, objects: ObjectTable) -> dict[str, ComponentPart]:
    """Return the components of a cluster by name."""
    given = [*settings.existing, *(act.document for act in settings.script)]
    kinds = kinds_in(document["kind"] for document in given)
    watched = tuple(kind for kind in LISTING_ORDER if kind in kinds)
    decoded = DecodedObjects(objects)
    scheduler = SchedulerSettings(
        settings.behaviours, settings.conf, decoded, watched, settings.now
    )
    own = settings.controllers
    parts = {USER: _part(lambda: UserComponent(settings.script), kinds)}
    parts |= _workloads(kinds, objects)
    if "Job" in kinds:
        parts["jobs"] = _part(lambda: JobController(own, objects), kinds)
    # Only a job with a time to live is ever collected.
    if any(seen.TIME_TO_LIVE in document.get("spec", {}) for document in given):
        make = lambda: GarbageCollector(own, objects)  # noqa: E731
        parts["gc"] = _part(make, kinds, seen.of_collector)
    if "JobFlow" in kinds:
        parts["jobflows"] = _part(lambda: JobFlowController(own, objects), kinds)
        parts["jobtemplates"] = _part(lambda: JobTemplateController(own, objects), kinds)
    if kinds & {"Command", "Job"}:
        parts["queues"] = _part(lambda: QueueController(own, objects), kinds)
    parts["podgroups"] = _part(lambda: PodGroupController(own, objects), kinds, seen.of_podgroups)
    parts["kubelets"] = _part(lambda: Kubelets(objects), kinds, seen.of_kubelets)
    # Without a deletion no object loses its owner, so this collector would have nothing to do.
    if "gc" in parts or "jobflows" in parts or _owner_is_deleted(settings.script):
        owners = tuple(kind for kind in OWNERS_FIRST if kind in kinds)
        make_owners = lambda: OwnerGarbageCollector(owners)  # noqa: E731
        parts["owners"] = _part(make_owners, kinds, seen.of_owners)
    volcano = scheduler.options.scheduler_names
    if any(scheduler_of({"spec": spec}) not in volcano for spec in _pods_to_bind(given)):
        make_other = lambda: OtherScheduler(volcano, objects)  # noqa: E731
        parts[OTHER_SCHEDULER] = _part(make_other, kinds)
    known: dict[bytes, DecidedSession] = {}
    make_scheduler = lambda: SchedulerComponent(scheduler, known)  # noqa: E731
    parts["scheduler"] = _part(make_scheduler, kinds, seen.of_scheduler)
    return {name: _in_process(name, part) for name, part in parts.items()}


def _pods_to_bind(given: Iterable[Document]) -> Iterator[Document]:
    """Yield the specs of pods without nodes, and of templates; Volcano itself runs its jobs."""
    for document in given:
        spec = document.get("spec") or {}
        if document["kind"] == "Pod" and not spec.get("nodeName"):
            yield spec
        elif document["kind"] in _WITH_TEMPLATE and spec.get("template"):
            yield spec["template"].get("spec") or {}


def _in_process(name: str, part: ComponentPart) -> ComponentPart:
    """Return a component as part of its process."""
    component = part.make()
    waits = component.waits_for_lists if isinstance(component, SchedulerComponent) else True
    tombstones = component.tombstones if isinstance(component, QueueController) else ()
    return part._replace(
        process=PROCESSES.get(name, ""), waits_for_lists=waits, tombstones=tombstones
    )


def _workloads(kinds: frozenset[str], objects: ObjectTable) -> dict[str, ComponentPart]:
    """Return the controllers of Kubernetes' workloads that a cluster needs."""
    parts = {}
    if "Deployment" in kinds:
        parts["deployments"] = _part(lambda: DeploymentController(objects), kinds)
    if "ReplicaSet" in kinds:
        make = lambda: ReplicaSetController(objects)  # noqa: E731
        parts["replicasets"] = _part(make, kinds, seen.of_workloads)
    if "StatefulSet" in kinds:
        parts["statefulsets"] = _part(
            lambda: StatefulSetController(objects), kinds, seen.of_statefulsets
        )
    return parts


def _owner_is_deleted(script: Sequence[UserAct]) -> bool:
    """Say whether a user deletes what may own something: else nothing is collected."""
    return any(act.verb == DELETED and act.document["kind"] in MADE_OF for act in script)


def kinds_in(given: Iterable[str]) -> frozenset[str]:
    """Return the kinds that a cluster comes to have: those given, and what is made of them."""
    known: set[str] = set()
    # A scheduler creates a default queue when it starts, whatever a user writes.
    left = [*given, "Queue"]
    while left:
        kind = left.pop()
        if kind not in known:
            known.add(kind)
            left += MADE_OF.get(kind, ())
    return frozenset(known)


def _part(
    make: Callable[[], Component],
    kinds: frozenset[str],
    sees: Callable[[str, Document], Document] = everything,
) -> ComponentPart:
    return ComponentPart(tuple(kind for kind in make().kinds if kind in kinds), make, sees)


def _begun(machine: Machine, existing: Sequence[Document]) -> State:
    """Return the state in which objects exist, and every component has seen them."""
    server = ApiServer()
    for document in existing:
        server.create(document)
    state = [*machine.start]
    state[API] = machine.transitions.server_with(server)
    # As if all processes had just started: what exists comes from their first lists.
    for part, name in enumerate(machine.layout.names):
        for kind, notices in machine.transitions.listed(part, state[API]).items():
            state[machine.layout.channels[name, kind]] = machine.channel(notices)
    natural = Natural(machine)
    begun: State = tuple(state)
    while (moved := natural.move(begun, user=False, wait=False)) is not None:
        begun = moved.state
    return begun
