"""Configurations of the scheduler at random; see :mod:`scenarios`."""

from __future__ import annotations

import json
import random
from types import MappingProxyType
from typing import Any

from plinian.engine.session.plugins import BUILDERS
from plinian.engine.volcano.conf import SWITCHES

ACTIONS = ("enqueue", "allocate", "backfill", "preempt", "reclaim")
USUAL = ("priority", "gang", "conformance", "drf", "predicates", "proportion", "nodeorder")
ODD_VALUES = ("x", "", -1, 0, 10**20, 1.5, True, None, [], {}, [1], {"a": 1})
ARGUMENTS = MappingProxyType(
    {
        "binpack": {
            "binpack.weight": (1, 10),
            "binpack.cpu": (1, 5),
            "binpack.memory": (0, 2),
            "binpack.resources": ("nvidia.com/gpu, example.com/odd", "cpu", ","),
            "binpack.resources.nvidia.com/gpu": (2, -3),
        },
        "deviceshare": {
            "deviceshare.GPUSharingEnable": (True, False),
            "deviceshare.GPUNumberEnable": (True, False),
            "deviceshare.VGPUEnable": (True, False),
            "deviceshare.NodeLockEnable": (False,),
            "deviceshare.SchedulePolicy": ("binpack", "spread"),
            "deviceshare.ScheduleWeight": (3,),
        },
        "extender": {
            "extender.urlPrefix": ("http://127.0.0.1:1",),
            "extender.ignorable": (True, False),
            **{
                f"extender.{point}Verb": ("ask",)
                for point in (
                    *("onSessionOpen", "onSessionClose", "predicate", "prioritize"),
                    *("preemptable", "reclaimable", "queueOverused", "jobEnqueueable", "jobReady"),
                )
            },
        },
        "network-topology-aware": {"weight": (1, 10)},
        "nodegroup": {"strict": (True, False)},
        "nodeorder": {
            f"{name}.weight": (0, 1, 3)
            for name in (
                *("leastrequested", "mostrequested", "nodeaffinity", "podaffinity"),
                *("balancedresource", "tainttoleration", "imagelocality", "podtopologyspread"),
            )
        },
        "numa-aware": {"weight": (1, 2)},
        "overcommit": {"overcommit-factor": (1.2, 1, 0.5, 3.0)},
        "predicates": {
            **{
                f"predicate.{name}Enable": (True, False)
                for name in (
                    *("NodeAffinity", "NodePorts", "TaintToleration", "PodAffinity", "Cache"),
                    *("NodeVolumeLimits", "VolumeZone", "PodTopologySpread", "VolumeBinding"),
                    "Proportional",
                )
            },
            "predicate.resources": ("nvidia.com/gpu", "nvidia.com/gpu,,x"),
            "predicate.resources.nvidia.com/gpu.cpu": (1, 2.5),
            "predicate.resources.nvidia.com/gpu.memory": (1,),
            "volumebinding.weight": (1, 3),
            "volumebinding.bindTimeoutSeconds": (600,),
        },
        "rescheduling": {
            "interval": ("5m", "1s"),
            "metricsPeriod": ("5m",),
            "strategies": (
                [{"name": "lowNodeUtilization", "params": {"thresholds": {"cpu": 20}}}],
                [{"name": "odd"}],
            ),
        },
        "sla": {"sla-waiting-time": ("1h", "-1s", "1h30m")},
        "task-topology": {"task-topology.weight": (1, 5)},
        "tdm": {
            "tdm.revocable-zone.rz1": ("10:00-21:00", "0:00-24:00", "x", "21:00-10:00"),
            "tdm.evict.period": ("1m", "x"),
        },
        "usage": {
            "usage.weight": (5,),
            "thresholds": ({"cpu": 80, "mem": 70}, {"cpu": "80"}),
        },
    }
)


def scheduler_conf(chance: random.Random, oddness: float) -> str:
    """Return a configuration: some plugins in some tiers, some actions in some order."""
    known = [*BUILDERS]
    names = [name for name in USUAL if chance.random() < 0.8]
    share = chance.choice((0.05, 0.2, 0.6))
    names += [name for name in known if name not in USUAL and chance.random() < share]
    if "extender" in names and chance.random() < 0.8:
        names.remove("extender")
    if chance.random() < 0.3:
        chance.shuffle(names)
    if chance.random() < oddness:
        names += chance.choice((["nowhere"], names[:2], [""]))
    tree = chance.random() < 0.3
    if tree and "drf" in names and chance.random() > oddness:
        names = [name for name in names if name != "proportion"]
    tiers: list[dict[str, Any]] = [{"plugins": []} for _ in range(chance.randint(1, 3))]
    for number, name in enumerate(names):
        at = number * len(tiers) // len(names)
        tiers[at]["plugins"].append(_option(chance, oddness, name, tree=tree))
    actions = [name for name in ACTIONS if chance.random() < 0.8]
    if chance.random() < 0.4:
        chance.shuffle(actions)
    if chance.random() < oddness:
        actions += chance.choice((["nowhere"], ["allocate"], ["shuffle"], [""]))
    configurations = []
    if chance.random() < 0.1:
        configurations.append(
            {"name": "allocate", "arguments": {"predicateErrorCacheEnable": chance.random() < 0.5}}
        )
    return "\n".join(
        (
            f"actions: {json.dumps(', '.join(actions))}",
            f"tiers: {json.dumps(tiers)}",
            f"configurations: {json.dumps(configurations)}",
        )
    )


def _option(chance: random.Random, oddness: float, name: str, *, tree: bool) -> dict[str, Any]:
    option: dict[str, Any] = {"name": name}
    for switch in SWITCHES:
        if chance.random() < 0.02:
            option[switch] = chance.random() < 0.3
    if tree and name in ("drf", "capacity"):
        option["enableHierarchy"] = True
    arguments = {}
    for key, values in ARGUMENTS.get(name, {}).items():
        if chance.random() < 0.3:
            odd = chance.random() < oddness
            arguments[key] = chance.choice(ODD_VALUES if odd else values)
    if arguments:
        option["arguments"] = arguments
    return option
