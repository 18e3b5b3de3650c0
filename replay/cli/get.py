"""``plinian get``: objects as they were at a moment, in kubectl's forms."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from . import options
from .knowledge import warn
from .shell import fail, guarded, note, say, style

if TYPE_CHECKING:
    from ...engine.errors import ObjectNotFound
    from ...engine.state.truth import Entry
    from ..kinds import GroupKind
    from ..log import Log
    from ..moment import Moment

FORMS = "wide|json|yaml|name|jsonpath=…|custom-columns=…"


class Wanted(NamedTuple):
    """Objects of one kind that were asked for; no names means all."""

    kind: GroupKind
    names: tuple[str, ...] = ()


class Found(NamedTuple):
    """What there is of one kind."""

    kind: GroupKind
    entries: list[Entry]


@guarded
def get(
    resources: Annotated[
        list[str],
        typer.Argument(
            metavar="KIND[,KIND] [NAME]",
            help="Kinds, or one kind and names; or KIND/NAME, any number of them.",
        ),
    ],
    log: options.Place = options.DEFAULT_LOG,
    at: options.At = "end",
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selectors = "",
    output: Annotated[str, options.output_option(FORMS)] = "",
    sort_by: Annotated[
        str, typer.Option("--sort-by", metavar="JSONPATH", help="As in .metadata.name.")
    ] = "",
    no_headers: options.NoHeaders = False,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """Show objects as they were at a moment.

    Kinds have kubectl's names and short names: po, no, q (queues), pg (podgroups), vcjob. jobs are
    Volcano's; those of batch/v1 are jobs.batch. Without -n or -A the namespace is default. Ages
    are as of the moment looked at. Exits with 1 if a named object does not exist then.
    """
    from .opening import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        place = None if all_namespaces else namespace or "default"
        wanted = _wanted(resources, opened_log, moment)
        warn(opened_log, moment, [kind for kind, _ in wanted], place, strict=strict)
        found, missing = _look(opened_log, moment, wanted, place, selector)
        if sort_by:
            found = [_sorted(opened_log, moment, some, sort_by) for some in found]
        single = len(wanted) == 1 and len(wanted[0].names) == 1
        printer = _Printer(opened_log, moment, namespaces=all_namespaces, no_headers=no_headers)
        printer.print(found, output, single=single and not missing)
        _remark(found, missing, wanted, place)


def _wanted(resources: Sequence[str], log: Log, moment: Moment) -> list[Wanted]:
    """Read the arguments: kinds with names, or ``KIND/NAME`` each."""
    from ...engine.errors import UsageError
    from ..kinds import kind_named, object_named

    known = log.truth(moment).kinds()
    if any("/" in text for text in resources):
        named = [object_named(text, known) for text in resources]
        return [Wanted((group, kind), (name,)) for group, kind, name in named]
    kinds = [kind_named(text, known) for text in resources[0].split(",") if text.strip()]
    if not kinds:
        raise UsageError(f"{resources[0]!r} names no kind", now="as in: plinian get pods,nodes")
    names = tuple(dict.fromkeys(resources[1:]))
    if len(kinds) != 1 and names:
        raise UsageError(
            "names can follow one kind only", now="write KIND/NAME for each object instead"
        )
    return [Wanted(kind, names) for kind in kinds]


def _look(
    log: Log, moment: Moment, wanted: Sequence[Wanted], place: str | None, selector: str
) -> tuple[list[Found], list[ObjectNotFound]]:
    """Return what is there of each kind, and an error for each name that is not."""
    from ..log import not_found

    found: list[Found] = []
    missing: list[ObjectNotFound] = []
    for kind, names in wanted:
        entries = log.entries(kind, at=moment, namespace=place, selector=selector)
        if names:
            present = {entry.reference.name for entry in entries}
            missing += [
                not_found(kind, name, place, moment) for name in names if name not in present
            ]
            order = {name: index for index, name in enumerate(names)}
            entries = [entry for entry in entries if entry.reference.name in order]
            entries.sort(key=lambda entry: order[entry.reference.name])
        found.append(Found(kind, entries))
    return found, missing


def _sorted(log: Log, moment: Moment, found: Found, path_text: str) -> Found:
    """Return objects in the order of a field, as a number or quantity where all are."""
    from ...engine.units import parse_quantity
    from ..jsonpath import find, parse_path

    path = parse_path(path_text)
    documents = log.documents(found.entries, branch=moment.branch)
    values = [_sortable((find(path, document) or [None])[0]) for document in documents]
    try:
        numbers = [None if value is None else parse_quantity(value) for value in values]
    except ValueError:
        keys = [("" if value is None else str(value)) for value in values]
        order = sorted(range(len(keys)), key=lambda row: (values[row] is not None, keys[row]))
    else:
        order = sorted(
            range(len(numbers)),
            key=lambda row: (numbers[row] is not None, numbers[row] or 0),
        )
    return Found(found.kind, [found.entries[row] for row in order])


def _sortable(value: Any) -> str | float | None:
    """Return a value to sort by; what has parts is sorted as text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


