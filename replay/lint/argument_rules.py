"""Rules about arguments of plugins and actions: names that are not read, values not accepted.

The arguments, their types and since when they exist are in
:mod:`plinian.engine.volcano.history_arguments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.kubernetes.duration import parse_go_duration
from ...engine.session.plugins.tdm.revocable_zone import why_closed
from ...engine.session.reasons.objections import NodeCode
from ...engine.volcano.argument_table import ARGUMENTS, Argument, ArgumentType, arguments_of, is_of
from ...engine.volcano.arguments import go_text
from .conf_rules import AcceptedConf, read_by
from .context import LintContext
from .findings import FaultEffect, Issue
from .linted_queues import exists

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

ZONE = "tdm.revocable-zone."
WAITING_TIME = "sla-waiting-time"
LISTED: Mapping[str, str] = MappingProxyType(
    {
        "binpack.resources.": "binpack.resources",
        "hypernode.binpack.resources.": "hypernode.binpack.resources",
        "predicate.resources.": "predicate.resources",
    }
)
"""Arguments of a resource by prefix, and the argument that must list the resource."""

_CARDS = MappingProxyType({"deviceshare": "deviceshare.", "predicates": "predicate."})


class ArgumentOwner(NamedTuple):
    """A plugin or an action with its arguments, and where they are."""

    name: str
    path: tuple[str | int, ...]
    given: Mapping[str, Any]


def argument_unknown(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """An argument that its plugin or action does not read, without any message."""
    for read, owner in _owners(given, how):
        known = arguments_of(owner.name, how.release)
        for name in owner.given:
            if any(argument.matches(name) for argument in known):
                continue
            # Of any release: the name is then known, only not in this one.
            elsewhere = any(a.owner == owner.name and a.matches(name) for a in ARGUMENTS)
            of = "in this release, " if elsewhere else ""
            like = get_close_matches(name, [argument.name for argument in known], n=1)
            yield read.issue(
                (*owner.path, name),
                FaultEffect.IGNORED,
                f"{of}{owner.name} does not read an argument {name!r}",
                f"write {like[0]}" if like else "",
            )


def argument_type(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """An argument of another type than its plugin or action expects.

    Most then count as not given, and the default applies; some end the scheduler.
    """
    for read, owner, name, argument in _known(given, how):
        value = owner.given[name]
        if is_of(value, argument.kind, how):
            continue
        then = "the scheduler ends" if argument.crashes else "it counts as not given"
        yield read.issue(
            (*owner.path, name),
            FaultEffect.CRASHES if argument.crashes else FaultEffect.IGNORED,
            f"{go_text(value)!r} is not {argument.kind.value}: {then}",
            f"write {argument.kind.value}",
        )


def argument_value(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """An argument whose value its plugin does not accept: the default applies, or nothing."""
    for read, owner, name, argument in _known(given, how):
        value = owner.given[name]
        if is_of(value, argument.kind, how):
            fault = _fault_of(argument, name, value)
            if fault:
                yield read.issue((*owner.path, name), FaultEffect.IGNORED, fault)


def argument_unlisted(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """An argument of a resource that is not in the plugin's list of resources."""
    for read, owner, name, _ in _known(given, how):
        for beginning, of in LISTED.items():
            names = owner.given.get(of, "")
            listed = [each.strip() for each in names.split(",")] if isinstance(names, str) else []
            resource = name.removeprefix(beginning)
            # Without the prefix it is another argument, which no list has to name.
            if resource == name or any(_is_about(resource, each) for each in listed):
                continue
            message = f"{of} does not list {resource!r}, so this is not read"
            now = f"add the resource to {of}"
            yield read.issue((*owner.path, name), FaultEffect.IGNORED, message, now)


def device_modes_conflict(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Ways to share GPUs that exclude each other: the scheduler ends."""
    for read, owner in _owners(given, how):
        prefix = _CARDS.get(owner.name, "")
        on = {
            name
            for name in ("GPUSharingEnable", "GPUNumberEnable", "VGPUEnable")
            if prefix and owner.given.get(f"{prefix}{name}") is True
        }
        known = arguments_of(owner.name, how.release)
        if len(on) > 1 and any(a.matches(f"{prefix}VGPUEnable") for a in known):
            message = f"{' and '.join(sorted(on))} exclude each other: the scheduler ends"
            yield read.issue(owner.path, FaultEffect.CRASHES, message, "keep one of them")


def _owners(given: LintContext, how: Behaviours) -> Iterator[tuple[AcceptedConf, ArgumentOwner]]:
    """Yield plugins that exist, and actions, with their arguments."""
    for read in read_by(given, how):
        for placed in read.plugins:
            option = placed.option
            if exists(option.name, how):
                path = (*placed.path, "arguments")
                yield read, ArgumentOwner(option.name, path, option.arguments.raw)
        for number, (action, arguments) in enumerate(read.conf.configurations):
            if action in read.conf.actions:
                path = ("configurations", number, "arguments")
                yield read, ArgumentOwner(action, path, arguments.raw)


def _known(
    given: LintContext, how: Behaviours
) -> Iterator[tuple[AcceptedConf, ArgumentOwner, str, Argument]]:
    """Yield arguments that are read: (configuration, owner, name, expected type)."""
    for read, owner in _owners(given, how):
        known = arguments_of(owner.name, how.release)
        for name in owner.given:
            expected = next((argument for argument in known if argument.matches(name)), None)
            if expected is not None:
                yield read, owner, name, expected


def _fault_of(argument: Argument, name: str, value: Any) -> str:
    """Return why a value of the right type is not accepted; empty if it is."""
    if argument.least is not None and value < argument.least:
        return f"{value} is less than {argument.least:g}: the default applies"
    if argument.kind is ArgumentType.DURATION:
        return _fault_of_duration(name, value)
    if name.startswith(ZONE):
        fault = why_closed(name.removeprefix(ZONE), value, 0)
        # A zone that is only closed at the time of this check is sound.
        if fault is not None and fault.code is not NodeCode.ZONE_CLOSED:
            return f"{fault.text}: the zone is never open"
    return ""


def _fault_of_duration(name: str, value: str) -> str:
    try:
        length = parse_go_duration(value)
    except ValueError:
        return f"{value!r} is not a duration: the default applies"
    if name == WAITING_TIME and length <= 0:
        return f"{value!r} is not a waiting time: nothing is set"
    return ""


def _is_about(rest: str, resource: str) -> bool:
    """Return whether an argument's suffix names a resource, or a resource and its comparison."""
    return bool(resource) and (rest == resource or rest.startswith(f"{resource}."))
