"""Names that people give to kinds of objects: plurals, short names, and what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
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
        # Volcano's job is what a person means here; the other is jobs.batch, as kubectl has it.
        "jobs": ("batch.volcano.sh", "Job"),
        "cronjobs": ("batch", "CronJob"),
        "events": ("", "Event"),
    }
)
"""Plurals that stand in several groups, and which one they mean without a group."""

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
"""What ``all`` means: kubectl's category of this name, and jobs, PodGroups and queues of Volcano.

Source: Categories() of the registries in pkg/registry of Kubernetes.
"""


class ObjectName(NamedTuple):
    """One object as a person names it.

    :param namespace: empty if it was not named with it.
    """

    group: str
    kind: str
    name: str
    namespace: str = ""

    def place(self, namespace: str | None, usual: str | None = "default") -> str | None:
        """Return the namespace to look in: its own, the one given besides, or the usual one.

        :raises UsageError: both are given, and differ.
        """
        if self.namespace and namespace not in {None, "", self.namespace}:
            raise UsageError(
                f"{self.kind.lower()}/{self.namespace}/{self.name} is in namespace "
                f"{self.namespace}, and {namespace} is asked for besides",
                now="leave out one of them",
            )
        return self.namespace or namespace or usual


def resource_name(group: str, kind: str) -> str:
    """Return how ``-o name`` writes a kind: ``pod``, ``queue.scheduling.volcano.sh``."""
    return f"{kind.lower()}.{group}" if group else kind.lower()


def plain_name(group: str, kind: str) -> str:
    """Return a kind as a reader needs it: with its group only where the kind alone is ambiguous."""
    preferred = PREFERRED.get(plural_of(group, kind))
    clash = preferred is not None and preferred != (group, kind)
    return resource_name(group, kind) if clash else kind.lower()


def kind_named(text: str, others: Iterable[GroupKind] = ()) -> GroupKind:
    """Return the (group, kind) that a name stands for.

    Takes a kind, a plural or a short name in any case, alone or with its group, or with version and
    group: ``po``, ``Pod``, ``jobs.batch``, ``queues.v1beta1.scheduling.volcano.sh``.

    :param others: kinds that a log holds besides the known ones.
    :raises UsageError: no kind is called so; suggests those that are called much the same.
    """
    name, _, group = text.strip().lower().partition(".")
    table = _names(others)
    found = table.get(name, ())
    if not group:
        for candidate in found:
            if PREFERRED.get(plural_of(*candidate), candidate) == candidate:
                return candidate
        if found:
            return found[0]
    for candidate in found:
        if candidate[0] == group or group.endswith(f".{candidate[0]}"):
            return candidate
        if candidate[0] == "" and "." not in group and group.startswith("v"):
            return candidate
    raise _no_such_kind(text, sorted(table))


def kinds_named(text: str, others: Iterable[GroupKind] = ()) -> list[GroupKind]:
    """Return the kinds that names with commas between stand for; ``all`` stands for several.

    :raises UsageError: no kind is called so.
    """
    others = tuple(others)
    found: list[GroupKind] = []
    for name in filter(None, map(str.strip, text.split(","))):
        found += ALL if name.lower() == "all" else [kind_named(name, others)]
    return list(dict.fromkeys(found))


def object_named(text: str, others: Iterable[GroupKind] = ()) -> ObjectName:
    """Return what ``TYPE/NAME`` or ``TYPE/NAMESPACE/NAME`` names.

    :raises UsageError: it has another shape, no kind is called so, or the kind has no namespace.
    """
    kind, slash, rest = text.partition("/")
    namespace, between, name = rest.rpartition("/")
    if not slash or not kind or not name or "/" in namespace or bool(between) != bool(namespace):
        raise UsageError(
            f"{text!r} names no object",
            now="write TYPE/NAME or TYPE/NAMESPACE/NAME, as in pod/train-0, pod/ml/train-0 or "
            "queue/root",
        )
    pair = kind_named(kind, others)
    if namespace and pair in CLUSTER_SCOPED:
        raise UsageError(
            f"{text!r} names no object: {plural_of(*pair)} have no namespace",
            now=f"write {kind}/{name}",
        )
    return ObjectName(*pair, name, namespace)


def names_for_completion() -> list[str]:
    """Return the plurals and short names of the kinds worth completing, sorted."""
    everyday = {"", "apps", "policy", "storage.k8s.io", "scheduling.k8s.io"}
    return sorted(
        {
            one.plural
            for one in RESOURCE_TYPES
            if one.group in everyday or one.group.endswith(".volcano.sh")
        }
        | set(SHORT_NAMES)
        | {"all"}
    )


def _names(others: Iterable[GroupKind]) -> dict[str, tuple[GroupKind, ...]]:
    """Return every name in small letters with the kinds it may mean, known ones first."""
    table: dict[str, tuple[GroupKind, ...]] = {}

    def add(name: str, kind: GroupKind) -> None:
        known = table.get(name, ())
        if kind not in known:
            table[name] = (*known, kind)

    for one in RESOURCE_TYPES:
        add(one.plural, one.group_kind)
        add(one.singular, one.group_kind)
    for name, found in SHORT_NAMES.items():
        add(name, found)
    for group, kind in sorted(others):
        add(kind_plural(kind), (group, kind))
        add(kind.lower(), (group, kind))
    return table


def _no_such_kind(text: str, names: list[str]) -> UsageError:
    close = get_close_matches(text.lower().partition(".")[0], names, n=3, cutoff=0.7)
    now = f"did you mean {' or '.join(close)}?" if close else "plinian get --help names the kinds"
    return UsageError(f"no kind of object is called {text!r}", now=now)
