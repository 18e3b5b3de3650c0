"""`why` of every object of drawn clusters, under every action: an answer, at all releases."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from answer_worlds import Document, log_of

from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.why import why_at
from plinian.replay.belief.belief import belief_at
from plinian.replay.invariants.check_task import CheckTask, check
from plinian.replay.invariants.checked_sessions import CheckedSession
from plinian.replay.overview.overview import overview_at
from plinian.replay.overview.overview_task import OverviewTask
from plinian.replay.overview.waiting_jobs import waiting_at
from plinian.replay.sessions.session_answer import scene_at
from sessions import document, group, node, pod, queue

RELEASES = ("v1.8.0", "v1.12.1", "v1.13.0", "v1.15.1")
PLUGINS = (
    *("priority", "gang", "conformance", "drf", "predicates", "nodeorder", "binpack"),
    *("proportion", "capacity", "overcommit", "pdb", "tdm", "sla", "cdp", "task-topology"),
    *("resource-strategy-fit", "rescheduling", "extender-none", "deviceshare", "numaaware"),
)
PHASES = ("Pending", "Inqueue", "Running", "Unknown", "Completed", "")
SEEDS = range(24)


def conf_of(random: Random) -> str:
    """Return a configuration with some actions and plugins, in any order."""
    actions = random.sample(sorted(ACTIONS), random.randint(1, len(ACTIONS)))
    plugins = random.sample(PLUGINS, random.randint(3, 10))
    cut = random.randint(0, len(plugins))
    tiers = [tier for tier in (plugins[:cut], plugins[cut:]) if tier]
    lines = [f'actions: "{", ".join(actions)}"', "tiers:"]
    for tier in tiers:
        lines.append("- plugins:")
        for name in tier:
            lines.append(f"  - name: {name}")
            if name == "capacity" and random.random() < 0.5:
                lines.append("    enableHierarchy: true")
    return "\n".join(lines) + "\n"


def cluster_of(random: Random) -> list[Document]:
    """Return nodes, queues that may be a tree or a circle, gangs, and their pods."""
    nodes = [f"n{number}" for number in range(random.randint(0, 4))]
    names = ["default", *(f"q{number}" for number in range(random.randint(0, 4)))]
    documents = [_node(random, name) for name in nodes]
    documents += [queue("root")] if random.random() < 0.7 else []
    documents += [_queue(random, name, names) for name in names]
    documents += [
        document("PriorityClass", "high", value=1000),
        document("PriorityClass", "low", value=-5, preemptionPolicy="Never"),
    ]
    for number in range(random.randint(1, 6)):
        documents += _gang(random, f"pg{number}", [*names, "nowhere"], nodes)
    return documents


def _node(random: Random, name: str) -> Document:
    made = node(name, random.choice((1, 2, 8)), more=random.choice(({}, {"nvidia.com/gpu": "2"})))
    if random.random() < 0.2:
        made["spec"] = {"unschedulable": True}
    if random.random() < 0.2:
        made["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    return made


def _queue(random: Random, name: str, names: list[str]) -> Document:
    spec: Document = {"reclaimable": random.random() < 0.8}
    for field in ("capability", "deserved", "guarantee"):
        if random.random() < 0.4:
            amounts = {"cpu": str(random.choice((0, 1, 4)))}
            spec[field] = {"resource": amounts} if field == "guarantee" else amounts
    if random.random() < 0.5:
        spec["parent"] = random.choice(["root", *names])
    return queue(name, random.randint(1, 3), random.choice(("Open", "Open", "Closed")), **spec)


def _gang(random: Random, name: str, queues: list[str], nodes: list[str]) -> list[Document]:
    pods, least = random.randint(0, 4), random.randint(0, 4)
    more: Document = {"queue": random.choice(queues)}
    if random.random() < 0.5:
        more["minResources"] = {"cpu": str(random.choice((0, 1, 20)))}
    if random.random() < 0.3:
        more["priorityClassName"] = random.choice(("high", "low", "missing"))
    made = [group(name, least, random.choice(PHASES), **more)]
    for number in range(pods):
        on = random.choice(nodes) if nodes and random.random() < 0.5 else ""
        rest: Document = {}
        if random.random() < 0.3:
            rest = {"priorityClassName": "high", "priority": 1000}
        if random.random() < 0.2:
            rest["requests"] = {"nvidia.com/gpu": "1"}
        made.append(pod(f"{name}-{number}", name, random.choice((0, 1, 3, 9)), on, **rest))
    return made


@pytest.mark.parametrize("seed", SEEDS)
def test_every_object_has_an_answer_whatever_the_cluster(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    conf, documents = conf_of(random), cluster_of(random)
    release = random.choice(RELEASES)
    asked = 0
    with log_of(tmp_path, conf, *documents) as log:
        for each in documents:
            kind, name = each["kind"].lower(), each["metadata"]["name"]
            if kind == "priorityclass":
                continue
            where = f"ns/{name}" if kind in {"pod", "podgroup"} else name
            found = why_at(log, log.object(f"{kind}/{where}"), release=release)
            assert found.sentence, (conf, each)
            asked += 1
        overview = overview_at(log, OverviewTask(moment=log.moment("end"), release=release))
    assert asked
    assert overview.sentence


@pytest.mark.parametrize("seed", SEEDS)
def test_a_check_finds_in_the_session_of_an_overview_what_it_finds_in_its_own(
    seed: int, tmp_path: Path
) -> None:
    random = Random(seed)
    conf, documents = conf_of(random), cluster_of(random)
    behaviours = resolve(random.choice(RELEASES))
    with log_of(tmp_path, conf, *documents) as log:
        moment = log.moment("end")
        ran = waiting_at(log, moment, behaviours.release).run.answer.result
        scene, cache = scene_at(log, moment), belief_at(log.store, moment, behaviours)
        given, own = (CheckedSession(scene, behaviours, cache, each) for each in (ran, None))
        seen = [_seen(each.result()) for each in (given, own)]
        assert seen[0] == seen[1]
        lasts = [each.with_last_names() for each in (given, own)]
        assert [last and last.binds for last in lasts] == [lasts[1] and lasts[1].binds] * 2
        asked = CheckTask(end=moment, behaviours=behaviours, single=True)
        assert check(log, asked._replace(session=ran)).document == check(log, asked).document


def _seen(result: SessionResult) -> dict[str, Any]:
    """Return all of a result but what the process keeps: its caches never change a decision."""
    seen = msgspec.structs.asdict(result)
    panic = result.panic
    seen["panic"] = panic and (panic.message, panic.place, panic.fatal, panic.during)
    del seen["process"]
    return seen
