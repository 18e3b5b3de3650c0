"""The session that an answer rests on, and what it says about single objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.cache.job_cache import job_of
from ...engine.kubernetes.objects import Pod, PodGroup
from ...engine.model.job import JobInfo
from ...engine.model.node import NodeInfo
from ...engine.model.resource import Resource
from ...engine.model.task_status import TaskStatus
from ...engine.session.framework.trace import StepOutcome, Trace, TraceStep
from ...engine.state.log_coverage import Pair
from ...engine.volcano.conf import SchedulerConf
from ...engine.volcano.session.behaviours import Behaviours
from ..coverage.coverage import NotListed
from ..moments.moment import Moment
from ..sessions.session_answer import SessionAnswer, SessionInputs, conf_of, session_in
from .finding import Blocked

NODE: Pair = ("", "Node")
POD: Pair = ("", "Pod")
QUEUE: Pair = ("scheduling.volcano.sh", "Queue")
PODGROUP: Pair = ("scheduling.volcano.sh", "PodGroup")
CLAIM: Pair = ("", "PersistentVolumeClaim")
VOLUME: Pair = ("", "PersistentVolume")
STORAGE_CLASS: Pair = ("storage.k8s.io", "StorageClass")
CSI_NODE: Pair = ("storage.k8s.io", "CSINode")
NUMA: Pair = ("nodeinfo.volcano.sh", "Numatopology")
PRIORITY_CLASS: Pair = ("scheduling.k8s.io", "PriorityClass")
JOB: Pair = ("batch.volcano.sh", "Job")

CLOSELY = 32
"""How many pending pods of a job are followed closely."""

PLACING = ("allocate", "backfill")
_TAKING = frozenset({"allocate", "pipeline"})

Kind = TypeVar("Kind")

SpecOf = Callable[[str], Mapping[str, Any]]
"""Returns the spec of a job of Volcano, ``ns/name``; empty if the log does not have it."""


class Run(msgspec.Struct, frozen=True, dict=True):
    """One traced session at a moment, and its inputs.

    :param cache: the scheduler's cache before the session, which does not change it.
    :param binds, pipelined: the nodes that it gives to pods, and those that it keeps for them.
    :param unlisted: the kinds of which the log holds no list at the moment; None if none counts.
    :param scene, behaviours: with which the next sessions can be run; None at moments before that
        of the question.
    :param job_specs: of the jobs of Volcano at the moment; None if nothing reads them.
    """

    moment: Moment
    cache: SchedulerCache
    answer: SessionAnswer
    trace: Trace
    conf: SchedulerConf
    binds: Mapping[str, str]
    pipelined: Mapping[str, str]
    unlisted: NotListed | None = None
    scene: SessionInputs | None = None
    behaviours: Behaviours | None = None
    job_specs: SpecOf | None = None

    @cached_property
    def not_ready(self) -> dict[str, str]:
        """Return the nodes that sessions do not see, with the reason."""
        return {
            name: info.reason
            for name, info in sorted(self.cache.nodes.items())
            if info.reason and info.node is not None
        }

    @cached_property
    def closed(self) -> Mapping[str, NodeInfo]:
        """Return the nodes that are cordoned or have taints."""
        return {
            name: info
            for name, info in self.cache.nodes.items()
            if info.node is not None and (info.node.spec.unschedulable or info.taints)
        }

    @cached_property
    def unseen(self) -> Mapping[str, Sequence[Pod]]:
        """Return by PodGroup the pods that name it and another scheduler, so sessions see none.

        Source: pkg/scheduler/cache/util.go responsibleForPod.
        """
        by_group: dict[str, list[Pod]] = {}
        for pod in self.pods():
            if not self.cache.job_cache.handles(pod):
                by_group.setdefault(job_of(pod), []).append(pod)
        return {group: sorted(pods, key=lambda pod: pod.key) for group, pods in by_group.items()}

    @cached_property
    def largest(self) -> Resource:
        """Return the most of each resource that a node which sessions see has when it is empty."""
        largest = Resource()
        for info in self.cache.nodes.values():
            if not info.reason:
                largest.set_max_resource(info.allocatable)
        return largest

    @cached_property
    def refusals(self) -> dict[tuple[str, str, str], Blocked | None]:
        """Return why pods have no place, as far as it was asked: several sentences ask of one."""
        return {}

    @cached_property
    def last_checks(self) -> Mapping[str, int]:
        """Return by pod the number of the last step that compares it with nodes to place it."""
        return {
            step.about[0]: number
            for number, step in enumerate(self.trace.steps)
            if step.what == "predicate" and len(step.about) == 1 and step.by in PLACING
        }

    @cached_property
    def takings(self) -> Mapping[str, Sequence[tuple[int, str]]]:
        """Return by node the pods that the session gave it, each with the number of its step."""
        by_node: dict[str, list[tuple[int, str]]] = {}
        for number, step in enumerate(self.trace.steps):
            if step.what in _TAKING:
                by_node.setdefault(step.named, []).extend((number, pod) for pod in step.about)
        return by_node

    @cached_property
    def placings(self) -> Sequence[TraceStep]:
        """Return the steps that place pods, and those that take back what was placed."""
        return [
            step
            for step in self.trace.steps
            if step.action in PLACING
            and (step.what in _TAKING or step.outcome is StepOutcome.TAKEN_BACK)
        ]

    @cached_property
    def last_placing(self) -> Mapping[tuple[str, tuple[str, ...]], TraceStep]:
        """Return the last step of an action that places, by what was done and about what."""
        return {
            (step.what, step.about): step for step in self.trace.steps if step.action in PLACING
        }

    @cached_property
    def _steps_about(self) -> Mapping[str, Sequence[TraceStep]]:
        by_name: dict[str, list[TraceStep]] = {}
        for step in self.trace.steps:
            for name in dict.fromkeys(step.about):
                by_name.setdefault(name, []).append(step)
        return by_name

    @cached_property
    def _details_about(self) -> Mapping[tuple[str, str], Sequence[tuple[str, object]]]:
        by_name: dict[tuple[str, str], list[tuple[str, object]]] = {}
        for (action, what, name), seen in self.trace.details.items():
            by_name.setdefault((what, name), []).append((action, seen))
        return by_name

    @cached_property
    def _pods_at(self) -> Mapping[str, Sequence[int]]:
        """Return by node and by PodGroup the places of their pods in the list of all."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, pod in enumerate(self._pods):
            places[pod.spec.node_name].append(place)
            places[job_of(pod)].append(place)
        places.pop("", None)  # Of pods without a node, or without a PodGroup.
        return places

    @cached_property
    def _job_specs(self) -> dict[str, Mapping[str, Any]]:
        """Return the specs of jobs that were read: several sentences ask of one."""
        return {}

    @cached_property
    def _pods(self) -> Sequence[Pod]:
        return [pod for pod in self.cache.stores.of("Pod").values() if isinstance(pod, Pod)]

    @property
    def has_nodes(self) -> bool:
        """Return whether sessions see any node."""
        return any(not info.reason for info in self.cache.nodes.values())

    def steps(self, about: str, what: str = "") -> Iterator[TraceStep]:
        """Yield the steps about an object, of one sort if ``what`` is given."""
        for step in self._steps_about.get(about, ()):
            if what in {"", step.what}:
                yield step

    def detail(self, sort: type[Kind], what: str, about: str, action: str = "") -> Kind | None:
        """Return the last details of a sort about an object, of any action unless one is named."""
        # Keys stay in the order of the actions; what the session did not ask (`FURTHER`) is last.
        last = None
        for doing, seen in self._details_about.get((what, about), ()):
            if action in {"", doing} and isinstance(seen, sort):
                last = seen
        return last

    def job(self, key: str) -> JobInfo | None:
        """Return a job of the cache."""
        return self.cache.jobs.get(key)

    def pod(self, key: str) -> Pod | None:
        """Return a pod as the API server held it."""
        pod = self.cache.stores.get("Pod", key)
        return pod if isinstance(pod, Pod) else None

    def pods(self) -> Sequence[Pod]:
        """Return all pods as the API server held them."""
        return self._pods

    def pods_of(self, names: Collection[str]) -> list[Pod]:
        """Return the pods that are on some nodes, or name some PodGroups, in the order of all."""
        places = {place for name in names for place in self._pods_at.get(name, ())}
        return [self._pods[place] for place in sorted(places)]

    def group(self, key: str) -> PodGroup | None:
        """Return a PodGroup as the API server held it."""
        pod_group = self.cache.stores.get("PodGroup", key)
        return pod_group if isinstance(pod_group, PodGroup) else None

    def waiting_pods(self, key: str) -> list[str]:
        """Return the pending pods of a job in the cache, by name."""
        return pending(self.cache, key)

    def never_listed(self, pair: Pair) -> bool:
        """Return whether the log has no complete list of a kind, and no object of it either."""
        return not self.cache.stores.of(pair[1]) and self.not_listed(pair)

    def not_listed(self, pair: Pair) -> bool:
        """Return whether the log has no complete list of a kind."""
        return self.unlisted is not None and self.unlisted(pair)

    def job_spec(self, key: str) -> Mapping[str, Any]:
        """Return the spec of the job of Volcano that a PodGroup belongs to; empty if unknown."""
        group = self.group(key)
        owner = None if group is None else group.metadata.controller
        if group is None or owner is None or not owner.api_version.startswith(JOB[0]):
            return {}
        name, specs = f"{group.namespace}/{owner.name}", self._job_specs
        if name not in specs:
            specs[name] = {} if self.job_specs is None else self.job_specs(name)
        return specs[name]

    def title(self, key: str) -> str:
        """Return what people call a PodGroup: the job that it belongs to, or itself."""
        # A PodGroup that the API server has deleted may still be in the scheduler's cache.
        return title_of(key, self.group(key) or _believed(self.cache, key))


