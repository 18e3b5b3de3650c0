"""Objects that belong together: by owners, and by the PodGroups that pods name."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine.kubernetes.api_server import Document, ObjectKey, place_of

GROUP_NAME = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup."""


class Families:
    """Which objects belong together, however many owners are between them.

    :param documents: versions of objects, also several of the same one.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._parents: dict[ObjectKey | str, ObjectKey | str] = {}
        for document in documents:
            place = place_of(document)
            # Owners are named by uid: it stands for an object until a document with it comes.
            self._join(place, document["metadata"]["uid"])
            for uid in owner_uids(document):
                self._join(place, uid)
            if (group := group_of(document)) is not None:
                self._join(place, group)

    def of(self, place: ObjectKey) -> ObjectKey | str:
        """Return what is the same for all objects of a family."""
        top: ObjectKey | str = place
        while (parent := self._parents.get(top, top)) != top:
            top = parent
        return top

    def _join(self, place: ObjectKey, member: ObjectKey | str) -> None:
        mine = self.of(place)
        while (parent := self._parents.get(member, member)) != member:
            member = parent
        self._parents[member] = mine


def owner_uids(document: Document) -> set[str]:
    """Return the uids of all owners."""
    return {owner["uid"] for owner in document["metadata"].get("ownerReferences") or ()}


def group_of(document: Document) -> ObjectKey | None:
    """Return the PodGroup that a pod names."""
    name = (document["metadata"].get("annotations") or {}).get(GROUP_NAME)
    if document["kind"] != "Pod" or not name:
        return None
    return ObjectKey("PodGroup", f"{document['metadata'].get('namespace') or 'default'}/{name}")
