"""``plinian version``."""

from __future__ import annotations

import sys

import typer

from . import options
from .shell import guarded


@guarded
def version(output: options.JsonOrText = "text") -> None:
    """Print versions: Plinian, Python, platform."""
    facts = _facts()
    if output == "json":
        from ..render.documents import json_text

        sys.stdout.write(json_text(facts) + "\n")
    else:
        sys.stdout.write(_line(facts))


def print_and_leave(wanted: bool) -> None:
    """Print versions and exit, if ``--version`` was given."""
    if wanted:
        sys.stdout.write(_line(_facts()))
        raise typer.Exit


def _facts() -> dict[str, str]:
    import platform
    from importlib import metadata

    try:
        number = metadata.version("plinian")
    except metadata.PackageNotFoundError:
        number = "unknown"
    return {
        "plinian": number,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


def _line(facts: dict[str, str]) -> str:
    return f"plinian {facts['plinian']} (Python {facts['python']}, {facts['platform']})\n"
