"""The objects that a scheduler's cache holds as bytes, so that their events need not be read.

A stored cache names its objects by the positions of their events. An event never changes, so what
was decoded from it may be stored once more, in columns: what objects have alike is there once, and
to decode it takes a fraction of the time that the events take. Code that does not find an object
here reads its event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from sys import intern
from typing import Any

import msgspec
import zstandard

from ..kubernetes.objects import KINDS, Metadata, Object, Pod
from ..kubernetes.objects.metadata import OwnerReference
from ..kubernetes.objects.sharing import shared
from .projector import Projector

_NONE = -1
"""The number for a missing text."""


class _StoredMaps(msgspec.Struct, array_like=True):
    """Maps of texts, one for each object: the numbers of their keys, and of all their texts."""

    keys: list[int]
    texts: list[int]


class _StoredPart(msgspec.Struct, array_like=True):
    """One field of all objects of a kind.

    :param values: those that differ. :param numbers: by object, the place of its value there.
    """

    values: list[msgspec.Raw]
    numbers: list[int]


class _StoredKind(msgspec.Struct, array_like=True, kw_only=True):
    """The objects of a kind in columns; texts that several may have are numbers.

    :param positions: of their events. :param nodes: the nodes of pods, whose specs name none here.
    :param parts: all fields after the metadata.
    """

    kind: str
    positions: list[int]
    names: list[str]
    namespaces: list[int]
    uids: list[str]
    resource_versions: list[str]
    created: list[int]
    deleted: list[int]
    labels: _StoredMaps
    annotations: _StoredMaps
    owners: _StoredPart
    nodes: list[int]
    parts: list[_StoredPart]


class _StoredObjects(msgspec.Struct, array_like=True):
    """All objects, with the texts and the keys of maps that they have."""

    texts: list[str]
    keys: list[list[str]]
    kinds: list[_StoredKind]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_StoredObjects).decode


def encode_objects(projector: Projector) -> bytes:
    """Return the objects that informers hold as the events of a log told them, compressed."""
    stored = _Writer().objects(projector)
    return zstandard.ZstdCompressor(level=3).compress(_encode(stored))


class _Writer:
    """Numbers the texts and the keys of maps."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._keys: dict[tuple[str, ...], int] = {}

    def objects(self, projector: Projector) -> _StoredObjects:
        """Return all objects."""
        kinds = []
        for kind, origins in projector.origins.items():
            store = projector.cache.stores.of(kind)
            told = {
                origin.position: origin.item
                for key, origin in origins.items()
                if store.get(key) is origin.item
            }
            if told:
                kinds.append(self._kind(kind, told))
        return _StoredObjects([*self._texts], [[*keys] for keys in self._keys], kinds)

    def _kind(self, kind: str, told: Mapping[int, Object]) -> _StoredKind:
        items = told.values()
        metadata = [item.metadata for item in items]
        columns = [
            [getattr(item, field) for item in items] for field in KINDS[kind].__struct_fields__[1:]
        ]
        nodes: list[int] = []
        if kind == Pod.__name__:
            nodes = [self._text(spec.node_name) for spec in columns[0]]
            columns[0] = [msgspec.structs.replace(spec, node_name="") for spec in columns[0]]
        return _StoredKind(
            kind=kind,
            positions=[*told],
            names=[each.name for each in metadata],
            namespaces=[self._text(each.namespace) for each in metadata],
            uids=[each.uid for each in metadata],
            resource_versions=[each.resource_version for each in metadata],
            created=[self._text(each.creation_timestamp) for each in metadata],
            deleted=[self._text(each.deletion_timestamp) for each in metadata],
            labels=self._maps([each.labels for each in metadata]),
            annotations=self._maps([each.annotations for each in metadata]),
            owners=_part(each.owner_references for each in metadata),
            nodes=nodes,
            parts=[_part(column) for column in columns],
        )

    def _text(self, text: str | None) -> int:
        return _NONE if text is None else self._texts.setdefault(text, len(self._texts))

    def _maps(self, maps: Sequence[Mapping[str, str]]) -> _StoredMaps:
        known = self._keys
        return _StoredMaps(
            [known.setdefault((*each,), len(known)) for each in maps],
            [self._text(text) for each in maps for text in each.values()],
        )


