"""``plinian pack``: a slice of a log as one file."""

from __future__ import annotations

from typing import Annotated

from ..questions.defaults import DEFAULT_RELEASE
from ..questions.fields import Field
from . import options
from .command import command
from .out_files import refuse_form
from .shell import note, shows_progress, style, write_lines


@command("pack")
def pack(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    around: Annotated[
        str, Field("How much time before and after the moment, as in 90s or 1h30m.", "DURATION")
    ] = "10m",
    out: Annotated[str, Field("The file to write, as in incident.plinian.", "FILE", short="o")],
    release: options.Release = DEFAULT_RELEASE,
    ask: Annotated[str, Field("Your question; open shows it.", "TEXT")] = "",
    redact: Annotated[
        bool, Field("Also replace all names, and leave out free text; sessions decide the same.")
    ] = False,
    map_file: Annotated[
        str | None,
        Field(
            "With --redact: where to write what the names were; by default beside the pack, with "
            "the suffix .map.",
            "FILE",
            name="map",
        ),
    ] = None,
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Write the part of a log around a moment to one file, to send it to somebody.

    The file is a log: it has the state at its begin, the events after it, the configuration, and
    what a session decided at the moment. Every command reads it with --log, and open checks it.
    Commands see in it what they see in the log. A pack is written only if its session decides as
    that of the log.

    Environment values, commands and arguments of containers, values in ConfigMaps and lines of
    logs are left out, as by ingest --redact; the log never had the content of Secrets.

    With --redact, names of objects, labels, images and users are replaced. What refers to each
    other, matches and sorts, still does. Sessions are run with the original names and with the new
    ones; if a decision differs, nothing is written. The map of names stays with you.
    """
    from ..pack.pack_lines import packed_lines
    from ..pack.pack_writing import duration_of, map_place
    from ..pack.pack_writing import pack as write_pack
    from ..render.progress import phases
    from .open_log import opened

    refuse_form(out, writes="a pack", example="plinian pack -o incident.plinian")
    place = map_place(out, map_file, redact=redact)
    with (
        opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log,
        phases(visible=shows_progress()) as progress,
    ):
        packed = write_pack(
            opened_log,
            out,
            at=opened_log.moment(at, as_known_at=as_known_at),
            around=duration_of(around),
            release=release,
            ask=ask,
            map_file=place,
            progress=progress,
        )
    write_lines(packed_lines(packed, style=style()))
    if place is not None:
        note(f"{place} has the original names: keep it, and do not send it")
