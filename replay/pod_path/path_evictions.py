"""What the actions that evict did for a pod."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine.session.framework.vote_details import CheckState
from ..answers.amounts import joined
from ..answers.answering_session import Run
from ..answers.evicting import EVICTING, evictions
from ..answers.placing_reasons import PIPELINE, placed
from .path_records import Check, PathCheck

_EVICT = "evict"
_NAMED = 5


def eviction_checks(run: Run, pod: str, key: str) -> Iterator[PathCheck]:
    """Yield what each action that evicts did for a pod.

    :param key: its PodGroup.
    """
    if placed(run, pod) is not None:
        yield from _of_placed(run, pod)
        return
    for link, text in evictions(run, pod, key):
        yield PathCheck(
            check=Check.EVICTION,
            by=link.action,
            state=CheckState.FAILED if link.tried else CheckState.NOT_REACHED,
            text=text,
            numbers=link.compared,
            reason=link,
        )


def _of_placed(run: Run, pod: str) -> Iterator[PathCheck]:
    """Yield which pods an action evicted, if it made the room that the pod gets."""
    made_by = [
        step.action
        for step in run.trace.steps
        if step.what == PIPELINE and pod in step.about and step.action in EVICTING
    ]
    for action in (action for action in run.conf.actions if action in EVICTING):
        # The last plan stands: earlier ones were taken back.
        if action not in made_by[-1:]:
            yield PathCheck(check=Check.EVICTION, by=action, state=CheckState.NOT_REACHED)
            continue
        # A trace does not say for which pod others are evicted, so all of the action count.
        evicted = list(
            dict.fromkeys(
                name
                for step in run.trace.steps
                if step.action == action and step.what == _EVICT
                for name in step.about
            )
        )
        rest = len(evicted) - _NAMED
        named = joined([*evicted[:_NAMED], *([f"{rest} more"] if rest > 0 else [])])
        text = f"makes room for it; in this session it evicts {named or 'no pod'}"
        yield PathCheck(check=Check.EVICTION, by=action, state=CheckState.PASSED, text=text)
