"""The law against circles between modules: no module imports itself, also not through others.

Every import counts: at the head of a module, inside a function, and for type checkers alone. A
package's ``__init__`` is a module like others, and is imported where a name of it is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import laws

Imports = Mapping[str, frozenset[str]]
"""The modules that each module imports."""


def imports_of(sources: Iterable[laws.Source]) -> Imports:
    """Return which of these modules each of them imports."""
    by_name = {source.module: source for source in sources}
    return {
        name: frozenset(_module(imported, by_name) for _, imported, _ in laws.imported(source))
        & by_name.keys()
        for name, source in by_name.items()
    }


def _module(name: str, modules: Iterable[str]) -> str:
    """Return the module that an imported name is, or is defined in."""
    return name if name in modules else name.rpartition(".")[0]


def circles(imports: Imports) -> list[tuple[str, ...]]:
    """Return the groups of modules that all import each other, sorted.

    A module that imports itself is such a group too.
    """
    reached = {name: _reached(name, imports) for name in imports}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in imports
        if name in reached[name]
    }
    return sorted(groups)


def _reached(start: str, imports: Imports) -> frozenset[str]:
    """Return all modules that are imported, directly or through others."""
    found: set[str] = set()
    waiting = [*imports[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imports[name]
    return frozenset(found)