def _part(column: Iterable[Any]) -> _StoredPart:
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(_encode(value), len(known)) for value in column]
    return _StoredPart([msgspec.Raw(value) for value in known], numbers)


class KeptObjects:
    """Objects by the positions of their events; each is decoded when somebody looks for it.

    :param data: what :func:`encode_objects` returned.
    :raises ValueError: it is not that.
    """

    def __init__(self, data: bytes) -> None:
        try:
            stored = _decode(zstandard.ZstdDecompressor().decompress(data))
        except zstandard.ZstdError as fault:
            raise ValueError(f"stored objects cannot be read ({fault})") from fault
        self._texts = [*map(intern, stored.texts)]
        self._keys = [(*map(intern, keys),) for keys in stored.keys]
        self._kinds = {kind.kind: kind for kind in stored.kinds}

    def found(self, kind: type[Object], positions: Iterable[int]) -> dict[int, Object]:
        """Return by position those objects of a kind that are kept."""
        stored = self._kinds.get(kind.__name__)
        if stored is None:
            return {}
        wanted = frozenset(positions)
        places = [place for place, at in enumerate(stored.positions) if at in wanted]
        columns = [self._column(kind, field, stored, places) for field in range(len(stored.parts))]
        items = map(kind, self._metadata(stored, places), *columns)
        return {stored.positions[place]: item for place, item in zip(places, items, strict=True)}

    def _metadata(self, stored: _StoredKind, places: Sequence[int]) -> Iterable[Metadata]:
        """Return the metadata of the objects at some places."""
        texts = self._texts
        return map(
            Metadata,
            [stored.names[place] for place in places],
            [texts[stored.namespaces[place]] for place in places],
            [stored.uids[place] for place in places],
            [stored.resource_versions[place] for place in places],
            self._times(stored.created, places),
            self._times(stored.deleted, places),
            self._maps(stored.labels, places),
            self._maps(stored.annotations, places),
            _values(tuple[OwnerReference, ...], stored.owners, places),
        )

    def _times(self, numbers: Sequence[int], places: Sequence[int]) -> list[str | None]:
        texts = self._texts
        of_places = (numbers[place] for place in places)
        return [None if number == _NONE else texts[number] for number in of_places]

    def _maps(self, stored: _StoredMaps, places: Sequence[int]) -> list[dict[str, str]]:
        texts = [self._texts[number] for number in stored.texts]
        keys = [self._keys[number] for number in stored.keys]
        starts = [*accumulate(map(len, keys), initial=0)]
        return [
            dict(zip(keys[at], texts[starts[at] : starts[at + 1]], strict=True)) for at in places
        ]

    def _column(
        self, kind: type[Object], field: int, stored: _StoredKind, places: Sequence[int]
    ) -> list[Any]:
        """Return one field of the objects at some places."""
        of = msgspec.structs.fields(kind)[field + 1].type
        column = _values(of, stored.parts[field], places)
        if kind is not Pod or field:
            return column
        texts, nodes = self._texts, stored.nodes
        return [
            msgspec.structs.replace(spec, node_name=texts[nodes[place]])
            for spec, place in zip(column, places, strict=True)
        ]


def _values(of: Any, part: _StoredPart, places: Sequence[int]) -> list[Any]:
    """Return the values of a type at some places; those that are equal are one."""
    numbers = [part.numbers[place] for place in places]
    decode, stored = _decoder(of).decode, part.values
    known = {number: shared(decode(stored[number])) for number in dict.fromkeys(numbers)}
    return [known[number] for number in numbers]


@cache
def _decoder(of: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(of)
