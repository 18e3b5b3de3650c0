"""Write the tables of ``docs/performance.md`` from ``docs/benchmarks.json``.

The page has a pair of marks for each table (``<!-- figures log -->`` … ``<!-- end -->``). The file
holds the rows of each table, with the machine and the dates.

``python tools/figures.py``
    writes the tables; ``--check`` exits 1 if the page is stale.
``python -m benchmarks --json RUN.json`` and ``python tools/figures.py --run RUN.json``
    put the figures of a run into the file: they replace the rows of the benchmarks that ran.
    ``--measured`` and ``--machine`` say when and where.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"

TABLE_OF = {
    "session": "session",
    "comparison": "comparison",
    "races": "races",
    **dict.fromkeys(("why", "help", "forecast", "fidelity", "plot", "report", "pack"), "answers"),
    **dict.fromkeys(("serve", "pages"), "serve"),
}
"""The table of a benchmark's figures; those of all others are in ``log``."""

_MARKED = re.compile(r"<!-- figures (\S+) -->\n.*?<!-- end -->", re.DOTALL)


def lines(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    """Return a table of Markdown."""
    heads = ["" if name == "kept" else name for name in columns]
    said = ([row.get(name, "") for name in columns] for row in rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(columns), *said))


def page(text: str, data: dict[str, Any]) -> str:
    """Return the page with its tables as the file has them."""

    def fresh(match: re.Match[str]) -> str:
        if match[1] == "machine":
            said = f"Measured on {data['measured']}. Machine: {data['machine']}."
        else:
            table = data["tables"][match[1]]
            said = lines(table["columns"], table["rows"])
        return f"<!-- figures {match[1]} -->\n{said}\n<!-- end -->"

    return _MARKED.sub(fresh, text)


def row_of(result: dict[str, Any]) -> dict[str, str]:
    """Return the row of one figure, as ``python -m benchmarks --json`` writes it."""
    value, limit, unit = result["value"], result.get("limit"), result["unit"]
    more = result.get("better") == "more"
    kept = (
        ""
        if limit is None
        else "kept"
        if (value >= limit if more else value <= limit)
        else "missed"
    )
    return {
        "benchmark": result["benchmark"],
        "what": result["figure"],
        "measured": f"{number(value)} {unit}{', ' if result.get('note') else ''}"
        f"{str(result.get('note', '')).strip()}",
        "limit": "" if limit is None else f"{number(limit)} {unit}",
        "kept": kept,
    }


def number(value: float) -> str:
    """Return a figure with three digits that count, or whole."""
    return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"


def with_run(data: dict[str, Any], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the file with the figures of a run in place of older ones of the same benchmarks."""
    ran = {result["benchmark"] for result in results}
    tables = {name: dict(table) for name, table in data["tables"].items()}
    for name in ("log", *TABLE_OF.values()):
        rows = [row for row in tables[name]["rows"] if row["benchmark"] not in ran]
        mine = [one for one in results if TABLE_OF.get(one["benchmark"], "log") == name]
        tables[name]["rows"] = rows + [row_of(one) for one in mine if one["unit"]]
    return {**data, "tables": tables}


def main() -> int:
    """Write the page, or with ``--check`` compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("--run", type=Path, help="figures that python -m benchmarks --json wrote")
    parser.add_argument("--measured", help="when")
    parser.add_argument("--machine", help="where")
    options = parser.parse_args()
    kept, written = DOCS / "benchmarks.json", DOCS / "performance.md"
    data = json.loads(kept.read_text("utf-8"))
    if options.run:
        data = with_run(data, json.loads(options.run.read_text("utf-8")))
        data |= {key: getattr(options, key) or data[key] for key in ("measured", "machine")}
        kept.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")
    old = written.read_text("utf-8")
    new = page(old, data)
    if options.check and new != old:
        print("docs/performance.md is stale: run python tools/figures.py")
        return 1
    if new != old:
        written.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
