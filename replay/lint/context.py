"""The input of every rule: objects, queues as releases see them, and what jobs request."""

from __future__ import annotations

from typing import NamedTuple

from .assumed_plugin import LimitingPlugin
from .gang_rules import Gangs
from .lint_inputs import LintInputs
from .linted_queues import LintedQueues


class LintContext(NamedTuple):
    """The inputs, with what is computed from them once for all rules."""

    world: LintInputs
    queues: LintedQueues
    gangs: Gangs

    @classmethod
    def of(cls, world: LintInputs, assumed: LimitingPlugin | None = None) -> LintContext:
        """Return inputs ready to be checked.

        :param assumed: the plugin that limits queues, if no configuration is known.
        """
        return cls(world, LintedQueues(world, assumed), Gangs(world))
