"""From a Kubernetes object to the event of one of its versions.

Every format with whole objects uses this module, so that the same version has the same bytes from
every source.
"""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec

from ...errors import EventMalformed
from ...events import Event, Reference, canonical_json, kind_of_version
from ...events.kinds import NOUNS
from ...kubernetes.units import FIRST_TIME, SECOND_US, TimeOutOfRange, parse_time
from ...nesting import hold_depth
from ..reading.sizes import hold_object
from .kept_fields import conceal

MAX_REVISION = 2**61 - 1
"""No cluster reaches it. The order of events counts in halves of revisions, in 63 bits."""
_REVISION_DIGITS = 19

_MANAGED = b'"managedFields":['
_CUT = b"0"
"""Replaces ``managedFields`` in the text; no API server writes a number there."""


_LONGEST_GRACE = 10**9
"""Seconds; no API server accepts a longer grace period."""

_BRACKETS = 8
"""How many are tried as the end; usually the first is it, as only strings have others."""


class _Written(msgspec.Struct, gc=False):
    """The needed part of an entry of ``managedFields``; the rest is skipped."""

    time: str = ""


_DECODE = msgspec.json.Decoder().decode
_WRITTEN = msgspec.json.Decoder(list[_Written]).decode


def decode_slim(text: bytes, holder: str = "") -> tuple[Any, int | None, bytes]:
    """Decode JSON that holds one object, without building its ``managedFields``.

    They are half of the bytes of an object, and only their newest time is needed.

    :param holder: the field that the object is in (``object`` in a watch); empty: the text is it.
    :returns: the value; the newest time of ``managedFields`` in microseconds; the text decoded,
        with a number in place of what was left out.
    :raises msgspec.DecodeError: it is not JSON. :raises RecursionError: it is nested too deep.
    :raises EventMalformed: it is too large.
    """
    slim, written_at = _without_managed_fields(text)
    hold_object(slim)
    value = _DECODE(slim)
    document = value.get(holder) if holder and isinstance(value, dict) else value
    hold_depth(document, slim)
    if slim is text:
        return value, None, text
    metadata = document.get("metadata") if isinstance(document, dict) else None
    if isinstance(metadata, dict) and metadata.get("managedFields") == 0:
        return value, written_at, slim
    # The text that was cut out was another field of that name, deep inside: decode it in full.
    hold_object(text)
    value = _DECODE(text)
    hold_depth(value.get(holder) if holder and isinstance(value, dict) else value, text)
    return value, None, text


def _without_managed_fields(text: bytes) -> tuple[bytes, int | None]:
    # An unescaped quote cannot be inside a JSON string, so what is found is a key; and if the piece
    # up to some bracket is JSON by itself, then it is the whole value.
    start = text.find(_MANAGED)
    if start < 0:
        return text, None
    start += len(_MANAGED) - 1
    end = start
    for _ in range(_BRACKETS):
        end = text.find(b"]", end) + 1
        if not end:
            break
        try:
            written_at = newest_written(text[start:end])
        except (msgspec.ValidationError, EventMalformed):
            return text, None
        except (msgspec.DecodeError, RecursionError):
            continue
        return text[:start] + _CUT + text[end:], written_at
    return text, None


def newest_written(managed_fields: bytes | msgspec.Raw) -> int | None:
    """Return the newest time in the text of ``managedFields``, microseconds, or None.

    :raises msgspec.ValidationError: it is not a list of objects with texts as times.
    :raises msgspec.DecodeError: it is not JSON. :raises RecursionError: it is nested too deep.
    """
    newest = ""
    for entry in _WRITTEN(managed_fields):
        if entry.time > newest:  # noqa: PLR1730 -- in every event, calls would cost
            newest = entry.time
    return stamp_of(newest)


