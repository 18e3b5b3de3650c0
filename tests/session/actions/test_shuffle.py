"""shuffle: who is evicted for its own sake."""

from __future__ import annotations

import pytest

from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.actions import ACTIONS
from plinian.engine.session.framework.session import Session
from plinian.engine.session.nodes.node_views import NodeViews
from sessions import Document, group, names, node, opened, pod, queue, tasks

CONF = """
actions: "shuffle"
tiers:
- plugins:
  - name: tdm
    arguments:
      tdm.revocable-zone.night: 20:00-23:00
"""
"""The session is at 14:00: the zone is closed, and who can be revoked has to leave its nodes."""
NIGHT = node("n-night", labels={"volcano.sh/revocable-zone": "night"})
REVOCABLE = {"volcano.sh/preemptable": "true"}
RELEASES = ("v1.8.2", "v1.9.0", "v1.10.0", "v1.11.0", "v1.12.1", "v1.13.0", "v1.14.4", "v1.15.1")


def shuffled(*documents: Document, release: str, conf: str = CONF) -> Session:
    """Return a session in which shuffle has run."""
    ssn, _ = opened(conf, NIGHT, queue("default"), *documents, release=release)
    ACTIONS["shuffle"](ssn, NodeViews(ssn))
    return ssn


@pytest.mark.parametrize("release", RELEASES)
def test_pods_leave_a_zone_that_is_closed(release: str) -> None:
    ssn = shuffled(
        group("a", annotations={"volcano.sh/jdb-max-unavailable": "2"}),
        *(pod(f"a-{n}", "a", on="n-night", annotations=REVOCABLE) for n in range(2)),
        pod("firm", "a", on="n-night", annotations={"volcano.sh/preemptable": "false"}),
        release=release,
    )
    gone = tasks(ssn, "a-0", "a-1")
    assert ssn.evictions == [(task, "shuffle") for task in gone]
    assert ssn.tasks.status[gone].tolist() == [TaskStatus.RELEASING] * 2
    cpu = ssn.dims.index("cpu")
    assert ssn.nodes.releasing[0, cpu] == 2000
    assert ssn.nodes.future_idle(0)[cpu] == 7000  # of 8 cores only the firm pod keeps one


def test_nobody_goes_if_no_plugin_names_anybody() -> None:
    ssn = shuffled(group("a"), pod("a-0", "a", on="n-night"), release="v1.12.1", conf="gang")
    assert ssn.evictions == []


def test_a_plugin_that_is_switched_off_is_not_asked() -> None:
    conf = CONF.replace("name: tdm", "name: tdm\n    enabledVictim: false")
    ssn = shuffled(
        group("a"),
        pod("a-0", "a", on="n-night", annotations=REVOCABLE),
        release="v1.12.1",
        conf=conf,
    )
    assert ssn.evictions == []


def test_pdb_alone_gives_up_all_running_pods_that_no_budget_keeps() -> None:
    # Its filter is also registered as a choice of victims: of all that runs, those within budgets.
    budget: Document = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "ns", "uid": "uid-b"},
        "spec": {"selector": {"matchLabels": {"app": "kept"}}},
        "status": {"disruptionsAllowed": 1},
    }
    ssn = shuffled(
        budget,
        group("a"),
        *(pod(f"kept-{n}", "a", on="n-night", labels={"app": "kept"}) for n in range(2)),
        pod("other", "a", on="n-night", labels={"app": "other"}),
        pod("bare", "a", on="n-night"),
        pod("pending", "a", labels={"app": "other"}),
        release="v1.12.1",
        conf="pdb",
    )
    assert names(ssn, [task for task, _ in ssn.evictions]) == ["kept-0", "other"]


def test_what_the_cache_refuses_stays_and_is_told() -> None:
    ssn, _ = opened(CONF, NIGHT, queue("default"), group("a"), pod("a-0", "a", on="n-night"))

    class Refusing:
        """A cache that evicts nobody."""

        def add_bind_task(self, job: str, uid: str, node: str) -> str | None:
            """Bind."""

        def evict(self, job: str, uid: str, reason: str) -> str | None:
            """Refuse."""
            return f"{job} keeps {uid}, {reason} or not"

    ssn.cache = Refusing()
    ssn.registry.add_victim_tasks("tdm", lambda running: running)
    ACTIONS["shuffle"](ssn, NodeViews(ssn))
    assert ssn.evictions == []
    assert ssn.errors == ["Failed to evict Task <ns/a-0>: ns/a keeps uid-a-0, shuffle or not"]
    assert ssn.tasks.status[tasks(ssn, "a-0")[0]] == TaskStatus.RUNNING
