"""What the form of what-if says: the changes, how long the cluster lives on, on which branch."""

from __future__ import annotations

import shlex

import msgspec

from ...facade.log import Log
from .bounded import number
from .look import Look
from .session import BUILT_IN

MOST_CHANGES = 50
MOST_COPIES = 1000


class WhatIfForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form says; some texts have one entry a line.

    :param own_conf: the original has the built-in configuration; ``try_own_conf``: it is tried.
    :param lasts: for how long the cluster lives on; empty is one session.
    :param branch: of the log, that is taken; empty is that of the server.
    :param keep: a name for the branch that the command writes.
    """

    fields: str
    add_nodes: str
    count: int
    cordon: str
    uncordon: str
    delete: str
    try_release: str
    own_conf: bool
    try_own_conf: bool
    each: bool
    lasts: str
    start_after: str
    run_for: str
    period: str
    arrivals: bool
    branch: str
    keep: str

    def changes(self) -> dict[str, list[str]]:
        """Return the changes of objects, by the parameters of the Python API."""
        return {
            "fields": lines_of(self.fields),
            "add_nodes": lines_of(self.add_nodes),
            "cordon": lines_of(self.cordon),
            "uncordon": lines_of(self.uncordon),
            "delete": lines_of(self.delete),
        }

    def asks(self, release: str) -> bool:
        """Return whether anything is asked: a change, or what happens next.

        :param release: that is original.
        """
        other = self.try_release not in {"", release}
        return any(self.changes().values()) or other or self.try_own_conf or bool(self.lasts)

    def point(self, log: Log, look: Look) -> str:
        """Return the moment: that of the page, on the branch of the form."""
        if not self.branch or self.branch == log.branch:
            return look.at
        last = {one.name: one.last for one in log.store.branches()}.get(self.branch, look.position)
        return f"{self.branch}@{min(look.position, last)}"


def form_of(look: Look) -> WhatIfForm:
    """Return what the form of a look says."""

    def lines(name: str) -> str:
        return "\n".join(lines_of(look.get(name)))

    def text(name: str) -> str:
        return look.get(name).strip()

    return WhatIfForm(
        fields=lines("set"),
        add_nodes=lines("add_node"),
        count=min(MOST_COPIES, max(1, number(look, "count", 1))),
        cordon=lines("cordon"),
        uncordon=lines("uncordon"),
        delete=lines("delete"),
        try_release=look.get("try_release"),
        own_conf=look.get("conf") == BUILT_IN,
        try_own_conf=look.get("try_conf") == BUILT_IN,
        each=look.get("each") == "yes",
        lasts=text("for"),
        start_after=text("start_after"),
        run_for=lines("run_for"),
        period=text("period"),
        arrivals=look.get("arrivals") != "no",
        branch=text("branch"),
        keep=text("keep"),
    )


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that say something; the first ones, if there are many."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_CHANGES]


def command_of(form: WhatIfForm, point: str, release: str) -> str:
    """Return the command that gives the same in a terminal."""
    words = ["plinian", "what-if", "--at", point]
    for name, some in form.changes().items():
        option = {"fields": "--set", "add_nodes": "--add-node"}.get(name, f"--{name}")
        words += [word for line in some for word in (option, line)]
    words += ["--count", str(form.count)] if form.add_nodes and form.count > 1 else []
    words += ["--conf", "/dev/null"] if form.own_conf else []
    words += ["--try-conf", "/dev/null"] if form.try_own_conf else []
    words += ["--release", release]
    words += ["--release", form.try_release] if form.try_release else []
    words += ["--each"] if form.each else []
    return shlex.join(words + _of_time(form) if form.lasts else words)


def _of_time(form: WhatIfForm) -> list[str]:
    words = ["--for", form.lasts]
    for option, text in (("--start-after", form.start_after), ("--period", form.period)):
        words += [option, text] if text else []
    words += [word for line in lines_of(form.run_for) for word in ("--run-for", line)]
    words += [] if form.arrivals else ["--no-arrivals"]
    return words + (["--keep", form.keep] if form.keep else [])
