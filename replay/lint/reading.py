"""Read manifests and configurations from files, folders and standard input, with their places.

A manifest may not have been applied yet, so it has neither a uid nor a resourceVersion. That
distinguishes this from the formats of ingest, which read recorded objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import yaml

from ...engine.errors import InputError
from ...engine.ingest.objects import scheduler_conf
from ...engine.ingest.objects.scheduler_conf import MAX_BYTES, configs_in
from ...engine.ingest.reading.formats import Context
from ...engine.ingest.reading.inputs import Document, documents, find_files
from ...engine.ingest.reading.json_text import json_documents
from ...engine.kubernetes.yaml import YamlFault, YamlReader
from .findings import FilePlace, Subject
from .inputs import Configuration
from .objects import Manifest

SUFFIXES = (".yaml", ".yml", ".json", ".conf")
"""The files that are read in folders; a file given by name may have any suffix."""

NOTHING: Mapping[str, int] = MappingProxyType({})
_JSON = (b"{", b"[")
_NOW = "give files as for kubectl apply; other files are for plinian ingest"


class WrittenFiles(NamedTuple):
    """The objects and configurations that were read, in the order of the files."""

    manifests: tuple[Manifest, ...]
    confs: tuple[Configuration, ...]


class _Item(NamedTuple):
    """A value of a file, possibly an item of a list.

    :param texts: for block texts in its ``data``, the line before each.
    """

    value: Any
    place: FilePlace
    texts: Mapping[str, int] = NOTHING


def read_files(paths: Sequence[str]) -> WrittenFiles:
    """Read files, folders, and ``-`` for standard input.

    :raises InputError: a file cannot be read, is neither YAML nor JSON, or holds something that is
        neither a Kubernetes object nor a configuration.
    """
    manifests: list[Manifest] = []
    confs: list[Configuration] = []
    for file in find_files(paths):
        if not file.named and not file.path.endswith(SUFFIXES):
            continue
        for document in documents(file):
            if scheduler_conf.FORMAT.sniff(document.head, document.name):
                confs.append(_conf(document))
                continue
            for item in _items(document):
                manifests.append(Manifest(_object(item), item.place))
                confs += _confs_in(item)
    return WrittenFiles(tuple(manifests), tuple(confs))


def read_conf(path: str) -> Configuration:
    """Read a file that is a scheduler configuration, or a ConfigMap with one.

    :raises InputError: it cannot be read, or holds no configuration.
    """
    for file in find_files([path]):
        for document in documents(file):
            if scheduler_conf.FORMAT.sniff(document.head, document.name):
                return _conf(document)
            if document.head.lstrip().startswith(_JSON) or b"kind" in document.head:
                found = [conf for item in _items(document) for conf in _confs_in(item)]
                if found:
                    return found[-1]
            else:
                return _conf(document)
    raise InputError("it holds no scheduler configuration", where=path)


def _conf(document: Document) -> Configuration:
    data = document.stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError("a configuration of more than 1 MiB", where=document.source)
    subject = Subject("", "SchedulerConfiguration", "", FilePlace(document.source, 1, 1))
    return Configuration(_text(data, document.source), subject)


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault.reason}", where=source) from fault


def _object(item: _Item) -> dict[str, Any]:
    """Return an item that is a Kubernetes object.

    :raises InputError: it is not one.
    """
    value = item.value
    if isinstance(value, dict) and all(
        isinstance(value.get(field), str) for field in ("kind", "apiVersion")
    ):
        return value
    found = f"{value!r:.40}" if not isinstance(value, dict) else "one without apiVersion and kind"
    raise InputError(
        f"expected a Kubernetes object, found {found}", where=str(item.place), now=_NOW
    )


def _confs_in(item: _Item) -> list[Configuration]:
    """Return the configurations in an item, if it is a ConfigMap."""
    manifest = Manifest(_object(item), item.place)
    if manifest.group_kind != ("", "ConfigMap"):
        return []
    return [
        Configuration(text, manifest.subject(), item.texts.get(key, -1))
        for key, text, _ in configs_in(manifest.document)
    ]


def _items(document: Document) -> Iterator[_Item]:
    """Yield the objects of a document; those of lists one by one."""
    read = _json_items if document.head.lstrip().startswith(_JSON) else _yaml_items
    yield from read(document)


def _json_items(document: Document) -> Iterator[_Item]:
    context = Context(source=document.source)
    for number, (line, text) in enumerate(json_documents(document.stream, context), start=1):
        place = FilePlace(document.source, line, number)
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise InputError(f"not JSON: {fault}", where=str(place)) from fault
        listed = value if isinstance(value, list) else _listed(value)
        yield from (_Item(each, place) for each in ([value] if listed is None else listed))


def _listed(value: Any) -> list[Any] | None:
    """Return the items of a Kubernetes list; None if it is not a list."""
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return None
    items = value.get("items")
    if not value["kind"].endswith("List") or not isinstance(items, list):
        return None
    kind, version = value["kind"].removesuffix("List"), value.get("apiVersion")
    return [_completed(item, kind, version) for item in items]


def _completed(item: Any, kind: str, version: Any) -> Any:
    """Add the kind of its list to an item, which an API server leaves out."""
    if kind and isinstance(item, dict):
        return {"kind": kind, "apiVersion": version, **item}
    return item


def _yaml_items(document: Document) -> Iterator[_Item]:
    reader = YamlReader(document.stream)
    number = 0
    try:
        while not isinstance(event := reader.next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                number += 1
                yield from _yaml_document(reader, document.source, number)
    except YamlFault as fault:
        where = f"{document.source}:{fault.line}"
        now = "render a template first: helm template, kustomize build"
        raise InputError(str(fault), where=where, now=now) from fault


def _yaml_document(reader: YamlReader, source: str, number: int) -> Iterator[_Item]:
    """Yield the objects of one document; the items of its list have their own lines."""
    root = reader.next()
    place = FilePlace(source, reader.line, number)
    if not isinstance(root, yaml.MappingStartEvent):
        value = reader.value(root)
        each_of = value if isinstance(value, list) else [value]
        yield from (_Item(each, place) for each in each_of if each is not None)
        return
    fields: dict[str, Any] = {}
    items: list[_Item] | None = None
    texts: dict[str, int] = {}
    while not isinstance(key := reader.next(), yaml.MappingEndEvent):
        name = reader.key(key)
        if name in fields:
            raise YamlFault(f"the key {name[:60]!r} occurs twice in one mapping", reader.line)
        event = reader.next()
        if name == "items" and isinstance(event, yaml.SequenceStartEvent):
            items = list(_yaml_sequence(reader, source, number))
            fields[name] = [item.value for item in items]
        elif name == "data" and isinstance(event, yaml.MappingStartEvent):
            fields[name] = _yaml_texts(reader, texts)
        else:
            fields[name] = reader.value(event, 1)
    listed = _listed(fields)
    if listed is None or items is None:
        yield _Item(fields, place, texts)
        return
    yield from (_Item(value, item.place) for value, item in zip(listed, items, strict=True))


def _yaml_sequence(reader: YamlReader, source: str, number: int) -> Iterator[_Item]:
    while not isinstance(event := reader.next(), yaml.SequenceEndEvent):
        line = reader.line
        yield _Item(reader.value(event, 2), FilePlace(source, line, number))


def _yaml_texts(reader: YamlReader, texts: dict[str, int]) -> dict[str, Any]:
    """Return a mapping; note the line before each block text."""
    fields: dict[str, Any] = {}
    while not isinstance(key := reader.next(), yaml.MappingEndEvent):
        name = reader.key(key)
        event = reader.next()
        if isinstance(event, yaml.ScalarEvent) and event.style == "|":
            texts[name] = reader.line
        fields[name] = reader.value(event, 2)
    return fields
