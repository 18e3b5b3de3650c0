"""Read manifests and configurations from files, folders and standard input, with their places.

A manifest may not have been applied yet, so it has neither a uid nor a resourceVersion. That
distinguishes this from the formats of ingest, which read recorded objects.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...engine.errors import InputError
from ...engine.ingest.objects import scheduler_conf
from ...engine.ingest.objects.scheduler_conf import MAX_BYTES
from ...engine.ingest.reading.inputs import Document, documents, find_files
from ...engine.kubernetes.scheduler_confs import configs_in
from .findings import FilePlace, Subject
from .inputs import Configuration
from .objects import Manifest
from .wrapped import Inside, inside, is_checked, is_kustomization
from .written_items import JSON, RENDER, TEMPLATE, Item, written_items

SUFFIXES = (".yaml", ".yml", ".json", ".conf")
"""The files that are read in folders; a file given by name may have any suffix."""

_HOLDER = re.compile(rb"kind|tiers|\.conf")
"""What shows that a file is no configuration itself, but may hold one."""

_SHOWN = 3
KUSTOMIZE = "render it: kubectl kustomize DIR | plinian lint -"
_NOW = "give files as for kubectl apply; other files are for plinian ingest"


class Holder(NamedTuple):
    """An object of a kind without rules. :param checked: how much inside of it is checked."""

    manifest: Manifest
    checked: Inside


class WrittenFiles(NamedTuple):
    """The objects and configurations that were read, in the order of the files.

    :param inner: objects that rules check, inside of other objects.
    :param holders: the objects of kinds without rules.
    """

    manifests: tuple[Manifest, ...]
    confs: tuple[Configuration, ...]
    inner: tuple[Manifest, ...] = ()
    holders: tuple[Holder, ...] = ()


def read_files(paths: Sequence[str]) -> WrittenFiles:
    """Read files, folders, and ``-`` for standard input.

    Other objects, and what is no object, may hold objects and configurations: an Application of
    Argo CD, the data of a ConfigMap, values of Helm.

    :raises InputError: a file cannot be read, is neither YAML nor JSON, or holds something that is
        neither a Kubernetes object nor a configuration.
    """
    manifests: list[Manifest] = []
    confs: list[Configuration] = []
    inner: list[Manifest] = []
    holders: list[Holder] = []
    for file in find_files(paths):
        if not file.named and not file.path.endswith(SUFFIXES):
            continue
        for document in documents(file):
            if scheduler_conf.FORMAT.sniff(document.head, document.name):
                confs.append(_conf(document))
                continue
            for item in map(_named, written_items(document)):
                held = Inside((), ())
                if _is_bare(item.value):
                    held = _inside_bare(item)
                else:
                    manifests.append(Manifest(_object(item), item.place, item.repeated))
                    if not is_checked(manifests[-1]):
                        held = _inside(item)
                        holders.append(Holder(manifests[-1], held))
                inner += held.manifests
                confs += held.confs
    return WrittenFiles(tuple(manifests), tuple(confs), tuple(inner), tuple(holders))


def read_conf(path: str) -> Configuration:
    """Read a file that is a scheduler configuration, or a ConfigMap with one.

    :raises InputError: it cannot be read, or holds no configuration.
    """
    for file in find_files([path]):
        for document in documents(file):
            head = document.head
            if scheduler_conf.FORMAT.sniff(head, "any.conf"):
                return _conf(document)
            if head.lstrip().startswith(JSON) or _HOLDER.search(head):
                found = [conf for item in written_items(document) for conf in _confs_of(item)]
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
        found = f"{value!r:.40}"
        raise InputError(f"expected a Kubernetes object, found {found}", where=where, now=_NOW)
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str):
            what = f"expected a Kubernetes object, found one without {field}"
            raise InputError(what, where=where, now=_NOW)
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if isinstance(name, str) and TEMPLATE.search(name.encode("utf-8", "replace")):
        raise InputError(f"the name {name[:60]!r} is a template's", where=where, now=RENDER)
    return value


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
    found = inside(item)
    if not any(found):
        where, keys = str(item.place), ", ".join(list(item.value)[:_SHOWN]) or "no keys"
        raise InputError(
            f"neither a Kubernetes object nor a scheduler configuration in it ({keys})",
            where=where,
            now=f"if these are values of Helm, {RENDER}; else {_NOW}",
        )
    first, *rest = found.confs or (None,)
    if first is None:
        return found
    return found._replace(confs=(first._replace(repeated=item.repeated), *rest))


def _inside(item: Item) -> Inside:
    """Return what is in an object: of a ConfigMap, its files are configurations first."""
    manifest, found = Manifest(item.value, item.place), inside(item)
    if manifest.group_kind != ("", "ConfigMap"):
        return found
    confs = tuple(
        Configuration(text, manifest.subject(), item.blocks.get(text, -1))
        for _, text, _ in configs_in(manifest.document)
    )
    return found._replace(confs=confs or found.confs)
