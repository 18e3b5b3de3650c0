"""Releases that help only by a fault: they are told apart from those that help as they should."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import CAPACITY, NODES, log_of

from plinian.engine.volcano.session.faults import faults_of, mended, sound
from plinian.engine.volcano.session.history import HISTORY, SUPPORTED, resolve
from plinian.replay.answers.target import target_of
from plinian.replay.answers.why import why_at
from plinian.replay.render.would_help import help_lines
from plinian.replay.what_if.changed_sessions import Variant
from plinian.replay.what_if.help import FaultSearch, TimeOver, WouldHelp, what_would_help
from sessions import group, node, pod, queue

Document = dict[str, Any]
GPU = "nvidia.com/gpu"


def helps(folder: Path, conf: str, world: Sequence[Document], named: str, **how: Any) -> WouldHelp:
    with log_of(folder, conf, *world) as log:
        moment, name = log.moment(), log.object(named)
        why = why_at(log, name, moment, namespace="ns", release="v1.12.1")
        return what_would_help(log, moment, target_of(log, name, "ns", moment), why, **how)


def test_every_fault_has_a_value_without_it() -> None:
    faults = [row for row in HISTORY if row.fault]
    assert faults
    for row in faults:
        assert row.source
        assert row.fault.endswith(".")
        other = sound(row)
        assert other.behaviour == row.behaviour
        assert other.value != row.value
        assert not other.fault


@pytest.mark.parametrize("release", [str(one) for one in SUPPORTED])
def test_a_mended_release_differs_only_in_its_faults(release: str) -> None:
    faults = faults_of(release)
    plain, without = resolve(release), mended(release, faults)
    for name, row in faults.items():
        assert getattr(plain, name) == row.value
        assert getattr(without, name) == sound(row).value
    assert mended(release, ()) == plain


def test_a_release_that_reserves_too_little_of_a_gpu_helps_only_by_that_fault(
    tmp_path: Path,
) -> None:
    needs = {"cpu": "1", GPU: "4"}
    world = (
        *(queue("root"), queue("default", parent="root", capability={"cpu": "8", GPU: "4"})),
        node("n1", 8, more={GPU: "8"}),
        group("first", 1, "Inqueue", minResources=needs),
        group("second", 1, "Pending", minResources={"cpu": "1", GPU: "2"}),
    )
    found = helps(tmp_path, CAPACITY, world, "podgroup/second")
    faults = {one.text: one.faults for one in found.by_fault}
    assert "thousandth" in faults["release v1.15.0"][0]
    assert "release v1.15.0" not in {one.text for one in found.found}
    assert "release v1.15.1" not in faults


def test_a_release_without_a_named_plugin_helps_only_by_leaving_its_checks_out(
    tmp_path: Path,
) -> None:
    conf = NODES + "  - name: nodegroup\n"
    affinity = {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a"]}}
    world = (
        queue("default", affinity=affinity),
        node("n1", 8, labels={"volcano.sh/nodegroup-name": "b"}),
        group("g", 1, "Inqueue"),
        pod("g-0", "g", 2, labels={"volcano.sh/queue-name": "default"}),
    )
    found = helps(tmp_path, conf, world, "pod/g-0")
    assert not [one.text for one in found.found if one.kind == "release"]
    (fault,) = {one.faults for one in found.by_fault if one.text == "release v1.8.2"}
    assert "plugin" in fault[0]
    printed = "".join(help_lines(found))
    assert "ONLY BY A FAULT" in printed
    assert fault[0] in printed


def test_a_release_that_is_right_has_no_fault(tmp_path: Path) -> None:
    large = group("g", 1, "Pending", minResources={"cpu": "20"})
    world = (queue("root"), queue("default", parent="root"), node("n1", 8), large)
    found = helps(tmp_path, CAPACITY, world, "podgroup/g")
    assert "release v1.14.2" in {one.text for one in found.found}  # for autoscalers, on purpose
    assert not any(one.faults for one in found.found)


def test_the_faults_of_a_release_are_few_sessions_and_end_with_the_time() -> None:
    tried: list[Variant] = []

    def still_helps(variant: Variant) -> bool:
        tried.append(variant)
        return "root_queue" not in variant.mended

    search = FaultSearch(still_helps, lambda: True)
    old, older = (Variant(name, release=name) for name in ("v1.9.0", "v1.8.2"))
    assert search.needed(old) == (faults_of("v1.9.0")["root_queue"].fault,)
    assert len(tried) < 16
    tried.clear()
    assert search.needed(older)
    assert len(tried) == 1  # the fault that is known is tried first
    assert search.needed(Variant("no release")) == ()
    times = count()
    with pytest.raises(TimeOver):
        FaultSearch(still_helps, lambda: next(times) < 2).needed(old)
