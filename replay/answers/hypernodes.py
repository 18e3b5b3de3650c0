"""Why no hypernode holds a job with a hard network topology."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.counts import counted
from ...engine.session.framework.vote_details import (
    HYPERNODES,
    GangCounts,
    HypernodesChecked,
    HypernodeTry,
)
from .amounts import amounts_of, in_order, joined, word
from .answering_session import NODE, PODGROUP, Run
from .demands import demands_of
from .finding import Blocked
from .node_words import refusals
from .placing_reasons import nodes_link
from .records import Hypernode, Hypernodes, Link

_NAMED = 3


def no_hypernode(run: Run, key: str) -> Blocked | None:
    """Return why a job has a place in no hypernode; None if its topology does not limit it.

    :param key: of the PodGroup.
    """
    seen = run.detail(HypernodesChecked, HYPERNODES, key)
    gang = run.detail(GangCounts, "gang", key)
    if seen is None or gang is None:
        return None
    # A gang that is complete may have more pods, and each of them needs one place.
    least = max(1, gang.least - gang.ready)
    nearest = _nearest(seen)
    if seen.tries and all(
        hypernode.places is None and not _short(seen, hypernode) for hypernode in seen.tries
    ):
        return None  # Sessions do not come to it: its topology is not what keeps it waiting.
    text = f"{_needs(seen, least)}, and {_none(seen)}"
    links: list[Link] = [_link(seen, least, text)]
    about = [(PODGROUP, key)]
    if nearest is not None and nearest.seen is not None:
        own = demands_of(run, nearest.pod)
        text += f"; in {nearest.name}, no node takes pod {nearest.pod}: "
        text += refusals(nearest.seen.groups, own)
        links.append(nodes_link(run, nearest.pod, nearest.seen, own))
        # Only small groups have their nodes named in the sentence.
        few = [group for group in nearest.seen.groups if len(group.nodes) <= 2][:2]
        about += [(NODE, name) for group in few for name in group.nodes]
    return Blocked(text, "no-hypernode", tuple(links), tuple(about), (f"{seen.highest}",))


def _needs(seen: HypernodesChecked, least: int) -> str:
    tier = f"tier {seen.highest}"
    if seen.lowest is not None and seen.lowest < seen.highest:
        tier += " or lower"
    pods = counted(least, "pod")
    if seen.placed_in:
        more = counted(least, "more pod", "more pods")
        return f"its gang needs {more} within one hypernode of {tier}, near {seen.placed_in}"
    return f"its gang needs {pods} at once within one hypernode of {tier}"


def _none(seen: HypernodesChecked) -> str:
    """Return why no hypernode holds a job: how many pods each has a place for, or that none is."""
    if not seen.tries:
        if seen.lowest is None:
            return "the scheduler knows no hypernode"
        return f"there is none: the lowest tier is {seen.lowest}"
    parts = [_has(seen, hypernode) for hypernode in sorted(seen.tries, key=_far)]
    rest = len(parts) - _NAMED
    if rest > 0:
        parts = [*parts[:_NAMED], f"{rest} more have no more"]
    count = len(seen.tries)
    none = "the only one does not take them" if count == 1 else f"none of {count} takes them"
    return f"{none}: {joined(parts)}"


def _has(seen: HypernodesChecked, hypernode: HypernodeTry) -> str:
    if not hypernode.nodes:
        return f"{hypernode.name} has no node"
    if hypernode.places is not None:
        return f"{hypernode.name} has a place for {hypernode.places}"
    room = seen.room.get(hypernode.name, {})
    parts = [
        f"{word(room.get(name, 0.0), name)} {name} free of the "
        f"{word(seen.wanted[name], name)} that the job needs"
        for name in _short(seen, hypernode)
    ]
    return f"{hypernode.name} has {joined(parts)}" if parts else f"{hypernode.name} was not tried"


def _short(seen: HypernodesChecked, hypernode: HypernodeTry) -> list[str]:
    """Return the resources of which a hypernode has less free than the job's minResources."""
    room = seen.room.get(hypernode.name, {})
    return [name for name in in_order(seen.wanted) if room.get(name, 0.0) < seen.wanted[name]]


def _far(hypernode: HypernodeTry) -> tuple[int, str]:
    return -(hypernode.places or 0), hypernode.name


def _nearest(seen: HypernodesChecked) -> HypernodeTry | None:
    tried: Sequence[HypernodeTry] = [
        hypernode for hypernode in seen.tries if hypernode.places is not None
    ]
    return min(tried, key=_far, default=None)


def _link(seen: HypernodesChecked, least: int, text: str) -> Hypernodes:
    return Hypernodes(
        text=text,
        blocks=True,
        highest=seen.highest,
        placed_in=seen.placed_in,
        least=least,
        wanted=amounts_of(seen.wanted),
        tried=tuple(
            Hypernode(
                name=hypernode.name,
                tier=hypernode.tier,
                nodes=hypernode.nodes,
                places=hypernode.places,
                room=amounts_of(seen.room.get(hypernode.name)),
            )
            for hypernode in seen.tries
        ),
    )
