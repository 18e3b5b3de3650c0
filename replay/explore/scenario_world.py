"""A scenario as the machine of a release, and what is wrong with a state of it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ...engine.kubernetes.api_server import ApiServer
from ...engine.kubernetes.object_store import default_queue
from ...engine.machine.checks import violations_in
from ...engine.machine.cluster_machine import ClusterSettings, cluster
from ...engine.machine.machine import Machine, State
from ...engine.machine.machine_layout import API, MachineStep
from ...engine.machine.natural import USER, Check, Natural, StateViolation, of_panic
from ...engine.machine.shrink import play
from ...engine.session.framework.behaviour_recorder import RecordedBehaviours
from ...engine.volcano.conf import conf_in_force
from ...engine.volcano.releases import known_release
from ...engine.volcano.session.history import record
from ...engine.volcano.table import controller_behaviours
from .explored_scenario import MachineCase

NOW = 1_800_000_000_000_000
"""The present of all sessions, in microseconds since 1970: after all that a machine creates."""

_DIGEST_BYTES = 16


class ScenarioWorld(NamedTuple):
    """A scenario as a release runs it.

    :param start: everything that exists before is known to all, and the user begins.
    :param check: says what is wrong with what a state comes to, if it is left alone.
    """

    release: str
    case: MachineCase
    machine: Machine
    start: State
    natural: Natural
    check: Check


class Changed(NamedTuple):
    """Behaviours with other values, by part."""

    session: Mapping[str, Any] = MappingProxyType({})
    controllers: Mapping[str, Any] = MappingProxyType({})


UNCHANGED = Changed()


class Ran(NamedTuple):
    """What an order of steps comes to.

    :param made: the steps that were possible. :param state: after them.
    :param rest: what that state comes to, if it is left alone.
    """

    made: tuple[int, ...]
    state: State
    rest: State
    violations: tuple[StateViolation, ...]


def world_of(
    case: MachineCase,
    release: str,
    invariants: Collection[str] = (),
    changed: Changed = UNCHANGED,
    reads: RecordedBehaviours | None = None,
) -> ScenarioWorld:
    """Return the machine of a scenario.

    :param invariants: ids; none are all. Only these are checked.
    :param changed: behaviours of the release that are replaced.
    :param reads: the scheduler's behaviours instead, which note that they are read.
    :raises UsageError: the release is not known.
    """
    behaviours = reads or dataclasses.replace(record(known_release(release)), **changed.session)
    own = {each["metadata"]["name"] for each in case.existing if each["kind"] == "Queue"}
    queues = ("default", "root") if behaviours.root_queue else ("default",)
    made_cluster = cluster(
        ClusterSettings(
            behaviours=behaviours,
            controllers=controller_behaviours(release, **changed.controllers),
            conf=conf_in_force(case.conf, behaviours),
            script=case.writes,
            now=NOW,
            existing=[
                *(default_queue(queue) for queue in queues if queue not in own),
                *case.existing,
            ],
            faults=case.faults,
        )
    )
    check = violations_in(made_cluster.machine, frozenset(invariants))
    natural = Natural(made_cluster.machine)
    return ScenarioWorld(
        behaviours.release, case, made_cluster.machine, made_cluster.start, natural, check
    )


def server_in(world: ScenarioWorld, state: State) -> ApiServer:
    """Return the API server of a state."""
    return world.machine.transitions.server(state[API])


def digest_of(world: ScenarioWorld, state: State) -> str:
    """Return the digest of all objects of a state: the same on every machine."""
    objects = [[*place, document] for place, document in server_in(world, state).kept().objects]
    text = msgspec.json.encode(objects, order="sorted")
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


def run_steps(world: ScenarioWorld, steps: Iterable[MachineStep]) -> Ran:
    """Make steps in their order, without those that cannot be made, and leave the cluster alone."""
    played = play(world.machine, world.start, [number_of(world, step) for step in steps])
    panics = tuple(map(of_panic, played.panics))
    rest = world.natural.rest(played.state).state
    violations = dict.fromkeys((*panics, *world.check(played.state)))
    return Ran(played.steps, played.state, rest, tuple(violations))


def number_of(world: ScenarioWorld, step: MachineStep) -> int:
    """Return the number of a step in a machine."""
    return world.machine.transitions.steps.number(step)


def steps_of(world: ScenarioWorld, numbers: Sequence[int]) -> tuple[MachineStep, ...]:
    """Return steps by their numbers."""
    return tuple(map(world.machine.step, numbers))


def needed_case(world: ScenarioWorld, steps: Iterable[MachineStep]) -> MachineCase:
    """Return the scenario without the writes that come after an order of steps."""
    user_writes = sum(step.part == USER for step in steps)
    return world.case._replace(writes=world.case.writes[:user_writes])
