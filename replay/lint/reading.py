"""Read manifests and configurations from files, folders and standard input, with their places.

A manifest may not have been applied yet, so it has neither a uid nor a resourceVersion. That
distinguishes this from the formats of ingest, which read recorded objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import yaml

from ...engine.errors import EventMalformed, InputError, InputTruncated
from ...engine.events import canonical_json
from ...engine.ingest.objects import scheduler_conf
from ...engine.ingest.objects.scheduler_conf import MAX_BYTES, configs_in
from ...engine.ingest.reading.formats import Context
from ...engine.ingest.reading.inputs import Document, documents, find_files
from ...engine.ingest.reading.json_text import json_documents, repeated_key
from ...engine.kubernetes.yaml import YamlFault, YamlReader
from .findings import FilePlace, Subject
from .inputs import Configuration
from .json_keys import repeated_keys
from .nested_confs import nested_confs
from .objects import Manifest, RepeatedKey

SUFFIXES = (".yaml", ".yml", ".json", ".conf")
"""The files that are read in folders; a file given by name may have any suffix."""

NOTHING: Mapping[str, int] = MappingProxyType({})
_JSON = (b"{", b"[")
_TEMPLATE = re.compile(rb"\{\{|\{%")
"""How expressions of Helm's templates begin, and of Jinja's."""

_HOLDER = re.compile(rb"kind|tiers|\.conf")
"""What shows that a file is no configuration itself, but may hold one."""

_SHOWN = 3
_RENDER = "render it first, as with: helm template CHART | plinian lint -"
_NOW = "give files as for kubectl apply; other files are for plinian ingest"


class WrittenFiles(NamedTuple):
    """The objects and configurations that were read, in the order of the files."""

    manifests: tuple[Manifest, ...]
    confs: tuple[Configuration, ...]


class _Item(NamedTuple):
    """A value of a file, possibly an item of a list.

    :param blocks: for block texts in it, the line before each.
    """

    value: Any
    place: FilePlace
    blocks: Mapping[str, int] = NOTHING
    repeated: tuple[RepeatedKey, ...] = ()


def read_files(paths: Sequence[str]) -> WrittenFiles:
    """Read files, folders, and ``-`` for standard input.

    What is no object may hold a configuration: the data of a ConfigMap alone, values of Helm.

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
                if not _is_bare(item.value):
                    manifests.append(Manifest(_object(item), item.place, item.repeated))
                confs += _confs_in(item)
    return WrittenFiles(tuple(manifests), tuple(confs))


def read_conf(path: str) -> Configuration:
    """Read a file that is a scheduler configuration, or a ConfigMap with one.

    :raises InputError: it cannot be read, or holds no configuration.
    """
    for file in find_files([path]):
        for document in documents(file):
            head = document.head
            if scheduler_conf.FORMAT.sniff(head, "any.conf"):
                return _conf(document)
            if head.lstrip().startswith(_JSON) or _HOLDER.search(head):
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


def _is_bare(value: Any) -> bool:
    """Return whether a value is a mapping that does not say what it is."""
    return isinstance(value, dict) and not {"kind", "apiVersion"} & value.keys()


def _object(item: _Item) -> dict[str, Any]:
    """Return an item that is a Kubernetes object.

    :raises InputError: it is not one.
    """
    value, where = item.value, str(item.place)
    if not isinstance(value, dict):
        found = f"{value!r:.40}"
        raise InputError(f"expected a Kubernetes object, found {found}", where=where, now=_NOW)
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str):
            what = f"expected a Kubernetes object, found one without {field}"
            raise InputError(what, where=where, now=_NOW)
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if isinstance(name, str) and _TEMPLATE.search(name.encode("utf-8", "replace")):
        raise InputError(f"the name {name[:60]!r} is a template's", where=where, now=_RENDER)
    return value


def _confs_in(item: _Item) -> list[Configuration]:
    """Return the configurations in an item: a ConfigMap, or what is no object at all.

    :raises InputError: it is neither an object nor holds a configuration.
    """
    if _is_bare(item.value):
        found = list(nested_confs(item.value, item.place, item.blocks))
        if not found:
            keys = ", ".join(list(item.value)[:_SHOWN]) or "no keys"
            raise InputError(
                f"neither a Kubernetes object nor a scheduler configuration in it ({keys})",
                where=str(item.place),
                now=f"if these are values of Helm, {_RENDER}; else {_NOW}",
            )
        return [found[0]._replace(repeated=item.repeated), *found[1:]]
    manifest = Manifest(_object(item), item.place)
    if manifest.group_kind != ("", "ConfigMap"):
        return []
    return [
        Configuration(text, manifest.subject(), item.blocks.get(text, -1))
        for _, text, _ in configs_in(manifest.document)
    ]


