"""A run by hand: one step after the other, forward and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.kubernetes.api_server import DELETED, WatchEvent, place_of
from ...engine.machine.machine import State
from ...engine.machine.machine_layout import MachineStep
from ...engine.machine.natural import USER, StateViolation
from ...engine.machine.scheduler import SchedulerComponent
from .scenario_world import ScenarioWorld, digest_of, server_in
from .step_writes import seen_in, short_key
from .story import SERVER, StoryStep, moment_of, what_waits


class Choice(NamedTuple):
    """A step that can be made.

    :param about: what it would deliver or write; empty for other steps.
    :param next_of_token: it is the step that the token makes here.
    """

    number: int
    step: MachineStep
    about: str
    next_of_token: bool


class Walk:
    """A run that goes forward and back.

    :param token: steps that a token makes, to be followed if wanted.
    """

    def __init__(self, world: ScenarioWorld, token: Sequence[MachineStep] = ()) -> None:
        self._world = world
        self._token = tuple(token)
        self.moments: list[StoryStep] = []

    @property
    def state(self) -> State:
        """The state that was reached."""
        return self.moments[-1].state if self.moments else self._world.start

    @property
    def names(self) -> tuple[str, ...]:
        """The components, and the API server."""
        return (*self._world.machine.layout.names, SERVER)

    def choices(self) -> list[Choice]:
        """Return all steps that change something, the natural one first."""
        world, state = self._world, self.state
        expected = self._expected()
        return [
            Choice(
                moved.step,
                (step := world.machine.step(moved.step)),
                self._about(step),
                step == expected,
            )
            for moved in world.natural.moves(state)
        ]

    def choice(self, text: str) -> Choice:
        """Return the step of a number of the list; of ``n`` the natural, of ``t`` the token's.

        :raises UsageError: there is none.
        """
        choices = self.choices()
        if not choices:
            raise UsageError("nothing is left to do", now="b goes back, q ends")
        if text == "t":
            following = [choice for choice in choices if choice.next_of_token]
            if not following:
                raise UsageError("the token has no step here", now="n makes the natural step")
            return following[0]
        # Nine digits are more than any list has, so a longer number is refused as well.
        number = 1 if text == "n" else int(text[:9])
        if not 1 <= number <= len(choices):
            raise UsageError(f"no step {text}", now=f"write a number from 1 to {len(choices)}")
        return choices[number - 1]

    def _about(self, step: MachineStep) -> str:
        """Return what an informer would deliver, or a user write; empty for other steps."""
        world, state = self._world, self.state
        if step.kind:
            return what_waits(world, state, step)
        if step.part != USER:
            return step.fault
        part = world.machine.layout.names.index(USER)
        # The first place of a state is that of the API server.
        done = world.machine.transitions.kept(part, state[part + 1])
        assert isinstance(done, int)
        act = world.case.writes[done]
        place = place_of(act.document)
        verb = "deletes" if act.verb == DELETED else "applies"
        return f"{verb} {place.kind} {short_key(place.key)}"

    def make(self, choice: Choice) -> StoryStep:
        """Make a step, and return what it did."""
        moment = moment_of(self._world, self.state, choice.number, len(self.moments) + 1)
        self.moments.append(moment)
        return moment

    def back(self) -> StoryStep | None:
        """Take the last step back, and return it; None at the begin."""
        return self.moments.pop() if self.moments else None

    def wrong(self) -> tuple[StateViolation, ...]:
        """Return what is wrong with what the cluster comes to, if it is left alone now."""
        return tuple(self._world.check(self.state))

    def digest(self) -> str:
        """Return the digest of the objects as they are now."""
        return digest_of(self._world, self.state)

    def _expected(self) -> MachineStep | None:
        """Return the token's next step, as long as it was followed."""
        steps = [moment.step for moment in self.moments]
        done = len(steps)
        return (
            self._token[done]
            if steps == [*self._token[:done]] and done < len(self._token)
            else None
        )

    def held(self, name: str) -> dict[str, Any]:
        """Return what a component holds, and what its informers are still to deliver.

        :raises UsageError: there is no such component.
        """
        world, state = self._world, self.state
        if name.lower() in {SERVER.lower(), "api", "server"}:
            return {"objects": dict(self._objects())}
        names = world.machine.layout.names
        if name not in names:
            raise UsageError(f"no component {name!r}", now=f"there are {', '.join(self.names)}")
        part = names.index(name)
        component = world.machine.transitions.component(part, state[part + 1])
        waiting = {
            kind: [self._waiting(notice) for notice in world.machine.waiting(state, name, kind)]
            for kind in component.kinds
            if (name, kind) in world.machine.layout.channels
        }
        if isinstance(component, SchedulerComponent):
            holds: Any = _scheduler(component)
        else:
            holds = _plain(component.kept(), world)
        return {"to be delivered": {k: v for k, v in waiting.items() if v}, "holds": holds}

    def _waiting(self, notice: int) -> str:
        transitions = self._world.machine.transitions
        verb, kind, key, _ = transitions.notices[notice]
        return seen_in(WatchEvent(verb, kind, key, transitions.document(notice)))

    def _objects(self) -> Iterator[tuple[str, str]]:
        for place, document in server_in(self._world, self.state).kept().objects:
            metadata, spec = document["metadata"], document.get("spec") or {}
            about = [f"resourceVersion {metadata['resourceVersion']}"]
            about += (
                [f"phase {phase}"] if (phase := (document.get("status") or {}).get("phase")) else []
            )
            about += [f"on {node}"] if (node := spec.get("nodeName")) else []
            about += [f"replicas {spec['replicas']}"] if "replicas" in spec else []
            about += ["is being deleted"] if "deletionTimestamp" in metadata else []
            yield f"{place.kind} {short_key(place.key)}", ", ".join(about)


def _scheduler(component: SchedulerComponent) -> dict[str, Any]:
    """Return the scheduler's jobs with their tasks, its nodes, and the items of its workers."""
    projector = component.projector
    jobs = {
        short_key(key): {
            "PodGroup": None if job.pod_group is None else short_key(job.pod_group.key),
            "tasks": {
                short_key(
                    task.key
                ): f"{task.status.name}{f' on {task.node_name}' if task.node_name else ''}"
                for task in job.tasks.values()
            },
        }
        for key, job in sorted(projector.cache.jobs.items())
    }
    nodes = {
        name: sorted(short_key(task_on_node.task.key) for task_on_node in node.tasks.values())
        for name, node in sorted(projector.cache.nodes.items())
    }
    return {"jobs": jobs, "nodes": nodes}


def _plain(value: Any, world: ScenarioWorld) -> Any:
    """Return a value in JSON's types; sets become sorted lists."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part, world) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(part, world) for name, part in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if isinstance(value, tuple | list):
        return [_plain(part, world) for part in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return msgspec.to_builtins(value, enc_hook=str)
