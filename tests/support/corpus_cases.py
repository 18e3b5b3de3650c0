"""Cases of the corpus as machines: what exists first, and the writes of users after that."""

from __future__ import annotations

import json
from pathlib import Path

from walked_machines import WalkedMachine

from plinian.engine.kubernetes.store import default_queue
from plinian.engine.machine.cluster import ClusterSettings
from plinian.engine.machine.user import Act
from plinian.engine.volcano.conf import conf_in_force
from plinian.engine.volcano.session.history import resolve
from plinian.engine.volcano.table import controller_behaviours

FOLDER = Path(__file__).parents[2] / "docs/corpus"
NOW = 1_800_000_000_000_000


def case(name: str, release: str) -> WalkedMachine:
    """Return a case as a machine of a release, at rest: what its first step has exists."""
    document = json.loads((FOLDER / f"{name}.case.json").read_text())
    first, *others = document["steps"]
    behaviours = resolve(release)
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    return WalkedMachine(
        ClusterSettings(
            behaviours=behaviours,
            controllers=controller_behaviours(release),
            conf=conf_in_force(document.get("conf", ""), behaviours),
            script=[Act(one["type"], one["object"]) for step in others for one in step["events"]],
            now=NOW,
            existing=[*map(default_queue, queues), *(one["object"] for one in first["events"])],
        )
    )
