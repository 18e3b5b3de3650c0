"""What would make a waiting object start, as text: changes, and how many were tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.volcano.releases import RELEASES
from ..what_if.help import WouldHelp
from ..what_if.suggestion import GONE, RELEASE
from ..what_if.trial import AFTER_EVICTIONS, ENQUEUED, NOW, Remedy
from .blocks import Block, Folded, Section, Sentence, block_lines
from .simulation import spans
from .tables import NONE, PLAIN, Style, Table, TextColumn, few_of, table_of

_NAMES = 3
_JOBS = 3


def help_lines(found: WouldHelp, *, depth: int = 0, style: Style = PLAIN) -> Iterator[str]:
    """Yield the changes with which the object starts, and how many were tried.

    :param depth: from 1 on, also those that do not help.
    """
    listed = "; -v lists those that do not help" if found.in_vain and not depth else ""
    yield "\n"
    yield from block_lines(
        help_sections(found, ": --budget gives more", vain=depth > 0, listed=listed), style=style
    )


def help_sections(
    found: WouldHelp, more: str = "", *, vain: bool = True, listed: str = ""
) -> list[Section]:
    """Return the changes with which the object starts, and how many were tried.

    :param more: how to try more of them. :param vain: also list those that do not help; else
        ``listed`` says how to.
    """
    blocks: list[Block] = []
    if said := _UNCHANGED.get(found.unchanged):
        blocks.append(Sentence(said, "blank"))
    if found.found:
        table = table_of(_HELPING, few(found.found)[0], "Changes with which it starts")
        paid = [at for at in (2, 3) if any(row[at] != NONE for row in table.rows)]
        keep = ("STARTS", *(table.headers[at] for at in paid[:1]))
        blocks.append(table._replace(keep=keep))
    if tried := _tried_text(found):
        blocks.append(Sentence(f"{tried}{listed}.", "" if found.found else "blank"))
    sections = [Section(blocks)]
    if found.by_fault:
        title = "Releases with which it starts only by a fault"
        sections.append(Section([table_of(_FAULTY, few(found.by_fault)[0], title)]))
    if vain and found.in_vain:
        table = Table(("DOES NOT HELP",), [(text,) for text in _listed_in_vain(found)])
        sections.append(
            Section([Folded(f"Changes that do not help: {len(found.in_vain)}", [table])])
        )
    if found.left:
        left = counted(found.left, "other change was", "other changes were")
        left = f"{left} not tried, for lack of time{more}."
        sections[-1] = Section([*sections[-1].blocks, Sentence(left)])
    return sections


def _tried_text(found: WouldHelp) -> str:
    """Return how many changes were tried, without a full stop; empty if none was."""
    if not found.tried:
        return ""
    singles = found.tried - found.pairs
    tried = f"{singles} {'change' if singles == 1 else 'changes'}"
    if found.pairs:
        tried += f" and {found.pairs} {'pair' if found.pairs == 1 else 'pairs'} of them"
    if found.found:
        _, more = few(found.found)
        helps = "more job helps" if more == 1 else "more jobs help"
        rest = f"; {more} {helps}, too" if more else ""
        return f"Found by running the session with each of {tried}{rest}"
    when = "sooner" if found.unchanged else "at once"
    faults = ", except by a fault of a release" if found.by_fault else ""
    if found.tried == 1:
        return f"The one change that was tried does not make it start {when}{faults}"
    return f"None of {tried} makes it start {when}{faults}"


def _listed_in_vain(found: WouldHelp) -> Iterator[str]:
    """Yield the changes that do not help: releases together."""
    prefix = f"{RELEASE} "
    names = {text.removeprefix(prefix) for text in found.in_vain if text.startswith(prefix)}
    yield from (text for text in found.in_vain if not text.startswith(prefix))
    if names:
        yield f"{prefix}{spans([str(release) for release in RELEASES if str(release) in names])}"


def few(remedies: Sequence[Remedy]) -> tuple[list[Remedy], int]:
    """Return the changes to show, and how many are not: of jobs a few, releases together."""
    shown: list[Remedy] = []
    gone = [remedy for remedy in remedies if remedy.kind == GONE]
    releases: dict[tuple[object, ...], list[Remedy]] = {}
    for remedy in remedies:
        if remedy.kind == RELEASE:
            # Releases with which the same happens share a row.
            same_as = (remedy.starts, remedy.evicts, remedy.no_longer, remedy.faults)
            releases.setdefault(same_as, []).append(remedy)
        elif remedy.kind != GONE:
            shown.append(remedy)
    shown += gone[:_JOBS]
    for same in releases.values():
        texts = {remedy.text for remedy in same}
        named = {f"release {release}": str(release) for release in RELEASES}
        ordered = [release for text, release in named.items() if text in texts]
        shown.append(msgspec.structs.replace(same[0], text=f"release {spans(ordered)}"))
    return shown, len(gone) - len(gone[:_JOBS])


_UNCHANGED = MappingProxyType(
    {
        NOW: "No change is needed: this session lets it start.",
        AFTER_EVICTIONS: "No change is needed: it starts when the pods that leave are gone.",
        ENQUEUED: "No change is needed: this session enqueues it, and then its pods are created.",
    }
)
_HELPING: Sequence[TextColumn[Remedy]] = (
    TextColumn("WOULD HELP", lambda remedy: remedy.text),
    TextColumn("STARTS", lambda remedy: remedy.starts, keep=True),
    TextColumn("EVICTS", lambda remedy: few_of(remedy.evicts, _NAMES) or NONE),
    TextColumn("NO LONGER PLACED", lambda remedy: few_of(remedy.no_longer, _NAMES) or NONE),
)
_FAULTY: Sequence[TextColumn[Remedy]] = (
    TextColumn("ONLY BY A FAULT", lambda remedy: remedy.text),
    TextColumn("STARTS", lambda remedy: remedy.starts),
    TextColumn("FAULT", lambda remedy: " ".join(remedy.faults), keep=True),
)
