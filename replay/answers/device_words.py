"""Why the scheduler reads no virtual GPUs of a node, in words: from the node's object."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.session.framework.vote_details import UnreadCards, Unregistered
from ...engine.session.plugins.deviceshare.register import REGISTER, UNREGISTERED
from ...engine.session.plugins.deviceshare.vgpu import SHORTAGES, CardShort
from .amounts import joined
from .answering_session import Run

_SHOWN = 60
"""How much of a text a sentence shows."""
_CARDS = 3
"""So many cards a sentence names."""
_OF_AGENTS = "-register"
"""What annotations end with in which agents register cards."""


def no_devices(run: Run, node: str) -> str:
    """Return why the scheduler reads no virtual GPUs of a node; empty if the session did not say.

    The words follow the name of the node.
    """
    unregistered = run.detail(Unregistered, UNREGISTERED, node)
    if unregistered is None:
        return ""
    match unregistered.why:
        case UnreadCards.NO_ANNOTATION:
            return f"has no annotation {unregistered.about}{_others(run, node)}"
        case UnreadCards.NO_RESOURCE:
            return f"has no {unregistered.about} in status.allocatable"
        case UnreadCards.NO_CARD:
            value = _short(unregistered.value)
            return f'names no card in its annotation {unregistered.about}: "{value}"'
        case UnreadCards.SILENT:
            says = f'its annotation {unregistered.about} is "{_short(unregistered.value)}"'
            return f"has an agent that does not answer: {says}"
        case UnreadCards.TOO_FEW_FIELDS:
            card = f'card "{_short(unregistered.value)}" has {unregistered.has} fields'
            needs = f"{run.answer.release} reads cards with {unregistered.needs}"
            return f"has a malformed annotation {unregistered.about}: {card}, and {needs}"


def cards_short(run: Run, pod: str, node: str) -> str:
    """Return what the cards of a node lack for a pod; empty if the session did not say."""
    shortages = run.detail(dict, SHORTAGES, f"{pod} {node}") or {}
    # Cards of a node are mostly alike: those that lack the same are named together.
    alike: dict[CardShort, list[str]] = {}
    for card, short in shortages.items():
        if isinstance(short, CardShort):
            alike.setdefault(short, []).append(card)
    return joined(_short_words(shortage, cards) for shortage, cards in alike.items())


def _short_words(short: CardShort, cards: Sequence[str]) -> str:
    alone, rest = len(cards) == 1, len(cards) - _CARDS
    has, named = "has" if alone else "have", [*cards[:_CARDS]]
    names = joined([*named, f"{rest} more"] if rest > 0 else named)
    match short.what:
        case "type":
            is_of = "is of a type" if alone else "are of a type"
            return f'{names} {is_of} that the pod may not use ("{_short(short.type)}")'
        case "number":
            return f"{names} {has} {short.wanted} of {short.has} parts in use"
    return f"{names} {has} {short.has} {short.what} free of the {short.wanted} that are wanted"


def _others(run: Run, node: str) -> str:
    """Return in which other annotations agents registered cards, which Volcano does not read."""
    info = run.cache.nodes.get(node)
    marks = {} if info is None or info.node is None else info.node.annotations
    named = sorted(name for name in marks if name.endswith(_OF_AGENTS) and name != REGISTER)
    return f"; the scheduler does not read {joined(named)}, which it has" if named else ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
