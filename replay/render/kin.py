"""Objects that were meant, or that belong to one, with the command that shows each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.events import Reference
from ...engine.kubernetes.resources import plural_of
from ..moments.kin import Meant
from ..moments.kinds import plain_name
from .figures import counted

_SHOWN = 10


def history_command(one: Reference) -> str:
    """Return the command that shows an object's history."""
    option = f" -n {one.namespace}" if one.namespace not in {"", "default"} else ""
    return f"plinian history {plain_name(one.group, one.kind)}/{one.name}{option}"


def meant_text(found: Meant, name: str) -> str:
    """Return, a line each, what may have been meant and the command that shows it."""
    lines: list[str] = []
    for title, some in (
        (f"names that begin with {name}", found.begin),
        (f"objects that belong to {name}", found.owned),
        ("in another namespace", found.elsewhere),
        ("another kind of this name", found.others),
        ("a name much the same", found.near),
    ):
        if some:
            lines.append(f"{title}:")
            lines += (f"  {history_command(one)}" for one in some[:_SHOWN])
            if len(some) > _SHOWN:
                plural = plural_of(some[0].group, some[0].kind)
                lines.append(
                    f"  and {counted(len(some) - _SHOWN, 'more', 'more')}: plinian get {plural}"
                )
    return "\n".join(lines)


def belonging_lines(found: Sequence[Reference]) -> Iterator[str]:
    """Yield the objects that belong to one, each name once, with the commands that show them."""
    names = list(dict.fromkeys(msgspec.structs.replace(one, uid="") for one in found))
    if not names:
        return
    yield f"\n{counted(len(names), 'name')} of objects that belong to it:\n"
    for one in names[:_SHOWN]:
        yield f"  {history_command(one)}\n"
    if len(names) > _SHOWN:
        yield f"  ({len(names) - _SHOWN} more: -o json)\n"
