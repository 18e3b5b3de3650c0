"""The objects of a text as they are written: YAML or JSON, several documents, lists.

Each knows its place, which keys it has twice, and where its blocks of text begin.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import yaml

from ...engine.errors import EventMalformed, InputError, InputTruncated
from ...engine.events import canonical_json
from ...engine.ingest.reading.formats import Context
from ...engine.ingest.reading.inputs import HEAD, Document
from ...engine.ingest.reading.json_text import DECODE_FAULTS, json_documents, repeated_key
from ...engine.kubernetes.yaml import YamlFault, YamlReader
from .findings import FilePlace
from .objects import RepeatedKey

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\]:\n]')


class _Open(NamedTuple):
    """An object or an array that is not closed yet. :param key: under which it stands."""

    is_object: bool
    key: str
    keys: set[str]


def repeated_keys(text: bytes | bytearray, line: int) -> Iterator[tuple[int, RepeatedKey]]:
    """Yield for each such key the number of the item that has it, from 0, and where it is again.

    :param text: well formed JSON: an object, a list of Kubernetes, or an array.
    :param line: on which it begins.
    """
    stack: list[_Open] = []
    key, before, item = "", b"", -1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == b"\n":
            line += 1
            continue
        # Only a key stands before a colon; colons in strings are inside of their token.
        if token == b":" and stack:
            key = json.loads(before)
            if key in stack[-1].keys:
                # An object that is no list is item 0.
                yield max(item, 0), RepeatedKey(line, key)
            stack[-1].keys.add(key)
        elif token in b"{[":
            item += token == b"{" and _holds_items(stack)
            stack.append(_Open(token == b"{", key, set()))
        elif token in b"}]":
            stack.pop()
        before = token


def _holds_items(stack: list[_Open]) -> bool:
    """Return whether what is opened now is an item of a list, or of an array of objects."""
    if len(stack) == 1:
        return not stack[0].is_object
    return len(stack) == 2 and not stack[1].is_object and stack[1].key == "items"


NOTHING: Mapping[str, int] = MappingProxyType({})
JSON = (b"{", b"[")
"""How a text of JSON begins."""

TEMPLATE = re.compile(rb"\{\{|\{%")
"""How expressions of Helm's templates begin, and of Jinja's."""

_NEXT = b"---"
"""How a line begins that ends a document of YAML."""

_WHOLE = HEAD - 4
"""A head that is longer may not have all of its document."""

CHART = "helm template CHART | plinian lint -"
RENDER = f"render it first, as with: {CHART}"
_TERRAFORM = re.compile(
    rb'(?m)^(?:resource|module|provider|variable|data|terraform|locals)\b[ "\w-]*\{'
)
_PLAN = "show its objects: terraform plan -out=p && terraform show -json p | plinian lint -"


class Item(NamedTuple):
    """A value of a file, possibly an item of a list.

    :param blocks: for block texts in it, the line before each.
    """

    value: Any
    place: FilePlace
    blocks: Mapping[str, int] = NOTHING
    repeated: tuple[RepeatedKey, ...] = ()


def written_items(document: Document) -> Iterator[Item]:
    """Yield the objects of a document; those of lists one by one.

    :raises InputError: it is neither YAML nor JSON; a template is not either.
    """
    begin = document.head.lstrip()
    if _TERRAFORM.search(begin):
        where = document.source
        raise InputError("a file of Terraform, not a manifest", where=where, now=_PLAN)
    is_json = begin.startswith(JSON) and TEMPLATE.match(begin) is None
    try:
        yield from (_json_items if is_json else _yaml_items)(document)
    except YamlFault as fault:
        odd = _odd_line(document.head, fault.line)
        where = f"{document.source}:{fault.line}"
        if odd:
            raise InputError(odd[0], where=where, now=odd[1]) from fault
        raise _unreadable(document, str(fault), where) from fault
    except (EventMalformed, InputTruncated) as fault:
        raise _unreadable(document, fault.what, fault.where or document.source) from fault


def after_fault(document: Document, begin: int) -> tuple[Document, int] | None:
    """Return the documents of YAML after one that cannot be read, and their line; None without.

    What is before them is blank, so that they keep their lines and their numbers. Of a template,
    which is one text, and of a long text nothing is read further.

    :param begin: their first line is not before this one; both count from 0.
    """
    head = document.head
    # Only the head is in memory: of a longer text the rest cannot be blanked.
    if len(head) > _WHOLE or TEMPLATE.search(head) or head.lstrip().startswith(JSON):
        return None
    lines = head.splitlines(keepends=True)
    while begin < len(lines) and not lines[begin].startswith(_NEXT):
        begin += 1
    if begin >= len(lines):
        return None
    # Each document before keeps its mark, so that later ones keep their numbers.
    before = [_NEXT + b"\n" if line.startswith(_NEXT) else b"\n" for line in lines[:begin]]
    if not lines[0].startswith(_NEXT):
        before[0] = _NEXT + b"\n"  # The first document counts, too.
    text = b"".join((*before, *lines[begin:]))
    rest = Document(document.source, document.name, text, io.BytesIO(text), document.named)
    return rest, begin


def _odd_line(head: bytes, number: int) -> tuple[str, str] | None:
    """Return what is wrong with a line that is no YAML, and what to do; None if it is not known."""
    line = b"".join(head.splitlines()[number - 1 : number])
    if TEMPLATE.search(line):
        return "a template, not a manifest", RENDER
    if b"\t" in line[: len(line) - len(line.lstrip())]:
        return "not YAML: a tab indents the line", "indent with spaces"
    if line.lstrip().startswith(b"```"):
        return "not YAML: a fence of Markdown", "give what is between the fences"
    return None


def _unreadable(document: Document, what: str, where: str) -> InputError:
    """Return the error for a text that is neither YAML nor JSON."""
    if TEMPLATE.search(document.head):
        return InputError(f"a template, not a manifest: {what}", where=where, now=RENDER)
    now = f"correct it; if it is made from a template, {RENDER}"
    return InputError(what, where=where, now=now)


def _json_items(document: Document) -> Iterator[Item]:
    context = Context(source=document.source)
    for number, (line, text) in enumerate(json_documents(document.stream, context), start=1):
        place = FilePlace(document.source, line, number)
        try:
            value = msgspec.json.decode(text)
        except DECODE_FAULTS as fault:
            raise _unreadable(document, f"not JSON: {fault}", str(place)) from fault
        parts = value if isinstance(value, list) else listed(value)
        twice: dict[int, list[RepeatedKey]] = {}
        for item, key in repeated_keys(text, line) if _repeats(text, value) else ():
            twice.setdefault(0 if parts is None else item, []).append(key)
        for item, each in enumerate([value] if parts is None else parts):
            yield Item(each, place, repeated=tuple(twice.get(item, ())))


def _repeats(text: bytes | bytearray, value: Any) -> bool:
    """Return whether a key occurs twice in an object of JSON: few texts have to be walked for it.

    :param value: the decoded text. If it has quotes in another form, it encodes to more of them.
    """
    return b"\\u0022" in text or repeated_key(bytes(text), canonical_json(value)) is not None


def listed(value: Any) -> list[Any] | None:
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

    def item(self, value: Any, place: FilePlace) -> Item:
        """Return a value with what was noted since the last item."""
        repeated = tuple(RepeatedKey(line, name) for line, name in self.repeated)
        # Equal texts: the first one gives the line.
        blocks = {text: line for line, text in reversed(self.blocks)}
        self.repeated.clear()
        self.blocks.clear()
        return Item(value, place, blocks, repeated)


def _yaml_items(document: Document) -> Iterator[Item]:
    notes = _Notes()
    reader = YamlReader(document.stream, repeated=notes.repeated, blocks=notes.blocks)
    number = 0
    while not isinstance(event := reader.next(), yaml.StreamEndEvent):
        if isinstance(event, yaml.DocumentStartEvent):
            number += 1
            yield from _yaml_document(reader, notes, document.source, number)


def _yaml_document(reader: YamlReader, notes: _Notes, source: str, number: int) -> Iterator[Item]:
    """Yield the objects of one document; the items of its list have their own lines."""
    root = reader.next()
    place = FilePlace(source, reader.line, number)
    if not isinstance(root, yaml.MappingStartEvent):
        value = reader.value(root)
        each_of = value if isinstance(value, list) else [value]
        yield from (notes.item(each, place) for each in each_of if each is not None)
        return
    fields: dict[str, Any] = {}
    items: list[Item] | None = None
    while not isinstance(key := reader.next(), yaml.MappingEndEvent):
        name = reader.key(key)
        # Before the value is entered: a key counts as repeated only if it was there.
        again = name in fields
        event, line = reader.next(), reader.line
        if name == "items" and isinstance(event, yaml.SequenceStartEvent):
            items = list(_yaml_sequence(reader, notes, source, number))
            fields[name] = [item.value for item in items]
        else:
            fields[name] = reader.value(event, 1)
        if again:
            notes.repeated.append((line, name))
    parts = listed(fields)
    if parts is None or items is None:
        yield notes.item(fields, place)
        return
    yield from (item._replace(value=value) for value, item in zip(parts, items, strict=True))


def _yaml_sequence(reader: YamlReader, notes: _Notes, source: str, number: int) -> Iterator[Item]:
    while not isinstance(event := reader.next(), yaml.SequenceEndEvent):
        line = reader.line
        yield notes.item(reader.value(event, 2), FilePlace(source, line, number))
