"""``plinian events``: the log itself, event by event."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .knowledge import first_of, warn
from .shell import guarded, style

if TYPE_CHECKING:
    from ...engine.log import Query
    from ..log import Log

FORMS = "table|wide|ndjson|json"


@guarded
def events(
    log: options.Place = options.DEFAULT_LOG,
    kind: Annotated[
        list[str],
        typer.Option(
            "--kind", metavar="KIND", help="Event kinds, as in pod.bound or pod.*; repeatable."
        ),
    ] = [],  # noqa: B006 -- typer copies it
    objects: Annotated[
        list[str],
        typer.Option(
            "--object",
            metavar="KIND[/NAME]|UID",
            help="Only about these objects, as in pods, pod/train-0 or a uid; repeatable kinds.",
        ),
    ] = [],  # noqa: B006
    namespace: options.Namespace = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Only from this input (or its file name)."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="POINT", help="From here on, inclusive: @7, rv:7, a time, -5m."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="POINT", help="Up to here, inclusive.")
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="@POSITION", help="Only what was appended after this position."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, metavar="N", help="At most so many.")
    ] = None,
    newest_first: Annotated[
        bool, typer.Option("--newest-first", help="The last position first.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for more, until interrupted.")
    ] = False,
    payload: Annotated[
        bool, typer.Option("--payload", help="With -o ndjson or json: print payloads too.")
    ] = False,
    output: Annotated[str, options.output_option(FORMS)] = "table",
    no_headers: options.NoHeaders = False,
    strict: options.Strict = False,
    cluster: options.Cluster = None,
    branch: options.Branch = "main",
) -> None:
    """List the events of the log.

    They come in the order of position: the order in which they were learned.
    Bounds of time hold for when a thing happened, so events of unknown time are left out by them.
    """
    from ...engine.errors import UsageError
    from .opening import opened

    if output not in FORMS.split("|"):
        raise UsageError(f"there is no output form {output!r}", now=f"choose one of {FORMS}")
    if follow and (newest_first or until is not None or output == "json"):
        raise UsageError(
            "what is followed has no end: --newest-first, --until and -o json do not go with it",
            now="leave out --follow, or choose -o ndjson",
        )
    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        first = None if since is None else first_of(opened_log, since, strict=strict)
        narrowed = _bounds(opened_log, first.label if first else None, until, after)
        narrowed |= _about(opened_log, objects, namespace, follow=follow)
        if first is not None:
            warn(opened_log, first, narrowed.get("objects"), namespace, strict=strict)
        if cluster is not None:
            opened_log.moment()  # complains of an unknown cluster
        query = _query(
            branch=branch,
            cluster=cluster,
            kinds=_kinds(kind),
            source=source,
            newest_first=newest_first,
            limit=limit,
            **({"namespace": namespace} if namespace is not None else {}),
            **narrowed,
        )
        _print(opened_log, query, output, follow=follow, payload=payload, no_headers=no_headers)


def _query(**fields: Any) -> Query:
    from ...engine.log import Query

    return Query(**fields)


def _print(
    log: Log, query: Query, output: str, *, follow: bool, payload: bool, no_headers: bool
) -> None:
    from ..actors import told
    from ..render import events as forms
    from ..render.documents import json_text
    from ..render.tables import stream_lines
    from ..times import AT_ONCE

    read = log.store.follow(query) if follow else log.store.read(query)
    clock = log.clock()
    found = told(log.store, clock, read, branch=query.branch, at_once=1 if follow else AT_ONCE)
    if output == "ndjson":
        lines = forms.ndjson_lines(found, payload=payload)
    elif output == "json":
        fields = [forms.event_fields(event, payload=payload) for event in found]
        lines = iter([json_text({"apiVersion": "v1", "items": fields, "kind": "EventList"}) + "\n"])
    else:
        wide = output == "wide"
        lines = stream_lines(
            forms.WIDE_HEADERS if wide else forms.HEADERS,
            forms.event_rows(found, wide=wide),
            no_headers=no_headers,
            style=style(),
            look_ahead=1 if follow else 1000,
        )
    for line in lines:
        sys.stdout.write(line)
        if follow:
            sys.stdout.flush()


def _kinds(kinds: list[str]) -> tuple[str, ...]:
    """Check event kinds, so that a misspelt one is not an empty answer."""
    from difflib import get_close_matches

    from ...engine.errors import UsageError
    from ...engine.events import KINDS

    wanted = tuple(kind for text in kinds for kind in text.split(",") if kind)
    nouns = {name.partition(".")[0] for name in KINDS}
    for kind in wanted:
        noun, _, rest = kind.partition(".")
        if kind in KINDS or (rest == "*" and noun in nouns):
            continue
        close = get_close_matches(kind, [*KINDS, *(f"{noun}.*" for noun in sorted(nouns))], n=3)
        raise UsageError(
            f"there is no event kind {kind!r}",
            now=f"did you mean {' or '.join(close)}?" if close else "as in pod.bound, or pod.*",
        )
    return wanted


_UID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")


def _about(log: Log, objects: list[str], namespace: str | None, *, follow: bool) -> dict[str, Any]:
    """Return the fields of a query for ``--object``: kinds, one named object, or one uid."""
    from ...engine.errors import ObjectNotFound, UsageError
    from ..kinds import CLUSTER_SCOPED, plural_of
    from ..names import is_known, name_ever, never_known

    if not objects:
        return {}
    names = [text for text in objects if "/" in text or _UID.fullmatch(text)]
    if names and len(objects) > 1:
        raise UsageError(
            "--object takes one name or uid, or any number of kinds",
            now="ask for one object at a time, or for kinds alone",
        )
    if not names:
        return {"objects": tuple(map(log.kind, objects))}
    if _UID.fullmatch(names[0]):
        return {"uid": names[0].lower()}
    group, kind, name = log.object(names[0])
    pair = (group, kind)
    name = name_ever(log, pair, name, namespace)
    if not follow and not is_known(log, pair, name, namespace):
        raise ObjectNotFound(
            f'the log knows no {plural_of(*pair)} "{name}"',
            now=never_known(log, pair, name, namespace),
        )
    fields: dict[str, Any] = {"objects": (pair,), "name": name}
    return fields | ({"namespace": ""} if pair in CLUSTER_SCOPED else {})


def _bounds(log: Log, since: str | None, until: str | None, after: str | None) -> dict[str, Any]:
    """Return the fields of a query for its bounds; each point bounds what it is a point of."""
    from ...engine.log import Cut

    positions: list[int | None] = [None, None]
    revisions: list[int | None] = [None, None]
    happened: list[Cut | None] = [None, None]
    for side, text in enumerate((since, until)):
        if text is None:
            continue
        moment = log.moment(text)
        if moment.time is not None:
            # What happened at the time itself is on both sides.
            last = log.clock(moment).revision_at(moment.time - 1) + 1
            happened[side] = Cut(moment.revision or 0 if side else last, moment.time)
        elif moment.revision is not None:
            revisions[side] = moment.revision
        else:
            positions[side] = moment.known
    fields: dict[str, Any] = {"revisions": tuple(revisions), "happened": tuple(happened)}
    first = max(0, (positions[0] or 1) - 1)
    if after is not None:
        first = max(first, log.moment(after if after.startswith("@") else f"@{after}").known)
    return fields | {"after": first, "until": positions[1]}