def version_event(
    document: dict[str, Any],
    *,
    verb: str,
    source: str,
    line: int,
    cluster: str = "default",
    written_at: int | None = None,
    earliest: int | None = None,
    latest: int | None = None,
    actor: str = "",
) -> Event:
    """Return the event of one object version; removes ``managedFields`` from ``document``.

    A Secret loses its content too (:mod:`.kept_fields`).

    :param verb: ``observed``, ``created``, ``updated`` or ``deleted``.
    :param written_at: the newest time of its ``managedFields``, if these were left out already.
    :param earliest: microseconds; if None, the newest stamp in the object is taken.
    :param latest: by when the version existed, if the source says so; microseconds.
    :raises EventMalformed: no kind, name, uid or usable resourceVersion, or a field of wrong type.
    """
    # A good object passes one cheap check; which field is wrong is looked for only in a bad one.
    try:
        kind, api_version, metadata = document["kind"], document["apiVersion"], document["metadata"]
        fields = metadata.pop("managedFields", None)
        version, name, uid = metadata["resourceVersion"], metadata["name"], metadata["uid"]
        namespace = metadata.get("namespace") or ""
        if not (
            version.isdecimal() and version.isascii() and kind and api_version and name and uid
        ):
            raise_fault(document, f"{source}:{line}")
        group = api_version.rpartition("/")[0]
        reference = Reference(group, kind, namespace, name, uid)
        revision = int(version)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise_fault(document, f"{source}:{line}")
    if revision > MAX_REVISION or not _has_right_types(document, metadata, reference):
        raise_fault(document, f"{source}:{line}")
    if earliest is None:
        # Managed fields cannot be read twice: the caller left them out, or they were taken out
        # above.
        earliest = newest_stamp(document, newest_time(fields) if fields else written_at)
    conceal(document)
    return Event(
        kind=kind_of_version(group, kind, verb),
        reference=reference,
        payload=canonical_json(document),
        resource_version=version,
        revision=revision,
        earliest=earliest,
        latest=latest,
        actor=actor,
        source=source,
        line=line,
        cluster=cluster,
    )


def revision_of(version: Any) -> int | None:
    """Return a resourceVersion as a number; None if it is not a decimal number below 2^61."""
    if not isinstance(version, str) or len(version) > _REVISION_DIGITS:
        return None
    if not (version.isascii() and version.isdecimal()):
        return None
    revision = int(version)
    return revision if revision <= MAX_REVISION else None


def _has_right_types(
    document: dict[str, Any], metadata: dict[str, Any], reference: Reference
) -> bool:
    """Say whether the fields that all code relies on have the types of Kubernetes."""
    spec, status = document.get("spec"), document.get("status")
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    return (
        type(reference.kind) is type(reference.group) is type(reference.namespace) is str
        and type(reference.name) is type(reference.uid) is str
        and (labels is None or type(labels) is dict)
        and (annotations is None or type(annotations) is dict)
        and (
            ((spec is None or type(spec) is dict) and (status is None or type(status) is dict))
            or (reference.group, reference.kind) not in NOUNS
        )
    )


def raise_fault(document: dict[str, Any], where: str) -> NoReturn:
    """Raise for the first fault of an object, which must have one.

    :raises EventMalformed: always.
    """
    kind = _text(document, "kind", "$", where)
    api_version = _text(document, "apiVersion", "$", where)
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise _wrong("an object", metadata, "$.metadata", where)
    _text(metadata, "name", "$.metadata", where)
    _text(metadata, "uid", "$.metadata", where)
    version = _text(metadata, "resourceVersion", "$.metadata", where)
    if not (version.isascii() and version.isdecimal()):
        raise _wrong("a decimal number", version, "$.metadata.resourceVersion", where)
    if revision_of(version) is None:
        raise _wrong("a number below 2^61", version, "$.metadata.resourceVersion", where)
    if not isinstance(metadata.get("namespace") or "", str):
        raise _wrong("a string", metadata["namespace"], "$.metadata.namespace", where)
    for path, holder, field in (
        ("$.metadata", metadata, "labels"),
        ("$.metadata", metadata, "annotations"),
        ("$", document, "spec"),
        ("$", document, "status"),
    ):
        if not isinstance(holder.get(field) or {}, dict):
            raise _wrong("an object", holder[field], f"{path}.{field}", where)
    raise _wrong("an object of Kubernetes", f"{api_version} {kind}", "$", where)


