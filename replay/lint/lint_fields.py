"""Which fields objects have: those of the definitions of Volcano's kinds, by release.

``crd_fields.json`` lists them; ``tools/crd_fields.py`` writes it from the definitions (CRDs) of all
releases. In it ``@`` is the first release with a field, ``*`` stands for the values of a map, ``?``
for anything, and ``=`` names fields that several kinds share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.volcano.releases import RELEASES
from .objects import Manifest

_POD = "PodTemplateSpec"
_METADATA = frozenset(
    {
        *("name", "generateName", "namespace", "labels", "annotations", "finalizers", "uid"),
        *("ownerReferences", "resourceVersion", "generation", "creationTimestamp", "selfLink"),
        *("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"),
    }
)
_CLASS = ("value", "globalDefault", "description", "preemptionPolicy")
_FIRST = str(RELEASES[0])
_MARKS = frozenset("@*?=")
_OF_METADATA: Mapping[str, Any] = MappingProxyType(
    {name: MappingProxyType({"?": MappingProxyType({})}) for name in _METADATA}
)
_OF_NEWER_KUBERNETES = ("schedulingGroup",)
"""Fields of a Pod that are newer than the definitions of the last release.

Source: k8s.io/api/core/v1 PodSpec (Kubernetes 1.36).
"""
_KEPT = frozenset({"metadata", "status"})
"""Parts of an object that are not checked here."""

Tree = Mapping[str, Any]


class OddField(NamedTuple):
    """A field that a kind does not have, or not in all releases.

    :param path: as in ``spec.tasks[0].minAvailable``.
    :param like: a field with a similar name; empty if there is none.
    :param since: the first release with the field; empty if none has it.
    :param there: the fields that there are in its place.
    """

    path: str
    like: str = ""
    since: str = ""
    there: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last name of the path."""
        return self.path.rpartition(".")[2]


def odd_fields(manifest: Manifest) -> Iterator[OddField]:
    """Yield the fields of an object that its kind does not have in all releases.

    Nothing of kinds whose fields are not listed.
    """
    group, kind = manifest.group_kind
    tree = _tree(group, kind)
    if tree is None:
        return
    document = manifest.document
    metadata = document.get("metadata")
    for name in metadata.keys() - _METADATA if isinstance(metadata, dict) else ():
        there = tuple(sorted(_METADATA))
        yield OddField(f"metadata.{name}", _similar(name, there), there=there)
    first = tree["kind"].get("@", _FIRST)
    if first != _FIRST:
        yield OddField("kind", since=first)
    of_pods = (group, kind) == ("", "Pod")
    # What came with the kind itself is said once, of the kind.
    yield from (
        odd_field
        for odd_field in _walk(document, tree, "", of_pods=of_pods)
        if odd_field.since != first
    )


def unknown_fields(group: str, kind: str, document: Mapping[str, Any]) -> Iterator[OddField]:
    """Yield the fields of a part of an object that its kind has in no release."""
    whole = {**document, "apiVersion": f"{group}/v1" if group else "v1", "kind": kind}
    yield from (field for field in odd_fields(Manifest(whole, None)) if not field.since)


def _walk(value: Any, tree: Tree, path: str, *, of_pods: bool = False) -> Iterator[OddField]:
    """Yield the odd fields of a value. :param of_pods: it is of a pod, as Kubernetes has it."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk(item, tree, f"{path}[{number}]", of_pods=of_pods)
    elif isinstance(value, dict) and "*" in tree:
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _walk(inner, tree["*"], f"{path}.{name}", of_pods=of_pods)
    elif isinstance(value, dict) and "?" not in tree:
        for name, inner in value.items():
            if name in tree and not isinstance(inner, dict | list) and _is_plain(tree[name]):
                continue  # Most fields: a value that all releases have.
            here = f"{path}.{name}" if path else name
            yield from _field(inner, tree, here, name, of_pods=of_pods)


def _is_plain(known: Any) -> bool:
    """Return whether all releases have a field; a mark in the tree is no field."""
    return isinstance(known, dict | MappingProxyType) and known.get("@", _FIRST) == _FIRST


def _field(value: Any, tree: Tree, path: str, name: str, *, of_pods: bool) -> Iterator[OddField]:
    """Yield a field if it is odd, else the odd fields in its value."""
    known = None if name in _MARKS else tree.get(name)
    if known is None:
        there = tuple(sorted(tree.keys() - _MARKS))
        yield OddField(path, _similar(name, there), there=there)
        return
    since = known.get("@", _FIRST)
    # Inside of a field of a later release, only what is later still is reported.
    if since not in (_FIRST, tree.get("@")) and not of_pods:
        yield OddField(path, since=since)
    if isinstance(value, dict | list) and path not in _KEPT:
        yield from _inside(value, known, path, of_pods=of_pods)


def _inside(value: Any, known: Tree, path: str, *, of_pods: bool) -> Iterator[OddField]:
    """Yield the odd fields of the value of a field."""
    shared = known.get("=")
    if shared is not None:
        yield from _walk(value, _all()[shared], path, of_pods=True)
    elif of_pods and path.endswith(".metadata"):
        yield from _walk(value, _OF_METADATA, path, of_pods=True)
    else:
        yield from _walk(value, known, path, of_pods=of_pods)


def _similar(name: str, known: Any) -> str:
    near = get_close_matches(name, sorted(known), n=1)
    return near[0] if near else ""


@cache
def _all() -> Tree:
    fields = msgspec.json.decode(files(__package__).joinpath("crd_fields.json").read_bytes())
    return MappingProxyType(fields)


@cache
def _pod_template() -> Tree:
    """Return the fields of a pod: those of templates, and of newer versions of Kubernetes."""
    template = _all()[_POD]
    newer: dict[str, Tree] = {name: {"?": {}} for name in _OF_NEWER_KUBERNETES}
    return MappingProxyType({**template, "spec": {**template["spec"], **newer}})


@cache
def _tree(group: str, kind: str) -> Tree | None:
    """Return the fields of a kind; None if they are not listed."""
    top = dict.fromkeys(("apiVersion", "kind", "metadata"), MappingProxyType[str, Any]({}))
    if (group, kind) == ("", "Pod"):
        return MappingProxyType({**_pod_template(), **top, "status": {}})
    if (group, kind) == ("scheduling.k8s.io", "PriorityClass"):
        return MappingProxyType({**top, **{name: {} for name in _CLASS}})
    fields: Tree | None = _all().get(f"{group}/{kind}")
    return fields
