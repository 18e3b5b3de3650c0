"""A store as a key: what was read of a log is kept as long as the log is open."""

from __future__ import annotations

from ...engine.log.store import LogStore


class StoreKey:
    """A store as a key of a cache: equal only if it is the same object."""

    def __init__(self, store: LogStore) -> None:
        self.store = store

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoreKey) and other.store is self.store

    def __hash__(self) -> int:
        return id(self.store)
