"""The device configuration: a ConfigMap that a process reads once.

Source: pkg/scheduler/plugins/deviceshare/deviceshare.go enablePredicate;
pkg/scheduler/api/devices/config/{config,vgpu}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ....volcano.conf import SchedulerConf
from ....volcano.conf_yaml import ConfInvalid, Decoder, FieldType, Struct

GPU_SHARING = "deviceshare.GPUSharingEnable"
GPU_NUMBER = "deviceshare.GPUNumberEnable"
VGPU = "deviceshare.VGPUEnable"
FILE = "device-config.yaml"

_NAME = "deviceshare.KnownGeometriesCMName"
_NAMESPACE = "deviceshare.KnownGeometriesCMNamespace"

_TEXTS = (
    *("resourceCountName", "resourceMemoryName", "resourceCoreName"),
    *("resourceMemoryPercentageName", "resourcePriorityName"),
)
_COUNTS = (
    *("defaultMemory", "defaultCores", "defaultGPUNum", "deviceSplitCount"),
    "gpuMemoryFactor",
)
_INSTANCE = Struct(
    "config.MigTemplate", {"name": FieldType.TEXT, "memory": FieldType.UINT, "count": FieldType.INT}
)
_GEOMETRY = Struct("config.Geometry", {"group": FieldType.TEXT, "geometries": [_INSTANCE]})
_ALLOWED = Struct(
    "config.AllowedMigGeometries", {"models": [FieldType.TEXT], "allowedGeometries": [_GEOMETRY]}
)
_CONFIG = Struct(
    "config.Config",
    {
        "nvidia": Struct(
            "config.NvidiaConfig",
            {
                **dict.fromkeys(_TEXTS, FieldType.TEXT),
                **dict.fromkeys(_COUNTS, FieldType.UINT),
                **dict.fromkeys(("deviceMemoryScaling", "deviceCoreScaling"), FieldType.FLOAT),
                **dict.fromkeys(("overwriteEnv", "disableCoreLimit"), FieldType.BOOL),
                "knownMigGeometries": [_ALLOWED],
            },
        )
    },
)
_NONE: Mapping[str, Any] = MappingProxyType({})


class ConfigMapName(NamedTuple):
    """Which ConfigMap."""

    namespace: str
    name: str


def device_config_map(conf: SchedulerConf) -> ConfigMapName | None:
    """Return the ConfigMap that the plugin reads; None if it is missing or not needed."""
    for option in (option for tier in conf.tiers for option in tier):
        if option.name == "deviceshare" and option.arguments.raw.get(VGPU) is True:
            raw = option.arguments.raw
            namespace, name = raw.get(_NAMESPACE), raw.get(_NAME)
            return ConfigMapName(
                namespace if isinstance(namespace, str) else "kube-system",
                name if isinstance(name, str) else "volcano-vgpu-device-config",
            )
    return None


def read_device_config(config_map: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the configuration in a ConfigMap, by the keys of its text.

    Empty if the ConfigMap or the file is missing, or a value has a wrong type: then the
    scheduler uses its default, without MIG.
    """
    data = (config_map or {}).get("data")
    text = data.get(FILE) if isinstance(data, Mapping) else None
    if not isinstance(text, str):
        return _NONE
    try:
        return Decoder(text).decode(_CONFIG)
    except ConfInvalid:
        return _NONE
