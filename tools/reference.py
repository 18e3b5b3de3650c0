"""Write the pages of ``docs/reference`` from the code, so that they cannot say anything else.

``python tools/reference.py`` writes them; with ``--check`` it only names those that are stale and
exits 1 if there are any. Needs Plinian installed, or on ``PYTHONPATH``.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

import plinian
from plinian.engine import errors
from plinian.engine.events import KINDS
from plinian.engine.events.kinds import NOUNS

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/reference.py from the code. Change the code, then run it again. -->"

ROLE = re.compile(r":(?:class|func|data|meth|mod|attr|exc):`~?\.*([^`]+)`")
MACHINERY = frozenset({"Consulted", "ProcessState"})
"""Classes inside results that are parts of the engine: they are not for programs to rest on."""

FIELD = re.compile(r"\s*:(param|returns?|raises)\s*([\w.]*):\s*")


def prose(text: str) -> str:
    """Return a docstring's markup as Markdown: roles and double back-quotes as code."""
    plain = re.sub(r"``([^`]+)``", r"`\1`", ROLE.sub(r"``\1``", text))
    return re.sub(r"::$", ":", plain, flags=re.MULTILINE)


def cell(text: str) -> str:
    """Return text fit for a table's cell."""
    return " ".join(prose(text).split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a Markdown table."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(' --- ' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def documented(thing: object) -> Iterator[str]:
    """Yield a docstring as Markdown, its fields (parameters, errors) as a list."""
    text = inspect.getdoc(thing) or ""
    listed = False
    for paragraph in re.split(r"\n(?=\s*:(?:param|returns?|raises)\b)|\n\n", text):
        if not FIELD.match(paragraph):
            if listed:
                yield ""
            listed = False
            yield from (*_fenced_tables(prose(paragraph)).splitlines(), "")
            continue
        listed = True
        # Several fields may share a line: ":param a: and :param b: of the thing".
        said = re.sub(r":param (\w+):", r"`\1`:", prose(paragraph))
        said = re.sub(r":returns?:", "Returns", said)
        said = re.sub(r":raises ([\w.]+):", r"Raises `\1`:", said)
        yield f"- {' '.join(said.split())}"
    if listed:
        yield ""


def _fenced_tables(text: str) -> str:
    return f"```text\n{text}\n```" if re.search(r"^={3,} +={3,}", text, re.MULTILINE) else text


def events() -> Iterator[str]:
    """Yield the page of event kinds."""
    yield from ("# Event kinds", "")
    yield (
        f"The vocabulary is closed: these {len(KINDS)} kinds and no others. Every event travels in "
        "the envelope described below; its payload is a Kubernetes object (kinds of versions) or "
        "one of the structs at the end of this page."
    )
    yield from ("", "## Versions of objects", "")
    yield (
        "Each noun has four kinds: `<noun>.observed` (the object was seen as it is, in a list or "
        "at the start of a watch), `<noun>.created`, `<noun>.updated` and `<noun>.deleted`. The "
        "payload is the whole object without `managedFields`, as canonical JSON."
    )
    yield ""
    of_noun: dict[str, list[str]] = {"object": ["any other kind"]}
    for (group, kind), noun in NOUNS.items():
        of_noun.setdefault(noun, []).append(f"`{kind}`" + (f" of `{group}`" if group else ""))
    verbs = ("observed", "created", "updated", "deleted")
    rows = (
        (f"`{noun}`", ", ".join(of_noun[noun]), ", ".join(f"`{noun}.{verb}`" for verb in verbs))
        for noun in sorted(of_noun)
    )
    yield from table(("noun", "Kubernetes kind", "event kinds"), rows)
    yield from ("## All other kinds", "")
    others = [info for info in KINDS.values() if info.payload is not None]
    yield from table(
        ("kind", "what it says", "effect on truth", "schema", "payload"),
        (
            (
                f"`{info.kind}`",
                cell(info.about),
                info.effect.name.lower(),
                str(info.schema),
                f"[`{info.payload.__name__}`](#{info.payload.__name__.lower()})",
            )
            for info in others
        ),
    )
    yield from _envelope()
    yield from ("## Payloads", "")
    for struct in dict.fromkeys(info.payload for info in others):
        yield from (f"### {struct.__name__}", "")
        yield from documented(struct)
        yield from fields(struct)


def _envelope() -> Iterator[str]:
    from plinian.engine.events import Effect, Event, Recorded, Reference  # noqa: PLC0415

    yield from ("## The envelope", "")
    for struct in (Recorded, Event, Reference):
        yield from (f"### {struct.__name__}", "")
        yield from documented(struct)
        yield from fields(struct)
    yield from ("### Effect", "", *documented(Effect))
    source = inspect.getsource(Effect)
    said = re.findall(r"(\w+) = (\d+)\n\s+\"\"\"(.+?)\"\"\"", source, re.DOTALL)
    yield from table(
        ("effect", "number", "meaning"),
        ((f"`{name.lower()}`", number, cell(text)) for name, number, text in said),
    )


def fields(struct: type[Any]) -> Iterator[str]:
    """Yield the table of a struct's fields."""

    def default(field: msgspec.structs.FieldInfo) -> str:
        if field.required:
            return "required"
        value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        return f"`{value!r}`"

    hints = inspect.get_annotations(struct)
    for base in struct.__mro__[1:]:
        hints = inspect.get_annotations(base) | hints
    yield from table(
        ("field", "type", "default"),
        (
            (f"`{field.encode_name}`", f"`{hints[field.name]}`".replace("|", "\\|"), default(field))
            for field in msgspec.structs.fields(struct)
        ),
    )


def faults() -> Iterator[str]:
    """Yield the page of errors."""
    yield from ("# Errors", "")
    yield from documented(errors)
    yield from ("| exit code | meaning |", "| --- | --- |")
    yield "| 0 | success; for `diff --exit-code`: no difference |"
    yield "| 1 | a difference that was asked about |"
    yield "| 2 | anything that broke; the message says what, where, and what now |"
    yield from ("| 130 | an interrupt from the keyboard |", "")
    classes = [
        thing
        for thing in vars(errors).values()
        if inspect.isclass(thing) and issubclass(thing, errors.PlinianError)
    ]
    for thing in classes:
        (parent,) = thing.__bases__
        known = issubclass(parent, errors.PlinianError)
        yield from (f"## {thing.__name__}", "")
        of = f", a kind of [`{parent.__name__}`](#{parent.__name__.lower()})" if known else ""
        yield from (f"Exit code {thing.exit_code}{of}.", "")
        yield from documented(thing)


def formats() -> Iterator[str]:
    """Yield the page of input formats, in the order in which they are tried."""
    from plinian.engine.ingest.registry import FORMATS  # noqa: PLC0415

    yield from ("# Input formats", "")
    yield (
        "`plinian ingest` recognises each document by what is in it, trying these in order. How to "
        "come by such a file, and what can be known from it, is told in [how-to](../how-to/)."
    )
    yield ""
    for one in FORMATS:
        yield from (f"## {one.name}", "")
        yield from documented(type(one))


def tables() -> Iterator[str]:
    """Yield the page of the log's tables."""
    from plinian.engine.log import schema  # noqa: PLC0415
    from plinian.engine.log.schema_revision import REVISION  # noqa: PLC0415

    yield from ("# Tables", "")
    yield (
        "The tables of a log, the same on SQLite and Postgres, at schema revision "
        f"`{REVISION}`. What is in them, byte by byte, is specified in "
        "[storage.md](../storage.md)."
    )
    yield ""
    said = dict(
        re.findall(
            r'^\w+ = Table\(\n +"(\w+)",.*?^\)\n(?:"""(.+?)""")?',
            inspect.getsource(schema),
            re.DOTALL | re.MULTILINE,
        )
    )
    for name, one in schema.metadata.tables.items():
        yield from (f"## {name}", "", prose(said.get(name, "")), "")
        yield from table(
            ("column", "type", "may be null", "key"),
            (
                (
                    f"`{column.name}`",
                    str(column.type),
                    "yes" if column.nullable else "",
                    "primary" if column.primary_key else "unique" if column.unique else "",
                )
                for column in one.columns
            ),
        )
        for index in sorted(one.indexes, key=lambda index: str(index.name)):
            unique = "unique index" if index.unique else "index"
            listed = ", ".join(f"`{column.name}`" for column in index.columns)
            yield f"- {unique} `{index.name}` on {listed}"
        yield ""


def commands() -> Iterator[str]:
    """Yield the page of the command line."""
    yield from ("# Commands", "")
    yield "`plinian COMMAND --help` prints the same."
    yield ""
    root = command_tree()
    yield from ("## plinian", "", *_about(root))
    for name, command in walk(root):
        yield from (f"## plinian {name}", "", *_about(command))


def command_tree() -> Any:
    """Return the root of the command line as a tree of click commands."""
    from typer.main import get_command  # noqa: PLC0415

    from plinian.replay.cli.main import app  # noqa: PLC0415

    return get_command(app)


def walk(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (full name, command) of everything below a group, groups before their commands."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        full = f"{above} {name}".strip()
        yield full, command
        if hasattr(command, "commands"):
            yield from walk(command, full)


def _about(command: Any) -> Iterator[str]:
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    options = [item for item in command.params if item.param_type_name == "option"]
    text = inspect.cleandoc(command.help or "").split("\f")[0].replace("\b\n", "")
    yield from (prose(text), "")
    if arguments:
        yield from table(
            ("argument", "meaning"),
            (
                (f"`{_argument(item)}`", cell(getattr(item, "help", None) or ""))
                for item in arguments
            ),
        )
    shown = [item for item in options if not item.hidden and "--help" not in item.opts]
    if shown:
        yield from table(
            ("option", "meaning", "default"),
            ((_option(item), cell(item.help or ""), _default(item)) for item in shown),
        )


def _argument(item: Any) -> str:
    name = (item.metavar or item.name).upper().strip("[]").removesuffix("...")
    return name + ("..." if item.nargs == -1 or getattr(item, "multiple", False) else "")


def _option(item: Any) -> str:
    written = ", ".join(f"`{text}`" for text in (*item.opts, *item.secondary_opts))
    variable = f" (`{item.envvar}`)" if isinstance(item.envvar, str) else ""
    return written + variable


def _default(item: Any) -> str:
    value = item.default
    if callable(value) or value is None or value is False or value in ((), [], ""):
        return ""
    return f"`{value}`"


def python() -> Iterator[str]:
    """Yield the page of the Python API: what the top-level package lists."""
    yield from ("# Python", "")
    yield from documented(plinian)
    named = {name: getattr(plinian, name) for name in plinian.__all__ if name != "Log"}
    functions = {name: thing for name, thing in named.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in named.items() if inspect.isclass(thing)}
    failing = {n: thing for n, thing in classes.items() if issubclass(thing, Exception)}
    yield "`plinian.__version__` is the version of Plinian, as a string."
    yield ""
    for name, thing in functions.items():
        yield from (f"## {name}", "")
        yield from ("```python", f"{name}{signature(thing)}", "```", "", *documented(thing))
    yield from ("## Log", "", *documented(plinian.Log), *_methods(plinian.Log))
    yield from ("## Results", "")
    results = {name: thing for name, thing in classes.items() if name not in failing}
    for name, thing in results.items():
        yield from _record(name, thing)
    yield from ("## Inside results", "")
    for name, thing in _inside(results.values()):
        yield from _record(name, thing)
    yield from ("## Errors", "")
    yield "What each means is told in [errors](errors.md)."
    yield ""
    yield from table(
        ("exception", "a kind of"),
        (
            (f"[`{name}`](errors.md#{name.lower()})", f"`{thing.__bases__[0].__name__}`")
            for name, thing in failing.items()
        ),
    )


def _methods(thing: type) -> Iterator[str]:
    """Yield the methods of a class and of the classes of ours that it is made of."""
    found: dict[str, object] = {}
    for base in reversed(thing.__mro__[:-1]):
        found |= vars(base)
    for name, method in found.items():
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        yield from (f"### {thing.__name__}.{name}", "")
        yield from ("```python", f"{name}{signature(method)}", "```", "", *documented(method))


def _record(name: str, thing: type) -> Iterator[str]:
    """Yield what a class of results says, its fields with their types, and its properties."""
    yield from (f"### {name}", "", *documented(thing))
    rows = [(f"`{field}`", _type_text(hint)) for field, hint in _hints(thing).items()]
    rows += [
        (f"`{field}`", _type_text(inspect.signature(getter).return_annotation))
        for field, getter in _getters(thing)
    ]
    if rows:
        yield from table(("field", "type"), rows)


def _getters(thing: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, member in vars(thing).items():
        if isinstance(member, property) and member.fget is not None and name[0] != "_":
            yield name, member.fget
        elif isinstance(member, cached_property):
            yield name, member.func


def _hints(thing: type) -> dict[str, str]:
    """Return the fields of a struct, a named tuple or a dataclass as they are annotated."""
    found: Mapping[str, Any] = {}
    if getattr(thing, "__struct_fields__", None) or hasattr(thing, "_fields"):
        found = inspect.get_annotations(thing)
    elif is_dataclass(thing):
        found = {field.name: field.type for field in dataclass_fields(thing)}
    # Named tuples keep what is annotated as a forward reference.
    texts = {name: getattr(hint, "__forward_arg__", hint) for name, hint in found.items()}
    return {name: text for name, text in texts.items() if name[0] != "_"}


def _type_text(hint: str) -> str:
    return f"`{public(hint)}`".replace("|", "\\|")


def _inside(shown: Iterable[type]) -> Iterator[tuple[str, type]]:
    """Yield the classes of ours that fields of others have, as far as they have fields."""
    known = list(shown)
    found: dict[type, type] = {}
    waiting = list(known)
    while waiting:
        thing = waiting.pop(0)
        scope = vars(sys.modules[thing.__module__])
        hints = [*_hints(thing).values()]
        hints += [inspect.signature(getter).return_annotation for _, getter in _getters(thing)]
        for word in dict.fromkeys(re.findall(r"\w+", " ".join(hints))):
            other = scope.get(word)
            if not inspect.isclass(other) or other in known or other in found:
                continue
            if _hints(other) and other.__name__ not in MACHINERY:
                found[other] = thing
                waiting.append(other)
    names = Counter(thing.__name__ for thing in found)
    for thing, of in sorted(found.items(), key=lambda pair: pair[0].__name__):
        name = thing.__name__
        yield f"{name}, of {public(of.__name__)}" if names[name] > 1 else name, thing


def signature(function: Callable[..., Any]) -> str:
    """Return a function's signature, on several lines where it is long."""
    found = inspect.signature(function)
    parts = [_parameter(part) for part in found.parameters.values() if part.name != "self"]
    kinds = [part.kind for part in found.parameters.values() if part.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    back = found.return_annotation
    answer = "" if back is inspect.Signature.empty else f" -> {public(str(back))}"
    short = f"({', '.join(parts)}){answer}"
    if len(short) <= 80:
        return short
    return "(\n    {},\n){}".format(",\n    ".join(parts), answer)


def _parameter(part: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    hint = f": {public(str(part.annotation))}"
    default = "" if part.default is inspect.Parameter.empty else f" = {part.default!r}"
    return f"{stars.get(part.kind, '')}{part.name}{hint}{default}"


def public(hint: str) -> str:
    """Return a type as users may import it: some classes have another name in the package."""
    for name in plinian.__all__:
        own = getattr(getattr(plinian, name), "__name__", name)
        if own != name and inspect.isclass(getattr(plinian, name)):
            hint = re.sub(rf"\b{own}\b", name, hint)
    return hint


def lint() -> Iterator[str]:
    """Yield the page of what ``plinian lint`` looks for, and of the arguments that it knows."""
    from plinian.replay.lint.findings import Effect  # noqa: PLC0415
    from plinian.replay.lint.rules import RULES  # noqa: PLC0415

    yield from ("# Lint", "")
    yield (
        f"`plinian lint` asks these {len(RULES)} rules under every release. What a release makes "
        "of a fault decides how bad it is; which releases do what is in their "
        "[behaviours](commands.md#plinian-release-show). How to use it is told in "
        "[how-to](../how-to/lint.md)."
    )
    yield ""
    yield from table(
        ("effect", "severity", "ends the scheduling of everything"),
        ((e.value, e.severity.value, "yes" if e.fatal else "") for e in Effect),
    )
    groups = {
        "object": "Objects as such",
        "tree": "Queues as a tree",
        "queue": "Queues",
        "job": "Jobs, PodGroups and pods",
        "conf": "The scheduler's configuration",
        "argument": "Arguments of plugins and actions",
    }
    for group, title in groups.items():
        yield from (f"## {title}", "")
        for rule in RULES:
            if rule.group == group:
                yield from (f"### {rule.name}", "", prose(rule.about), "")
                yield from (prose(rule.more), "") if rule.more else ()
    yield from _arguments()


def _arguments() -> Iterator[str]:
    from plinian.engine.volcano.history_arguments import ARGUMENTS  # noqa: PLC0415

    yield from ("## Which arguments there are", "")
    yield (
        "As `argument-unknown` and `argument-type` have them. A name that ends with `*` stands for "
        "all that begin so."
    )
    yield ""

    def when(since: Any, gone: Any) -> str:
        first, last = since.landed[0], "" if gone is None else f" until before {gone.landed[-1]}"
        return f"{'' if str(first) == 'v1.8.0' else f'since {first}'}{last}".strip() or "always"

    yield from table(
        ("plugin or action", "argument", "type", "read", "another type"),
        (
            (
                each.owner,
                f"`{each.name}`",
                each.kind.value,
                when(each.since, each.gone),
                "ends the scheduler" if each.crashes else "counts as not given",
            )
            for each in ARGUMENTS
        ),
    )


MAKERS: Mapping[str, Callable[[], Iterator[str]]] = MappingProxyType(
    {
        "events.md": events,
        "errors.md": faults,
        "formats.md": formats,
        "commands.md": commands,
        "lint.md": lint,
        "python.md": python,
        "tables.md": tables,
    }
)


def page(name: str) -> str:
    """Return what a page of the reference should say."""
    text = "\n".join((MADE, "", *MAKERS[name]()))
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def main() -> int:
    """Write the pages, or with ``--check`` name the stale ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("pages", nargs="*", help="only these, as in events.md")
    options = parser.parse_args()
    stale = []
    for name in options.pages or MAKERS:
        path, text = PAGES / name, page(name)
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale.append(name)
        if not options.check:
            path.write_text(text, "utf-8")
    print("stale" if options.check else "written", ":", ", ".join(stale) or "none")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
