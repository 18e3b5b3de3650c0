"""What no object tells reaches the sessions of a simulation, and outlives a restart."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from external import (
    CREATED,
    DEVICESHARE,
    EXTENDER,
    USAGE,
    answer,
    conf,
    config_map,
    job,
    mig_job,
    mig_node,
    node,
    usage,
)

from plinian.engine.errors import InputError
from plinian.engine.kubernetes.units import parse_time
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

Event = dict[str, Any]
RESTART: Event = {"type": "RESTART"}
MINUTE = 60_000_000


def run(text: str, *steps: list[Event], now: int | None = None) -> list[dict[str, Any]]:
    """Return the results of a scenario of such steps."""
    document = {"conf": text, "steps": [{"events": events} for events in steps]}
    return simulate(parse_case(msgspec.json.encode(document)), resolve("v1.12.1"), now=now)


def binds(results: list[dict[str, Any]]) -> list[list[list[str]]]:
    """Return what each session bound."""
    return [result["binds"] for result in results]


class TestUsage:
    def test_a_busy_node_takes_nothing_until_it_is_told_to_be_idle(self) -> None:
        results = run(
            USAGE,
            [node("a"), node("b"), usage("a", 90), usage("b", 20), *job("j1")],
            [RESTART, *job("j2")],
            [usage("a", 10), *job("j3")],
        )
        assert binds(results) == [
            [["default/j1", "b"]],
            [["default/j2", "b"]],
            [["default/j3", "a"]],
        ]
        assert [result["errors"] for result in results] == [[], [], []]

    def test_without_any_the_errors_say_so(self) -> None:
        (result,) = run(USAGE, [node("a"), *job("j")])
        assert result["binds"] == [["default/j", "a"]]
        assert result["errors"] == [
            "usage: no usage of nodes was recorded; none is taken into account"
        ]

    @pytest.mark.parametrize(("age", "bound"), [(5, 0), (6, 1)])
    def test_what_was_measured_at_a_time_grows_old(self, age: int, bound: int) -> None:
        told = [node("a"), usage("a", 90, observedAt=CREATED), *job("j")]
        (result,) = run(USAGE, told, now=parse_time(CREATED) + age * MINUTE)
        assert len(result["binds"]) == bound


class TestExtender:
    def test_it_answers_as_was_recorded_until_it_answers_otherwise(self) -> None:
        no = {"status": "no", "code": 2}
        results = run(
            EXTENDER,
            [node("a"), answer("default/j a", no), *job("j")],
            [RESTART],
            [answer("default/j a", None)],
            [answer("default/j a", {})],
        )
        assert binds(results) == [[], [], [], [["default/j", "a"]]]
        failed = "extender: no answer to filter about default/j a was recorded"
        assert [[error.partition(";")[0] for error in result["errors"]] for result in results] == [
            *([], [], [failed], [])
        ]

    def test_an_answer_that_go_could_not_decode_is_a_call_that_failed(self) -> None:
        (result,) = run(EXTENDER, [node("a"), answer("default/j a", {"code": "x"}), *job("j")])
        assert result["binds"] == []
        (error,) = result["errors"]
        assert error.startswith("extender: the answer to filter about default/j a is none: ")
        assert "got str - at $.code" in error


class TestDevices:
    def test_a_process_reads_the_configuration_once(self) -> None:
        results = run(
            DEVICESHARE,
            [mig_node("a"), config_map(), *mig_job("j1")],
            [{**config_map(), "type": "DELETED"}, *mig_job("j2")],
            [RESTART, *mig_job("j3")],
            [config_map()],
        )
        assert binds(results) == [[["default/j1", "a"]], [["default/j2", "a"]], [], []]
        uncut = (
            "deviceshare: no device configuration was recorded; cards in mode mig count as uncut"
        )
        assert [result["errors"] for result in results] == [[], [], [uncut], [uncut]]

    def test_the_configuration_of_the_scheduler_may_name_another(self) -> None:
        own = {"KnownGeometriesCMName": "own", "KnownGeometriesCMNamespace": "kube-system"}
        text = conf("deviceshare", VGPUEnable="true", **own)
        for name, bound in (("own", 1), ("volcano-vgpu-device-config", 0)):
            (result,) = run(text, [mig_node("a"), config_map(name=name), *mig_job("j")])
            assert len(result["binds"]) == bound


@pytest.mark.parametrize(
    ("event", "place"),
    [
        (usage("a", -1), r"expected float >= 0\.0 at \$\.steps\[0\]\.events\[1\]\.cpu"),
        ({"type": "usage.measured"}, r"at \$\.steps\[0\]\.events\[1\]"),
        ({"type": "extender.answered", "verb": 5, "answer": None}, r"events\[1\]\.verb"),
        ({"type": ["usage.measured"]}, r"expected a string at \$\.steps\[0\]\.events\[1\]\.type"),
    ],
)
def test_a_fault_is_named_with_its_place(event: Event, place: str) -> None:
    with pytest.raises(InputError, match=place):
        run(USAGE, [RESTART, event])
