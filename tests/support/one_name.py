"""Which names of classes and files stand for several things, and which classes are split in two."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from laws import Finding, Source


def class_names(shipped: Iterable[Source]) -> Counter[str]:
    """Return how often each public class name is defined at the top of a module."""
    return Counter(
        node.name
        for source in shipped
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def file_names(paths: Iterable[PurePosixPath]) -> Counter[str]:
    """Return how often each file name occurs, without those that Python gives."""
    return Counter(path.name for path in paths if not path.name.startswith("__"))


def split_classes(sources: Sequence[Source]) -> Iterator[Finding]:
    """Yield classes that one class in another module of their folder extends, and nothing names.

    Such a base is a part of that class, in two files. A base beside others is a part of a record
    that many make.
    """
    bases = [
        (source, node, base)
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1
        for base in map(_named, node.bases)
    ]
    extended = Counter(base for _, _, base in bases)
    uses = Counter(
        name for source in sources for node in source.nodes if (name := _used(node)) is not None
    )
    places = {
        node.name: (source, node)
        for source in sources
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
    }
    for source, node, base in bases:
        place, of = places.get(base, (source, node))
        alone = extended[base] == 1 and uses[base] == 1
        beside = place.path != source.path and place.path.parent == source.path.parent
        if of is not node and alone and beside:
            what = f"only {node.name} extends {base}: make them one class"
            yield Finding(place.path, of.lineno, what)


def _named(base: ast.expr) -> str:
    while isinstance(base, ast.Subscript):
        base = base.value
    return getattr(base, "id", getattr(base, "attr", ""))


def _used(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None
