"""What the code of releases did besides sessions: scheduler caches and controllers, as recorded."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

COMPONENTS = Path(__file__).parents[1] / "data" / "controllers.jsonl.xz"

Action = Mapping[str, Any]
"""A request to the API: ``do`` (verb, resource and name), what was written, ``error``."""


@cache
def component_cases() -> Mapping[str, dict[str, Any]]:
    """Return the recorded cases by name: what was done, and outcomes with their releases."""
    lines = lzma.decompress(COMPONENTS.read_bytes()).splitlines()
    return MappingProxyType({case["name"]: case for case in map(json.loads, lines)})


class Outcome(NamedTuple):
    """What one release did with a case."""

    case: str
    release: str
    given: list[dict[str, Any]]
    """The steps: what was done to the API, to the informers or to the component."""
    whole: dict[str, Any]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What came of each step; fewer than were given after a crash."""
        steps: list[dict[str, Any]] = self.whole["steps"]
        return steps

    @property
    def last(self) -> dict[str, Any]:
        """What came of the last step."""
        return self.steps[-1]

    @property
    def crashed(self) -> bool:
        """Whether the component panicked."""
        return "panic" in self.last

    def step(self, of: str, name: str = "") -> int:
        """Return the place of the first step of a kind, which may name an object.

        :raises LookupError: there is none.
        """
        for place, step in enumerate(self.given):
            if of in step and (not name or _named(step[of]) == name):
                return place
        raise LookupError(f"{self.case} has no step {of} {name}")

    def actions(self, what: str, since: int = 0, until: int | None = None) -> list[Action]:
        """Return the requests that begin so, such as ``create podgroups``, of some steps."""
        return list(self._actions(what, slice(since, until)))

    def _actions(self, what: str, steps: slice) -> Iterator[Action]:
        for step in self.steps[steps]:
            for action in step.get("api", ()):
                if f"{action['do']} ".startswith(f"{what} "):
                    yield action

    def queue(self, name: str, step: int = -1) -> dict[str, Any]:
        """Return what a work queue held after a step: what is ready, what is due later."""
        queue: dict[str, Any] = self.steps[step].get("queues", {}).get(name, {})
        return queue

    def told(self, text: str) -> bool:
        """Say whether an event with a text was emitted."""
        return any(text in event for step in self.steps for event in step.get("events", ()))

    def seen(self, what: str) -> Any:
        """Return the newest state of the component's own: ``cache``, ``jobs`` or ``groups``."""
        return next((step[what] for step in reversed(self.steps) if what in step), {})


def _named(of: object) -> str:
    """Return the name of an object, or what else a step is about."""
    return str(of["metadata"]["name"]) if isinstance(of, dict) and "metadata" in of else str(of)


def outcomes(case: str) -> list[Outcome]:
    """Return what each release did with a case.

    :raises KeyError: there is no such case.
    """
    of = component_cases()[case]
    return [
        Outcome(case, release, of["steps"], outcome)
        for outcome in of["outcomes"]
        for release in outcome["releases"]
    ]


def outcome(case: str, release: str) -> Outcome:
    """Return what a release did with a case.

    :raises LookupError: it was not recorded.
    """
    found = [one for one in outcomes(case) if one.release == release]
    if not found:
        raise LookupError(f"{case} was not recorded of {release}")
    return found[0]
