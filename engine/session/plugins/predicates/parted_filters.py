"""What each of the filters of plugin ``predicates`` says, which decisions have only together.

It is computed for a trace that follows the path of a pod, beside the verdicts that decide.

Source: pkg/scheduler/plugins/predicates/predicates.go OnSessionOpen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ....model.session_tables import Ints
from ...framework.plugin_registry import PartAnswer
from ...kube.node_columns import Mask
from ...reasons.statuses import PASS, Reasons, StatusCode
from .filter_answers import LIMITS, POD_NUMBER, FilterAnswers, PodNumber
from .verdicts import EndsWith

NUMBER = "PodNumber"
"""What the check of a node's limit of pods is called here; Volcano has no name for it."""


def parted(
    words: FilterAnswers,
    reasons: Reasons,
    full: Mask,
    answers: Iterable[tuple[str, Ints]],
    together: Collection[str],
) -> list[PartAnswer]:
    """Return what each filter says of some nodes, and where it is run.

    :param full: the nodes at their limit of pods.
    :param answers: the other filters that check anything, in order: their names and verdicts.
    :param together: those of which the first that refuses a node ends the others in any release.
    """
    rules, nowhere = words.rules, np.zeros(len(full), dtype=np.bool_)
    verdict = reasons.intern(StatusCode.UNSCHEDULABLE, POD_NUMBER)
    crowded = np.where(full, verdict, PASS).astype(np.int32)
    ended = full if rules.pod_number is PodNumber.BEFORE_ALL else nowhere
    done = crowded if rules.pod_number is PodNumber.AS_FILTER else np.zeros_like(crowded)
    stopped, limits, found = nowhere, np.zeros_like(crowded), list[PartAnswer]()
    for name, answer in answers:
        reached = ~(ended | _ends(rules.ends, reasons, done))
        if name in together:
            reached &= ~stopped
            stopped = stopped | (answer != PASS)
        said = np.where(reached, answer, PASS).astype(np.int32)
        if name == LIMITS and rules.limits_apart:
            limits = said
        else:
            said = words.worded(name, said) if name not in together else said
            done = words.all_then(done, said)
        found.append(PartAnswer(name, reached, said, nowhere))
    counts = _number_counts(rules.pod_number, done)
    number = PartAnswer(NUMBER, ~nowhere, crowded, full & ~counts)
    apart = [
        answer._replace(ignored=(limits != PASS) & (done != PASS))
        if answer.name == LIMITS and rules.limits_apart
        else answer
        for answer in found
    ]
    return [number, *apart]


def _ends(ends: EndsWith, reasons: Reasons, done: Ints) -> Mask:
    """Return where no further filter is run."""
    if ends is EndsWith.FINAL:
        return reasons.stop_preemption()[done]
    refused: Mask = done != PASS
    return refused if ends is EndsWith.ANY else np.zeros_like(refused)


def _number_counts(number: PodNumber, done: Ints) -> Mask:
    """Return on which nodes the number of pods counts. :param done: what other filters say."""
    refused: Mask = done != PASS
    if number is PodNumber.BESIDE_ANOTHER:
        return refused
    return ~refused if number is PodNumber.UNLESS_ANOTHER else np.ones_like(refused)
