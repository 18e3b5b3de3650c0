"""``plinian plot``: pictures of a log over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..questions.fields import Field
from . import options
from .command import command
from .out_files import refuse_form
from .shell import note, shows_progress


@command("plot")
def plot(
    what: Annotated[str, Field("What to draw.", "queues|nodes|gang|sessions|waits")],
    names: Annotated[
        tuple[str, ...],
        Field(
            "Only these queues or nodes; of gang the job or PodGroup, as in job/train.", "[NAME…]"
        ),
    ] = (),
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    namespace: options.Namespace = None,
    from_: Annotated[
        str | None, Field("Where to begin: @7, rv:7, a time, -5m, session:N.", "POINT", name="from")
    ] = None,
    to: Annotated[str | None, Field("Where to end.", "POINT")] = None,
    resource: Annotated[
        str | None,
        Field(
            "Of queues and nodes: the resource, as in memory or nvidia.com/gpu; by default cpu.",
            "NAME",
        ),
    ] = None,
    output: Annotated[
        str | None,
        Field(
            "A .png, .svg or .html file; without it, the picture is drawn in characters.",
            "FILE",
            short="o",
        ),
    ] = None,
    theme: Annotated[
        str | None,
        Field(
            "Of a file. auto follows the reader's theme; by default PNG is light, others are auto.",
            "light|dark|auto",
        ),
    ] = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Draw the log over time, to a file or in the terminal.

    queues: what each queue has allocated, against what it deserves and may have, with incidents
    marked. nodes: how much of each node is used. gang: how the pods of a job come together, against
    minMember. sessions: when the scheduler ran, how long, and what it bound and evicted. waits: how
    long pods and gangs waited until they were bound, by queue.

    A file needs the extra plinian[plot]. Equal logs give equal files.
    """
    from ...engine.errors import UsageError
    from ..plot.asked import PlotRequest
    from ..plot.plot_run import form_of
    from ..plot.plot_run import plot as draw
    from ..render.progress import counting
    from .open_log import opened
    from .pictures import write_picture

    if output is not None:
        refuse_form(output, writes="a picture", example="plinian plot queues -o queues.svg")
        form_of(output, theme)
    elif theme is not None:
        raise UsageError("--theme is of a file", now="name one with -o")
    asked = PlotRequest(what, names, from_, to, resource, namespace)
    with (
        opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log,
        counting("reading", visible=shows_progress()) as progress,
    ):
        drawn = draw(opened_log, asked, place=log, progress=progress)
    if output is None:
        write_picture(drawn.picture)
        return
    drawn.save(output, theme=theme)
    note(f"{what} written to {Path(output)}")
