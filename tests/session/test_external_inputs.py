"""The newest external inputs reach the process, and only those that its configuration needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from external import DEVICES, DEVICESHARE, EXTENDER, USAGE, conf

from plinian.engine.events.payloads import ExtenderAnswered, UsageMeasured
from plinian.engine.session.external_inputs import ExternalInputs, kinds_needed
from plinian.engine.session.framework.process_parts import ExternalValues, NodeUsage, ProcessState
from plinian.engine.session.plugins.deviceshare.mig import Geometry, Instance, geometries_of
from plinian.engine.volcano.conf import SchedulerConf, conf_in_force
from plinian.engine.volcano.session.history import resolve

NOW = 1_000_000


def in_force(text: str) -> SchedulerConf:
    """Return a configuration as v1.12.1 reads it."""
    return conf_in_force(text, resolve("v1.12.1"))


def lent(inputs: ExternalInputs, text: str = USAGE, now: int = NOW) -> ExternalValues:
    """Return what a process has of the inputs."""
    process = ProcessState()
    inputs.lend(process, in_force(text), now, lambda _, __: None)
    return process.external


def test_the_last_that_was_told_of_a_node_counts_as_a_whole() -> None:
    inputs = ExternalInputs()
    inputs.take(UsageMeasured(node="a", cpu={"10m": 1}, memory={"10m": 2}), 5)
    inputs.take(UsageMeasured(node="b", cpu={"10m": 3}), None)
    inputs.take(UsageMeasured(node="a", memory={"10m": 4}), 7)
    assert lent(inputs).node_usage == {
        "a": NodeUsage(7, {}, {"10m": 4}),
        "b": NodeUsage(NOW, {"10m": 3}, {}),
    }
    assert lent(inputs, now=9).node_usage["b"].time == 9


def test_answers_are_those_to_the_same_verb_about_the_same() -> None:
    inputs = ExternalInputs()
    for verb, about, answer in (
        *(("v", "a", {"n": 1}), ("w", "a", {"n": 2}), ("v", "b", {"n": 3})),
        *(("v", "a", {"n": 4}), ("v", "b", None), ("x", "a", None)),
    ):
        inputs.take(ExtenderAnswered(verb=verb, about=about, answer=answer), None)
    assert lent(inputs).extender_answers == {("v", "a"): {"n": 4}, ("w", "a"): {"n": 2}}


def test_only_what_a_configuration_has_plugins_for_is_needed() -> None:
    assert kinds_needed(in_force("")) == ()
    assert kinds_needed(in_force(USAGE)) == ("usage.measured",)
    assert kinds_needed(in_force(conf("rescheduling"))) == ("usage.measured",)
    assert kinds_needed(in_force(EXTENDER)) == ("extender.answered",)


def test_what_a_process_has_read_it_keeps() -> None:
    process, asked = ProcessState(), list[tuple[str, str]]()

    def find(namespace: str, name: str) -> Mapping[str, Any]:
        asked.append((namespace, name))
        return {"data": {"device-config.yaml": DEVICES}}

    for text in (USAGE, DEVICESHARE, DEVICESHARE):
        ExternalInputs().lend(process, in_force(text), NOW, find)
    assert asked == [("kube-system", "volcano-vgpu-device-config")]
    assert geometries_of(process.external.device_config or {}, "NVIDIA-A100") == (
        Geometry("group1", (Instance("1g.10gb", 10240, 7),)),
    )
