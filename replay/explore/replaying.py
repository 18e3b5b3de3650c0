"""A token run again: the same steps, the same violation, the same end."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...engine.errors import PlinianError
from ...engine.machine.natural import StateViolation
from ...engine.version import __version__
from .order_token import Token, decoded
from .scenario_world import ScenarioWorld, digest_of, run_steps, world_of
from .story import Story, StoryStep, story_of


class Replay(NamedTuple):
    """A run of a token.

    :param violations: of the cluster that was left alone after the steps.
    :param digest: of the objects in the end.
    """

    token: Token
    release: str
    world: ScenarioWorld
    violations: tuple[StateViolation, ...]
    digest: str
    story: Story

    @property
    def breaks(self) -> bool:
        """Whether the violation is there that the token is about."""
        return any(violation.invariant == self.token.invariant for violation in self.violations)

    @property
    def document(self) -> dict[str, Any]:
        """What programs read of it."""
        return {
            "case": self.token.case.name,
            "release": self.release,
            "invariant": self.token.invariant,
            "breaks": self.breaks,
            "violations": [violation._asdict() for violation in self.violations],
            "digest": self.digest,
            "steps": list(map(_step, self.story.moments)),
        }


def _step(moment: StoryStep) -> dict[str, Any]:
    return {
        "number": moment.number,
        "step": str(moment.step),
        "component": moment.actor,
        "sentence": moment.sentence,
        "instead_of": None if moment.instead_of is None else str(moment.instead_of),
        "left_alone": moment.alone,
        "writes": [
            {"verb": write.verb, "kind": write.place.kind, "key": write.place.key}
            for write in moment.writes
        ],
    }


def replay(text: str, release: str | None = None) -> Replay:
    """Run the order of a token again.

    :param release: another one than the token's: steps that it cannot make are skipped.
    :raises UsageError: the text is no token that this Plinian reads, or the release is not known.
    :raises PlinianError: the run ends otherwise than when the token was made.
    """
    token = decoded(text)
    world = world_of(token.case, release or token.release)
    ran = run_steps(world, token.steps)
    digest = digest_of(world, ran.rest)
    if world.release == token.release and (digest != token.digest):
        raise PlinianError(
            f"the run ends with the digest {digest}, and the token was made by Plinian "
            f"{token.version} with {token.digest}",
            now="this is a change of Plinian's machine"
            if token.version != __version__
            else "please report it, with the token: a run must end the same everywhere",
        )
    story = story_of(world, token.steps)
    return Replay(token, world.release, world, ran.violations, digest, story)
