"""Proves that new names change no decision: sessions of both logs are run and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.errors import PackDiffers
from ...engine.events.payloads import NamesRedacted
from ..compare.decisions import BIND, PIPELINE, Decision
from ..logs.log import Log
from .pack_answer import Answered, Decisions, digest_of

_MOMENTS = 5
"""Sessions that are compared besides the one of the question."""

_TO_NODES = frozenset({BIND, PIPELINE})


def moments_of(at: str, begin: int, end: int) -> tuple[str, ...]:
    """Return the points at which sessions are compared: that of the question, and a few more."""
    spread = (begin + (end - begin) * step // (_MOMENTS - 1) for step in range(_MOMENTS))
    return tuple(dict.fromkeys([at, *(f"rv:{revision}" for revision in spread)]))


def prove(
    logs: tuple[Log, Log],
    named: Callable[[str], str],
    moments: Sequence[str],
    release: str,
    progress: Callable[[int], None] | None = None,
) -> tuple[int, str]:
    """Check that sessions of two logs decide the same, up to names.

    :param logs: with the original names, and with new ones. :param named: gives the new name of a
        name. :param progress: called with how many moments are done.
    :returns: how many decisions were compared, and the digest of those with new names.
    :raises PackDiffers: a decision differs.
    """
    compared: list[Decisions] = []
    original, redacted = logs
    for at in moments:
        wanted = renamed(Answered(original, at, release).decisions, named)
        decided = Answered(redacted, at, release).decisions
        differing = sorted(
            key for key in {*wanted, *decided} if wanted.get(key) != decided.get(key)
        )
        if differing:
            kind, about = differing[0]
            raise PackDiffers(
                f"with new names, the session at {at} decides otherwise: {len(differing)} decisions"
                f" differ, the first is {kind} {about}: {wanted.get(differing[0])} with the"
                f" original names, {decided.get(differing[0])} with new ones; no file was written",
                now="pack without --redact, or report which objects decide by their names",
            )
        compared.append(decided)
        if progress is not None:
            progress(len(compared))
    return sum(map(len, compared)), digest_of(compared)


def renamed(decisions: Decisions, named: Callable[[str], str]) -> Decisions:
    """Return decisions with new names."""
    return {
        # A reason of an eviction or a phase has no name of an object in it.
        Decision(kind, named(about)): named(value) if kind in _TO_NODES else value
        for (kind, about), value in decisions.items()
    }


def proven(
    names: int, identity: str, release: str, moments: Sequence[str], result: tuple[int, str]
) -> NamesRedacted:
    """Return what a pack says of its new names and of their proof."""
    return NamesRedacted(
        names=names,
        map=identity,
        release=release,
        moments=tuple(moments),
        decisions=result[0],
        digest=result[1],
    )
