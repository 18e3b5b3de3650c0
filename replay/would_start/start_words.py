"""The sentences of whether manifests would start."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_age
from .lint_verdict import LintRemark
from .start_records import LATER, NO, NOW, REFUSED, TriedObject

_EXACT_US = 10 * SECOND_US


def span(micros: int) -> str:
    """Return a duration: of a few seconds with a tenth."""
    if micros < _EXACT_US:
        return f"{micros / SECOND_US:.1f}".removesuffix(".0") + "s"
    return format_age(micros)


def starts_of(refused: Sequence[LintRemark], objects: Sequence[TriedObject]) -> str:
    """Return whether all objects start: ``now``, ``later``, ``no``, or ``refused``."""
    if refused:
        return REFUSED
    kinds = {each.starts for each in objects}
    return NO if NO in kinds else LATER if LATER in kinds else NOW


def sentence_of(
    refused: Sequence[LintRemark], objects: Sequence[TriedObject], lasts: int, panics: Sequence[str]
) -> str:
    """Return the answer in one sentence.

    :param lasts: how long was tried, microseconds. :param panics: of processes meanwhile.
    """
    if refused:
        first, more = refused[0], len(refused) - 1
        rest = f", and {more} more" if more else ""
        return f"{first.object} does not start: {first.message}{rest}"
    text = _of_one(objects[0], lasts) if len(objects) == 1 else _of_several(objects, lasts)
    # What starts did so in spite of the panic: then it is no part of the answer.
    if panics and any(each.starts == NO for each in objects):
        return f"{text}; the scheduler or a controller panics meanwhile"
    return text


def _of_one(each: TriedObject, lasts: int) -> str:
    if each.after is None:
        why = each.why or each.why_at_end
        because = f": {why.sentence}" if why is not None else ""
        return f"{each.object} does not start within {span(lasts)}{because}"
    when = "now" if each.starts == NOW else "later"
    pods = f"{placed_text(each)} {'has' if each.pods == 1 else 'have'} nodes"
    if each.pods == 1:
        pods = f"its pod is placed on {each.placements[0].node}" if each.placements else pods
    return f"{each.object} starts {when}, {span(each.after)} after it is applied: {pods}"


def placed_text(each: TriedObject) -> str:
    """Return how many pods of an object have nodes in the end."""
    placed = len(each.placements)
    if placed == each.pods:
        return "its pod" if placed == 1 else f"its {placed} pods"
    return f"{placed} of {counted(each.pods, 'pod')}"


def _of_several(objects: Sequence[TriedObject], lasts: int) -> str:
    parts = []
    for starts, words in ((NOW, "now"), (LATER, "later"), (NO, f"not within {span(lasts)}")):
        names = [each.object for each in objects if each.starts == starts]
        if names:
            few = ", ".join(names[:3])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            verb = "start" if len(names) > 1 else "starts"
            parts.append(
                f"{few}{more} {'do' if len(names) > 1 else 'does'} not start within {span(lasts)}"
                if starts == NO
                else f"{few}{more} {verb} {words}"
            )
    return "; ".join(parts)
