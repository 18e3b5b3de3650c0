"""What is asked of a session that it does not simulate: told, never passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...volcano.argument_table import Kind, arguments_of

if TYPE_CHECKING:
    from ...volcano.arguments import Arguments
    from ...volcano.conf import SchedulerConf

_OFF = ("", "false", "0", "none")


def not_simulated(conf: SchedulerConf, release: str) -> Iterator[str]:
    """Yield a line for each argument that a release heeds, is on, and is not simulated."""
    for tier in conf.tiers:
        for option in tier:
            for argument in arguments_of(option.name, release):
                for name in sorted(option.arguments.raw):
                    if (
                        not argument.simulated
                        and argument.matches(name)
                        and _is_on(option.arguments, name, argument.kind)
                    ):
                        yield f"{option.name}: {name} is not simulated"


def _is_on(arguments: Arguments, name: str, kind: Kind) -> bool:
    if kind is Kind.BOOL:
        return arguments.get_bool(name, False)
    value = arguments.raw[name]
    return bool(value) and str(value).strip().lower() not in _OFF
