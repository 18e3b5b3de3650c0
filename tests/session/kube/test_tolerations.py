"""Which taints keep which pods away."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.objects import Taint, Toleration
from plinian.engine.session.kube.tolerations import intolerable, preferring, tolerated, untolerated

BATCH = Taint(key="dedicated", value="batch", effect="NoSchedule")
SLOW = Taint(key="slow", effect="PreferNoSchedule")
GOING = Taint(key="going", effect="NoExecute")


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        (Toleration(key="dedicated", operator="Equal", value="batch"), True),
        (Toleration(key="dedicated", value="batch"), True),
        (Toleration(key="dedicated", value="other"), False),
        (Toleration(key="dedicated", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Equal", value="batch"), True),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="dedicated", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="dedicated", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="dedicated", operator="Near", value="batch"), False),
    ],
)
def test_a_toleration_fits_a_taint(toleration: Toleration, *, fits: bool) -> None:
    assert tolerated(BATCH, toleration) is fits


def test_the_first_taint_that_is_not_tolerated_is_told() -> None:
    taints = (SLOW, BATCH, GOING)
    assert untolerated(taints, ()) == BATCH
    assert untolerated(taints, (Toleration(key="dedicated", operator="Exists"),)) == GOING
    assert untolerated((SLOW,), ()) is None


def test_only_taints_that_ask_to_stay_away_count_for_the_score() -> None:
    taints = (SLOW, BATCH, Taint(key="old", effect="PreferNoSchedule"))
    assert intolerable(taints, ()) == 2
    assert intolerable(taints, (Toleration(key="slow", operator="Exists"),)) == 1


def test_tolerations_of_other_effects_are_left_out_of_the_score() -> None:
    wide = Toleration(key="slow", operator="Exists")
    soft = Toleration(key="slow", operator="Exists", effect="PreferNoSchedule")
    hard = Toleration(key="slow", operator="Exists", effect="NoSchedule")
    assert preferring((wide, soft, hard)) == (wide, soft)
