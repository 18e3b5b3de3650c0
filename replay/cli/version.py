"""``plinian version``."""

from __future__ import annotations

import sys

import click

from ...engine.version import __version__
from . import options
from .answers import write_json
from .command import command


@command("version")
def version(
    *,
    output: options.TextOrJson = "text",
) -> None:
    """Print versions: Plinian, Python, platform."""
    facts = _facts()
    if output == "json":
        write_json(facts)
    else:
        sys.stdout.write(_line(facts))


def print_and_leave(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print versions and exit, if ``--version`` was given."""
    if wanted:
        sys.stdout.write(_line(_facts()))
        ctx.exit()


def _facts() -> dict[str, str]:
    import platform

    return {
        "plinian": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


def _line(facts: dict[str, str]) -> str:
    return f"plinian {facts['plinian']} (Python {facts['python']}, {facts['platform']})\n"
