"""Changes to a cluster: fields, nodes, deletions, whole objects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import msgspec

from ...engine.errors import InputError, UsageError
from ..answers.answering_session import NODE
from ..lint.manifest_reading import read_files
from ..objects.field_paths import path_text, split_path
from ..objects.kind_names import ObjectName, object_named, plain_name
from ..simulate.changed_scenario import merged
from .changed_world import Changeable, Document
from .typed_fields import joined

_CORDONED = MappingProxyType({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
_HOSTNAME = "kubernetes.io/hostname"
_TOPS = (".spec.", ".status.", ".metadata.")
_SET_FORM = (
    "write KIND/NAME.FIELD=VALUE, as in queue/x.spec.capability.cpu=40 or "
    "queue/x.spec.capability.nvidia.com/gpu=8"
)
_ALWAYS = "default"


class WhatIfChange(Protocol):
    """Something that is otherwise than in the log."""

    @property
    def text(self) -> str:
        """What is changed, in a few words."""

    def apply(self, world: Changeable) -> None:
        """Change a world.

        :raises ObjectNotFound: it has no such object.
        :raises UsageError: sessions do not see such objects, or the result is none.
        """


class SetField(NamedTuple):
    """A field gets another value; the value None takes it away.

    :param path: the names on the way to the field.
    """

    named: ObjectName
    path: tuple[str, ...]
    value: Any

    @property
    def text(self) -> str:
        """As on the command line."""
        path = path_text(self.path)
        value = self.value if isinstance(self.value, str) else msgspec.json.encode(self.value)
        shown = value if isinstance(value, str) else value.decode()
        return f"{_name(self.named)}.{path}={shown}"

    @property
    def document(self) -> Document:
        """The part of the object that is set."""
        change: Any = self.value
        for name in reversed(self.path):
            change = {name: change}
        document: Document = change
        return document

    def apply(self, world: Changeable) -> None:
        """Set the field."""
        world.put(merged(world.get(*_at(self.named)), self.document))


class AddNodes(NamedTuple):
    """More nodes, each like one that exists, and empty."""

    like: str
    how_many: int = 1

    @property
    def text(self) -> str:
        """What comes."""
        return f"{self.how_many} more {'node' if self.how_many == 1 else 'nodes'} like {self.like}"

    def apply(self, world: Changeable) -> None:
        """Add the nodes."""
        model = world.get(NODE, "", self.like)
        names = {node.name for node in world.of("Node")}
        for _ in range(self.how_many):
            name = new_name(self.like, names)
            names.add(name)
            world.put(_node_like(model, name))


def new_name(like: str, names: Collection[str]) -> str:
    """Return the name of a new node like one, that none of some names is."""
    number = 1
    while (name := f"{like}-new-{number}") in names:
        number += 1
    return name


class Cordon(NamedTuple):
    """A node takes no more pods, or takes pods again."""

    node: str
    undo: bool = False

    @property
    def text(self) -> str:
        """As kubectl says it."""
        return f"{'uncordon' if self.undo else 'cordon'} {self.node}"

    def apply(self, world: Changeable) -> None:
        """Set ``spec.unschedulable``, and the taint that Kubernetes' node controller adds."""
        node = world.get(NODE, "", self.node)
        spec = {**(node.get("spec") or {})}
        taints = [
            taint for taint in spec.get("taints") or () if taint.get("key") != _CORDONED["key"]
        ]
        spec["unschedulable"] = not self.undo
        spec["taints"] = taints if self.undo else [*taints, dict(_CORDONED)]
        world.put({**node, "spec": spec})


class Delete(NamedTuple):
    """An object is gone; with a job also its PodGroup, and with a PodGroup also its pods."""

    named: ObjectName

    @property
    def text(self) -> str:
        """What is deleted."""
        return f"delete {_name(self.named)}"

    def apply(self, world: Changeable) -> None:
        """Delete it."""
        world.delete(*_at(self.named))


