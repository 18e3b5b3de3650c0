"""``plinian get``: objects as they were at a moment, in kubectl's forms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from ..questions.fields import Field
from . import options
from .command import command
from .coverage_warnings import warn_unknown
from .object_arguments import (
    FoundObjects,
    ObjectFormat,
    ObjectQuery,
    RequestedKind,
    look_for,
    note_nothing,
    wanted_of,
    warn_of_kinds,
)
from .shell import before_output, fail, note, style

if TYPE_CHECKING:
    from ...engine.errors import ObjectNotFound
    from ...engine.kubernetes.resources import GroupKind
    from ..logs.log import Log
    from ..moments.moment import Moment
    from ..render.columns import Labels

Cleaned = Callable[[dict[str, Any]], dict[str, Any]]

FORMS = "wide|json|yaml|name|jsonpath=…|custom-columns=…"


@command("get")
def get(
    resources: Annotated[
        tuple[str, ...],
        Field(
            "Kinds, or one kind and names, or any number of KIND/NAME. all is kubectl's "
            "category, plus Volcano's jobs, podgroups and queues.",
            "KIND[,KIND] [NAME...]",
        ),
    ],
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.Selector = "",
    field_selector: options.FieldSelector = "",
    output: Annotated[str, Field("The output form.", FORMS, short="o")] = "",
    show_labels: Annotated[bool, Field("Print all labels in a last column.")] = False,
    label_columns: Annotated[
        tuple[str, ...], Field("Print columns for these labels; repeatable.", "LABEL", short="L")
    ] = (),
    sort_by: Annotated[str, Field("As in .metadata.name.", "JSONPATH")] = "",
    no_headers: options.NoHeaders = False,
    ignore_not_found: Annotated[
        bool, Field("Exit with 0 if a named object does not exist.")
    ] = False,
    watch: Annotated[
        bool, Field("Then print every change to them, until interrupted.", short="w")
    ] = False,
    watch_only: Annotated[
        bool, Field("Like --watch, without the objects that exist at the moment.")
    ] = False,
    watch_events: Annotated[
        bool,
        Field(
            "With a watch: print ADDED, MODIFIED or DELETED for each.", name="output_watch_events"
        ),
    ] = False,
    clean: Annotated[
        bool,
        Field(
            "With -o json or yaml: leave out what only this cluster has, as status, uid and "
            "owners, so that the objects can be applied to another one."
        ),
    ] = False,
    plot: options.Plot = False,
    node_names: Annotated[bool, Field("With --clean: keep the nodes of pods.")] = False,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Show objects as they were at a moment.

    Kinds have kubectl's names and short names: po, no, q (queues), pg (podgroups), vcjob. jobs are
    Volcano's; those of batch/v1 are jobs.batch. Without -n or -A the namespace is default. Ages are
    relative to the moment. Exits with 1 if a named object does not exist at the moment.

    A PodGroup can be named by its job, or by its shortened name: big-gang-09629e74…. Tables shorten
    the uids in PodGroup names; -o wide and all other forms do not. Of a queue, columns with +BELOW
    count the pods of the queues below it as well.

    --plot draws queues, nodes, or one named job or PodGroup over time until the moment.

    A watch with --at first prints what the log holds after that moment, and then waits for more.
    With -o wide each of its rows is one line, which may be wider than the terminal.
    """
    from ...engine.errors import UsageError
    from .open_log import opened
    from .pictures import check_plot

    check_plot(output, plot=plot)
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        place = None if all_namespaces else namespace or "default"
        look = ObjectQuery(opened_log, moment, place, selector, field_selector)
        wanted = wanted_of(resources, look)
        if plot:
            _check_drawn(wanted, watch=watch or watch_only)
        tabled = ObjectFormat(
            output,
            all_namespaces,
            no_headers,
            _labels(label_columns, every=show_labels),
            watch_events,
        )
        cleaned = _cleaned(output, clean=clean, node_names=node_names, watch=watch or watch_only)
        if watch or watch_only:
            if as_known_at is not None or sort_by:
                raise UsageError(
                    "--as-known-at and --sort-by cannot be combined with a watch",
                    now="leave them out",
                )
            from .watching import print_watch

            _warn_along(look, wanted, _computed(output), strict=strict)
            before_output()
            print_watch(look, wanted, tabled, only_news=watch_only)
            return
        warn_of_kinds(look, wanted, _computed(output), strict=strict)
        found, missing = look_for(look, wanted)
        if sort_by:
            found = [_sorted(opened_log, moment, objects, sort_by) for objects in found]
        before_output()
        single = len(wanted) == 1 and len(wanted[0].names) == 1
        _print(look, found, tabled, cleaned, single=single and not missing)
        if plot:
            _plot(look, log, found)
        _remark(found, [] if ignore_not_found else missing, wanted, place)
        if not any(objects.entries for objects in found):
            _guess_namespace(look)


