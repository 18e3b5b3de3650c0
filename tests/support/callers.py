"""Which functions, classes and constants nothing names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from laws import Finding, Source


def uncalled(shipped: Iterable[Source], texts: Iterable[str]) -> list[Finding]:
    """Return what is defined in some modules and named once in all texts: where it is defined.

    Methods of classes with a base are left out: the base may call them.

    :param texts: those of the modules, and all others that may name something.
    """
    names = Counter(name for text in texts for name in re.findall(r"\w+", text))
    return [
        Finding(source.path, line, f"nothing names {name}: remove it")
        for source in shipped
        for line, name in _defined(source.tree.body)
        if names[name] == 1 and not name.startswith("__")
    ]


def _defined(body: Iterable[ast.stmt]) -> Iterator[tuple[int, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.ClassDef):
            yield node.lineno, node.name
            if not node.bases:
                yield from _defined(node.body)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield node.lineno, target.id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.lineno, node.target.id
