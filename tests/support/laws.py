"""The laws of the code base, each a function from a source file to what breaks it.

They read the code and never run it. ``tests/project/test_tidy.py`` applies them to the tree, and
proves of every one that it can fail.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

MODULE_LINES = 800
FUNCTION_LINES = 50
COLUMNS = 100

IMPURE = frozenset(
    {
        *("sqlite3", "psycopg", "sqlalchemy", "alembic", "apsw"),
        *("time", "random", "secrets", "uuid"),
        *("os", "pathlib", "shutil", "tempfile", "glob"),
        *("logging", "structlog", "asyncio", "threading", "multiprocessing"),
        *("subprocess", "socket"),
    }
)
"""What a pure part may not import: databases, clocks, randomness, paths, loggers, processes."""

SHELL_OF_INGEST = MappingProxyType(
    {
        "plinian.engine.ingest.reading.inputs": "opens files, archives and standard input",
        "plinian.engine.ingest.watch.received": "reads receiving times from the file beside",
        "plinian.engine.ingest.order": "sorts more events than fit in memory, through files",
    }
)
"""Modules beside the formats that touch the file system, with the reason."""

PURE = (
    *("engine.errors", "engine.nesting", "engine.kubernetes", "engine.model"),
    *("engine.events", "engine.state", "engine.ingest"),
    *("engine.volcano", "engine.cache", "engine.session"),
)

FORBIDDEN_IMPORTS = (
    # (who, may not import, why)
    ("engine", "click", "the command line lives in replay/cli"),
    ("engine", "rich", "rendering lives in replay/render"),
    ("engine", "structlog", "logging is for the shell"),
    ("migrations.versions", "plinian", "a migration must not change with the code"),
)
"""Imports that no layer says anything of; ``tests/support/layers.py`` orders our own folders."""

# Alembic runs env.py by its path, outside any package: it cannot import relatively.
ABSOLUTE_IMPORTS = frozenset({"migrations/env.py"})

MUTABLE_CALLS = frozenset(
    {"list", "dict", "set", "defaultdict", "deque", "OrderedDict", "Counter", "bytearray"}
)
SET_CALLS = frozenset({"set", "frozenset"})
ORDER_TAKERS = frozenset({"list", "tuple", "enumerate", "iter", "zip", "map", "fromkeys", "join"})
CLOCK_CALLS = frozenset({"now", "utcnow", "today"})
BANNED_MODULES = frozenset({"util", "utils", "helper", "helpers", "common", "misc", "manager"})
BANNED_WORDS = re.compile(
    r"(?<![a-z])(utils?|manager|helper|processor)(?![a-z])|"
    r"(Manager|Helper|Processor|Utils?)(?![a-z])"
)
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
PRIVATE_PATHS = re.compile(r"(?<![\w.\-/])/(?:wo" + r"rk|ro" + r"ot)(?=[/\s\"'`]|$)")
REGISTRIES = re.compile(
    r"\b(?:pypi\.o" + r"rg|pythonhosted\.o" + r"rg|npmjs\.(?:com|o" + r"rg)|crates\.i" + r"o"
    r"|proxy\.golang\.o" + r"rg)\b"
)


class Source(NamedTuple):
    """A Python file: its path from the root, its text, its syntax tree, and all nodes of that."""

    path: PurePosixPath
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]

    @property
    def module(self) -> str:
        """The name that the file is installed under."""
        parts = list(self.path.with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        if parts[:2] == ["replay", "api"]:
            return ".".join(["plinian", *parts[2:]])
        return ".".join(["plinian", *parts])


class Finding(NamedTuple):
    """A place where a law is broken."""

    path: PurePosixPath
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def parse(path: str, text: str) -> Source:
    """Return the source file of that path and text."""
    tree = ast.parse(text)
    return Source(PurePosixPath(path), text, tree, tuple(ast.walk(tree)))


def lengths(source: Source) -> Iterator[Finding]:
    """Modules of at most 800 lines, functions of at most 50, lines of at most 100 columns.

    A function's docstring does not count: nobody should be brief there for the sake of a limit. Nor
    does a command's signature, which is where click reads the options from.
    """
    lines = source.text.splitlines()
    if len(lines) > MODULE_LINES:
        yield Finding(source.path, 1, f"{len(lines)} lines: split the module")
    for number, line in enumerate(lines, start=1):
        if len(line) > COLUMNS:
            yield Finding(source.path, number, f"{len(line)} columns: break the line")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _extent(node) - (_extent(node.body[0]) if ast.get_docstring(node) else 0)
            if source.path.parts[:2] == ("replay", "cli"):
                length -= node.body[0].lineno - node.lineno - 1
            if length > FUNCTION_LINES:
                what = f"{node.name} has {length} lines: split the function"
                yield Finding(source.path, node.lineno, what)


def _extent(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def imported(source: Source) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, absolute name, written relatively) of everything that is imported."""
    package = source.module
    if source.path.name != "__init__.py":
        package = package.rpartition(".")[0]
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, False
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]) if base else ".".join(above)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}", node.level > 0


