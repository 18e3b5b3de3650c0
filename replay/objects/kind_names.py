"""Names for kinds of objects: plurals, short names, and the kinds that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...engine.errors import UsageError
from ...engine.kubernetes.resources import (
    CLUSTER_SCOPED,
    RESOURCE_TYPES,
    SHORT_NAMES,
    GroupKind,
    kind_plural,
    plural_of,
)

PREFERRED: Mapping[str, GroupKind] = MappingProxyType(
    {
        # ``jobs`` means Volcano's; the other is jobs.batch, as in kubectl.
        "jobs": ("batch.volcano.sh", "Job"),
        "cronjobs": ("batch", "CronJob"),
        "events": ("", "Event"),
    }
)
"""Plurals that exist in several groups, and the group that they mean without one."""

ALL: tuple[GroupKind, ...] = (
    ("", "Pod"),
    ("", "ReplicationController"),
    ("", "Service"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("batch.volcano.sh", "Job"),
    ("scheduling.volcano.sh", "PodGroup"),
    ("scheduling.volcano.sh", "Queue"),
)
"""The kinds of ``all``: kubectl's category, and Volcano's jobs, PodGroups and queues.

Source: Categories() of the registries in pkg/registry of Kubernetes.
"""


class ObjectName(NamedTuple):
    """One object as named by a person.

    :param namespace: empty if it was not given with the name.
    """

    group: str
    kind: str
    name: str
    namespace: str = ""

    def place(self, namespace: str | None, usual: str | None = "default") -> str | None:
        """Return the namespace to look in: its own, the given one, or the default.

        :raises UsageError: both are given, and differ.
        """
        if self.namespace and namespace not in {None, "", self.namespace}:
            raise UsageError(
                f"{self.kind.lower()}/{self.namespace}/{self.name} is in namespace "
                f"{self.namespace}, but the command says {namespace}",
                now="leave out one of them",
            )
        return self.namespace or namespace or usual


def resource_name(group: str, kind: str) -> str:
    """Return how ``-o name`` writes a kind: ``pod``, ``queue.scheduling.volcano.sh``."""
    return f"{kind.lower()}.{group}" if group else kind.lower()


def plain_name(group: str, kind: str) -> str:
    """Return a kind for people: with its group only if the kind alone is ambiguous."""
    preferred = PREFERRED.get(plural_of(group, kind))
    clash = preferred is not None and preferred != (group, kind)
    return resource_name(group, kind) if clash else kind.lower()


def kind_named(text: str, others: Iterable[GroupKind] = ()) -> GroupKind:
    """Return the (group, kind) that a name stands for.

    Takes a kind, a plural or a short name in any case, alone or with its group, or with version and
    group: ``po``, ``Pod``, ``jobs.batch``, ``queues.v1beta1.scheduling.volcano.sh``.

    :param others: further kinds that a log holds.
    :raises UsageError: there is no such kind; suggests similar names.
    """
    name, _, group = text.strip().lower().partition(".")
    table = _names(others)
    candidates = table.get(name, ())
    if not group:
        for candidate in candidates:
            if PREFERRED.get(plural_of(*candidate), candidate) == candidate:
                return candidate
        if candidates:
            return candidates[0]
    for candidate in candidates:
        if candidate[0] == group or group.endswith(f".{candidate[0]}"):
            return candidate
        if candidate[0] == "" and "." not in group and group.startswith("v"):
            return candidate
    raise _no_such_kind(text, sorted(table), others)


def kinds_named(text: str, others: Iterable[GroupKind] = ()) -> list[GroupKind]:
    """Return the kinds for names separated by commas; ``all`` stands for several.

    :raises UsageError: there is no such kind.
    """
    others = tuple(others)
    kinds: list[GroupKind] = []
    for name in filter(None, map(str.strip, text.split(","))):
        kinds += ALL if name.lower() == "all" else [kind_named(name, others)]
    return list(dict.fromkeys(kinds))


def object_named(text: str, others: Iterable[GroupKind] = ()) -> ObjectName:
    """Return the object that ``TYPE/NAME`` or ``TYPE/NAMESPACE/NAME`` names.

    :raises UsageError: the form is wrong, there is no such kind, or it has no namespaces.
    """
    kind, slash, rest = text.partition("/")
    namespace, between, name = rest.rpartition("/")
    if not slash or not kind or not name or "/" in namespace or bool(between) != bool(namespace):
        raise UsageError(
            f"{text!r} is not an object",
            now="write TYPE/NAME or TYPE/NAMESPACE/NAME, as in pod/train-0, pod/ml/train-0 or "
            "queue/root",
        )
    pair = kind_named(kind, others)
    if namespace and pair in CLUSTER_SCOPED:
        raise UsageError(
            f"{text!r} is not an object: {plural_of(*pair)} have no namespace",
            now=f"write {kind}/{name}",
        )
    return ObjectName(*pair, name, namespace)


def names_for_completion() -> list[str]:
    """Return the plurals and short names of the kinds worth completing, sorted."""
    everyday = {"", "apps", "policy", "storage.k8s.io", "scheduling.k8s.io"}
    return sorted(
        {
            resource_type.plural
            for resource_type in RESOURCE_TYPES
            if resource_type.group in everyday or resource_type.group.endswith(".volcano.sh")
        }
        | set(SHORT_NAMES)
        | {"all"}
    )


def _names(others: Iterable[GroupKind]) -> dict[str, tuple[GroupKind, ...]]:
    """Return every name in lower case with the kinds it may mean, known ones first."""
    table: dict[str, tuple[GroupKind, ...]] = {}

    def add(name: str, kind: GroupKind) -> None:
        known = table.get(name, ())
        if kind not in known:
            table[name] = (*known, kind)

    for resource_type in RESOURCE_TYPES:
        add(resource_type.plural, resource_type.group_kind)
        add(resource_type.singular, resource_type.group_kind)
    for name, short_name in SHORT_NAMES.items():
        add(name, short_name)
    for group, kind in sorted(others):
        add(kind_plural(kind), (group, kind))
        add(kind.lower(), (group, kind))
    return table


_USUAL = "pods, nodes, queues, podgroups, jobs and others"


def _no_such_kind(text: str, names: list[str], others: Iterable[GroupKind]) -> UsageError:
    from difflib import get_close_matches  # noqa: PLC0415 -- only a wrong kind needs it

    # Two letters that changed places, as in jbo, leave two thirds alike.
    close = get_close_matches(text.lower().partition(".")[0], names, n=3, cutoff=0.65)
    kinds = ", ".join(sorted({plural_of(*pair) for pair in others})) or _USUAL
    now = f"did you mean {' or '.join(close)}?" if close else f"kinds are {kinds}"
    return UsageError(f"there is no kind {text!r}", now=now)
