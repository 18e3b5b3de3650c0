"""Objects that may be meant, or that belong to an object, with the command that shows each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...engine.events import Reference
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.resources import plural_of
from ..histories.related_objects import NameSuggestions
from ..objects.kind_names import plain_name

_SHOWN = 10


def history_command(one: Reference) -> str:
    """Return the command that shows an object's history."""
    option = f" -n {one.namespace}" if one.namespace not in {"", "default"} else ""
    return f"plinian history {plain_name(one.group, one.kind)}/{one.name}{option}"


def meant_text(found: NameSuggestions, name: str) -> str:
    """Return the objects that may be meant, one per line with the command that shows it."""
    lines: list[str] = []
    for title, some in (
        (f"names that begin with {name}", found.begin),
        (f"objects that belong to {name}", found.owned),
        ("in another namespace", found.elsewhere),
        ("another kind with this name", found.others),
        ("a similar name", found.near),
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
    """Yield the objects that belong to an object, each name once, with commands to show them."""
    names = list(dict.fromkeys(msgspec.structs.replace(one, uid="") for one in found))
    if not names:
        return
    belongs = "name belongs" if len(names) == 1 else "names belong"
    yield f"\n{len(names):,} object {belongs} to it:\n"
    for one in names[:_SHOWN]:
        yield f"  {history_command(one)}\n"
    if len(names) > _SHOWN:
        yield f"  ({len(names) - _SHOWN} more: -o json)\n"
