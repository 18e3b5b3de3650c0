"""What is inside of objects of other tools, and of values of Helm: objects, and configurations.

Argo CD, Flux, k3s and Terraform carry manifests and values within their own objects, as mappings
or as texts. They are found by what they are, so no list of tools is needed. Objects inside of a
Kustomization are patches, which lack most of an object: only configurations are taken from there.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...engine.errors import InputError
from ...engine.ingest.objects import scheduler_conf
from ...engine.ingest.reading.inputs import HEAD, Document
from ...engine.kubernetes.scheduler_confs import CONF_FILE
from .findings import FilePlace, FindingSubject
from .lint_inputs import Configuration
from .object_versions import odd_version
from .objects import TYPES, Manifest, jobs_in
from .written_items import NOTHING, TEMPLATE, Item, written_items

_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_DEEPEST = 20
_MOST_TEXT = 4 * 2**20
"""Bytes of a text that is searched."""

_KUSTOMIZE = "kustomize.config.k8s.io"
_OF_KUSTOMIZE = frozenset(
    {
        *("resources", "patches", "patchesStrategicMerge", "patchesJson6902", "bases"),
        *("components", "configMapGenerator", "secretGenerator", "helmCharts", "images"),
    }
)
_OFTEN = frozenset({"resources", "images"})
"""Keys of a kustomization that other values have, too."""

_BESIDE = ("namespace", "namePrefix", "nameSuffix", "labels", "commonLabels")


class Inside(NamedTuple):
    """What is inside of a value, in its order."""

    manifests: tuple[Manifest, ...]
    confs: tuple[Configuration, ...]


class _Within(NamedTuple):
    """Where a value is. :param path: keys and indexes, also those in the texts around it."""

    place: FilePlace
    blocks: Mapping[str, int]
    path: tuple[str, ...] = ()

    def under(self, key: str) -> _Within:
        """Return the place of a part."""
        return self._replace(path=(*self.path, key))


def inside(item: Item) -> Inside:
    """Return the objects that rules check, and the configurations, inside of a value."""
    configurations = list(_found(item.value, _Within(item.place, item.blocks)))
    manifests = tuple(content for content in configurations if isinstance(content, Manifest))
    confs = tuple(
        configuration
        for configuration in configurations
        if isinstance(configuration, Configuration)
    )
    return Inside(() if is_kustomization(item.value) else manifests, confs)


def is_kustomization(value: Any) -> bool:
    """Return whether a value is a kustomization; it need not name its kind."""
    if not isinstance(value, dict):
        return False
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    if "kind" in value or "apiVersion" in value:
        return group == _KUSTOMIZE
    # Other values have resources and images, too: these two alone prove nothing.
    own, lists = _OF_KUSTOMIZE & value.keys() - _OFTEN, isinstance(value.get("resources"), list)
    return bool(own) or (lists and value.keys() <= {*_OF_KUSTOMIZE, *_BESIDE})


def is_checked(manifest: Manifest) -> bool:
    """Return whether rules check an object; if its kind does not exist, they say so."""
    return jobs_in(manifest).group_kind in TYPES or odd_version(manifest) is not None


def _found(value: Any, where: _Within) -> Iterator[Manifest | Configuration]:
    if len(where.path) > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from _in_mapping(value, where)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _found(inner, where.under(str(number)))
    elif isinstance(value, str) and where.path:
        yield from _in_text(value, where)


def _in_mapping(value: dict[str, Any], where: _Within) -> Iterator[Manifest | Configuration]:
    manifest = Manifest(value, where.place)
    # The value itself is no part of itself; without a path it is what was given.
    if where.path and _is_object(value) and is_checked(manifest):
        yield manifest
    elif where.path and _is_conf_mapping(value):
        yield _conf(json.dumps(value), where)
    else:
        for key, inner in value.items():
            # kubectl's note repeats the object: its content would be found twice.
            if key != _APPLIED:
                yield from _found(inner, where.under(key))


def _is_conf_mapping(value: dict[str, Any]) -> bool:
    return isinstance(value.get("actions"), str) and isinstance(value.get("tiers"), list)


def _is_object(value: dict[str, Any]) -> bool:
    """Return whether a mapping is an object with a name, and not only a reference to one."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return False
    name = metadata.get("name") or metadata.get("generateName")
    return isinstance(name, str) and TEMPLATE.search(name.encode("utf-8", "replace")) is None


def _conf(text: str, where: _Within) -> Configuration:
    subject = FindingSubject("", "SchedulerConfiguration", ".".join(where.path), where.place)
    return Configuration(text, subject, where.blocks.get(text, -1))


def _in_text(text: str, where: _Within) -> Iterator[Manifest | Configuration]:
    """Yield what is in a text: it may be a configuration, or YAML or JSON itself."""
    # A text of one line is a name or a command, unless it is JSON.
    if len(text) > _MOST_TEXT or ("\n" not in text and not text.lstrip().startswith("{")):
        if where.path[-1] == CONF_FILE:
            yield _conf(text, where)
        return
    data = text.encode("utf-8", "replace")
    if where.path[-1] == CONF_FILE or scheduler_conf.FORMAT.sniff(data, where.path[-1]):
        yield _conf(text, where)
        return
    # To parse every block of text takes long, and few hold anything of Volcano's.
    if "kind" not in text and "tiers" not in text and ".conf" not in text:
        return
    document = Document(where.place.file, "", data[:HEAD], io.BytesIO(data), named=True)
    try:
        items = list(written_items(document))
    except InputError:
        return  # Another kind of text, or a template.
    line = where.blocks.get(text, -1)
    for item in items:
        yield from _found(item.value, _moved(item, where, line))


def _moved(item: Item, where: _Within, line: int) -> _Within:
    """Return the place of an item of a text, in the file that the text is in.

    :param line: the line before the text; -1 if it is not known.
    """
    if line < 0:
        # In a text that was folded or quoted, lines are not those of the file.
        return where._replace(blocks=NOTHING)
    place = where.place._replace(line=line + item.place.line)
    blocks = {text: line + before for text, before in item.blocks.items()}
    return where._replace(place=place, blocks=blocks)