def within(name: str, package: str) -> bool:
    """Say whether a dotted name is a package or lies in it."""
    return name == package or name.startswith(f"{package}.")


def imports(source: Source) -> Iterator[Finding]:
    """Who may import whom; our own modules are imported relatively."""
    pure = source.module not in SHELL_OF_INGEST and any(
        within(source.module, f"plinian.{part}") for part in PURE
    )
    for line, name, relative in imported(source):
        root = name.partition(".")[0]
        if pure and root in IMPURE:
            yield Finding(source.path, line, f"a pure part imports {root}")
        if root in {"engine", "replay", "migrations"}:
            yield Finding(source.path, line, f"{root} is installed as plinian.{root}")
        if root == "plinian" and not relative and str(source.path) not in ABSOLUTE_IMPORTS:
            yield Finding(source.path, line, f"import {name} relatively")
        for who, what, why in FORBIDDEN_IMPORTS:
            if within(source.module, f"plinian.{who}") and within(name, what):
                yield Finding(source.path, line, f"imports {name}: {why}")


def clocks(source: Source) -> Iterator[Finding]:
    """Let the core read no clock, not even through ``datetime``."""
    if not within(source.module, "plinian.engine") or within(source.module, "plinian.engine.log"):
        return
    for node in source.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CLOCK_CALLS
        ):
            yield Finding(source.path, node.lineno, f"reads the clock: .{node.func.attr}()")


WITHOUT_RELEASES = (
    *("engine.kubernetes", "engine.model", "engine.events", "engine.log", "engine.state"),
    *("engine.ingest", "engine.volcano", "engine.cache", "engine.session"),
)
"""Parts that know no release: what is below the table of releases, and what reads behaviours."""

KNOW_RELEASES = (
    *("engine.volcano.releases", "engine.volcano.argument_table", "engine.volcano.proofs"),
    *("engine.volcano.session", "engine.volcano.cache", "engine.volcano.controllers"),
    "engine.volcano.admission",
)
"""The table itself."""

READ_RELEASES = MappingProxyType(
    {
        "engine.ingest.components.cache_dump": "names the release that wrote a dump, by its form",
        "engine.ingest.scenario.scenario": "a note says which releases create the root queue",
    }
)
"""Modules of ``ingest`` that name a release, with the reason."""


def releases(source: Source) -> Iterator[Finding]:
    """Let only the table of releases name or compare releases; all else reads a behaviour."""
    inside = source.module.removeprefix("plinian.")
    if not any(within(inside, part) for part in WITHOUT_RELEASES):
        return
    if inside in READ_RELEASES or any(within(inside, part) for part in KNOW_RELEASES):
        return
    told = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            if re.search(r"\bv1\.\d", node.value):
                yield Finding(source.path, node.lineno, f"names a release: {node.value[:40]!r}")
        elif isinstance(node, ast.Attribute) and node.attr in {"minor", "patch"}:
            yield Finding(source.path, node.lineno, "looks into a release: read a behaviour")
        elif isinstance(node, ast.Compare) and "release" in ast.unparse(node).lower():
            yield Finding(source.path, node.lineno, "compares releases: read a behaviour")


