"""Write the pages of ``docs/reference`` from the code, so that they cannot say anything else.

``python tools/reference.py`` writes them; with ``--check`` it only names those that are stale and
exits 1 if there are any. Needs Plinian installed, or on ``PYTHONPATH``.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

import http_reference
import python_reference
from markup import cell, documented, prose, table
from plinian.engine import errors
from plinian.engine.events import KINDS
from plinian.engine.events.kinds import NOUNS

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Made by tools/reference.py from the code. Change the code, then run it again. -->"


def events() -> Iterator[str]:
    """Yield the page of event kinds."""
    yield from ("# Event kinds", "")
    yield (
        f"The vocabulary is closed: these {len(KINDS)} kinds and no others. Every event has "
        "the envelope described below; its payload is a Kubernetes object (kinds of versions) or "
        "one of the structs at the end of this page."
    )
    yield from ("", "## Versions of objects", "")
    yield (
        "Each noun has four kinds: `<noun>.observed` (the object was read, in a list or "
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
    nouns = of_noun.keys()
    others = [
        info for info in KINDS.values() if info.kind.partition(".")[0] not in nouns or info.payload
    ]
    yield from table(
        ("kind", "what it says", "effect on truth", "schema", "payload"),
        (
            (
                f"`{info.kind}`",
                cell(info.about),
                info.effect.name.lower(),
                str(info.schema),
                f"[`{info.payload.__name__}`](#{info.payload.__name__.lower()})"
                if info.payload is not None
                else "a Kubernetes object",
            )
            for info in others
        ),
    )
    yield from _envelope()
    yield from ("## Payloads", "")
    for struct in dict.fromkeys(info.payload for info in others if info.payload is not None):
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
    from plinian.engine.ingest.format_registry import FORMATS  # noqa: PLC0415

    yield from ("# Input formats", "")
    yield (
        "`plinian ingest` recognises each document by its content, trying these in order. How to "
        "obtain such a file, and what can be known from it: "
        "[the how-tos](../how-to/README.md)."
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
    yield from ("# Commands", "", "English | [简体中文](../zh/commands.md)", "")
    yield "`plinian COMMAND --help` prints the same."
    yield ""
    root = command_tree()
    yield from ("## plinian", "", *_about(root))
    for name, command in walk(root):
        yield from (f"## plinian {name}", "", *_about(command))


def command_tree() -> Any:
    """Return the root of the command line as a tree of click commands."""
    from plinian.replay.cli.main import app  # noqa: PLC0415

    return app


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
    examples = [line.strip() for line in (command.epilog or "").splitlines() if line[:2] == "  "]
    if examples:
        yield from ("```sh", *examples, "```", "")


def _argument(item: Any) -> str:
    name = (item.metavar or item.name).upper().strip("[]").removesuffix("...")
    return name + ("..." if item.nargs == -1 or getattr(item, "multiple", False) else "")


def _option(item: Any) -> str:
    written = ", ".join(f"`{text}`" for text in (*item.opts, *item.secondary_opts))
    variable = f" (`{item.envvar}`)" if isinstance(item.envvar, str) else ""
    return written + variable


def _default(item: Any) -> str:
    return f"`{item.default}`" if isinstance(item.default, str | int) and item.default else ""


def lint() -> Iterator[str]:
    """Yield the page of what ``plinian lint`` looks for, and of the arguments that it knows."""
    from plinian.replay.lint.findings import FaultEffect  # noqa: PLC0415
    from plinian.replay.lint.lint_rules import RULES  # noqa: PLC0415

    yield from ("# Lint", "")
    yield (
        f"`plinian lint` checks these {len(RULES)} rules under every release. How bad a fault is "
        "depends on what the release does with it; that is in its "
        "[behaviours](commands.md#plinian-release-show). How to use it: "
        "[how-to](../how-to/lint.md)."
    )
    yield ""
    yield from table(
        ("effect", "severity", "ends the scheduling of everything"),
        ((e.value, e.severity.value, "yes" if e.fatal else "") for e in FaultEffect),
    )
    groups = {
        "object": "Objects as such",
        "tree": "Queues as a tree",
        "admission": "Queues that the admission webhook refuses",
        "queue": "Queues",
        "job": "Jobs, PodGroups and pods",
        "topology": "HyperNodes and network topologies",
        "flow": "JobFlows",
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
    from plinian.engine.volcano.argument_table import ARGUMENTS  # noqa: PLC0415

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
        "http.md": http_reference.http,
        "lint.md": lint,
        "python.md": python_reference.python,
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
