"""From a Kubernetes object, however it was come by, to the event of one of its versions.

Every format that meets whole objects ends here, so that the same version has the same bytes from
whatever source it came.
"""

from __future__ import annotations

from typing import Any

from ..errors import EventMalformed
from ..events import Event, Reference, canonical_json, kind_of_version
from ..units import parse_time

MAX_REVISION = 2**63 - 1


def version_event(
    document: dict[str, Any],
    *,
    verb: str,
    source: str,
    line: int,
    cluster: str = "default",
    observed_at: int | None = None,
    actor: str = "",
) -> Event:
    """Make the event of one object version; ``document`` loses its ``managedFields`` on the way.

    A Secret loses its content too: a log is kept long and passed around.

    :param verb: ``observed``, ``created``, ``updated`` or ``deleted``.
    :param observed_at: microseconds; if None, the newest time in ``managedFields`` is taken, and
        for a deletion none, because nothing in the last version says when it went.
    :raises EventMalformed: no kind, name, uid or usable resourceVersion, or a field of wrong type.
    """
    where = f"{source}:{line}"
    kind = _text(document, "kind", "$", where)
    api_version = _text(document, "apiVersion", "$", where)
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise _wrong("an object", metadata, "$.metadata", where)
    fields = metadata.pop("managedFields", None)
    resource_version = _text(metadata, "resourceVersion", "$.metadata", where)
    if not (resource_version.isascii() and resource_version.isdigit()):
        raise _wrong("a decimal number", resource_version, "$.metadata.resourceVersion", where)
    revision = int(resource_version)
    if revision > MAX_REVISION:
        raise _wrong("a number below 2^63", resource_version, "$.metadata.resourceVersion", where)
    if observed_at is None and fields and verb != "deleted":
        observed_at = newest_time(fields)
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        raise _wrong("a string", namespace, "$.metadata.namespace", where)
    group = api_version.rpartition("/")[0]
    if kind == "Secret" and not group:
        conceal_secret(document)
    return Event(
        kind=kind_of_version(group, kind, verb),
        reference=Reference(
            group,
            kind,
            namespace,
            _text(metadata, "name", "$.metadata", where),
            _text(metadata, "uid", "$.metadata", where),
        ),
        payload=canonical_json(document),
        resource_version=resource_version,
        revision=revision,
        observed_at=observed_at,
        actor=actor,
        source=source,
        line=line,
        cluster=cluster,
    )


def conceal_secret(document: dict[str, Any]) -> None:
    """Take a Secret's content out of it: ``data``, ``stringData``, and kubectl's copy of them."""
    document.pop("data", None)
    document.pop("stringData", None)
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(annotations, dict):
        annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)


def newest_time(managed_fields: Any) -> int | None:
    """Return the newest ``time`` in a ``managedFields`` list, microseconds, or None.

    The API server sets it when a manager writes, in whole seconds; it is the closest thing to a
    time of change that an object carries.
    """
    if not isinstance(managed_fields, list):
        return None
    times = [
        entry["time"]
        for entry in managed_fields
        if isinstance(entry, dict) and isinstance(entry.get("time"), str)
    ]
    if not times:
        return None
    # RFC 3339 in UTC with whole seconds sorts as text, and only the winner need be parsed.
    try:
        return parse_time(max(times))
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
        f"{path}: expected {expected}, found {what}",
        where=where,
        now="fix the record, or leave it out with --skip-malformed (it will be counted)",
    )
