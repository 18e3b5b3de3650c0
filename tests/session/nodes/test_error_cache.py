"""Pods of a role are told why a node refused the role first, also when it lacks more since."""

from __future__ import annotations

import msgspec
import pytest
from short_scenarios import Event, group, node, pod

from plinian.engine.volcano.session.history import resolve
from plinian.replay.simulate.scenario_cases import parse_case
from plinian.replay.simulate.simulation import simulate

CONF = """\
actions: "allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
"""


def of_role(role: str, minute: int, event: Event) -> Event:
    """Return the arrival of a pod with a role; an older pod has its turn first."""
    metadata = event["object"]["metadata"]
    metadata["annotations"]["volcano.sh/task-spec"] = role
    metadata["creationTimestamp"] = f"2025-01-01T00:{minute:02}:00Z"
    return event


def fit_errors(release: str, *events: Event) -> dict[str, str]:
    """Return why pods fit on no node, in a session of which nothing is recorded."""
    case = parse_case(msgspec.json.encode({"conf": CONF, "steps": [{"events": events}]}))
    told: dict[str, str] = simulate(case, resolve(release), scores=False)[0]["fit_errors"]
    return told


def big(number: int, minute: int) -> Event:
    """Return the arrival of a pod that leaves a node with a cpu, and too little memory for two."""
    return of_role("big", minute, pod(f"big-{number}", "job", "1", memory="3Gi"))


@pytest.mark.parametrize("release", ["v1.10.2", "v1.12.1", "v1.15.1"])
def test_the_first_refusal_of_a_role_is_kept(release: str) -> None:
    """``n1`` lacks memory for the second pod; then another role takes its last cpu."""
    small = of_role("small", 5, pod("small", "job", "1", memory="512Mi"))
    job = (group("job", 4), big(0, 1), big(1, 2), small, big(2, 9))
    told = fit_errors(release, *(node(name, "2", memory="4Gi") for name in ("n1", "n2")), *job)
    assert told == {"default/big-2": "0/2 nodes are unavailable: 2 Insufficient memory."}


def test_what_did_not_refuse_a_role_yet_is_asked_when_its_turn_comes() -> None:
    """Another role takes the last cpu of ``n1`` before it is asked about a second pod."""
    small = of_role("small", 5, pod("small", "job", "1", memory="512Mi"))
    job = (group("job", 3), big(0, 1), small, big(1, 9))
    told = fit_errors("v1.15.1", node("n1", "2", memory="4Gi"), *job)
    assert told == {"default/big-1": "0/1 nodes are unavailable: 1 Insufficient cpu."}


def test_a_role_keeps_refusals_over_many_turns() -> None:
    """Roles have their turns by and by, and what each was told first is not told anew."""
    small = [of_role("small", 3 + n, pod(f"s{n}", "job", "1", memory="1Gi")) for n in range(3)]
    job = (group("job", 6), big(0, 1), big(1, 2), *small, big(2, 9))
    nodes = [node(name, cpu, memory="4Gi") for name, cpu in (("n1", "2"), ("n2", "3"))]
    told = fit_errors("v1.15.1", *nodes, *job)
    assert told == {
        "default/s2": "0/2 nodes are unavailable: 1 Insufficient cpu, 1 Insufficient memory."
    }


def test_a_node_that_a_role_has_just_taken_has_not_refused_it() -> None:
    """``n1`` has room for the second pod of the role, which asks for less."""
    less = of_role("big", 2, pod("less", "job", "1", memory="512Mi"))
    job = (group("job", 2), big(0, 1), less)
    case = msgspec.json.encode(
        {"conf": CONF, "steps": [{"events": [node("n1", "2", memory="4Gi"), *job]}]}
    )
    step = simulate(parse_case(case), resolve("v1.15.1"), scores=False)[0]
    assert step["binds"] == [["default/big-0", "n1"], ["default/less", "n1"]]
