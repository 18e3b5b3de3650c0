"""What a configuration turns on that a session does not simulate is told."""

from __future__ import annotations

import pytest

from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.plugins import BUILDERS, NEWER_PLUGINS
from plinian.engine.volcano.conf import known_actions
from plinian.engine.volcano.session.history import HISTORY, SUPPORTED, record, resolve
from sessions import node, opened

CONF = """
actions: "allocate"
tiers:
- plugins:
  - name: {plugin}
    arguments: {{{argument}}}
"""


def told(plugin: str, argument: str, release: str) -> list[str]:
    """Return what a session says that it does not simulate."""
    conf = CONF.format(plugin=plugin, argument=argument)
    ssn, _ = opened(conf, node("n"), release=release)
    return [line for line in ssn.errors if "not simulated" in line]


@pytest.mark.parametrize(
    ("plugin", "argument", "heeds", "ignores"),
    [
        ("predicates", "predicate.GPUSharingEnable: true", "v1.8.2", "v1.9.0"),
        ("nodeorder", "selectorspread.weight: 1", "v1.8.2", "v1.9.0"),
        ("predicates", "predicate.DynamicResourceAllocationEnable: true", "v1.13.0", "v1.11.0"),
        ("deviceshare", "deviceshare.GPUExclusiveRules: [{}]", "v1.15.1", "v1.14.4"),
        ("deviceshare", "deviceshare.AscendHAMiVNPUEnable: true", "v1.14.4", "v1.13.0"),
    ],
)
def test_an_argument_is_told_where_the_release_heeds_it(
    plugin: str, argument: str, heeds: str, ignores: str
) -> None:
    name = argument.partition(":")[0]
    assert told(plugin, argument, heeds) == [f"{plugin}: {name} is not simulated"]
    assert told(plugin, argument, ignores) == []


@pytest.mark.parametrize(
    "argument",
    [
        "predicate.GPUSharingEnable: false",
        'predicate.GPUSharingEnable: "true"',
        "predicate.NodePortsEnable: true",
    ],
)
def test_what_is_off_or_simulated_is_not_told(argument: str) -> None:
    assert told("predicates", argument, "v1.8.2") == []


# What a release has, by its own register of plugins and actions.

FIRST_PLUGINS = frozenset(
    [
        "drf",
        "gang",
        "predicates",
        "priority",
        "nodeorder",
        "conformance",
        "binpack",
        "tdm",
        "overcommit",
        "sla",
        "task-topology",
        "numa-aware",
        "cdp",
        "rescheduling",
        "usage",
        "proportion",
        "extender",
        "resourcequota",
    ]
)
LATER = {
    "deviceshare": "v1.9.0",
    "pdb": "v1.9.0",
    "nodegroup": "v1.9.0",
    "capacity": "v1.9.0",
    "network-topology-aware": "v1.12.0",
    "resource-strategy-fit": "v1.13.0",
}
FIRST_ACTIONS = frozenset(["reclaim", "allocate", "backfill", "preempt", "enqueue", "shuffle"])
GANG_ACTIONS = frozenset({"gangpreempt", "gangreclaim"})


def as_numbers(release: str) -> tuple[int, ...]:
    """Return the numbers of a release's name."""
    return tuple(map(int, release.removeprefix("v").split(".")))


@pytest.mark.parametrize("release", [str(each) for each in SUPPORTED if not each.ours])
def test_a_release_has_the_plugins_and_actions_that_it_registers(release: str) -> None:
    behaviours = resolve(release)
    later = {name for name, since in LATER.items() if as_numbers(since) <= as_numbers(release)}
    assert behaviours.plugins == later
    there = {name for name in BUILDERS if name not in NEWER_PLUGINS or name in behaviours.plugins}
    assert there == FIRST_PLUGINS | later
    gangs = GANG_ACTIONS if as_numbers(release) >= (1, 15, 0) else frozenset[str]()
    assert known_actions(behaviours) == FIRST_ACTIONS | gangs
    assert known_actions(behaviours) <= ACTIONS.keys()


def test_every_plugin_of_a_release_can_be_built() -> None:
    rows = [row.value for row in HISTORY if row.behaviour == "plugins"]
    assert frozenset[str]().union(*rows) == NEWER_PLUGINS == LATER.keys()
    assert BUILDERS.keys() == FIRST_PLUGINS | LATER.keys()


@pytest.mark.parametrize(("name", "since"), LATER.items())
def test_a_plugin_that_a_release_lacks_is_told_and_left_out(name: str, since: str) -> None:
    before = max(
        (each for each in SUPPORTED if not each.ours and name not in record(each).plugins),
        key=lambda each: as_numbers(str(each)),
    )
    assert as_numbers(str(before)) < as_numbers(since)
    ssn, plugins = opened(name, node("n"), release=str(before))
    assert ssn.errors == [f"Failed to get plugin {name}."]
    assert plugins == {}
