"""Identities for objects that have none, as people shorten them (``kubectl neat``).

A uid is made from the group, the kind, the namespace and the name, and from when the object was
created if its input says so: every input gives the same one, and an object that was made again has
another one. It begins with :data:`GENERATED`, so it is not treated as a real one. A version without
a resourceVersion counts as the first of all versions: any other version of the object is newer.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...events import GENERATED, Event, canonical_json
from ...events.kinds import UID_FIELD, VERSION_FIELD
from ..reading.formats import Context

FIRST_REVISION = 1
FIRST_VERSION = str(FIRST_REVISION)
"""The resourceVersion of a version without one; no API server gives it to an object."""

NO_UID = (UID_FIELD, "generated")
NO_VERSION = (VERSION_FIELD, FIRST_VERSION)
"""What an object without the field gets, as fields that are filled in are counted."""

_DIGEST_BYTES = 16


def identify(document: dict[str, Any], context: Context) -> bool:
    """Give an object the uid and the resourceVersion that it lacks, and count them in the context.

    :returns: whether it lacked a resourceVersion.
    """
    metadata = document.get("metadata")
    kind, api_version = document.get("kind"), document.get("apiVersion")
    if not (isinstance(metadata, dict) and isinstance(kind, str) and isinstance(api_version, str)):
        return False
    name, namespace = metadata.get("name"), metadata.get("namespace") or ""
    if not (isinstance(name, str) and name and isinstance(namespace, str)):
        return False
    pair = api_version.rpartition("/")[0], kind
    if metadata.get("uid") in (None, ""):
        created = metadata.get("creationTimestamp")
        made_at = created if isinstance(created, str) else ""
        metadata["uid"] = generated_uid(*pair, namespace, name, made_at)
        context.assume(pair, (namespace, name), *NO_UID)
    if metadata.get("resourceVersion") not in (None, ""):
        return False
    metadata["resourceVersion"] = FIRST_VERSION
    context.assume(pair, (namespace, name), *NO_VERSION)
    return True


def generated_uid(group: str, kind: str, namespace: str, name: str, created: str = "") -> str:
    """Return the uid of an object without one: the same wherever it is found.

    :param created: its creationTimestamp; empty if it has none.
    """
    import hashlib  # noqa: PLC0415 -- takes long to load, and few objects lack a uid

    named = canonical_json([group, kind, namespace, name, *([created] if created else [])])
    return GENERATED + hashlib.blake2b(named, digest_size=_DIGEST_BYTES).hexdigest()


# The time of creation is left out where there is none: uids of stored logs stay the same.


def first_version(event: Event, context: Context) -> Event:
    """Return the event of a version without a resourceVersion, and note it in the context.

    Its stamps are left out: they would date every later revision.
    """
    context.unversioned.add(event.reference.uid)
    return msgspec.structs.replace(event, earliest=None)
