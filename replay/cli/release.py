"""``plinian release``: how releases of Volcano behave, and where they differ."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ...engine.kubernetes.counts import counted
from . import options
from .assumption import chosen
from .command import command, group
from .shell import note, style

if TYPE_CHECKING:
    from ...engine.volcano.table import Part
    from ..compare.releases import ReleaseLine

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
    help="The output form; wide adds subjects and sources.",
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


def _known_subjects(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    if not values:
        return ()
    from ..compare.releases import all_subjects

    known = all_subjects()
    unknown = [value for value in values if value not in known]
    if unknown:
        raise click.BadParameter(f"no subject {unknown[0]!r}; choose {', '.join(known)}")
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

_subject = click.option(
    "--subject",
    multiple=True,
    metavar="NAME",
    help="Only behaviours about this, as in preempt; docs/behaviours.md lists the subjects. "
    "Repeatable; by default all.",
    callback=_known_subjects,
)

_KEPT = ("VALUE", "MEANING", "WHAT CHANGES", "REASON")
"""Columns that even a narrow terminal shows."""

ORIGIN = ("PULL REQUEST", "SOURCE")
"""The additional columns of the wide form."""


@command("release list")
@options.text_wide_or_json
def list_releases(output: str) -> None:
    """List the known releases, and in what each differs from the one above it.

    In sessions, in the scheduler's cache, and in the controllers. The first release of a line may
    lack what came later to the line before it, as a backport. That is then marked, as in
    "preempt_in_queue_order (as before v1.12.4)".

    Sessions of all of them can be run. The last one, hardened, is not a release of Volcano: it is
    Plinian's, the newest release with fixes that no release has in full.
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
        changed = [
            (str(part), ", ".join(_marked(line, name) for name in names))
            for part, names in line.changed.items()
            if names
        ]
        rows += [(line.name, *each) for each in changed or [(NONE, NONE)]]
    headers = ("RELEASE", "PART", "DIFFERENCES FROM THE RELEASE ABOVE")
    write_table(sys.stdout, Table(headers, rows, _KEPT), style=style())


def _marked(line: ReleaseLine, name: str) -> str:
    lacks = line.lacking.get(name)
    return name if lacks is None else f"{name} (as before {lacks})"


@command("release show")
@click.argument("name", metavar="RELEASE", help="A release, as in v1.12.1.")
@_part
@_subject
@_output
@options.assume
def show(
    name: str, part: tuple[str, ...], subject: tuple[str, ...], output: str, assume: bool
) -> None:
    """Show how a release behaves, since when, and what that means.

    Sources are paths below Volcano's pkg/scheduler/, or full paths, which begin with pkg/.
    """
    from ..compare.releases import behaviours_of
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    (name,) = chosen([name], assume=assume).names
    found = behaviours_of(name, _chosen(part), subject)
    if output == "json":
        sys.stdout.write(json_text([held._asdict() for held in found], indent=2) + "\n")
        return
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", "VALUE", "SINCE", "MEANING")
    rows: list[tuple[str, ...]] = [
        (held.behaviour, held.part, held.value, ",".join(held.since), held.why) for held in found
    ]
    if output == "wide":
        headers = (*headers, "SUBJECT", "PROOF", *ORIGIN)
        origins = [
            (held.subject, held.proof or NONE, held.pull or NONE, held.source) for held in found
        ]
        rows = [(*row, *origin) for row, origin in zip(rows, origins, strict=True)]
    write_table(sys.stdout, Table(headers, rows, _KEPT), style=style())


@command("release diff")
@click.argument("one", metavar="A", help="A release, as in v1.11.0.")
@click.argument("other", metavar="B", help="Another.")
@_part
@_subject
@_output
@options.assume
def diff(
    one: str,
    other: str,
    part: tuple[str, ...],
    subject: tuple[str, ...],
    output: str,
    assume: bool,
) -> None:
    """Show the behaviours in which two releases differ.

    Sources are as in plinian release show.
    """
    from ..compare.releases import release_diff
    from ..render.documents import json_text
    from ..render.tables import NONE, Table, write_table

    one, other = chosen([one, other], assume=assume, pre_releases=True).names
    found = release_diff(one, other, parts=_chosen(part), subjects=subject)
    if output == "json":
        sys.stdout.write(json_text([each._asdict() for each in found], indent=2) + "\n")
        return
    rows = [(each.behaviour, each.part, *each.values, each.why) for each in found]
    headers: tuple[str, ...] = ("BEHAVIOUR", "PART", one, other, "WHAT CHANGES")
    if output == "wide":
        headers = (*headers, "SUBJECT", "SINCE", *ORIGIN)
        origins = [
            (each.subject, ",".join(each.since), each.pull or NONE, each.source) for each in found
        ]
        rows = [(*row, *origin) for row, origin in zip(rows, origins, strict=True)]
    write_table(sys.stdout, Table(headers, rows, (*_KEPT, one, other)), style=style())
    note(f"{len(found)} behaviours differ")


@command("release unproven")
@options.text_wide_or_json
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
    write_table(sys.stdout, Table(headers, table, _KEPT), style=style())
    note(f"{len(found)} of {counted(rows, 'row is', 'rows are')} not proven")


release = group(
    "release",
    "List, show and compare releases of Volcano.",
    *(list_releases, show, diff, list_unproven),
)
