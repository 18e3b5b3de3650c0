"""The invariant of versions: what an input reports of an object never goes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .invariant import VERSION, Invariant, Needs, Severity, Violation, no_violations


class WatchedVersion(NamedTuple):
    """One version of an object, as a watch reported it.

    :param generation: 0 if the version has none.
    """

    position: int
    kind: str
    name: str
    uid: str
    revision: int
    generation: int


def going_back(reports: Iterable[WatchedVersion]) -> Iterator[tuple[WatchedVersion, Violation]]:
    """Yield versions that are older than one that the same watch had reported.

    :param reports: those of one watch, in the order of its lines.
    """
    seen: dict[str, WatchedVersion] = {}
    for report in reports:
        before = seen.get(report.uid)
        seen[report.uid] = report
        if before is None:
            continue
        for what, then, now in (
            ("resourceVersion", before.revision, report.revision),
            ("generation", before.generation, report.generation),
        ):
            if now < then:
                message = f"a watch reported {what} {now} after {then} (@{before.position})"
                yield report, Violation(report.kind, report.name, message, what, report.revision)


INVARIANTS = (
    Invariant(
        id="I-22",
        name="monotone-object",
        severity=Severity.HIGH,
        statement="A watch never reports an older version of an object after a newer one.",
        needs=Needs.LOG,
        unit=VERSION,
        kinds=(),
        settles=False,
        check=no_violations,
        ranged=True,
    ),
)
"""The invariants of this module."""
