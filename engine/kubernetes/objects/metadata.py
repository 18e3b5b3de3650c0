"""Metadata of objects, and selectors of other objects."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import msgspec

from ..units import SECOND_US, parse_time

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Go refuses an object in which a number does not fit its field."""

ResourceList = dict[str, str | Int64 | float]
"""Quantities by resource, as they are written."""


class ObjectPart(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Base of all parts: unknown fields are ignored, absent ones have Go's zero value."""


class OwnerReference(ObjectPart, frozen=True, gc=False):
    """An object that owns another one."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


@lru_cache(maxsize=65536)
def seconds(text: str) -> int:
    """Return an RFC 3339 time in whole seconds since 1970.

    :raises ValueError: it is malformed.
    """
    return parse_time(text) // SECOND_US


class Metadata(ObjectPart, frozen=True, gc=False):
    """An object's name, identity, times and marks."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def created(self) -> int:
        """When the object was created, in seconds since 1970; 0 if that is not known."""
        return seconds(self.creation_timestamp) if self.creation_timestamp else 0

    @property
    def key(self) -> str:
        """``namespace/name``; the name alone if there is no namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def revision(self) -> int:
        """``resourceVersion`` as the number that it is in practice; 0 if it is none."""
        text = self.resource_version
        return int(text) if text.isascii() and text.isdigit() else 0

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that controls this object."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Object(ObjectPart, frozen=True, gc=False):
    """Base of all objects."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace; empty if its kind has none."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """What distinguishes the object from earlier and later ones of the same name."""
        return self.metadata.uid

    @property
    def key(self) -> str:
        """``namespace/name``; the name alone if there is no namespace."""
        return self.metadata.key

    @property
    def labels(self) -> dict[str, str]:
        """The labels; never to be changed."""
        return self.metadata.labels

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations; never to be changed."""
        return self.metadata.annotations


class Requirement(ObjectPart, frozen=True, gc=False):
    """One expression of a selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(ObjectPart, frozen=True, gc=False):
    """Selects objects by their labels: an empty one selects all, None selects nothing."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()


class NodeSelectorTerm(ObjectPart, frozen=True, gc=False):
    """Selects nodes that satisfy all expressions; a term without expressions selects none."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(ObjectPart, frozen=True, gc=False):
    """Nodes that satisfy one of the terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()
