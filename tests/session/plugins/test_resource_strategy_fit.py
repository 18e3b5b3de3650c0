"""Which strategy a resource has, and how arguments of several values are read."""

from __future__ import annotations

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.plugins.resource_strategy_fit import (
    SCORING_TYPE,
    SCORING_WEIGHTS,
    FitStrategy,
    own_strategies,
    read_rates,
    read_scarce_resources,
    read_strategies,
    strategy_of,
)
from plinian.engine.session.plugins.shared.decoded_arguments import ValueType, decode
from plinian.engine.volcano.conf import Arguments

MOST, LEAST = "MostAllocated", "LeastAllocated"


def test_a_strategy_is_a_resources_own_or_that_of_the_longest_prefix() -> None:
    strategies = {
        "nvidia.com/*": FitStrategy(LEAST, 1),
        "nvidia.*": FitStrategy(LEAST, 2),
        "nvidia.com/gpu": FitStrategy(MOST, 3),
    }
    assert strategy_of("nvidia.com/gpu", strategies) == FitStrategy(MOST, 3)
    assert strategy_of("nvidia.com/mig", strategies) == FitStrategy(LEAST, 1)
    assert strategy_of("cpu", strategies) is None


def test_strategies_are_read_leniently() -> None:
    given = {"cpu": {"type": "Odd", "weight": -2}, "*": {}, "a*b": {}, "x/*": {"weight": 4}}
    read = read_strategies(Arguments({"resources": given}))
    assert read == {"cpu": FitStrategy(LEAST, 1), "x/*": FitStrategy(LEAST, 4)}
    assert set(read_strategies(Arguments({}))) == {"cpu", "memory"}


def test_what_is_not_enabled_is_not_read() -> None:
    off = Arguments({"sra": {"resources": "a"}, "proportional": {"resources": "a"}})
    assert read_scarce_resources(off).weights == {}
    assert read_rates(off) is None
    sra = {"enable": True, "resources": " a, b", "weight": 5, "resourceWeight": {"b": 2}}
    assert read_scarce_resources(Arguments({"sra": sra})).weights == {"a": 1, "b": 2}


def test_a_pods_own_strategies_need_weights_that_can_be_read() -> None:
    assert own_strategies({}) is None
    assert own_strategies({SCORING_TYPE: MOST}) == {}
    assert own_strategies({SCORING_TYPE: MOST, SCORING_WEIGHTS: '{"cpu": 1.5}'}) == {}
    own = own_strategies({SCORING_TYPE: MOST, SCORING_WEIGHTS: '{"cpu": 2}'})
    assert own == {"cpu": FitStrategy(MOST, 2)}


def test_names_of_fields_have_no_case_and_wrong_types_end_the_process() -> None:
    fields = {"enable": ValueType.BOOL, "weight": ValueType.INT}
    read = decode(Arguments({"a": {"Enable": True, "other": 1}}), "a", fields)
    assert read == {"enable": True, "weight": 0}
    with pytest.raises(Panic, match="Could not parse argument"):
        decode(Arguments({"a": {"enable": "yes"}}), "a", fields)