_DRAWN = ("Queue", "Node", "Job", "PodGroup")


def _check_drawn(wanted: Sequence[RequestedKind], *, watch: bool) -> None:
    """Refuse ``--plot`` for what has no picture.

    :raises UsageError: it is a watch, a kind that is not drawn, or a kind of gangs without a name.
    """
    from ...engine.errors import UsageError

    kinds = {requested_kind.kind[1] for requested_kind in wanted}
    gangs = [requested for requested in wanted if requested.kind[1] in _DRAWN[2:]]
    if watch or not kinds <= {*_DRAWN} or any(len(gang.names) != 1 for gang in gangs):
        raise UsageError(
            "--plot draws queues, nodes, and one named job or podgroup",
            now="as in: plinian get queues --plot; not with a watch",
        )


def _plot(look: ObjectQuery, place: str, found: Sequence[FoundObjects]) -> None:
    """Print a picture of each kind until the moment, of the objects that were found."""
    from ..plot.asked import GANG, NODES, QUEUES, PlotRequest
    from .pictures import write_plot

    for kind, entries in _joined(found):
        names = tuple(entry.reference.name for entry in entries)
        if kind[1] in {"Queue", "Node"}:
            asked = PlotRequest(QUEUES if kind[1] == "Queue" else NODES, names, None, look.moment)
            write_plot(look.log, place, asked)
            continue
        namespace = entries[0].reference.namespace
        gang = (f"{kind[1].lower()}/{names[0]}",)
        write_plot(look.log, place, PlotRequest(GANG, gang, None, look.moment, None, namespace))


def _cleaned(output: str, *, clean: bool, node_names: bool, watch: bool) -> Cleaned | None:
    """Return what removes from an object what only its own cluster has; None changes nothing."""
    from ...engine.errors import UsageError

    if not clean and not node_names:
        return None
    if not clean or watch or output not in {"json", "yaml"}:
        raise UsageError(
            "--clean and --node-names are for manifests",
            now="give --clean with -o json or -o yaml, without a watch",
        )
    from functools import partial

    from ..objects.manifests import manifest

    return partial(manifest, node_names=node_names)


def _warn_along(
    look: ObjectQuery,
    wanted: Sequence[RequestedKind],
    computed: Mapping[GroupKind, tuple[GroupKind, ...]],
    *,
    strict: bool,
) -> None:
    """Warn which of some kinds are not fully known at a moment or anywhere after it."""
    from ..coverage.computed_kinds import Shown, unknown_in

    if look.moment.revision is None:
        warn_of_kinds(look, wanted, computed, strict=strict)
        return
    first, end = look.moment.revision, look.log.moment()
    unknowns = [
        each
        for requested_kind in wanted
        for each in unknown_in(
            look.log, end, Shown(requested_kind.kind, computed, look.place), first=first
        )
    ]
    warn_unknown(list(dict.fromkeys(unknowns)), strict=strict)


def _computed(output: str) -> Mapping[GroupKind, tuple[GroupKind, ...]]:
    """Return from which kinds an output form computes something of others."""
    from ..coverage.computed_kinds import IN_TABLES, IN_WIDE_TABLES, NOTHING

    return {"": IN_TABLES, "wide": IN_WIDE_TABLES}.get(output, NOTHING)


def _labels(columns: Sequence[str], *, every: bool) -> Labels | None:
    from ..render.columns import Labels

    keys = tuple(key for text in columns for key in text.split(",") if key)
    return Labels(keys, every) if keys or every else None


def _sorted(log: Log, moment: Moment, objects: FoundObjects, path_text: str) -> FoundObjects:
    """Return objects in the order of a field, as a number or quantity where all are."""
    from ...engine.kubernetes.expressions.jsonpath import find, parse_path
    from ...engine.kubernetes.units import parse_quantity

    path = parse_path(path_text)
    documents = log.documents(objects.entries, branch=moment.branch)
    # As kubectl: the first value that the path has in an object decides.
    values = [_sortable((find(path, document) or [None])[0]) for document in documents]
    try:
        keys: list[Any] = [None if value is None else parse_quantity(value) for value in values]
    except ValueError:
        keys = [None if value is None else str(value) for value in values]
    # Objects without the field come first.
    order = sorted(range(len(keys)), key=lambda row: (keys[row] is not None, keys[row]))
    return FoundObjects(objects.kind, [objects.entries[row] for row in order])


