"""The Python files of the project, parsed once for all tests of a process that read them."""

from __future__ import annotations

import gc
from functools import cache

import laws
from tree import ROOT, SHIPPED, files


@cache
def sources() -> tuple[laws.Source, ...]:
    """Return all Python files of the tree."""
    # Collections would walk these millions of nodes again and again, and free none of them.
    gc.disable()
    try:
        return tuple(
            laws.parse(path, (ROOT / path).read_text("utf-8"))
            for path in files()
            if path.endswith(".py")
        )
    finally:
        gc.freeze()
        gc.enable()


def shipped_sources() -> list[laws.Source]:
    """Return the Python files that are shipped."""
    return [source for source in sources() if source.path.parts[0] in SHIPPED]
