"""Common arguments in Python: releases, configurations and lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache, wraps
from os import PathLike
from types import FunctionType, MappingProxyType
from typing import Any, ParamSpec, TypeAlias, TypeVar

from ...engine.errors import UsageError
from ...engine.kubernetes.units import parse_time
from ..sessions.assumed import taken_release
from ..truth.points import point_text

FilePath: TypeAlias = str | PathLike[str]
T = TypeVar("T", bound=type)
P = ParamSpec("P")
A = TypeVar("A")


def listing_parameters(of: T) -> T:
    """Make the methods of a class take the options of the command line by their names, too.

    A repeatable option has a plural name in Python: ``kind`` is ``kinds``. An error about the
    parameters of a method says which there are.
    """
    for name, method in list(vars(of).items()):
        if isinstance(method, FunctionType) and name[0] != "_" and not hasattr(method, _DESCRIBED):
            setattr(of, name, _listing(method))
    return of


_DESCRIBED = "__signature__"


@cache
def listing_function(of: Callable[P, A]) -> Callable[P, A]:
    """Return a function whose errors about parameters say which there are, as methods do.

    A function that says so itself, as it asks a question, stays as it is.
    """
    return of if hasattr(of, _DESCRIBED) else _listing(of)


def _listing(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **by_their_names(named, signature))
        except TypeError as fault:
            raise TypeError(f"{method.__name__}(): {fault}; {taken_by(signature)}") from None
        return method(*bound.args, **bound.kwargs)

    return call


def by_their_names(
    named: Mapping[str, Any],
    signature: inspect.Signature,
    options: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return arguments by the names that a function has for them.

    :param options: other names of parameters, which their options have.
    """
    known = signature.parameters
    return {
        name
        if name in known
        else options.get(name, f"{name}s" if f"{name}s" in known else name): value
        for name, value in named.items()
    }


def taken_by(signature: inspect.Signature) -> str:
    """Return which parameters a function has, as the end of a message."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [
        name
        for name, parameter in signature.parameters.items()
        if name != "self" and parameter.kind not in kinds
    ]
    return f"it takes: {', '.join(names)}" if names else "it takes nothing"


def paths_of(paths: FilePath | Iterable[FilePath]) -> list[str]:
    """Return paths as a list of texts; a single one need not be in one."""
    several_paths = [paths] if isinstance(paths, str | PathLike) else paths
    return [str(path) for path in several_paths]


def release_of(name: str, *, assume: bool, pre_releases: bool = False) -> str:
    """Return the release that a name stands for.

    :param assume: use the nearest release for an unknown one.
    :param pre_releases: take known pre-releases, too.
    :raises UsageError: it is not known, and nothing may be assumed.
    """
    return taken_release(name, assume=assume, pre_releases=pre_releases).release


def present_time(now: str | datetime | None) -> int | None:
    """Return a time in microseconds since 1970; None stays None.

    :raises UsageError: it is not an RFC 3339 time, or is a datetime without a time zone.
    """
    if now is None:
        return None
    try:
        return parse_time(point_text(now))
    except ValueError as fault:
        raise UsageError(f"now: {fault}", now="write 2025-07-30T07:56:43Z") from fault
