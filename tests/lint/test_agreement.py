"""What is said to be fatal under a release is what stops or crashes its scheduler."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linting import FLAT, PROPORTION, TREE, Document, conf_of, node

from decisions import decided
from plinian.engine.volcano.session.behaviours import Behaviours
from plinian.engine.volcano.session.history import resolve
from plinian.replay.lint.lint_inputs import LintInputs
from plinian.replay.lint.lint_run import lint
from plinian.replay.lint.objects import TYPES, Manifest
from plinian.replay.simulate.scenario_cases import Case, CaseStep, parse_case
from plinian.replay.simulate.simulation import Simulation

TOLD = (
    "Failed to check queue's hierarchical structure",
    "Failed to update Queue",
    "is not leaf queue",
)
"""With these a scheduler says that it schedules nothing."""

RELEASES = ("v1.8.2", "v1.9.0", "v1.11.0", "v1.12.1", "v1.13.0", "v1.14.4", "v1.15.1", "hardened")
NAMES = ("a", "b", "c", "d")
GPU = "nvidia.com/gpu"

amounts = st.dictionaries(
    st.sampled_from(("cpu", "memory", GPU)), st.integers(0, 9).map(str), max_size=3
)


@st.composite
def queues(draw: st.DrawFn) -> list[Document]:
    """Return queues in some tree, or in what should have been one."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    parents = st.sampled_from(("", "", "root", *names, *NAMES[:1]))
    found = [
        _queue(name, draw(parents), draw(amounts), draw(amounts), draw(amounts)) for name in names
    ]
    if draw(st.booleans()):
        found.append(_queue("root", "", draw(amounts), {}, {}))
    return found


def _queue(name: str, parent: str, capability: Any, deserved: Any, guarantee: Any) -> Document:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name},
        "spec": {
            "weight": 1,
            "parent": parent,
            "capability": capability,
            "deserved": deserved,
            "guarantee": {"resource": guarantee},
        },
        "status": {"state": "Open"},
    }


def work(queue: str) -> list[Document]:
    """Return a job in a queue that asks for more of everything than anybody deserves."""
    return _job(f"in-{queue}", queue, {"cpu": "900", "memory": "900", GPU: "900"})


def idle_work() -> list[Document]:
    """Return a job that asks for nothing: backfill prepares for its pod, whatever queues are."""
    group, pod = _job("idle", "default", {})
    return [{**group, "status": {"phase": "Inqueue"}}, pod]


def _job(name: str, queue: str, requests: dict[str, str]) -> list[Document]:
    return [
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "ml"},
            "spec": {"queue": queue, "minMember": 1},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "ml",
                "annotations": {"scheduling.k8s.io/group-name": name},
            },
            "spec": {
                "schedulerName": "volcano",
                "containers": [{"name": "c", "resources": {"requests": requests}}],
            },
            "status": {"phase": "Pending"},
        },
    ]


def fatal(objects: list[Document], conf: str, how: Behaviours) -> list[str]:
    """Return what is found to be fatal under a release."""
    world = LintInputs([Manifest(document, None) for document in objects], [conf_of(conf)])
    return [f"{f.rule}: {f.issue}" for f in lint(world, [how]) if f.issue.effect.fatal]


def stopped(case: Case, how: Behaviours) -> list[str]:
    """Return with what the last session of a scenario stops or crashes."""
    *_, last = Simulation(case, how).sessions()
    said = [text for text in last.result.errors if any(mark in text for mark in TOLD)]
    panic = last.result.panic
    return said if panic is None else [*said, panic.message]


def scenario(objects: list[Document], conf: str) -> Case:
    """Return a scenario of one session, in which all of this is there."""
    events = tuple({"type": "ADDED", "object": document} for document in objects)
    return Case(steps=(CaseStep(events=events),), conf=conf)


@pytest.mark.slow
@settings(max_examples=150)
@given(
    queues(),
    st.lists(st.sampled_from(("default", *NAMES)), max_size=2, unique=True),
    st.sampled_from((TREE, FLAT, PROPORTION)),
    st.sampled_from(RELEASES),
)
def test_a_tree_is_found_to_be_unsound_where_the_scheduler_finds_it_so(
    tree: list[Document], busy: list[str], conf: str, release: str
) -> None:
    names = {document["metadata"]["name"] for document in tree} - {"root"} | {"default"}
    above = {document["spec"]["parent"] for document in tree} if conf == TREE else set()
    # Where what queues deserve depends on what is asked for, all is asked for.
    jobs = [each for name in sorted(names - above | set(busy)) for each in work(name)]
    objects = [node("n", "8", **{GPU: "4"}), *tree, *jobs, *idle_work()]
    how = resolve(release)
    assert bool(fatal(objects, conf, how)) == bool(stopped(scenario(objects, conf), how))


ARTICLES = [name for name in decided() if name.startswith(("001-", "004-"))]


@pytest.mark.parametrize("name", ARTICLES)
@pytest.mark.parametrize("release", ["v1.10.0", "v1.11.0", "v1.12.1", "v1.13.0", "v1.15.1"])
def test_scenarios_that_real_schedulers_were_given_are_judged_as_they_judged_them(
    name: str, release: str
) -> None:
    case = parse_case_of(decided()[name]["case"])
    how = resolve(release)
    simulation = Simulation(case, how)
    for number, session in enumerate(simulation.sessions(), start=1):
        objects = [
            document
            for _, kind in TYPES
            for _, document in simulation._store.of(kind)
            if kind in {"Queue", "PodGroup", "Node"}
        ]
        told = any(mark in text for text in session.result.errors for mark in TOLD)
        found = fatal(objects, case.conf or "", how)
        if how.deserved_capped_by_request:  # what is asked for is not known before it is
            found = [text for text in found if "as soon as jobs request" not in text]
        assert bool(found) == (told or session.result.panic is not None), (number, found)


def parse_case_of(document: Document) -> Case:
    """Return a scenario that was recorded."""
    return parse_case(msgspec.json.encode(document))
