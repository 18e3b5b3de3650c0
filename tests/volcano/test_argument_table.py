"""Arguments of plugins: every one that a plugin reads is told, with its type and its releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from plinian.engine.model.panic import Panic
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.framework.trace import Trace
from plinian.engine.session.plugins import BUILDERS, NEWER_PLUGINS
from plinian.engine.session.session_run import open_plugins
from plinian.engine.volcano.argument_table import ARGUMENTS, ArgumentType, arguments_of, is_of
from plinian.engine.volcano.arguments import Arguments
from plinian.engine.volcano.conf import SWITCHES, PluginOption, SchedulerConf, known_actions
from plinian.engine.volcano.releases import RELEASES
from plinian.engine.volcano.session.history import SUPPORTED, resolve
from sessions import NOW, AcceptingCache, cache_of, group, node, pod, queue

TEXTS = ("binpack.resources", "hypernode.binpack.resources", "predicate.resources")


class Watched(Mapping[str, Any]):
    """Arguments that note which of them are looked at; lists of resources name one."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        if name in TEXTS:
            return "example.com/a"
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return name in TEXTS

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.13.0", "v1.15.1"])
@pytest.mark.parametrize("plugin", sorted(BUILDERS))
def test_what_a_plugin_reads_is_among_its_arguments(plugin: str, release: str) -> None:
    how = resolve(release)
    if plugin in NEWER_PLUGINS and plugin not in how.plugins:
        return
    watched = Watched()
    option = PluginOption(plugin, frozenset(SWITCHES.values()), False, Arguments(watched))
    objects = (node("n"), queue("root"), queue("default"), group("g"), pod("p", "g"))
    ssn = Session(
        cache_of(*objects, release=release).snapshot(),
        SchedulerConf((), ((option,),), (), {}),
        how,
        now=NOW,
        process=ProcessState(),
        cache=AcceptingCache(),
        trace=Trace(),
    )
    try:
        open_plugins(ssn)
    except Panic as panic:
        pytest.fail(f"{plugin}: {panic.message}")
    told = [argument for argument in ARGUMENTS if argument.owner == plugin]
    unknown = {name for name in watched.asked if not any(a.matches(name) for a in told)}
    assert unknown == set()


def test_owners_are_plugins_or_actions() -> None:
    actions = set().union(*(known_actions(resolve(str(release))) for release in SUPPORTED))
    assert {argument.owner for argument in ARGUMENTS} <= {*BUILDERS, *actions}


def test_an_argument_is_told_once_in_every_release() -> None:
    for release in RELEASES:
        told = [
            (argument.owner, argument.name)
            for owner in sorted({argument.owner for argument in ARGUMENTS})
            for argument in arguments_of(owner, str(release))
        ]
        assert len(told) == len(set(told)), release


def test_arguments_come_and_go() -> None:
    def names(owner: str, release: str) -> set[str]:
        return {argument.name for argument in arguments_of(owner, release)}

    assert "predicate.GPUSharingEnable" in names("predicates", "v1.8.2")
    assert "predicate.GPUSharingEnable" not in names("predicates", "v1.9.0")
    assert "predicate.ProportionalEnable" in names("predicates", "v1.12.4")
    assert "predicate.ProportionalEnable" not in names("predicates", "v1.13.0")
    assert "ancestorReclaimLevel" not in names("capacity", "v1.14.4")
    assert "ancestorReclaimLevel" in names("capacity", "v1.15.1")
    (policy,) = [a for a in arguments_of("deviceshare", "v1.12.1") if "SchedulePolicy" in a.name]
    assert policy.crashes
    (policy,) = [a for a in arguments_of("deviceshare", "v1.13.0") if "SchedulePolicy" in a.name]
    assert not policy.crashes


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (1, {ArgumentType.INT, ArgumentType.NUMBER}),
        (1.5, {ArgumentType.NUMBER}),
        (True, {ArgumentType.BOOL}),
        ("x", {ArgumentType.TEXT, ArgumentType.DURATION}),
        ("true", {ArgumentType.TEXT, ArgumentType.DURATION}),
        ([], {ArgumentType.LIST}),
        ({}, {ArgumentType.MAP}),
        (None, set()),
        (2**70, set()),
    ],
)
def test_a_value_is_of_a_type_as_go_has_it(value: object, kinds: set[ArgumentType]) -> None:
    assert {kind for kind in ArgumentType if is_of(value, kind, resolve("v1.12.1"))} == kinds


def test_the_newest_releases_take_texts_for_truth_values() -> None:
    newest = resolve("v1.15.0")
    assert is_of("true", ArgumentType.BOOL, newest)
    assert not is_of("yes", ArgumentType.BOOL, newest)
    assert not is_of("true", ArgumentType.BOOL, resolve("v1.14.4"))
