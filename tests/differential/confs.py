"""Configurations of the scheduler that combine plugins, actions, switches and arguments."""

from __future__ import annotations

import json
from random import Random

from .cards import Cards

ACTIONS = (
    "enqueue, allocate, backfill",
    "enqueue, allocate, backfill, preempt",
    "enqueue, allocate, preempt, reclaim, backfill",
    "enqueue, reclaim, allocate, backfill, preempt",
    "allocate, backfill",
    "enqueue, allocate, preempt",
    "enqueue, allocate, reclaim",
)
SWITCHES = (
    *("enableJobOrder", "enablePreemptable", "enableReclaimable", "enablePredicate"),
    *("enableNodeOrder", "enableJobStarving", "enableOverused", "enableJobEnqueued"),
    *("enableTaskOrder", "enableJobPipelined", "enabledAllocatable"),
)
NODE_ORDER_ARGUMENTS = (
    *("leastrequested.weight", "mostrequested.weight", "nodeaffinity.weight"),
    *("podaffinity.weight", "balancedresource.weight", "tainttoleration.weight"),
    *("imagelocality.weight", "podtopologyspread.weight"),
)
Lines = list[str]


class ConfAuthor:
    """Writes the configuration of one scenario.

    :param tree: queues form a tree; then ``capacity`` knows of it.
    :param cards: cards that pods share; then ``deviceshare`` is configured.
    """

    def __init__(
        self, chance: Random, *, tree: bool, hypernodes: bool, cards: Cards | None
    ) -> None:
        self._chance = chance
        self._tree = tree
        self._hypernodes = hypernodes
        self._cards = cards

    def conf(self) -> str:
        """Return a configuration as it stands in a ConfigMap."""
        actions = self._chance.choice(ACTIONS)
        tiers = (self._first_tier(), self._second_tier())
        lines = [f'actions: "{actions}"', *self._action_arguments(actions), "tiers:"]
        for tier in tiers:
            lines.append("- plugins:")
            for name in tier:
                lines += self._plugin(name)
        return "\n".join(lines) + "\n"

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def _first_tier(self) -> Lines:
        names = ["priority", "gang", "conformance"]
        if self._often(0.12):
            names.remove(self._chance.choice(names))
        if self._often(0.1):
            names.append("sla")
        if self._often(0.2):
            self._chance.shuffle(names)
        return names

    def _second_tier(self) -> Lines:
        shares = {
            "overcommit": 0.5,
            "drf": 0.5,
            "predicates": 0.93,
            "nodeorder": 0.75,
            "binpack": 0.5,
            "nodegroup": 0.15,
            "task-topology": 0.15,
            "resourcequota": 0.15,
            "pdb": 0.15,
            "network-topology-aware": 0.85 if self._hypernodes else 0.02,
        }
        names = [name for name, share in shares.items() if self._often(share)]
        if self._tree:
            names.append("capacity")
        else:
            names += self._chance.choice((["proportion"], ["proportion"], ["capacity"], []))
        if self._cards is not None and self._often(0.95):
            names.append("deviceshare")
        if self._often(0.3):
            self._chance.shuffle(names)
        return names or ["predicates"]

    def _plugin(self, name: str) -> Lines:
        lines = [f"  - name: {name}"]
        if name == "capacity" and self._tree:
            lines.append("    enableHierarchy: true")
        lines += [
            f"    {switch}: {json.dumps(self._often(0.2))}"
            for switch in SWITCHES
            if self._often(0.02)
        ]
        arguments = self._arguments(name)
        if arguments:
            lines.append("    arguments:")
            lines += [f"      {key}: {value}" for key, value in arguments.items()]
        return lines

    def _arguments(self, name: str) -> dict[str, str]:
        if name == "deviceshare" and self._cards is not None:
            return self._cards.arguments()
        one = self._chance.choice
        written: dict[str, dict[str, tuple[str, ...]]] = {
            "nodeorder": dict.fromkeys(NODE_ORDER_ARGUMENTS, ("0", "1", "2", "10", '"x"')),
            "binpack": {
                "binpack.weight": ("1", "5", "10"),
                "binpack.cpu": ("1", "3"),
                "binpack.memory": ("0", "2"),
                "binpack.resources": ("nvidia.com/gpu",),
                "binpack.resources.nvidia.com/gpu": ("2", "7"),
            },
            "overcommit": {"overcommit-factor": ("1.0", "1.2", "1.5", "0.5")},
            "predicates": {
                "predicate.CacheEnable": ("true", "false"),
                "predicate.PodAffinityEnable": ("true", "false"),
                "predicate.NodePortsEnable": ("true", "false"),
                "predicate.TaintTolerationEnable": ("true", "false"),
                "predicate.PodTopologySpreadEnable": ("true", "false"),
            },
            "sla": {"sla-waiting-time": ("1h", "300000h")},
            "task-topology": {"task-topology.weight": ("1", "10")},
            "network-topology-aware": {"weight": ("1", "10"), "hypernode.binpack.cpu": ("2",)},
        }
        share = 0.25 if name != "nodeorder" else 0.1
        return {
            key: one(values) for key, values in written.get(name, {}).items() if self._often(share)
        }

    def _action_arguments(self, actions: str) -> Lines:
        lines: Lines = []
        if "preempt" in actions and self._often(0.35):
            lines += ["- name: preempt", "  arguments:"]
            lines += ["    enableTopologyAwarePreemption: true"]
            if self._often(0.3):
                lines.append(f"    minCandidateNodesAbsolute: {self._chance.choice((1, 3, 100))}")
        if self._often(0.1):
            lines += ["- name: allocate", "  arguments:", "    predicateErrorCacheEnable: false"]
        return ["configurations:", *lines] if lines else []