def _items(document: Document) -> Iterator[_Item]:
    """Yield the objects of a document; those of lists one by one.

    :raises InputError: it is neither YAML nor JSON; a template is not either.
    """
    begin = document.head.lstrip()
    is_json = begin.startswith(_JSON) and _TEMPLATE.match(begin) is None
    try:
        yield from (_json_items if is_json else _yaml_items)(document)
    except YamlFault as fault:
        raise _unreadable(document, str(fault), f"{document.source}:{fault.line}") from fault
    except (EventMalformed, InputTruncated) as fault:
        raise _unreadable(document, fault.what, fault.where or document.source) from fault


def _unreadable(document: Document, what: str, where: str) -> InputError:
    """Return the error for a text that is neither YAML nor JSON."""
    if _TEMPLATE.search(document.head):
        return InputError(f"a template, not a manifest: {what}", where=where, now=_RENDER)
    now = f"correct it; if it is made from a template, {_RENDER}"
    return InputError(what, where=where, now=now)


def _json_items(document: Document) -> Iterator[_Item]:
    context = Context(source=document.source)
    for number, (line, text) in enumerate(json_documents(document.stream, context), start=1):
        place = FilePlace(document.source, line, number)
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise _unreadable(document, f"not JSON: {fault}", str(place)) from fault
        listed = value if isinstance(value, list) else _listed(value)
        twice: dict[int, list[RepeatedKey]] = {}
        for item, key in repeated_keys(text, line) if _repeats(text, value) else ():
            twice.setdefault(0 if listed is None else item, []).append(key)
        for item, each in enumerate([value] if listed is None else listed):
            yield _Item(each, place, repeated=tuple(twice.get(item, ())))


def _repeats(text: bytes | bytearray, value: Any) -> bool:
    """Return whether a key occurs twice in an object of JSON: few texts have to be walked for it.

    :param value: the decoded text. If it has quotes in another form, it encodes to more of them.
    """
    return b"\\u0022" in text or repeated_key(bytes(text), canonical_json(value)) is not None


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


class _Notes:
    """What a reader notes of an item besides its value."""

    def __init__(self) -> None:
        self.repeated: list[tuple[int, str]] = []
        self.blocks: list[tuple[int, str]] = []

    def item(self, value: Any, place: FilePlace) -> _Item:
        """Return a value with what was noted since the last item."""
        repeated = tuple(RepeatedKey(line, name) for line, name in self.repeated)
        blocks = {text: line for line, text in reversed(self.blocks)}
        self.repeated.clear()
        self.blocks.clear()
        return _Item(value, place, blocks, repeated)


def _yaml_items(document: Document) -> Iterator[_Item]:
    notes = _Notes()
    reader = YamlReader(document.stream, repeated=notes.repeated, blocks=notes.blocks)
    number = 0
    while not isinstance(event := reader.next(), yaml.StreamEndEvent):
        if isinstance(event, yaml.DocumentStartEvent):
            number += 1
            yield from _yaml_document(reader, notes, document.source, number)


def _yaml_document(reader: YamlReader, notes: _Notes, source: str, number: int) -> Iterator[_Item]:
    """Yield the objects of one document; the items of its list have their own lines."""
    root = reader.next()
    place = FilePlace(source, reader.line, number)
    if not isinstance(root, yaml.MappingStartEvent):
        value = reader.value(root)
        each_of = value if isinstance(value, list) else [value]
        yield from (notes.item(each, place) for each in each_of if each is not None)
        return
    fields: dict[str, Any] = {}
    items: list[_Item] | None = None
    while not isinstance(key := reader.next(), yaml.MappingEndEvent):
        name = reader.key(key)
        again = name in fields
        event, line = reader.next(), reader.line
        if name == "items" and isinstance(event, yaml.SequenceStartEvent):
            items = list(_yaml_sequence(reader, notes, source, number))
            fields[name] = [item.value for item in items]
        else:
            fields[name] = reader.value(event, 1)
        if again:
            notes.repeated.append((line, name))
    listed = _listed(fields)
    if listed is None or items is None:
        yield notes.item(fields, place)
        return
    yield from (item._replace(value=value) for value, item in zip(listed, items, strict=True))


def _yaml_sequence(reader: YamlReader, notes: _Notes, source: str, number: int) -> Iterator[_Item]:
    while not isinstance(event := reader.next(), yaml.SequenceEndEvent):
        line = reader.line
        yield notes.item(reader.value(event, 2), FilePlace(source, line, number))
