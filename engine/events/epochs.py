"""Epochs of a cluster: another one begins when its etcd is restored.

The revisions fall then, and each may be given a second time to something else. An event is known
by its cluster, its object and its revision, so both histories can only be in one log as two
clusters: the second one is ``NAME~2``, the next ``NAME~3``.
"""

from __future__ import annotations

from collections.abc import Iterable

_MARK = "~"


def base_of(cluster: str) -> str:
    """Return the name that all epochs of a cluster begin with."""
    base, mark, number = cluster.rpartition(_MARK)
    return base if mark and base and number.isdecimal() else cluster


def epoch_of(cluster: str) -> int:
    """Return which epoch of its cluster a name stands for; the first is 1."""
    base = base_of(cluster)
    return 1 if base == cluster else int(cluster[len(base) + 1 :])


def next_epoch(cluster: str) -> str:
    """Return the name of the epoch that follows one."""
    return f"{base_of(cluster)}{_MARK}{epoch_of(cluster) + 1}"


def latest_epoch(clusters: Iterable[str], cluster: str) -> str:
    """Return the last epoch of a cluster among some clusters; the cluster, if none is there."""
    epochs = [name for name in clusters if base_of(name) == base_of(cluster)]
    return max(epochs, key=epoch_of, default=cluster)


def only_epochs(clusters: Iterable[str]) -> str | None:
    """Return the last epoch, if all clusters are epochs of one; None if they are not."""
    names = list(clusters)
    if len({base_of(name) for name in names}) != 1:
        return None
    return latest_epoch(names, names[0])
