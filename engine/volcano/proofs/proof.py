"""What proves the rows of the table: decisions of real schedulers that depend on them.

A scenario and a release prove a row of sessions: Plinian's session decides what that release's
scheduler was recorded to decide, and decides differently if the row is reverted. Recordings of two
releases, before and after the row, with the same input, prove a row of the cache or the
controllers. A row without a proof may still be true; its only evidence is its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..releases import Release, Row, parse_release
from ..session.behaviours import Behaviours
from ..session.history import SUPPORTED, behaviours
from ..table import TABLE, Part, part_of, rows_in
from . import components
from .session import PROOFS, RECORDED

LACKS: Mapping[str, str] = MappingProxyType(
    {
        "device_quotas": "before it, nothing reads what it is about",
        "enqueue_events_name_resources": "the recorded outcomes do not hold Events",
        "failed_pipelining": "no plugin of these releases refuses what is pipelined",
        "ignored_devices_list": "no recorded outcome shows the order of reads and writes of memory",
        "lowest_hypernode_found": "it matters only with topology_gradients",
        "reclaim_orders_victims": "the order was that of a Go map, which is random",
        "sub_groups": "before it, nothing reads what it is about",
        "plain_jobs_use_nominations": "no job waits once room was made for all of it",
    }
)
"""By behaviour without a proof, what a proof would need."""


class Proof(NamedTuple):
    """A case, and the release under which its recorded outcome depends on a row."""

    case: str
    release: str

    def __str__(self) -> str:
        return f"{self.case} under {self.release}"


def key_of(row: Row) -> tuple[str, str]:
    """Return what identifies a row: its behaviour, and its first release on the main line."""
    return row.behaviour, str(row.change.landed[-1])


def proof_of(row: Row) -> Proof | None:
    """Return the proof of a row; None if there is none."""
    names = _proofs(part_of(row.behaviour)).get(key_of(row))
    return None if names is None else Proof(*names)


def is_claim(row: Row) -> bool:
    """Return whether a row is about Volcano, not about Plinian's release, which tests check."""
    return not row.change.landed[-1].ours


def claims(*parts: Part) -> list[Row]:
    """Return the rows about Volcano of some parts, or of all, in the order of their histories."""
    return [row for part in parts or Part for row in TABLE[part] if is_claim(row)]


def unproven(*parts: Part) -> list[Row]:
    """Return those of :func:`claims` without a proof."""
    return [row for row in claims(*parts) if proof_of(row) is None]


def holds_in(row: Row) -> list[Release]:
    """Return the releases for which a row holds."""
    part = part_of(row.behaviour)
    in_force = ((release, rows_in(part, release)[row.behaviour]) for release in SUPPORTED)
    return [release for release, of_it in in_force if of_it is row]


def lack(row: Row) -> str:
    """Return why a row has no proof."""
    recorded = {parse_release(name) for name in _recorded(part_of(row.behaviour))}
    releases = [release for release in holds_in(row) if not release.ours]
    if not recorded.intersection(releases):
        return f"nothing was recorded of {', '.join(map(str, releases))}"
    return LACKS.get(row.behaviour, "no recorded outcome depends on it")


def _proofs(part: Part) -> Mapping[tuple[str, str], tuple[str, str]]:
    return PROOFS if part is Part.SESSION else components.PROOFS


def _recorded(part: Part) -> tuple[str, ...]:
    return RECORDED if part is Part.SESSION else components.RECORDED


def reverted(row: Row) -> Any:
    """Return the value that a behaviour had before a row; for its first row, the one after it.

    :raises LookupError: the behaviour never had another value.
    """
    rows = [entry for entry in TABLE[part_of(row.behaviour)] if entry.behaviour == row.behaviour]
    place = rows.index(row)
    return rows[place - 1 if place else 1].value


def without(row: Row, release: str) -> Behaviours:
    """Return a release's session behaviours with one of its rows reverted.

    :raises UsageError: sessions of that release cannot be run.
    """
    return behaviours(release, **{row.behaviour: reverted(row)})
