"""The path of a pod at a moment: one session that follows it, and what it compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Recorded
from ...engine.volcano.session.history import resolve
from ..answers.answering_session import POD, Run, pending, run_of
from ..answers.assumed_confs import marked
from ..answers.evidence import versions_of
from ..answers.finding import SessionFinding
from ..answers.job_reasons import panics
from ..answers.kubernetes_events import KubernetesEvents
from ..answers.other_schedulers import OTHER_SCHEDULER
from ..answers.records import Asked
from ..answers.target import Target, target_of
from ..answers.tasks import job_spec
from ..answers.why import closely, present_finding
from ..belief.belief import belief_at
from ..coverage.coverage import SCHEDULING, NotListed, unknown_at
from ..logs.log import Log
from ..logs.logged_confs import ConfText, has_no_conf, runs_built_in
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName, plain_name
from ..sessions.session_answer import scene_at
from .nodes_by_filter import ALL, NodesShown, nodes_by_filter
from .path_checks import job_checks, not_reached, pod_check, podgroup_of, session_check
from .path_evictions import eviction_checks
from .path_records import Check, NodesByFilter, PathCheck, PodPath

_ITSELF = frozenset(
    {
        *("ended", "deleting", "runs", "bound", "to-be-evicted", "gated", OTHER_SCHEDULER),
        *("undecodable", "unread"),
    }
)
"""The causes that are about the pod itself: a session compares nothing for it."""


class PathTask(msgspec.Struct, frozen=True, kw_only=True):
    """What to look at.

    :param namespace: by default that of the name, else ``default``.
    :param conf: a configuration instead of the log's. :param assumed: what the caller assumed, as
        sentences. :param nodes: ``all``, or names with commas between them: these nodes have their
        own rows; empty: equal ones are one row.
    """

    named: ObjectName
    moment: Moment
    release: str
    namespace: str | None = None
    conf: ConfText | None = None
    assumed: tuple[str, ...] = ()
    nodes: str = ""


def path_at(log: Log, task: PathTask) -> PodPath:
    """Return the path of a pod through the session of a moment.

    :raises UsageError: it is no pod, or a node is named that does not exist.
    :raises ObjectNotFound: there is no such pod at that moment.
    """
    moment, behaviours = task.moment, resolve(task.release)
    scene = scene_at(log, moment, task.conf)
    cache = belief_at(log.store, moment, behaviours, recent=log.recent_beliefs)
    if (task.named.group, task.named.kind) != POD:
        raise _no_pod(log, task)
    target = target_of(log, task.named, task.named.place(task.namespace) or "default", moment)
    names = closely(cache, target)
    run = run_of(
        scene,
        behaviours,
        cache,
        names,
        NotListed(log, moment),
        fully={target.podgroup} - {""},
        paths={target.key, target.podgroup} - {""},
        job_specs=partial(job_spec, log, moment),
    )
    shown = _shown(run, task.nodes)
    unknown = tuple(unknown_at(log, moment, SCHEDULING))
    finding = present_finding(run, target, KubernetesEvents(log, moment), unknown)
    built_in = task.conf is None and has_no_conf(log, moment)
    assumed = (*task.assumed, *([runs_built_in(task.release)] if built_in else []))
    checks, nodes = _checks(run, target, finding, shown)
    return PodPath(
        asked=Asked(
            kind=plain_name(*target.pair),
            name=target.key,
            at=moment.label,
            revision=moment.revision,
            release=behaviours.release,
            conf=run.answer.conf,
            assumed=assumed,
        ),
        sentence=marked(run, finding, built_in=built_in, assumed=assumed),
        waits=finding.waits,
        cause=finding.full_cause,
        checks=tuple(checks),
        nodes=nodes,
        before="" if finding.waits else _before(log, moment, target),
        not_known=unknown,
    )


def _checks(
    run: Run, target: Target, finding: SessionFinding, shown: NodesShown
) -> tuple[list[PathCheck], NodesByFilter | None]:
    """Return the checks of a pod, and the nodes that were compared for it."""
    key = target.key
    checks = [session_check(run)]
    if run.pod(key) is None:
        text = finding.sentence
        checks.append(PathCheck(check=Check.POD, state="failed", text=text))
        return [*checks, *not_reached(Check.POD)], None
    group = podgroup_of(run, key)
    ends = finding.cause in _ITSELF
    checks.append(pod_check(run, key, finding, ends=ends))
    if ends:
        return [*checks, *not_reached(Check.POD)], None
    if not group:
        checks.append(PathCheck(check=Check.PODGROUP, state="failed", text=finding.sentence))
        return [*checks, *not_reached(Check.PODGROUP)], None
    checks += job_checks(run, key, group)
    # A path that ends at the PodGroup or its queue has these already, as not reached.
    if checks[-1].check != Check.EVICTION and panics(run) is None:
        checks += eviction_checks(run, key, group)
    return checks, nodes_by_filter(run, key, shown)


def _shown(run: Run, text: str) -> NodesShown:
    """Return which nodes have their own rows.

    :raises UsageError: a node is named that does not exist.
    """
    if text == ALL:
        return NodesShown(each=True)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in run.cache.nodes:
            known = ", ".join(sorted(run.cache.nodes)[:5])
            raise UsageError(
                f"--nodes: there is no node {name} at this moment",
                now=f"name some of the nodes, such as {known}, or all" if known else "omit it",
            )
    return NodesShown(names)


def _no_pod(log: Log, task: PathTask) -> UsageError:
    """Return the error about an object that is no pod, with pods that can be asked about."""
    pods: Sequence[str] = ()
    kind = task.named.kind
    if kind in {"Job", "PodGroup"}:
        place = task.named.place(task.namespace) or "default"
        target = target_of(log, task.named, place, task.moment)
        cache = belief_at(log.store, task.moment, resolve(task.release), recent=log.recent_beliefs)
        pods = pending(cache, target.podgroup)
    return UsageError(
        f"path answers about one pod, and not about a {kind}",
        now=f"ask about one of its pods: pod/{pods[0]}" if pods else "name a pod: pod/NAME",
    )


def _before(log: Log, moment: Moment, target: Target) -> str:
    """Return the moment before a pod got its node; empty if the log does not have it."""
    versions = versions_of(log, moment, (POD, target.key))
    own = [version for version in versions if version.event.reference.uid == target.uid]
    placed = next((version.position for version in own if _has_node(version)), 0)
    entry = log.truth(moment).find(*POD, *target.key.split("/", 1))
    bound = 0 if entry is None else entry.bound_position or 0
    # A binding and the version that shows it may be recorded in either order.
    first = min((position for position in (placed, bound) if position), default=0)
    return f"@{first - 1}" if first and own[0].position < first else ""


def _has_node(version: Recorded) -> bool:
    """Return whether a version of a pod has a node."""
    document = msgspec.json.decode(version.event.payload) if version.event.payload else {}
    spec = document.get("spec") if isinstance(document, dict) else None
    return isinstance(spec, dict) and bool(spec.get("nodeName"))
