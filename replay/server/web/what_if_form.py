"""The form of what-if: the changes, how long the cluster lives on, on which branch.

It has a template: some of its fields have several lines, and some are folded.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...facade.log import Log
from ...render.blocks import Block
from ...render.events import object_text
from .blocks import drawn
from .bounded import number
from .look import Look
from .notes import JOB, NODE, QUEUE
from .session import BUILT_IN
from .site import releases

MOST_CHANGES = 50
MOST_COPIES = 1000

CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "fields": "set",
        "add_nodes": "add_node",
        "cordon": "cordon",
        "uncordon": "uncordon",
        "delete": "delete",
    }
)
"""The parameters of the Python API for changes, with their names in the query."""


FIELDS = ("weight", "capability.cpu", "deserved.cpu", "guarantee.resource.cpu", "reclaimable")
"""Fields of queues that people try to change."""

MOST_PICKED = 300
"""Names that a box offers."""

TAKES = (
    *CHANGES.values(),
    *("count", "try_release", "conf", "try_conf", "each", "branch", "decisions", "do"),
    *("for", "start_after", "run_for", "period", "arrivals", "keep"),
)
"""The names of the query that the page reads."""


class WhatIfForm(NamedTuple):
    """What the form says, in the query of a look; some values have one entry a line."""

    look: Look

    def text(self, name: str) -> str:
        """Return a value."""
        return self.look.get(name).strip()

    def lines(self, name: str) -> list[str]:
        """Return the lines of a value that say something; the first ones, if there are many."""
        lines = map(str.strip, self.look.get(name).splitlines())
        return [line for line in lines if line][:MOST_CHANGES]

    def is_built_in(self, name: str) -> bool:
        """Return whether a configuration is the built-in one, as no other can be chosen."""
        return self.look.get(name) == BUILT_IN

    @property
    def copies(self) -> int:
        """How many copies of each node are added."""
        return min(MOST_COPIES, max(1, number(self.look, "count", 1)))

    @property
    def has_arrivals(self) -> bool:
        """Whether users write what they wrote then."""
        return self.look.get("arrivals") != "no"

    @property
    def is_each(self) -> bool:
        """Whether each change is also tried alone."""
        return self.look.get("each") == "yes"

    def changes(self) -> dict[str, list[str]]:
        """Return the changes of objects, by the parameters of the Python API."""
        return {parameter: self.lines(name) for parameter, name in CHANGES.items()}

    def asks(self) -> bool:
        """Return whether anything is asked: a change, or what happens next."""
        is_other_release = self.text("try_release") not in {"", self.look.release}
        changes = any(self.changes().values()) or is_other_release or self.is_built_in("try_conf")
        return changes or bool(self.text("for"))

    def point(self, log: Log) -> str:
        """Return the moment: that of the page, on the branch of the form."""
        look, branch = self.look, self.text("branch")
        if not branch or branch == log.branch:
            return look.at
        last = {branch_info.name: branch_info.last for branch_info in log.store.branches()}.get(
            branch, look.position
        )
        return f"{branch}@{min(look.position, last)}"

    def command(self, point: str) -> str:
        """Return the command that gives the same in a terminal."""
        words = ["plinian", "what-if", "--at", point]
        words += [word for name in CHANGES.values() for word in self._options(name)]
        words += ["--count", str(self.copies)] if self.lines("add_node") and self.copies > 1 else []
        words += ["--conf", "/dev/null"] if self.is_built_in("conf") else []
        words += ["--try-conf", "/dev/null"] if self.is_built_in("try_conf") else []
        words += ["--release", self.look.release]
        words += ["--release", self.text("try_release")] if self.text("try_release") else []
        words += ["--each"] if self.is_each else []
        if self.text("for"):
            times = ("for", "start_after", "period", "run_for")
            words += [word for name in times for word in self._options(name)]
            words += [] if self.has_arrivals else ["--no-arrivals"]
            words += self._options("keep")
        return shlex.join(words)

    def _options(self, name: str) -> list[str]:
        """Return the options of the command for a value: one for each line."""
        option = f"--{name.replace('_', '-')}"
        return [word for line in self.lines(name) for word in (option, line)]

    def drawn(self, log: Log) -> Block:
        """Return the form."""
        truth = log.truth(log.moment(self.look.at))
        nodes, queues = (sorted(name for _, name in truth.names(*kind)) for kind in (NODE, QUEUE))
        jobs = sorted(object_text(entry.reference) for entry in truth.of(*JOB))
        return drawn(
            self.look,
            "what_if.html",
            form=self,
            node=nodes[0] if nodes else "node-1",
            picked={
                "nodes": nodes[:MOST_PICKED],
                "objects": jobs[:MOST_PICKED],
                "fields": [f"queue/{name}.spec.{field}=" for name in queues for field in FIELDS][
                    :MOST_PICKED
                ],
            },
            releases=[release for release in releases() if release != self.look.release],
            branches=[head.branch for head in log.heads()],
            branch=log.branch,
        )
