"""What a recorder does not see while it is away, asked for afterwards.

API servers end a watch with 410 whenever they no longer have the revision at which it stopped, and
each restart of a single server is such a case. etcd still has what is younger than its last
compaction, so lists at exactly a revision can show what happened in between:

* If the hole is short, a list at each revision of it shows everything, and nothing is missing.
* Else each object that differs before and after is followed back, version by version. What was
  created and deleted within the hole stays unseen.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from .cluster_access import Access, ServerRefusal
from .served_kinds import ListIndex, ObjectVersion, ServedKind, index_at, object_at

MOST_REQUESTS = 500
"""Requests that the repair of one hole of one kind may make."""

EXPIRED = 410


class Unseen(StrEnum):
    """What may be missing from a hole after its repair."""

    NOTHING = "nothing"
    SHORT_LIVED = "short-lived"
    """Objects that were both created and deleted within it."""
    BOUNDED = "bounded"
    """Also versions whose number was beyond the bound of requests."""
    COMPACTED = "compacted"
    """Everything: the server no longer has the revision before the hole."""


class EpochFell(Exception):
    """The revisions of a cluster fell: its etcd was restored from a backup, or is another one.

    :param before: the last revision that was seen. :param now: that of the server.
    """

    def __init__(self, before: int, now: int) -> None:
        super().__init__(f"revision {before} was seen, and the server is at {now}")
        self.before, self.now = before, now


class Repair(NamedTuple):
    """What was found in a hole.

    :param after: the last revision before the hole. :param until: the first one after it.
    :param lines: the changes in it, as a watch would have them, by revision.
    """

    after: int
    until: int
    lines: tuple[bytes, ...]
    unseen: Unseen
    requests: int


class _Watched(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Spent(Exception):
    """No further request may be made."""


def repaired(
    access: Access, served: ServedKind, namespace: str, after: int, *, most: int = MOST_REQUESTS
) -> Repair:
    """Return what happened between a revision and now, as far as the server still shows it.

    :param most: requests that it may make, about: a list that was begun is read to its end.
    :raises EpochFell: the server is at an earlier revision.
    :raises Unreachable: it does not answer. :raises ServerRefusal: it refuses to.
    """
    return _HoleRepair(access, served, namespace, after, most).result()


class _HoleRepair:
    """The repair of one hole."""

    def __init__(
        self, access: Access, served: ServedKind, namespace: str, after: int, most: int
    ) -> None:
        self._access, self._served, self._namespace = access, served, namespace
        self._after, self._most = after, most
        self._requests = 0
        self._lines: dict[tuple[int, str], bytes] = {}
        # Versions as the server showed them, so that each takes one request.
        self._shown: dict[ObjectVersion, bytes] = {}

    def result(self) -> Repair:
        """Return what was found."""
        now = self._index(None)
        if now.revision < self._after:
            raise EpochFell(self._after, now.revision)
        if now.revision == self._after:
            return self._found(now.revision, Unseen.NOTHING)
        try:
            before = self._index(self._after)
            length = now.revision - self._after - 1
            # Each revision takes a list and, if it changed an object, that object.
            each = max(before.requests, now.requests) + 1
            if length * each < self._most - self._requests:
                self._look_at_each(before, now)
                return self._found(now.revision, Unseen.NOTHING)
            self._follow_back(before, now)
        except _Spent:
            return self._found(now.revision, Unseen.BOUNDED)
        except ServerRefusal as fault:
            if fault.code != EXPIRED:
                raise
            return self._found(now.revision, Unseen.COMPACTED)
        return self._found(now.revision, Unseen.SHORT_LIVED)

    def _found(self, until: int, unseen: Unseen) -> Repair:
        lines = tuple(self._lines[key] for key in sorted(self._lines))
        return Repair(self._after, until, lines, unseen, self._requests)

    def _index(self, revision: int | None) -> ListIndex:
        index = index_at(self._access, self._served, self._namespace, revision)
        self._requests += index.requests
        return index

    def _look_at_each(self, before: ListIndex, now: ListIndex) -> None:
        """Compare the lists at all revisions in between: each shows at most one change."""
        earlier = before
        for revision in range(before.revision + 1, now.revision + 1):
            index = now if revision == now.revision else self._index(revision)
            for uid, version in index.by_uid.items():
                if version != earlier.by_uid.get(uid):
                    self._see(version, "MODIFIED" if uid in earlier.by_uid else "ADDED")
            for uid in earlier.by_uid.keys() - index.by_uid.keys():
                self._delete(earlier.by_uid[uid], revision)
            earlier = index

    def _follow_back(self, before: ListIndex, now: ListIndex) -> None:
        """Follow each object that differs back to the version that is known."""
        for uid, version in now.by_uid.items():
            if version != before.by_uid.get(uid):
                self._walk(version, before.by_uid.get(uid))
        for uid in sorted(before.by_uid.keys() - now.by_uid.keys()):
            gone = before.by_uid[uid]
            deleted = self._deleted_at(gone, now.revision)
            last = self._version(gone, deleted - 1)
            if last is not None:
                self._walk(last, gone)
                self._delete(last, deleted)

    def _walk(self, version: ObjectVersion, known: ObjectVersion | None) -> None:
        """See a version and all before it, back to a known one or to its creation."""
        while known is None or version.revision > known.revision:
            earlier = (
                self._version(version, version.revision - 1)
                if version.revision - 1 > self._after
                else known
            )
            self._see(version, "ADDED" if earlier is None else "MODIFIED")
            if earlier is None:
                return
            version = earlier

    def _deleted_at(self, gone: ObjectVersion, end: int) -> int:
        """Return the revision of a deletion: the first at which the object is not there."""
        there, absent = self._after, end
        while absent - there > 1:
            middle = (there + absent) // 2
            if self._version(gone, middle) is None:
                absent = middle
            else:
                there = middle
        return absent

    def _version(self, about: ObjectVersion, revision: int) -> ObjectVersion | None:
        """Return which version of an object there was at a revision; None if there was none."""
        if self._requests >= self._most:
            raise _Spent
        self._requests += 1
        namespace = about.namespace or self._namespace
        line = object_at(self._access, self._served, namespace, about.name, revision)
        if line is None:
            return None
        metadata = _metadata(line)
        if metadata.get("uid") != about.uid:  # Another object of its name.
            return None
        version = about._replace(revision=int(metadata["resourceVersion"]))
        self._shown[version] = line
        return version

    def _line(self, version: ObjectVersion) -> bytes | None:
        """Return the line of a version; one that was shown before takes no request."""
        if version not in self._shown:
            self._version(version, version.revision)
        return self._shown.get(version)

    def _see(self, version: ObjectVersion, change: str) -> None:
        line = self._line(version)
        if line is not None:
            watched = msgspec.json.decode(line, type=_Watched)
            watched.type = change
            self._lines[version.revision, version.uid] = msgspec.json.encode(watched) + b"\n"

    def _delete(self, last: ObjectVersion, revision: int) -> None:
        """See a deletion: the last version of an object, with the revision at which it went."""
        line = self._line(last)
        if line is None:
            return
        document = msgspec.json.decode(line)["object"]
        document["metadata"]["resourceVersion"] = str(revision)
        watched = {"type": "DELETED", "object": document}
        self._lines[revision, last.uid] = msgspec.json.encode(watched) + b"\n"


def _metadata(line: bytes) -> dict[str, str]:
    metadata: dict[str, str] = msgspec.json.decode(line)["object"]["metadata"]
    return metadata
