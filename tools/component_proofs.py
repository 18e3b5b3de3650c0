"""List what proves the rows about the scheduler's cache and the controllers.

``PYTHONPATH=tests:tests/support python tools/component_proofs.py``; a row is proven by the case in
which its behaviour is looked at, and the first recorded release for which it holds, if what that
release did shows its value. Writes ``engine/volcano/proofs/components.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from component_views import VIEWS
from proof_tables import VOLCANO, proof_table
from recorded_components import component_cases, outcomes

from plinian.engine.volcano.proofs import Proof, claims, holds_in, key_of
from plinian.engine.volcano.releases import Row, parse_release
from plinian.engine.volcano.table import Part

MODULE = VOLCANO / "proofs" / "components.py"


def recorded() -> set[str]:
    """Return the releases of which anything was recorded."""
    cases = component_cases().values()
    return {name for case in cases for of in case["outcomes"] for name in of["releases"]}


def proof(row: Row) -> Proof | None:
    """Return what proves a row; None if nothing does."""
    if row.behaviour not in VIEWS:
        return None
    case, value = VIEWS[row.behaviour]
    by_release = {parse_release(seen.release): seen for seen in outcomes(case)}
    for release in holds_in(row):
        if release in by_release and value(by_release[release]) == row.value:
            return Proof(case, str(release))
    return None


def proofs() -> Iterator[tuple[tuple[str, str], Proof]]:
    """Yield the rows that are proven, by what they are known by, and what proves them."""
    for row in sorted(claims(Part.CACHE, Part.CONTROLLERS), key=key_of):
        found = proof(row)
        if found is None:
            sys.stderr.write(f"{' '.join(key_of(row))}: nothing proves it\n")
        else:
            yield key_of(row), found


def module() -> str:
    """Return the text of the module that lists the proofs."""
    return proof_table(
        MODULE,
        recorded(),
        proofs(),
        recorded_is="Releases of whose cache or controllers outcomes were recorded.",
        proofs_are="By behaviour and where its row landed on the main line: the case, and the"
        " release.",
    )


def main() -> None:
    """Write the module."""
    MODULE.write_text(module(), "utf-8")


if __name__ == "__main__":
    main()
