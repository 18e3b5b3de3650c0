"""Read manifests and configurations from files, folders and standard input, with their places.

A manifest may not have been applied yet, so it has neither a uid nor a resourceVersion. That
distinguishes this from the formats of ingest, which read recorded objects.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...engine.errors import InputError
from ...engine.ingest.objects import scheduler_conf
from ...engine.ingest.objects.scheduler_conf import MAX_BYTES
from ...engine.ingest.reading.inputs import HEAD, Document, InputFile, documents, find_files
from ...engine.kubernetes.objects.decoding_faults import value_words
from ...engine.kubernetes.scheduler_confs import configs_in
from .findings import FilePlace, FindingSubject
from .lint_inputs import Configuration, UnreadInput
from .object_versions import missing_field
from .objects import Manifest
from .wrapped import Inside, inside, is_checked, is_kustomization
from .written_items import JSON, RENDER, TEMPLATE, Item, after_fault, written_items

SUFFIXES = (".yaml", ".yml", ".json", ".conf")
"""The files that are read in folders; a file given by name may have any suffix."""

_HOLDER = re.compile(rb"kind|tiers|\.conf")
"""What shows that a file is no configuration itself, but may hold one."""

_CHART = frozenset({"apiVersion", "name", "version"})
"""What Chart.yaml has."""

_CONF = ".conf"
"""How the name of a configuration ends in a ConfigMap."""

_FREE = frozenset({"command", "args", "env", "annotations", "labels"})
"""Fields whose texts may have braces for another program."""

_SHOWN = 3
BUILD = "kubectl kustomize DIR | plinian lint -"
_NOW = "give files as for kubectl apply and from kubectl get -o yaml; others are for plinian ingest"


class UnruledObject(NamedTuple):
    """An object of a kind without rules. :param checked: how much inside of it is checked."""

    manifest: Manifest
    checked: Inside


class WrittenFiles(NamedTuple):
    """The objects and configurations that were read, in the order of the files.

    :param inner: objects that rules check, inside of other objects.
    :param holders: the objects of kinds without rules.
    :param unread: what cannot be read beside them.
    """

    manifests: tuple[Manifest, ...]
    confs: tuple[Configuration, ...]
    inner: tuple[Manifest, ...] = ()
    holders: tuple[UnruledObject, ...] = ()
    unread: tuple[UnreadInput, ...] = ()


class _Reader:
    """Reads files one after the other, and goes on after one that cannot be read."""

    def __init__(self) -> None:
        self.manifests: list[Manifest] = []
        self.confs: list[Configuration] = []
        self.inner: list[Manifest] = []
        self.holders: list[UnruledObject] = []
        self.faults: list[tuple[str, InputError]] = []

    def read(self, file: InputFile) -> None:
        """Read a file; what of it cannot be read is noted."""
        try:
            for document in documents(file):
                self.read_document(document)
        except InputError as fault:
            self.faults.append((file.path, fault))

    def read_document(self, document: Document) -> None:
        """Read a text; what of it cannot be read is noted."""
        rest: tuple[Document, int] | None = document, -1
        while rest is not None:
            part, begin = rest
            try:
                self._read_part(part)
            except InputError as fault:
                self.faults.append((part.source, fault))
                # At least one line further, so that a fault without a line ends, too.
                rest = after_fault(part, max(_line_of(part.source, fault) - 1, begin + 1))
            else:
                return

    def _read_part(self, document: Document) -> None:
        if scheduler_conf.FORMAT.sniff(document.head, document.name):
            self.confs.append(_conf(document))
            return
        for item in map(_named, written_items(document)):
            self._read_item(item)

    def _read_item(self, item: Item) -> None:
        contents = Inside((), ())
        try:
            if _is_bare(item.value):
                contents = _inside_bare(item)
            else:
                # Before what is inside: a fault in there takes nothing from the object itself.
                self.manifests.append(Manifest(_object(item), item.place, item.repeated))
                if not is_checked(self.manifests[-1]):
                    contents = _inside(item)
                    self.holders.append(UnruledObject(self.manifests[-1], contents))
        except InputError as fault:
            self.faults.append((item.place.file, fault))
        self.inner += contents.manifests
        self.confs += contents.confs

    def found(self) -> WrittenFiles:
        """Return what was read."""
        return WrittenFiles(
            tuple(self.manifests),
            tuple(self.confs),
            tuple(self.inner),
            tuple(self.holders),
            tuple(_unread(source, fault) for source, fault in self.faults),
        )


def read_files(paths: Sequence[str], *, go_on: bool = False) -> WrittenFiles:
    """Read files, folders, and ``-`` for standard input.

    Other objects, and what is no object, may hold objects and configurations: an Application of
    Argo CD, the data of a ConfigMap, values of Helm.

    :param go_on: read the others if a file, or an object in it, cannot be read.
    :raises InputError: a file cannot be read, is neither YAML nor JSON, or holds something that is
        neither a Kubernetes object nor a configuration; with ``go_on`` only if there is nothing
        else.
    """
    reader = _Reader()
    for file in find_files(paths):
        if file.named or file.path.endswith(SUFFIXES):
            reader.read(file)
    nothing = not (reader.manifests or reader.confs or reader.inner)
    if reader.faults and (nothing or not go_on):
        raise _first(reader.faults)
    return reader.found()


def read_text(text: str, name: str) -> WrittenFiles:
    """Read a text as a file of a name.

    :raises InputError: as of :func:`read_files`.
    """
    data = text.encode("utf-8", "replace")
    reader = _Reader()
    reader.read_document(Document(name, name, data[:HEAD], io.BytesIO(data), named=True))
    if reader.faults:
        raise _first(reader.faults)
    return reader.found()


def _first(faults: Sequence[tuple[str, InputError]]) -> InputError:
    """Return the first of some errors, with the number of the others."""
    first, others = faults[0][1], len(faults) - 1
    if not others:
        return first
    message = f"{first.what} (and {others} more cannot be read)"
    return InputError(message, where=first.where, now=first.now)


def _unread(source: str, fault: InputError) -> UnreadInput:
    return UnreadInput(FilePlace(source, _line_of(source, fault), 1), fault.what, fault.now)


def _line_of(source: str, fault: InputError) -> int:
    """Return the line that an error names; 1 if it names none."""
    line = fault.where.removeprefix(f"{source}:")
    return int(line) if line.isascii() and line.isdecimal() else 1


def read_conf(path: str) -> Configuration:
    """Read a file that is a scheduler configuration, or a ConfigMap with one.

    :raises InputError: it cannot be read, or holds no configuration.
    """
    for file in find_files([path]):
        for document in documents(file):
            head = document.head
            # The file was named as a configuration, whatever its suffix, so its content decides.
            if scheduler_conf.FORMAT.sniff(head, "any.conf"):
                return _conf(document)
            if head.lstrip().startswith(JSON) or _HOLDER.search(head):
                configurations = [
                    conf for item in written_items(document) for conf in _confs_of(item)
                ]
                if configurations:
                    # The last of several is in force, as for files.
                    return configurations[-1]
            else:
                return _conf(document)
    raise InputError("it holds no scheduler configuration", where=path)


def _conf(document: Document) -> Configuration:
    data = document.stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError("a configuration of more than 1 MiB", where=document.source)
    subject = FindingSubject("", "SchedulerConfiguration", "", FilePlace(document.source, 1, 1))
    return Configuration(_text(data, document.source), subject)


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(f"not UTF-8: {fault.reason}", where=source) from fault


def _is_bare(value: Any) -> bool:
    """Return whether a value is a mapping that does not say what it is."""
    return isinstance(value, dict) and not {"kind", "apiVersion"} & value.keys()


def _named(item: Item) -> Item:
    """Return an item with its kind, which a kustomization need not name."""
    if not (_is_bare(item.value) and is_kustomization(item.value)):
        return item
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    return item._replace(value={**kind, **item.value})


def _object(item: Item) -> dict[str, Any]:
    """Return an item that is a Kubernetes object.

    :raises InputError: it is not one.
    """
    value, where = item.value, str(item.place)
    if not isinstance(value, dict):
        message = f"expected a Kubernetes object, found {value_words(value)}"
        raise InputError(message, where=where, now=_NOW)
    if value.keys() >= _CHART and "kind" not in value:
        message = "the description of a chart of Helm, not a manifest"
        raise InputError(message, where=where, now=RENDER)
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str):
            lack = f"one without {field}"
            if field in value:
                lack = f"one whose {field} is {value_words(value[field])}, not text"
            now = missing_field(field, value) or _NOW
            raise InputError(f"expected a Kubernetes object, found {lack}", where=where, now=now)
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    _check_texts([("the name", name)], where)
    # Objects of other tools, such as Argo's workflows, have braces for those tools.
    if is_checked(Manifest(value, item.place)):
        check_rendered(value, where)
    return value


def check_rendered(value: Mapping[str, Any], where: str) -> None:
    """Refuse an object with placeholders of a template in its spec.

    :raises InputError: it has some.
    """
    _check_texts(_texts(value.get("spec"), "spec"), where)


def _check_texts(texts: Iterable[tuple[str, Any]], where: str) -> None:
    for place_of_text, text in texts:
        if isinstance(text, str) and TEMPLATE.search(text.encode("utf-8", "replace")):
            raise InputError(
                f"{place_of_text} {text[:60]!r} is a template's", where=where, now=RENDER
            )


def _texts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the texts in a value with their paths, except for those that containers run with."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _FREE:
                yield from _texts(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{at}]")
    else:
        yield path, value


def _confs_of(item: Item) -> tuple[Configuration, ...]:
    """Return the configurations in an item.

    :raises InputError: it is neither an object nor holds a configuration.
    """
    if _is_bare(item.value):
        return _inside_bare(item).confs
    _object(item)
    return _inside(item).confs


def _inside_bare(item: Item) -> Inside:
    """Return what is in an item that is no object.

    :raises InputError: nothing is.
    """
    contents = inside(item)
    if not any(contents):
        where, keys = str(item.place), ", ".join(list(item.value)[:_SHOWN]) or "no keys"
        raise InputError(
            f"neither a Kubernetes object nor a scheduler configuration in it ({keys})",
            where=where,
            now=f"if these are values of Helm, {RENDER}; else {_NOW}",
        )
    # Keys of values stand around all their configurations; the first one reports them.
    first, *rest = contents.confs or (None,)
    if first is None:
        return contents
    return contents._replace(confs=(first._replace(repeated=item.repeated), *rest))


def _inside(item: Item) -> Inside:
    """Return what is in an object: of a ConfigMap, its files are configurations first."""
    manifest, contents = Manifest(item.value, item.place), inside(item)
    if manifest.group_kind != ("", "ConfigMap"):
        return contents
    data = manifest.document.get("data")
    for name, value in data.items() if isinstance(data, dict) else ():
        if name.endswith(_CONF) and not isinstance(value, str):
            message = f"data.{name} of a ConfigMap is {value_words(value)}, not text"
            now = f"write it as a block of text, which begins with {name}: |"
            raise InputError(message, where=str(item.place), now=now)
    confs = tuple(
        Configuration(text, manifest.subject(), item.blocks.get(text, -1))
        for _, text, _ in configs_in(manifest.document)
    )
    return contents._replace(confs=confs or contents.confs)
