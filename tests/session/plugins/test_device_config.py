"""The device configuration of virtual GPUs, which is read as Go does."""

from __future__ import annotations

from typing import Any

import pytest
from external import DEVICES, DEVICESHARE, USAGE, conf

from plinian.engine.session.plugins.deviceshare.device_config import (
    device_config_map,
    read_device_config,
)
from plinian.engine.session.plugins.deviceshare.mig import Instance, geometries_of
from plinian.engine.volcano.conf import SchedulerConf, conf_in_force
from plinian.engine.volcano.session.history import resolve


def in_force(text: str) -> SchedulerConf:
    """Return a configuration as v1.12.1 reads it."""
    return conf_in_force(text, resolve("v1.12.1"))


def test_the_device_configuration_is_looked_for_where_virtual_gpus_are_on() -> None:
    assert device_config_map(in_force(USAGE)) is None
    assert device_config_map(in_force(conf("deviceshare", VGPUEnable="false"))) is None
    assert device_config_map(in_force(conf("deviceshare", VGPUEnable="'true'"))) is None
    assert device_config_map(in_force(DEVICESHARE)) == ("kube-system", "volcano-vgpu-device-config")
    named = conf("deviceshare", VGPUEnable="true", KnownGeometriesCMName="own")
    assert device_config_map(in_force(named)) == ("kube-system", "own")
    odd = conf("deviceshare", VGPUEnable="true", KnownGeometriesCMNamespace=5)
    assert device_config_map(in_force(odd)) == ("kube-system", "volcano-vgpu-device-config")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("10240", "-1"),
        ("10240", "many"),
        ("10240", "true"),
        ("10240", "18446744073709551616"),
        ("7}", "[7]}"),
        ("[A100]", "A100"),
        ("defaultGPUNum: 1", "defaultGPUNum: one"),
        ("nvidia:", "nvidia: 5\nother:"),
        ("nvidia:", "nvidia: ["),
    ],
)
def test_a_configuration_of_another_shape_is_none(old: str, new: str) -> None:
    assert read_device_config({"data": {"device-config.yaml": DEVICES.replace(old, new)}}) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("10240", "10240.5"),
        ("10240", "0x2800"),
        ("defaultGPUNum: 1", "deviceMemoryScaling: 1"),
        ("defaultGPUNum: 1", "resourceCountName: 7"),
        ("defaultGPUNum: 1", "unknown: {}"),
        ("defaultGPUNum: 1", "defaultMemory:"),
    ],
)
def test_what_go_takes_is_taken(old: str, new: str) -> None:
    config = read_device_config({"data": {"device-config.yaml": DEVICES.replace(old, new)}})
    found = geometries_of(config, "A100")
    assert found is not None
    assert found[0].instances == (Instance("1g.10gb", 10240, 7),)


@pytest.mark.parametrize(
    "document", [None, {}, {"data": None}, {"data": []}, {"data": {"device-config.yaml": 5}}]
)
def test_a_config_map_without_the_file_configures_nothing(document: Any) -> None:
    assert read_device_config(document) == {}
