"""Small worlds to check: objects and a configuration as people write them."""

from __future__ import annotations

from typing import Any

from plinian.engine.volcano.session.history import SUPPORTED, record
from plinian.replay.lint.findings import FilePlace, Finding, FindingSubject
from plinian.replay.lint.lint_inputs import Configuration, LintInputs
from plinian.replay.lint.lint_rules import RULES
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.objects import Manifest

Document = dict[str, Any]

FILE = "a.yaml"
RELEASES = tuple(record(release) for release in SUPPORTED if not release.ours)
TREE = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: capacity
    enableHierarchy: true
"""
FLAT = TREE.replace("    enableHierarchy: true\n", "")
PROPORTION = FLAT.replace("capacity", "proportion")


def queue(name: str, *, annotations: Document | None = None, **spec: Any) -> Document:
    """Return a queue; a status may be given as ``status``."""
    status = {"status": spec.pop("status")} if "status" in spec else {}
    metadata = {"name": name, **({"annotations": annotations} if annotations else {})}
    version = "scheduling.volcano.sh/v1beta1"
    return {"apiVersion": version, "kind": "Queue", "metadata": metadata, "spec": spec, **status}


def group(name: str, queue: str = "default", **spec: Any) -> Document:
    """Return a PodGroup of the namespace ``ml``."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"queue": queue, **spec},
    }


def task(name: str, replicas: int, cpu: str = "1", **rest: Any) -> Document:
    """Return a task of a job; ``pod`` adds to its pods' specification."""
    pod = rest.pop("pod", {})
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    template = {"spec": {"containers": containers, **pod}}
    return {"name": name, "replicas": replicas, "template": template, **rest}


def job(name: str, *tasks: Document, **spec: Any) -> Document:
    """Return a Job of the namespace ``ml``."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"tasks": list(tasks), **spec},
    }


def cron_job(name: str, schedule: str, *tasks: Document, **spec: Any) -> Document:
    """Return a CronJob of Volcano in the namespace ``ml``; more of its spec may be given."""
    made = job(name, *tasks)
    template = {"spec": made["spec"]}
    more = {"schedule": schedule, "jobTemplate": template, **spec}
    return {**made, "kind": "CronJob", "spec": more}


def pod(name: str, of: str = "", cpu: str = "1", *, budget: str = "", **spec: Any) -> Document:
    """Return a pod of the namespace ``ml``, perhaps of a PodGroup, perhaps with a budget."""
    metadata: Document = {"name": name, "namespace": "ml"}
    if of:
        metadata["annotations"] = {"scheduling.k8s.io/group-name": of}
    if budget:
        metadata["annotations"] = {"volcano.sh/jdb-min-available": budget}
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    spec = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def node(name: str, cpu: str = "8", **more: str) -> Document:
    """Return a node."""
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "110", **more}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": allocatable},
    }


def hypernode(name: str, tier: int, *members: Document) -> Document:
    """Return a HyperNode; members as :func:`member` makes them."""
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {"tier": tier, "members": list(members)},
    }


def member(name: str = "", kind: str = "Node", **selectors: Any) -> Document:
    """Return a member of a HyperNode by its name, or by other selectors."""
    by_name = {"exactMatch": {"name": name}} if name else {}
    return {"type": kind, "selector": {**by_name, **selectors}}


def flow(name: str, **waits: list[str]) -> Document:
    """Return a JobFlow of the namespace ``ml``: its flows, and for which others each waits."""
    flows = [{"name": one, "dependsOn": {"targets": targets}} for one, targets in waits.items()]
    return {
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"flows": flows, "jobRetainPolicy": "retain"},
    }


def template(name: str) -> Document:
    """Return a JobTemplate of the namespace ``ml``."""
    made = job(name, task("w", 1))
    return {**made, "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate"}


def priority_class(name: str) -> Document:
    """Return a priority class."""
    version = "scheduling.k8s.io/v1"
    return {"apiVersion": version, "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}


def conf_of(text: str) -> Configuration:
    """Return a configuration in a file of its own."""
    subject = FindingSubject(
        "", "SchedulerConfiguration", "", FilePlace("volcano-scheduler.conf", 1, 1)
    )
    return Configuration(text, subject)


def inputs_of(*documents: Document, conf: str | None = None, stored: bool = False) -> LintInputs:
    """Return objects in one file, or in a log, as inputs of a check."""
    manifests = [
        Manifest(document, None if stored else FilePlace(FILE, 10 * number, number))
        for number, document in enumerate(documents, start=1)
    ]
    return LintInputs(manifests, [] if conf is None else [conf_of(conf)])


def found(*documents: Document, conf: str | None = None, rule: str = "") -> list[Finding]:
    """Return what is found in objects under all releases, by one rule or any."""
    rules = [each for each in RULES if rule in ("", each.name)]
    return lint(inputs_of(*documents, conf=conf), RELEASES, rules)


def names(of: list[Finding]) -> set[str]:
    """Return the names of the rules that found something."""
    return {finding.rule for finding in of}
