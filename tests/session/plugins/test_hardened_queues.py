"""Our own release on queues: claims beyond the parent, the root's capability, and reservations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import scenario
from shared_parent import CONF as TREE
from short_scenarios import Event, Step, group, node, phases, pod, queue, run

from plinian.engine.kubernetes import objects
from plinian.engine.model.queue import QueueInfo
from plinian.engine.model.resource import Resource
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins.capacity import capacity_plugin as plugin
from plinian.engine.session.plugins.capacity.attrs import QueueAttr
from plinian.engine.session.plugins.capacity.granting import grant
from plinian.engine.session.session_run import BUILDERS
from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate
from tree import ROOT

ARTICLES = sorted((ROOT / "docs" / "articles").glob("00[14]-*.case.json"))
AMOUNTS = st.integers(0, 12).map(float)


def job(name: str, of: str, cpu: str = "1") -> list[Event]:
    """Return a job of one pod that a queue must have room for."""
    return [group(name, cpu=cpu, queue=of), pod(f"{name}-0", name, cpu)]


def bound(step: Step) -> list[str]:
    """Return the jobs of which a pod was bound."""
    return sorted(key.partition("/")[2].removesuffix("-0") for key, _ in step["binds"])


def both(*arrivals: Event) -> tuple[list[str], list[str]]:
    """Return whose pods are bound by the newest release, and by ours."""
    steps = [run(release, list(arrivals), conf=TREE)[0] for release in ("v1.15.1", "hardened")]
    assert [step["panic"] for step in steps] == [None, None]
    return bound(steps[0]), bound(steps[1])


def test_a_guarantee_above_the_root_leaves_the_others_their_room() -> None:
    queues = [queue("root", capability="100"), queue("greedy", guarantee="200"), queue("ok")]
    jobs = [*job("g", "greedy"), *job("h", "ok")]
    assert both(node("n1", "30"), *queues, *jobs) == (["g"], ["g", "h"])


def test_a_guarantee_above_a_parent_constrains_only_its_own_subtree() -> None:
    queues = [
        *(queue("a", capability="10"), queue("a0", parent="a", guarantee="20")),
        *(queue("a1", parent="a"), queue("ok")),
    ]
    jobs = [*job("g", "a0"), *job("h", "a1"), *job("k", "ok")]
    assert both(node("n1", "30"), *queues, *jobs) == (["g", "k"], ["g", "h", "k"])


def test_what_exceeds_the_parent_is_not_granted() -> None:
    """A child may use 20 cpu by its own spec, and its parent 2."""
    queues = [queue("a", capability="2"), queue("a0", parent="a", capability="20"), queue("ok")]
    jobs = [*job("g", "a0", "4"), *job("h", "a0", "2"), *job("k", "ok", "4")]
    assert both(node("n1", "30"), *queues, *jobs) == (["h", "k"], ["h", "k"])


def test_together_guarantees_are_granted_as_long_as_there_is_room() -> None:
    queues = [
        *(queue("root", capability="100"), queue("ok")),
        *(queue("a", guarantee="60"), queue("b", guarantee="60")),
    ]
    jobs = [*job("g", "a"), *job("h", "b"), *job("k", "ok")]
    assert both(node("n1", "30"), *queues, *jobs) == (["g", "h"], ["g", "h", "k"])


def test_a_sound_tree_is_left_as_it_is() -> None:
    queues = [
        queue("a", capability="10", guarantee="5", deserved="8"),
        queue("a0", parent="a", guarantee="3", deserved="4", capability="10"),
        queue("a1", parent="a", guarantee="2", deserved="4", capability="10"),
    ]
    arrivals = [node("n1", "30"), *queues, *job("g", "a0", "4"), *job("h", "a1", "7")]
    newest, ours = (run(release, arrivals, conf=TREE) for release in ("v1.15.1", "hardened"))
    assert newest == ours


def test_a_capability_of_the_root_is_respected_and_bounds_what_it_names() -> None:
    """The pods ask for memory too, of which the root says nothing."""
    asks = [queue("root", capability="2"), *job("g", "default", "2"), *job("h", "default", "1")]
    for each in asks:
        if each["object"]["kind"] == "Pod":
            container = each["object"]["spec"]["containers"][0]
            container["resources"]["requests"]["memory"] = "1Gi"
    assert both(node("n1", "30"), *asks) == ([], ["g"])


def test_what_another_plugin_refuses_is_given_back_in_the_queue_and_above() -> None:
    """A quota keeps the first of two jobs out, after its queue and the root had room for it."""
    quota = {
        "type": "ADDED",
        "object": {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q", "namespace": "tight"},
            "spec": {"hard": {"requests.cpu": "1"}},
            "status": {"hard": {"requests.cpu": "1"}, "used": {}},
        },
    }
    first = job("a", "leaf", "3")
    for each in first:
        each["object"]["metadata"]["namespace"] = "tight"
    first[0]["object"]["spec"]["minResources"] = {"cpu": "3", "requests.cpu": "3"}
    tree = [queue("above", capability="4"), queue("leaf", parent="above", capability="4")]
    second = job("b", "leaf", "3")
    second[0]["object"]["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z"
    arrivals = [quota, node("n1", "30"), *tree, *first, *second]
    for conf in (
        f"{TREE}  - name: resourcequota\n",
        TREE.replace("enableHierarchy: true", "enableHierarchy: false")
        + "  - name: resourcequota\n",
    ):
        told = {
            release: phases(run(release, arrivals, conf=conf)[0])
            for release in ("v1.15.1", "hardened")
        }
        assert told["v1.15.1"] == {"a": "Pending", "b": "Pending"}
        assert told["hardened"] == {"a": "Pending", "b": "Inqueue"}


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.name.partition(".")[0])
def test_the_scenarios_of_the_reports_go_on(path: Path) -> None:
    """Whoever is in a queue that exceeds nothing is scheduled, and nothing exceeds what it may."""
    steps = simulate(parse_case(path.read_bytes()), resolve("hardened"))
    assert [step["panic"] for step in steps] == [None] * len(steps)
    for key in ("default/ok-job", "default/job-1"):
        if any(key in step["podgroups"] for step in steps):
            assert steps[-1]["podgroups"][key]["phase"] in {"Running", "Inqueue"}
            assert any(pod.startswith(f"{key}-") for step in steps for pod, _ in step["binds"])


class Claim(QueueAttr):
    """A child with claims of cpu, as the session has it before it is granted anything."""

    def __init__(self, name: str, guarantee: float, deserved: float) -> None:
        document = {"metadata": {"name": name}, "spec": {}}
        kind = objects.Queue
        super().__init__(QueueInfo(objects.decode(kind, document)), deserving_first=False)
        self.guarantee, self.deserved = Resource(guarantee), Resource(deserved)


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=5), AMOUNTS, st.booleans())
def test_together_no_more_is_granted_than_there_is(
    claims: list[tuple[float, float]],
    has: float,
    top: bool,  # noqa: FBT001 -- drawn
) -> None:
    parent = Claim("parent", 0, 0)
    parent.real_capability = Resource(has)
    children = [Claim(f"q{number}", *each) for number, each in enumerate(claims)]
    told = grant(parent, children, top=top)
    for what, place in (("guarantee", 0), ("deserved", 1)):
        claimed = [each[place] for each in claims]
        granted = [getattr(child, what).cpu for child in children]
        assert sum(granted) <= has + 0.1
        assert all(0 <= part <= claim for part, claim in zip(granted, claimed, strict=True))
        if sum(claimed) <= has:
            assert granted == claimed
    guarantees = [child.guarantee.cpu for child in children]
    assert all(part in {0, claim} for part, (claim, _) in zip(guarantees, claims, strict=True))
    assert bool(told) is any(
        (child.guarantee.cpu, child.deserved.cpu) != each
        for child, each in zip(children, claims, strict=True)
    )


JOBS = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), min_size=1, max_size=4)


@settings(max_examples=30, derandomize=True)
@given(JOBS, st.integers(11, 300), st.booleans())
def test_a_claim_that_cannot_be_met_is_as_good_as_none(
    jobs: list[tuple[int, int]],
    claim: int,
    below_root: bool,  # noqa: FBT001 -- drawn
) -> None:
    """The blast radius: nobody beside a queue is decided upon otherwise for what it claims."""
    above = queue("root", capability="10") if below_root else queue("above", capability="10")
    parent = "" if below_root else "above"
    arrivals = [node("n1", "12"), above, *job("greedy", "greedy", "2")]
    for number, (guarantee, cpu) in enumerate(jobs):
        sound = {"guarantee": str(guarantee)} if 4 * guarantee <= 10 else {}
        arrivals.append(queue(f"q{number}", parent=parent, **sound))
        arrivals += job(f"j{number}", f"q{number}", str(cpu))
    claims = queue("greedy", parent=parent, guarantee=str(claim))
    steps = [
        run("hardened", [greedy, *arrivals], [], conf=TREE)
        for greedy in (claims, queue("greedy", parent=parent))
    ]
    for one, other in zip(*steps, strict=True):
        assert (one["binds"], phases(one)) == (other["binds"], phases(other))


class Watched(plugin.Capacity):
    """Capacity that keeps its session, and what its queues held and reserved when it opened."""

    made: list[Watched]

    def on_session_open(self, ssn: Session) -> None:
        super().on_session_open(ssn)
        self.before = {
            name: (attr.allocated.clone(), attr.inqueue.clone())
            for name, attr in self._attrs.items()
        }
        if self._ready:
            self.made.append(self)


def watched(seed: int) -> list[Watched]:
    """Return the plugin as it was at the end of each session of a scenario."""
    made: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        watching = {"capacity": type("Watched", (Watched,), {"made": made})}
        patch.setattr("plinian.engine.session.session_run.BUILDERS", {**BUILDERS, **watching})
        simulate(scenario(seed), resolve("hardened"))
    return made


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 2**32))
def test_what_is_reserved_is_what_was_enqueued(seed: int) -> None:
    """In every queue, and in all above: inqueue grew by what the jobs enqueued below it need."""
    for capacity in watched(seed):
        ssn = capacity._ssn
        expected = {name: amount.clone() for name, (_, amount) in capacity.before.items()}
        for row in ssn.reserved:
            assert ssn.snapshot.jobs.phase[row] == "Pending"
            assert ssn.jobs.phase[row] != "Pending"
            least = ssn.jobs.min_resources(row)
            reserved = ssn.jobs.deduct_sch_gated_resources(row, least)
            for attr in capacity._attrs[ssn.jobs.queue[row]].lineage:
                expected[attr.name].add(reserved)
        for name, attr in capacity._attrs.items():
            assert attr.inqueue.equal(expected[name]), name
            assert expected[name].equal(attr.inqueue), name


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 2**32))
def test_no_queue_gets_more_than_it_may_use(seed: int) -> None:
    """Nor does any queue above; pods without requests are placed without asking."""
    for capacity in watched(seed):
        for name, attr in capacity._attrs.items():
            assert attr.real_capability is not None
            for resource in set(attr.allocated.resource_names()) - {"pods"}:
                had = capacity.before[name][0].get(resource)
                most = max(attr.real_capability.get(resource), had)
                assert attr.allocated.get(resource) <= most + 0.1, (name, resource)