def _sortable(value: Any) -> str | float | None:
    """Return a value to sort by; maps and lists are sorted as text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _print(
    look: ObjectQuery,
    found: Sequence[FoundObjects],
    tabled: ObjectFormat,
    cleaned: Cleaned | None,
    *,
    single: bool,
) -> None:
    """Print what was found in the output form of the command."""
    from ...engine.errors import UsageError
    from ..render import documents as forms

    form, _, argument = tabled.output.partition("=")
    out, documents = sys.stdout, _documents(look, found, cleaned)
    match form:
        case "" | "wide":
            _tables(look, found, tabled)
        case "name":
            names = ((*kind, entry.reference.name) for kind, entries in found for entry in entries)
            forms.write_names(out, names)
        case "json":
            forms.write_json(out, documents, single=single)
        case "yaml":
            forms.write_yaml(out, documents, single=single)
        case "jsonpath" if argument:
            forms.write_jsonpath(out, documents, argument, single=single)
        case "custom-columns" if argument:
            no_headers = tabled.no_headers
            forms.write_custom_columns(
                out, documents, argument, no_headers=no_headers, style=style()
            )
        case _:
            raise UsageError(f"no output form {tabled.output!r}", now=f"choose one of {FORMS}")


def _documents(
    look: ObjectQuery, found: Sequence[FoundObjects], cleaned: Cleaned | None
) -> Iterator[dict[str, Any]]:
    for _, entries in found:
        documents = look.log.documents(entries, branch=look.moment.branch)
        yield from documents if cleaned is None else map(cleaned, documents)


def _tables(look: ObjectQuery, found: Sequence[FoundObjects], tabled: ObjectFormat) -> None:
    from ...engine.kubernetes.resources import CLUSTER_SCOPED
    from ..coverage.coverage import NotListed
    from ..objects.kind_names import resource_name
    from ..render.columns import TableContext, short_names, table_of
    from ..render.tables import write_table

    wide = tabled.output == "wide"
    not_listed = NotListed(look.log, look.moment)
    context = TableContext(look.log.truth(look.moment), not_listed=not_listed)
    several = len({kind for kind, _ in found}) > 1
    separator = ""
    for kind, entries in _joined(found):
        table = table_of(
            context,
            *kind,
            entries,
            wide=wide,
            namespaces=tabled.namespaces and kind not in CLUSTER_SCOPED,
            name_prefix=f"{resource_name(*kind)}/" if several else "",
            labels=tabled.labels,
            short={} if wide else short_names(*kind, entries),
        )
        sys.stdout.write(separator)
        write_table(sys.stdout, table, no_headers=tabled.no_headers, style=style())
        separator = "\n"


def _guess_namespace(look: ObjectQuery) -> None:
    """Note which namespace may have been meant, if none has the name."""
    from difflib import get_close_matches

    records = look.log.truth(look.moment).records()
    known = {record.reference.namespace for record in records} - {""}
    close = get_close_matches(look.place or "", sorted(known), n=3)
    if close and look.place not in known:
        note(
            f"There is no namespace {look.place!r} at this moment; did you mean "
            f"{' or '.join(close)}?"
        )


def _joined(found: Sequence[FoundObjects]) -> Iterator[FoundObjects]:
    """Yield what exists; a kind that is named several times in a row only once."""
    present = (objects for objects in found if objects.entries)
    for kind, these in groupby(present, key=lambda objects: objects.kind):
        yield FoundObjects(kind, [entry for objects in these for entry in objects.entries])


def _remark(
    found: Sequence[FoundObjects],
    missing: Sequence[ObjectNotFound],
    wanted: Sequence[RequestedKind],
    place: str | None,
) -> None:
    """Note on standard error that nothing was found, or that objects may be outdated."""
    stale = sum(entry.stale and not entry.ending for _, entries in found for entry in entries)
    if stale:
        note(
            f"plinian: {stale} of these may be outdated: a later write was accepted, but its "
            f"result was not recorded"
        )
    if missing:
        fail(*missing)
    if not any(entries for _, entries in found):
        note_nothing(wanted, place)
