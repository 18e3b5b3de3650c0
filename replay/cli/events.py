"""``plinian events``: the log, event by event."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from ..questions.fields import Field
from . import options
from .command import command
from .coverage_warnings import first_of, warn
from .shell import before_output, style

if TYPE_CHECKING:
    from ...engine.log import Query
    from ..logs.log import Log

FORMS = "table|wide|ndjson|json"


@command("events")
def events(
    named: Annotated[
        tuple[str, ...],
        Field("Only about these objects, like --object.", "[KIND[/NAME]|NAME|UID]..."),
    ] = (),
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    kind: Annotated[
        tuple[str, ...],
        Field("Event kinds, as in pod.bound, pod.* or *.deleted; repeatable.", "KIND"),
    ] = (),
    objects: Annotated[
        tuple[str, ...],
        Field(
            "Only about these objects, as in pods, pod/train-0, train-0 or a uid; repeatable.",
            "KIND[/NAME]|NAME|UID",
            name="object",
        ),
    ] = (),
    namespace: options.Namespace = None,
    source: Annotated[
        str | None, Field("Only from this input (its path or file name).", "NAME")
    ] = None,
    since: Annotated[
        str | None, Field("From this point on, inclusive: @7, rv:7, a time, -5m.", "POINT")
    ] = None,
    until: Annotated[str | None, Field("Up to this point, inclusive.", "POINT")] = None,
    after: Annotated[
        str | None, Field("Only events appended after this position.", "@POSITION")
    ] = None,
    limit: Annotated[int | None, Field("At most this many events.", "N", least=0)] = None,
    newest_first: Annotated[bool, Field("Print the last position first.")] = False,
    follow: Annotated[bool, Field("Wait for more events, until interrupted.")] = False,
    payload: Annotated[bool, Field("With -o ndjson or json: also print payloads.")] = False,
    output: Annotated[
        str, Field("The output form.", FORMS, short="o", choices=tuple(FORMS.split("|")))
    ] = "table",
    no_headers: options.NoHeaders = False,
    strict: options.Strict = False,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """List the events of the log.

    They are listed by position: the order in which they were appended. A request in the audit log
    is shown with the event of the version that it made, if that is known: *makes @56*. Times as
    bounds refer to when something happened, so they leave out events of unknown time.

    With -o wide each event is one line, which may be wider than the terminal.
    """
    from ...engine.errors import UsageError
    from ...engine.log import Query
    from ..logs.event_filters import about, bounds, known_kinds
    from .open_log import opened

    if follow and (newest_first or until is not None or output == "json"):
        raise UsageError(
            "--follow has no end, so --newest-first, --until and -o json cannot be combined with "
            "it",
            now="leave out --follow, or choose -o ndjson",
        )
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        first = None if since is None else first_of(opened_log, since, strict=strict)
        narrowed = bounds(opened_log, first, until, after)
        named = _as_one(opened_log, named)
        narrowed |= about(opened_log, (*named, *objects), namespace, follow=follow)
        if first is not None:
            warn(opened_log, first, narrowed.get("objects"), namespace, strict=strict)
        if cluster is not None:
            opened_log.moment()  # raises for an unknown cluster
        if namespace is not None:
            narrowed.setdefault("namespace", namespace)
        query = Query(
            branch=branch,
            cluster=cluster,
            kinds=known_kinds(kind),
            source=source,
            newest_first=newest_first,
            limit=limit,
            **narrowed,
        )
        _print(opened_log, query, output, follow=follow, payload=payload, no_headers=no_headers)


def _as_one(log: Log, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return words as they are, but ``KIND NAME`` as one object."""
    from ...engine.errors import UsageError

    if len(words) != 2 or any("/" in word for word in words):
        return words
    try:
        log.kind(words[1])
    except UsageError:
        return ("/".join(words),)
    return words


def _print(
    log: Log, query: Query, output: str, *, follow: bool, payload: bool, no_headers: bool
) -> None:
    from ..moments.read_events import attributed_events
    from ..render import events as forms
    from ..render.documents import json_text
    from ..render.tables import stream_lines

    before_output()
    attributed = attributed_events(log.store, log.moment(), query, follow=follow)
    if output == "ndjson":
        lines = forms.ndjson_lines(attributed, payload=payload)
    elif output == "json":
        fields = [forms.shown_event(event, payload=payload) for event in attributed]
        lines = iter([json_text({"apiVersion": "v1", "items": fields, "kind": "EventList"}) + "\n"])
    else:
        wide = output == "wide"
        lines = stream_lines(
            forms.event_table(wide=wide),
            forms.event_rows(attributed, wide=wide),
            no_headers=no_headers,
            style=style(),
            # A person who follows sees each line at once; the first one alone decides the widths.
            look_ahead=1 if follow else 1000,
            endless=follow,
        )
    for line in lines:
        sys.stdout.write(line)
        if follow:
            sys.stdout.flush()
