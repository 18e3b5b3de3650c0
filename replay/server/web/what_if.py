"""The page of what-if: a form of changes, and the session with them beside the one without."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from ....engine.errors import ObjectNotFound, UsageError
from ...facade.documents import document
from ...facade.log import Log
from ...what_if.run import WhatIf
from ..reach import reach_cache
from .bounded import Some, number, some
from .look import Look
from .notes import sentences
from .page import page
from .session import BUILT_IN, assumptions, chosen_conf

MOST_CHANGES = 50
MOST_COPIES = 1000


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """What the form says; texts have one change a line."""

    fields: str
    add_nodes: str
    count: int
    cordon: str
    uncordon: str
    delete: str
    try_release: str
    own_conf: bool
    each: bool


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A session. :param changes: in words. :param same: it decides the same as the original."""

    name: str
    changes: tuple[str, ...]
    panic: str
    enqueued: int
    binds: int
    evictions: int
    same: bool


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that differs: a value for each session, None on one without it."""

    decision: str
    object: str
    values: tuple[str | None, ...]


class WhatIfPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the changes do. :param fault: why they cannot be made, and ``now`` what to do.

    :param command: gives the same in a terminal. :param nodes: some names, for the form.
    """

    form: Form
    asked: bool
    fault: str
    now: str
    sides: tuple[Side, ...]
    rows: Some[Row]
    command: str
    nodes: tuple[str, ...]
    assumed: tuple[str, ...]
    not_known: tuple[str, ...]
    found: WhatIf | None


def _json(found: WhatIfPage) -> Any:
    """Return the result as the command prints it; null if nothing is changed."""
    if found.fault:
        return {"error": {"what": found.fault, "now": found.now}}
    return None if found.found is None else document(found.found)


@page(
    "what-if",
    template="what_if.html",
    title="What if",
    nav="What if",
    key="w",
    long=True,
    json=_json,
)
def what_if(log: Log, look: Look) -> WhatIfPage:
    """Run the session of the moment as it was, and with the changes of the query."""
    moment, form = log.moment(look.at), _form(look)
    asked = _says_something(form, look.release)
    found, fault, now = None, "", ""
    if asked:
        try:
            found = _answered(log, look, form)
        except (UsageError, ObjectNotFound) as wrong:
            fault, now = wrong.what, wrong.now
    nodes = [one.reference.name for one in log.truth(moment).of("", "Node")]
    return WhatIfPage(
        form=form,
        asked=asked,
        fault=fault,
        now=now,
        sides=() if found is None else tuple(_sides(found)),
        rows=some([] if found is None else list(_rows(found)), number(look, "skip")),
        command=_command(look, form) if asked else "",
        nodes=tuple(nodes[:200]),
        assumed=assumptions(log, moment, own=False, release=look.release),
        not_known=() if found is None else sentences(found.not_known),
        found=found,
    )


def _form(look: Look) -> Form:
    def lines(name: str) -> str:
        return "\n".join(_lines(look.get(name)))

    return Form(
        fields=lines("set"),
        add_nodes=lines("add_node"),
        count=min(MOST_COPIES, max(1, number(look, "count", 1))),
        cordon=lines("cordon"),
        uncordon=lines("uncordon"),
        delete=lines("delete"),
        try_release=look.get("try_release"),
        own_conf=look.get("conf") == BUILT_IN,
        each=look.get("each") == "yes",
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a text that say something; the first ones, if there are many."""
    return [line.strip() for line in text.splitlines() if line.strip()][:MOST_CHANGES]


def _says_something(form: Form, release: str) -> bool:
    texts = (form.fields, form.add_nodes, form.cordon, form.uncordon, form.delete)
    other = form.try_release not in {"", release}
    return any(texts) or other or form.own_conf


def _answered(log: Log, look: Look, form: Form) -> WhatIf:
    reach_cache(log, log.moment(look.at), [look.release, form.try_release or look.release])
    return log.what_if(
        at=look.at,
        fields=_lines(form.fields),
        add_nodes=_lines(form.add_nodes),
        count=form.count,
        cordon=_lines(form.cordon),
        uncordon=_lines(form.uncordon),
        delete=_lines(form.delete),
        conf=chosen_conf(own=form.own_conf),
        release=look.release,
        try_release=form.try_release or None,
        each=form.each,
    )


def _sides(found: WhatIf) -> Iterator[Side]:
    for place, one in enumerate(found.sides):
        result = one.answer.result
        yield Side(
            name=one.name,
            changes=one.texts,
            panic="" if result.panic is None else result.panic.message,
            enqueued=len(result.enqueued),
            binds=len(result.binds),
            evictions=len(result.evictions),
            same=all(row.values[place] == row.values[0] for row in found.decisions),
        )


def _rows(found: WhatIf) -> Iterator[Row]:
    for one in found.decisions:
        kind = "pod" if one.kind in {"bind", "evict", "pipeline"} else "podgroup"
        name = f"{kind}/{one.about}" if one.about else ""
        yield Row(decision=one.kind, object=name, values=one.values)


def _command(look: Look, form: Form) -> str:
    """Return the command that gives the same in a terminal."""
    words = ["plinian", "what-if", "--at", look.at]
    for option, text in (
        ("--set", form.fields),
        ("--add-node", form.add_nodes),
        ("--cordon", form.cordon),
        ("--uncordon", form.uncordon),
        ("--delete", form.delete),
    ):
        words += [word for line in _lines(text) for word in (option, line)]
    words += ["--count", str(form.count)] if form.add_nodes and form.count > 1 else []
    words += ["--conf", "/dev/null"] if form.own_conf else []
    words += ["--release", look.release]
    words += ["--release", form.try_release] if form.try_release else []
    return shlex.join(words + (["--each"] if form.each else []))


PAGES = (what_if,)
