"""Arguments that a release reads and a session does not simulate; they are reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .argument_table import ArgumentType, arguments_of

if TYPE_CHECKING:
    from .arguments import Arguments
    from .conf import SchedulerConf
    from .session.behaviours import Behaviours

_OFF = ("", "false", "0", "none")


def not_simulated(conf: SchedulerConf, behaviours: Behaviours) -> Iterator[str]:
    """Yield a line for each argument that is set and read by the release, but not simulated."""
    for tier in conf.tiers:
        for option in tier:
            for argument in arguments_of(option.name, behaviours.release):
                if argument.simulated:
                    continue
                for name in sorted(option.arguments.raw):
                    if argument.matches(name) and _is_on(option.arguments, name, argument.kind):
                        yield f"{option.name}: {name} is not simulated"


def _is_on(arguments: Arguments, name: str, kind: ArgumentType) -> bool:
    if kind is ArgumentType.BOOL:
        return arguments.get_bool(name, False)
    value = arguments.raw[name]
    return bool(value) and str(value).strip().lower() not in _OFF
