"""The page of two moments: which objects and fields differ, and what queues and nodes hold."""

from __future__ import annotations

from collections.abc import Iterator

from ....engine.kubernetes.counts import counted
from ....engine.kubernetes.resources import plural_of
from ...facade.log import Log
from ...histories.diff import Diff
from ...histories.diff_counts import counted_by_kind
from ...pages.change import begun, counts_text, holdings, objects_drawn, objects_of
from ...render.blocks import (
    Block,
    ItemList,
    ListedItem,
    Section,
    Sentence,
    Words,
    chip,
    here_ref,
    moment_ref,
)
from .blocks import BlockPage, paged
from .forms import POINT, FormField, form
from .look import Look
from .notes import filled_in, sentences
from .page import page

BEFORE = 100
"""How many positions before the moment the other one is, if none is chosen."""


@page("diff", "What changed", nav="Diff", key="d", takes=("kind", "objects"))
def difference(log: Log, look: Look) -> BlockPage:
    """Return what differs between the moment and the one of ``vs``, whichever comes first."""
    other_position = max(0, look.position - BEFORE) if look.versus is None else look.versus
    low, high = sorted((look.position, other_position))
    diff = log.diff(f"@{low}", f"@{high}")
    fields = [
        FormField("Compare", "vs", f"@{other_position}", attributes=POINT),
        FormField("with", "point", look.at, attributes=POINT),
    ]
    chosen = form(
        look,
        "Show",
        fields,
        drops=("kind", "objects", "page"),
        action=f"{look.prefix}/@go",
        adds={"page": look.path},
    )
    return BlockPage(
        "What changed",
        lambda: _sections(diff, look, chosen),
        diff,
        when=Words("from ", moment_ref(low), " to ", moment_ref(high)),
        not_known=(*sentences(diff.not_known), *filled_in(log, log.moment(f"@{high}"))),
    )


def _sections(diff: Diff, look: Look, chosen: Block) -> Iterator[Section]:
    first = [chosen]
    if look.versus is None:
        usual = "No position was chosen, so it is compared with the one 100 before."
        first.append(Sentence(usual, "remark"))
    first += begun(diff)
    kinds, kind = counted_by_kind(diff), look.get("kind")
    if not kinds:
        same = (
            "the only object is"
            if diff.summary.same == 1
            else f"all {diff.summary.same:,} objects are"
        )
        yield Section([*first, Sentence(f"Nothing differs: {same} the same.", "blank")])
        return
    chips = [chip("all kinds", chosen=not kind, kind=None, objects=None)]
    for kind_count in kinds:
        plural = plural_of(kind_count.group, kind_count.kind)
        text = f"{plural} {counts_text(kind_count)}"
        chips.append(chip(text, chosen=plural == kind, kind=plural, objects=None))
    same = f"{counted(diff.summary.same, 'object is', 'objects are')} the same"
    first.append(ItemList([*map(ListedItem, chips), ListedItem(same)], "chips"))
    yield Section([*first, *(() if kind else holdings(diff))])
    yield Section(list(_objects(diff, look, kind)), "Objects")


def _objects(diff: Diff, look: Look, kind: str) -> Iterator[Block]:
    """Yield the objects of a kind; of all kinds but Event if none is chosen."""
    plurals = [
        (plural_of(differing_object.object.group, differing_object.object.kind), differing_object)
        for differing_object in objects_of(diff)
    ]
    events = sum(plural == "events" for plural, _ in plurals)
    if events and kind != "events":
        are = "object of kind Event is", "objects of kind Event are"
        more = here_ref("List it" if events == 1 else "List them", kind="events", objects=None)
        yield Sentence(Words(f"{counted(events, *are)} not listed. ", more), "cut")
    objects = [
        differing_object
        for plural, differing_object in plurals
        if plural == kind or (not kind and plural != "events")
    ]
    if not objects:
        yield Sentence(f"No {kind or 'object'} differs.", "blank")
        return
    shown, pager = paged(look, objects, "objects")
    yield objects_drawn(shown.rows, look)
    yield pager