def names(source: Source) -> Iterator[Finding]:
    """Names say what a thing is for; some words say nothing."""
    if source.path.stem in BANNED_MODULES:
        yield Finding(source.path, 1, f"{source.path.stem} says nothing: name the module's subject")
    for node in source.nodes:
        if isinstance(
            node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and BANNED_WORDS.search(node.name):
            yield Finding(source.path, node.lineno, f"{node.name}: name what it does")


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _top_level(node.body)
            yield from _top_level(getattr(node, "orelse", []))


def _called(node: ast.AST | None) -> str:
    """Return the last name of what is called; empty if the node is no call of a name."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def module_state(source: Source) -> Iterator[Finding]:
    """No module holds state: what is assigned at its level cannot change."""
    literals = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    for node in _top_level(source.tree.body):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            continue
        if isinstance(value, literals) or _called(value) in MUTABLE_CALLS:
            what = f"{ast.unparse(targets[0])} can change: use a tuple, frozenset, MappingProxyType"
            yield Finding(source.path, node.lineno, what)
    for inner in source.nodes:
        if isinstance(inner, ast.Global):
            yield Finding(source.path, inner.lineno, "global: pass the value instead")


def docstrings(source: Source) -> Iterator[Finding]:
    """Everything public says what it is for."""
    if source.text.strip() and not ast.get_docstring(source.tree):
        yield Finding(source.path, 1, "the module has no docstring")
    yield from _undocumented(source.path, source.tree.body)


def _undocumented(path: PurePosixPath, body: list[ast.stmt]) -> Iterator[Finding]:
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or "overload" in map(ast.unparse, node.decorator_list):
            continue
        if not ast.get_docstring(node):
            yield Finding(path, node.lineno, f"{node.name} has no docstring")
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(path, node.body)


def prints(source: Source) -> Iterator[Finding]:
    """Only the command line and the renderers write to a terminal."""
    if source.path.parts[:2] in {("replay", "cli"), ("replay", "render")}:
        return
    for node in source.nodes:
        if _called(node) == "print" and isinstance(node, ast.Call):
            yield Finding(source.path, node.lineno, "print outside replay/cli and replay/render")


def future_annotations(source: Source) -> Iterator[Finding]:
    """Every module postpones the evaluation of its annotations, unless it has nothing to annotate.

    That is a package's ``__init__`` which only imports names and lists them.
    """
    body = source.tree.body
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in body):
        return
    bare = (ast.Expr, ast.Import, ast.ImportFrom)
    if not all(isinstance(node, bare) or "__all__" in ast.unparse(node)[:7] for node in body):
        yield Finding(source.path, 1, "lacks: from __future__ import annotations")


def time_limits(source: Source) -> Iterator[Finding]:
    """No property test has a time limit: it would fail on a busy machine.

    The profile in ``tests/conftest.py`` has none. Settings of a test replace its health checks.
    """
    for node in source.nodes:
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "settings":
            continue
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if given.get("deadline", "None") != "None":
            yield Finding(source.path, node.lineno, "a deadline: leave it to tests/conftest.py")
        if "too_slow" not in given.get("suppress_health_check", "too_slow"):
            yield Finding(source.path, node.lineno, "also suppress HealthCheck.too_slow")


def set_order(source: Source) -> Iterator[Finding]:
    """Nothing depends on the order of a set, which changes with the hash seed; sort it first."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    scopes = [node for node in source.nodes if isinstance(node, functions)]
    for scope in (source.tree, *scopes):
        nodes = [scope, *_own_nodes(scope)]
        known = _names_of_sets(nodes)
        # A set made from a set has no order to depend on.
        unordered = {id(g) for n in nodes if isinstance(n, ast.SetComp) for g in n.generators}
        for node in nodes:
            walked: list[ast.expr] = []
            if isinstance(node, ast.For | ast.comprehension) and id(node) not in unordered:
                walked = [node.iter]
            elif isinstance(node, ast.Call) and _called(node) in ORDER_TAKERS:
                walked = node.args
            for expression in walked:
                if _is_set(expression, known):
                    what = f"order of a set: sorted({ast.unparse(expression)[:40]})"
                    yield Finding(source.path, expression.lineno, what)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what is inside a scope and not inside a function within it, in the code's order."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _own_nodes(node)


def _names_of_sets(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the variables that hold a set, by what is assigned to them or by annotation."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_set(node.value, frozenset(found)):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        annotation = getattr(node, "annotation", None)
        if annotation is None or not re.match(r"(frozen)?set\b", ast.unparse(annotation)):
            continue
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)


def _is_set(node: ast.expr, known: frozenset[str]) -> bool:
    if isinstance(node, ast.Set | ast.SetComp) or _called(node) in SET_CALLS:
        return True
    if isinstance(node, ast.Name):
        return node.id in known
    return isinstance(node, ast.BinOp) and (_is_set(node.left, known) or _is_set(node.right, known))


def traces(path: str, text: str) -> Iterator[Finding]:
    """No file names unfinished work, a path of somebody's machine, or a package registry."""
    laws = (
        (UNFINISHED, "finish it, or say in the docs that it is missing"),
        (PRIVATE_PATHS, "a path of one machine"),
        (REGISTRIES, "a package registry's host"),
    )
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, why in laws:
            found = pattern.search(line)
            if found:
                yield Finding(PurePosixPath(path), number, f"{found.group()!r}: {why}")