class _Printer:
    """Prints what was found in the form that was asked for."""

    def __init__(self, log: Log, moment: Moment, *, namespaces: bool, no_headers: bool) -> None:
        self.log = log
        self.moment = moment
        self.namespaces = namespaces
        self.no_headers = no_headers

    def print(self, found: Sequence[Found], output: str, *, single: bool) -> None:
        from ...engine.errors import UsageError
        from ..render import documents as forms

        form, _, argument = output.partition("=")
        match form:
            case "" | "wide":
                self._tables(found, wide=form == "wide")
            case "name":
                forms.write_names(
                    sys.stdout,
                    ((*kind, entry.reference.name) for kind, some in found for entry in some),
                )
            case "json":
                forms.write_json(sys.stdout, self._documents(found), single=single)
            case "yaml":
                forms.write_yaml(sys.stdout, self._documents(found), single=single)
            case "jsonpath" if argument:
                forms.write_jsonpath(sys.stdout, self._documents(found), argument, single=single)
            case "custom-columns" if argument:
                forms.write_custom_columns(
                    sys.stdout, self._documents(found), argument, no_headers=self.no_headers
                )
            case _:
                raise UsageError(f"there is no output form {output!r}", now=f"choose: {FORMS}")

    def _documents(self, found: Sequence[Found]) -> Iterator[dict[str, Any]]:
        for _, entries in found:
            yield from self.log.documents(entries, branch=self.moment.branch)

    def _tables(self, found: Sequence[Found], *, wide: bool) -> None:
        from ..kinds import CLUSTER_SCOPED, resource_name
        from ..render.columns import Sight, table_of
        from ..render.tables import write_table

        sight = Sight(self.log.truth(self.moment))
        several = len({kind for kind, _ in found}) > 1
        separator = ""
        for kind, entries in found:
            if not entries:
                continue
            table = table_of(
                sight,
                *kind,
                entries,
                wide=wide,
                namespaces=self.namespaces and kind not in CLUSTER_SCOPED,
                name_prefix=f"{resource_name(*kind)}/" if several else "",
            )
            sys.stdout.write(separator)
            write_table(sys.stdout, table, no_headers=self.no_headers, style=style())
            separator = "\n"


def _remark(
    found: Sequence[Found],
    missing: Sequence[ObjectNotFound],
    wanted: Sequence[Wanted],
    place: str | None,
) -> None:
    """Say on standard error what the output does not: nothing there, or older than it looks."""
    from ..kinds import CLUSTER_SCOPED

    stale = sum(entry.stale for _, entries in found for entry in entries)
    if stale:
        note(
            f"plinian: {stale} of these may be older than they look: a later write was accepted "
            "whose result was not recorded"
        )
    if missing:
        for fault in missing[:-1]:
            say(fault)
        fail(missing[-1])
    if not any(entries for _, entries in found):
        scoped = place is not None and any(kind not in CLUSTER_SCOPED for kind, _ in wanted)
        note(f"No resources found{f' in {place} namespace' if scoped else ''}.")