def _believed(cache: SchedulerCache, key: str) -> PodGroup | None:
    job = cache.jobs.get(key)
    return None if job is None else job.pod_group


def title_of(key: str, group: PodGroup | None) -> str:
    """Return ``job ns/name`` for the PodGroup of a job of Volcano, else ``podgroup ns/name``."""
    return " ".join(named_as(key, group))


def named_as(key: str, group: PodGroup | None) -> tuple[str, str]:
    """Return the kind and the name by which users know a PodGroup: its job's, if it has one."""
    owner = None if group is None else group.metadata.controller
    if owner is not None and owner.kind == "Job" and owner.api_version.startswith(JOB[0]):
        return "job", f"{key.partition('/')[0]}/{owner.name}"
    return "podgroup", key


def run_of(
    scene: SessionInputs,
    behaviours: Behaviours,
    cache: SchedulerCache,
    closely: Collection[str],
    unlisted: NotListed | None = None,
    *,
    fully: Collection[str] = (),
    paths: Collection[str] = (),
    goes_on: bool = True,
    job_specs: SpecOf | None = None,
) -> Run:
    """Run the session at a moment, with a trace that follows some objects closely.

    :param fully: PodGroups of which also that is kept what the session did not ask.
    :param paths: pods and PodGroups of which also that is kept what permits them.
    :param goes_on: an answer may run the next sessions. :param job_specs: as of :class:`Run`.
    """
    # The steps have the best scores in any case; `scores` would keep those of every node.
    trace = Trace(scores=False, closely=closely, fully=fully, paths=paths)
    answer = session_in(scene, behaviours, cache, into=trace)
    conf = conf_of(scene.confs, behaviours).conf
    binds, pipelined = dict(answer.result.binds), dict(answer.result.pipelined)
    return Run(
        moment=scene.moment,
        cache=cache,
        answer=answer,
        trace=trace,
        conf=conf,
        binds=binds,
        pipelined=pipelined,
        unlisted=unlisted,
        scene=scene if goes_on else None,
        behaviours=behaviours if goes_on else None,
        job_specs=job_specs,
    )


def pending(cache: SchedulerCache, key: str) -> list[str]:
    """Return the pending pods of a job in a cache, by name."""
    job = cache.jobs.get(key)
    tasks = {} if job is None else job.index.get(TaskStatus.PENDING, {})
    return sorted(task.key for task in tasks.values())


def closely_of_job(cache: SchedulerCache, key: str, *pods: str, most: int = CLOSELY) -> set[str]:
    """Return the names to follow for a job: its PodGroup, its queue, and some pending pods.

    :param pods: these in any case. :param most: how many others.
    """
    job = cache.jobs.get(key)
    if job is None:
        return {key, *pods}
    return {key, job.queue, *pending(cache, key)[:most], *pods}
