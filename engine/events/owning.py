"""Which object an owner reference means, also where the input of the owner had no uid."""

from __future__ import annotations

import msgspec

from .kinds import Reference, may_come_back


class OwnerName(msgspec.Struct, frozen=True):
    """What an object says of its owner; the owner is in the same namespace."""

    api_version: str
    kind: str
    name: str
    uid: str


def is_owner(owner: Reference, named: OwnerName) -> bool:
    """Return whether an object is the owner that an object of its namespace names.

    A uid decides. One that was generated was made up, so kind and name decide instead.
    """
    if owner.uid and owner.uid == named.uid:
        return True
    group = named.api_version.rpartition("/")[0]
    same = (owner.group, owner.kind, owner.name) == (group, named.kind, named.name)
    return same and may_come_back(owner.uid)
