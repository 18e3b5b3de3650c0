"""``plinian version``."""

from __future__ import annotations

import sys

from . import options
from .shell import guarded


@guarded
def version(output: options.JsonOrText = "text") -> None:
    """Print versions: Plinian, Python, platform."""
    import platform
    from importlib import metadata

    try:
        number = metadata.version("plinian")
    except metadata.PackageNotFoundError:
        number = "unknown"
    facts = {
        "plinian": number,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    if output == "json":
        from ..render.documents import json_text

        sys.stdout.write(json_text(facts) + "\n")
        return
    sys.stdout.write(
        f"plinian {facts['plinian']} (Python {facts['python']}, {facts['platform']})\n"
    )
