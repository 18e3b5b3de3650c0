"""``plinian release``: how releases of Volcano behave, and where they differ."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import options
from .assumption import chosen
from .command import command, group
from .shell import note, style

if TYPE_CHECKING:
    from ...engine.volcano.table import Part

FORMS = "text|wide|json"


def _known_form(_ctx: click.Context, _option: click.Parameter, value: str) -> str:
    if value not in FORMS.split("|"):
        raise click.BadParameter(f"no output form {value!r}; choose text, wide or json")
    return value


_output = click.option(
    "--output",
    "-o",
    metavar=FORMS,
    default="text",
    show_default=True,
    help="The output form; wide adds sources.",
    callback=_known_form,
)

PARTS = "session|cache|controllers"


def _known_parts(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    unknown = [value for value in values if value not in PARTS.split("|")]
    if unknown:
        named = "session, cache or controllers"
        raise click.BadParameter(f"no part {unknown[0]!r}; choose {named}")
    return values


def _chosen(values: tuple[str, ...]) -> list[Part]:
    from ...engine.volcano.table import Part

    return [part for part in Part if not values or part in values]


_part = click.option(
    "--part",
    multiple=True,
    metavar=PARTS,
    help="Only behaviours of sessions, of the scheduler's cache, or of the controllers. "
    "Repeatable; by default all.",
    callback=_known_parts,
)

ORIGIN = ("PULL REQUEST", "SOURCE")
"""The additional columns of the wide form."""


@command("release list")
@options.text_or_json
def list_releases(output: str) -> None:
    """List the known releases, and what each changed.

    In sessions, in the scheduler's cache, and in the controllers. Sessions of all of them can be
    run. The last one, hardened, is not a release of Volcano: it is Plinian's, the newest release
    with fixes that no release has in full.
    """
    from ..compare.releases import release_lines
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    found = release_lines()
    if output == "json":
        sys.stdout.write(json_text([line._asdict() for line in found], indent=2) + "\n")
        return
    rows: list[tuple[str, ...]] = []
    for line in found:
        changed = [(str(part), ", ".join(names)) for part, names in line.changed.items() if names]
        rows += [(line.name, *each) for each in changed or [(NONE, NONE)]]
    headers = ("RELEASE", "PART", "WHAT CHANGES")
    write_table(sys.stdout, Table(headers, rows), style=style())


@command("release show")
@click.argument("name", metavar="RELEASE", help="A release, as in v1.12.1.")
@_part
@_output
@options.assume
def show(name: str, part: tuple[str, ...], output: str, assume: bool) -> None:
    """Show how a release behaves, since when, and what that means.

    Sources are paths below Volcano's pkg/scheduler/, or full paths, which begin with pkg/.
    """
    from ..compare.releases import behaviours_of
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    (name,) = chosen([name], assume=assume).names
    found = behaviours_of(name, parts=_chosen(part))
    if output == "json":
        sys.stdout.write(json_text([held._asdict() for held in found], indent=2) + "\n")
        return
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", "VALUE", "SINCE", "MEANING")
    rows: list[tuple[str, ...]] = [
        (held.behaviour, held.part, held.value, ",".join(held.since), held.why) for held in found
    ]
    if output == "wide":
        headers = (*headers, "PROOF", *ORIGIN)
        origins = [(held.proof or NONE, held.pull or NONE, held.source) for held in found]
        rows = [(*row, *origin) for row, origin in zip(rows, origins, strict=True)]
    write_table(sys.stdout, Table(headers, rows), style=style())


@command("release diff")
@click.argument("one", metavar="A", help="A release, as in v1.11.0.")
@click.argument("other", metavar="B", help="Another.")
@_part
@_output
@options.assume
def diff(one: str, other: str, part: tuple[str, ...], output: str, assume: bool) -> None:
    """Show the behaviours in which two releases differ.

    Sources are as in plinian release show.
    """
    from ..compare.releases import release_diff
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    one, other = chosen([one, other], assume=assume).names
    found = release_diff(one, other, parts=_chosen(part))
    if output == "json":
        sys.stdout.write(json_text([each._asdict() for each in found], indent=2) + "\n")
        return
    rows = [(each.behaviour, each.part, *each.values, each.why) for each in found]
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", one, other, "WHAT CHANGES")
    if output == "wide":
        headers = (*headers, "SINCE", *ORIGIN)
        origins = [(",".join(each.since), each.pull or NONE, each.source) for each in found]
        rows = [(*row, *origin) for row, origin in zip(rows, origins, strict=True)]
    write_table(sys.stdout, Table(headers, rows), style=style())
    note(f"{len(found)} behaviours differ")


@command("release unproven")
@options.text_or_json
def list_unproven(output: str) -> None:
    """List the behaviours that no recorded decision proves.

    And why there is none. Such a row rests on Volcano's source code alone.
    """
    from ..compare.releases import unproven_rows
    from ..render.documents import json_text
    from ..render.tables import Table, write_table

    rows, found = unproven_rows()
    if output == "json":
        sys.stdout.write(json_text([each._asdict() for each in found], indent=2) + "\n")
        return
    table = [
        (each.behaviour, each.part, each.value, ",".join(each.since), each.lack) for each in found
    ]
    headers = ("BEHAVIOUR", "PART", "VALUE", "SINCE", "REASON")
    write_table(sys.stdout, Table(headers, table), style=style())
    note(f"{len(found)} of {rows} rows are not proven")


release = group(
    "release",
    "List, show and compare releases of Volcano.",
    *(list_releases, show, diff, list_unproven),
)
