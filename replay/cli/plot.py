"""``plinian plot``: pictures of a log over time."""

from __future__ import annotations

from pathlib import Path

import click

from . import options
from .command import command
from .out_files import refuse_form
from .shell import note, shows_progress


@command("plot")
@click.argument("what", metavar="queues|nodes|gang|sessions|waits", help="What to draw.")
@click.argument(
    "names",
    nargs=-1,
    metavar="[NAME…]",
    help="Only these queues or nodes; of gang the job or PodGroup, as in job/train.",
)
@options.log
@options.namespace
@click.option(
    "--from", "from_", metavar="POINT", help="Where to begin: @7, rv:7, a time, -5m, session:N."
)
@click.option("--to", metavar="POINT", help="Where to end.")
@click.option(
    "--resource",
    metavar="NAME",
    help="Of queues and nodes: the resource, as in memory or nvidia.com/gpu; by default cpu.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="A .png, .svg or .html file; without it, the picture is drawn in characters.",
)
@click.option(
    "--theme",
    metavar="light|dark|auto",
    help="Of a file. auto follows the reader's theme; by default PNG is light, others are auto.",
)
@options.cluster
@options.branch
def plot(
    what: str,
    names: tuple[str, ...],
    log: str,
    namespace: str | None,
    from_: str | None,
    to: str | None,
    resource: str | None,
    output: str | None,
    theme: str | None,
    cluster: str | None,
    branch: str,
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