class Apply(NamedTuple):
    """A manifest: an object that exists gets its fields, another one is created."""

    document: Document

    @property
    def text(self) -> str:
        """What is applied."""
        return f"apply {_name(_named(self.document))}"

    def apply(self, world: Changeable) -> None:
        """Merge it into the object, or create it."""
        named = _named(self.document)
        before = world.find(*_at(named))
        if before is not None:
            world.put(merged(before, self.document))
            return
        given = self.document["metadata"]
        uid = f"what-if-{plain_name(named.group, named.kind)}-{named.namespace}-{named.name}"
        world.put({**self.document, "metadata": {"uid": uid, **given}})


def set_field(text: str, namespace: str | None = None) -> SetField:
    """Parse ``KIND/NAME.FIELD=VALUE``; a value that is JSON is read so, and else is a text.

    Names of objects may have dots: the field begins at the first ``.spec``, ``.status`` or
    ``.metadata``.

    :raises UsageError: it has another form, or there is no such kind.
    """
    address, equals, value = text.partition("=")
    # The first of these begins the path: names of objects have dots, too.
    begin = min((at for top in _TOPS if (at := address.find(top)) >= 0), default=-1)
    if not equals or begin < 0:
        raise UsageError(f"{text!r} is no field of an object", now=_SET_FORM)
    named = named_in(address[:begin], namespace)
    path = split_path(address[begin + 1 :])
    if not all(path):
        raise UsageError(f"{text!r} has an empty name of a field", now=_SET_FORM)
    return SetField(named, joined((named.group, named.kind), path), _value(value))


def named_in(text: str, namespace: str | None) -> ObjectName:
    """Return the object that a text names, in a namespace unless it names one itself.

    :raises UsageError: the form is wrong, or there is no such kind.
    """
    named = object_named(text)
    return named._replace(namespace=named.place(namespace) or "")


def manifests(paths: Sequence[str], namespace: str | None) -> list[Apply]:
    """Return the changes of files: their objects, and those in their lists.

    :param namespace: of objects that name none.
    :raises InputError: a file cannot be read, or holds something that is no object.
    """
    changes = []
    for manifest in read_files(paths).manifests if paths else ():
        document = manifest.document
        for line, name in manifest.repeated:
            what = f"the key {name[:60]!r} occurs twice in one mapping"
            where = f"{manifest.place.file}:{line}" if manifest.place else ""
            raise InputError(what, where=where, now="keep one of them")
        if namespace:
            metadata = {"namespace": namespace, **document["metadata"]}
            document = {**document, "metadata": metadata}
        changes.append(Apply(document))
    return changes


def _value(text: str) -> Any:
    try:
        # JSON gives numbers, lists and null; what is no JSON is a text, so texts need no quotes.
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _node_like(model: Document, name: str) -> Document:
    metadata = model["metadata"]
    labels = {**(metadata.get("labels") or {})}
    # The label is the node's name: with that of the model, both would be one topology domain.
    if _HOSTNAME in labels:
        labels[_HOSTNAME] = name
    taken_over = {
        key: metadata[key] for key in ("annotations", "creationTimestamp") if key in metadata
    }
    own = {**taken_over, "name": name, "uid": f"what-if-node-{name}", "labels": labels}
    return {**model, "metadata": own}


def _at(named: ObjectName) -> tuple[tuple[str, str], str, str]:
    return (named.group, named.kind), named.namespace, named.name


def _named(document: Document) -> ObjectName:
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    metadata = document["metadata"]
    kind = str(document.get("kind", ""))
    return ObjectName(group, kind, metadata["name"], metadata.get("namespace", ""))


def _name(named: ObjectName) -> str:
    place = "" if named.namespace in {"", _ALWAYS} else f"{named.namespace}/"
    return f"{plain_name(named.group, named.kind)}/{place}{named.name}"
