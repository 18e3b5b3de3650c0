"""How a cluster serves a kind: its version, its paths, and its lists in pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

import msgspec

from ...engine.ingest.reading.json_text import DECODE_FAULTS
from .cluster_access import NO_QUERY, READ_SECONDS, Access, ServerRefusal, Unreachable, whole
from .recorded_kinds import RecordedKind

PAGE_ITEMS = 500
"""Objects of one page of a list."""

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

_T = TypeVar("_T")

_NOT_FOUND = 404
_INITIAL_END = "k8s.io/initial-events-end"


class ServedKind(NamedTuple):
    """A kind as a cluster serves it. :param version: ``v1``."""

    kind: RecordedKind
    version: str

    @property
    def api_version(self) -> str:
        """The version as objects have it: ``scheduling.volcano.sh/v1beta1``."""
        group = self.kind.group
        return f"{group}/{self.version}" if group else self.version

    def path(self, namespace: str = "") -> str:
        """Return the path of all objects, or of those in a namespace."""
        root = f"/apis/{self.api_version}" if self.kind.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{within}/{self.kind.plural}"


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    versions: list[_Version] = []
    preferred_version: _Version | None = None


class _Resource(msgspec.Struct):
    name: str
    verbs: list[str] = []


class _Resources(msgspec.Struct):
    resources: list[_Resource] = []


class ListRevision(msgspec.Struct):
    """The metadata of a list. :param continue_: the token of its next page."""

    resource_version: str = msgspec.field(default="", name="resourceVersion")
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: ListRevision
    items: list[msgspec.Raw] | None = None


class _TypeMeta(msgspec.Struct):
    kind: str = ""
    api_version: str = msgspec.field(default="", name="apiVersion")


class ObjectVersion(NamedTuple):
    """Which version of an object a list shows."""

    uid: str
    namespace: str
    name: str
    revision: int


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    namespace: str = ""


class _Item(msgspec.Struct):
    metadata: _Metadata


def served_kind(
    access: Access, kind: RecordedKind, *, quiet: float = READ_SECONDS
) -> ServedKind | None:
    """Return how a cluster serves a kind, in its preferred version; None if it does not.

    :param quiet: seconds without any byte after which an answer counts as dead.
    :raises Unreachable: it does not answer. :raises ServerRefusal: it refuses to say.
    """
    versions = ["v1"]
    try:
        if kind.group:
            group = _decoded(whole(access, f"/apis/{kind.group}", NO_QUERY, quiet=quiet), _Group)
            named = [group.preferred_version] if group.preferred_version else []
            versions = list(dict.fromkeys(each.version for each in [*named, *group.versions]))
        for version in versions:
            served = ServedKind(kind, version)
            root = served.path().rpartition("/")[0]
            resources = _decoded(whole(access, root, NO_QUERY, quiet=quiet), _Resources).resources
            if any(each.name == kind.plural and "watch" in each.verbs for each in resources):
                return served
    except ServerRefusal as fault:
        if fault.code != _NOT_FOUND:
            raise
    return None


def list_lines(
    access: Access, served: ServedKind, namespace: str, query: Mapping[str, str] = NO_QUERY
) -> Iterator[bytes]:
    """Yield a list, read in pages, as the lines with which a watch would begin.

    :param query: further options, such as a revision.
    :raises ServerRefusal: also with 410, if a token expired before the last page was read.
    """
    head = {"kind": served.kind.kind, "apiVersion": served.api_version}
    begin = b'{"type":"ADDED","object":' + msgspec.json.encode(head)[:-1] + b","
    revision = ""
    for page in _pages(access, served.path(namespace), query):
        revision = page.metadata.resource_version
        for item in page.items or ():
            text = bytes(item).lstrip()
            # Items of built-in kinds leave out what the list says.
            if not text.startswith(b"{") or _says_its_kind(text):
                yield b'{"type":"ADDED","object":' + text + b"}\n"
            else:
                yield begin + text[1:] + b"}\n"
    yield bookmark_line(served, revision, ends_list=True)


def _says_its_kind(text: bytes) -> bool:
    """Return whether an item has a kind; the reader says it of one that cannot be read."""
    try:
        return bool(msgspec.json.decode(text, type=_TypeMeta).kind)
    except DECODE_FAULTS:
        return True


def bookmark_line(served: ServedKind, revision: str | int, *, ends_list: bool = False) -> bytes:
    """Return the line with which an API server says up to where a watch has everything."""
    metadata: dict[str, object] = {"resourceVersion": str(revision)}
    if ends_list:
        metadata["annotations"] = {_INITIAL_END: "true"}
    document = {
        "kind": served.kind.kind,
        "apiVersion": served.api_version,
        "metadata": metadata,
    }
    return msgspec.json.encode({"type": "BOOKMARK", "object": document}) + b"\n"


def error_line(code: int, reason: str, message: str) -> bytes:
    """Return the line with which an API server ends a watch."""
    status = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return msgspec.json.encode({"type": "ERROR", "object": status}) + b"\n"


class ListIndex(NamedTuple):
    """The versions of all objects of a kind at a revision.

    :param by_uid: them by their uid. :param requests: how many pages it took.
    """

    revision: int
    by_uid: dict[str, ObjectVersion]
    requests: int


def index_at(
    access: Access, served: ServedKind, namespace: str, revision: int | None = None
) -> ListIndex:
    """Return the versions of all objects at exactly a revision; None: now.

    :raises ServerRefusal: with 410, if the server no longer has the revision.
    """
    query = NO_QUERY if revision is None else exactly(revision)
    by_uid: dict[str, ObjectVersion] = {}
    reached, requests = revision or 0, 0
    for page in _pages(access, served.path(namespace), query, accept=METADATA_ONLY):
        requests += 1
        reached = _revision(page.metadata.resource_version)
        for item in page.items or ():
            shown = _decoded(bytes(item), _Item).metadata
            by_uid[shown.uid] = ObjectVersion(
                shown.uid, shown.namespace, shown.name, _revision(shown.resource_version)
            )
    return ListIndex(reached, by_uid, requests)


def object_at(
    access: Access, served: ServedKind, namespace: str, name: str, revision: int
) -> bytes | None:
    """Return the line of an object as it was at exactly a revision; None if there was none.

    :raises ServerRefusal: with 410, if the server no longer has the revision.
    """
    query = {**exactly(revision), "fieldSelector": f"metadata.name={name}"}
    lines = list(list_lines(access, served, namespace, query))
    return lines[0] if len(lines) > 1 else None


def exactly(revision: int) -> dict[str, str]:
    """Return the options of a list at exactly a revision."""
    return {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}


def _pages(
    access: Access, path: str, query: Mapping[str, str], *, accept: str = ""
) -> Iterator[_Page]:
    token = ""
    while True:
        options = {"limit": str(PAGE_ITEMS)}
        # The token has the revision in it.
        options |= {"continue": token} if token else query
        page = _decoded(whole(access, path, options, accept=accept), _Page)
        yield page
        token = page.metadata.continue_
        if not token:
            return


def _decoded(text: bytes, form: type[_T]) -> _T:
    try:
        return msgspec.json.decode(text, type=form)
    except DECODE_FAULTS as fault:
        raise Unreachable(f"an answer that is none of an API server: {fault}") from fault


def _revision(text: str) -> int:
    try:
        return int(text)
    except ValueError as fault:
        raise Unreachable(f"an answer without a revision: {text[:40]!r}") from fault