def newest_stamp(document: dict[str, Any], written_at: int | None) -> int | None:
    """Return the newest time that an API server has put into an object: microseconds, or None.

    The object was not written before it. Stamps are in whole seconds.

    :param written_at: the newest time of ``managedFields``. These also have the time of creation;
        but bindings, evictions and deletions do not change them.

    Source: k8s.io/apiserver/pkg/registry/rest/delete.go BeforeDelete, and
    k8s.io/kubernetes/pkg/registry/core/pod/storage/storage.go setPodNodeAndMetadata.
    """
    metadata = document["metadata"]
    newest = written_at
    if newest is None:
        newest = stamp_of(metadata.get("creationTimestamp"))
    if "deletionTimestamp" in metadata:
        newest = later(newest, deletion_requested(metadata))
    if document.get("kind") == "Pod":
        newest = later(newest, bound_at(document.get("status")))
    return newest


def later(one: int | None, other: int | None) -> int | None:
    """Return the later of two times; either may be unknown."""
    return other if one is None or (other is not None and other > one) else one


def deletion_requested(metadata: dict[str, Any]) -> int | None:
    """Return when the deletion of an object was requested: microseconds, or None.

    The deletionTimestamp is later than that by the grace period.
    """
    ends = stamp_of(metadata.get("deletionTimestamp"))
    grace = metadata.get("deletionGracePeriodSeconds", 0)
    if ends is None or type(grace) is not int or not 0 <= grace < _LONGEST_GRACE:
        return None
    return max(ends - grace * SECOND_US, FIRST_TIME)


def bound_at(status: Any) -> int | None:
    """Return when a pod was bound, by its condition PodScheduled: microseconds, or None."""
    try:
        for condition in reversed(status["conditions"]):  # kubelets write it last
            if condition["type"] == "PodScheduled":
                bound = condition["status"] == "True"
                return stamp_of(condition["lastTransitionTime"]) if bound else None
    except (KeyError, TypeError):
        pass  # No scheduler has looked at the pod, or no API server wrote this.
    return None


def newest_time(managed_fields: Any) -> int | None:
    """Return the newest ``time`` in a ``managedFields`` list, microseconds, or None.

    The API server sets it when a manager writes, in whole seconds; it is the best known
    time of the change in an object.
    """
    if not isinstance(managed_fields, list):
        return None
    times = [
        entry["time"]
        for entry in managed_fields
        if isinstance(entry, dict) and isinstance(entry.get("time"), str)
    ]
    return stamp_of(max(times, default=""))


def stamp_of(newest: Any) -> int | None:
    """Return the time of a stamp, microseconds; None if there is none, or it is not a time.

    :raises EventMalformed: no log can hold the time, as it cannot be written in UTC.
    """
    # RFC 3339 in UTC with whole seconds sorts as text, so only the newest is parsed.
    if not newest or not isinstance(newest, str):
        return None
    try:
        return parse_time(newest)
    except TimeOutOfRange as fault:
        raise EventMalformed(f"the time {fault}", path="$") from None
    except ValueError:
        return None


def _text(holder: dict[str, Any], field: str, path: str, where: str) -> str:
    value = holder.get(field)
    if isinstance(value, str) and value:
        return value
    raise _wrong("a non-empty string", value, f"{path}.{field}", where)


def _wrong(expected: str, found: Any, path: str, where: str) -> EventMalformed:
    what = "nothing" if found is None else repr(found)[:80]
    return EventMalformed(
        f"expected {expected}, found {what}",
        path=path,
        where=where,
        now="fix the record, or leave it out with --skip-malformed (it will be counted)",
    )
