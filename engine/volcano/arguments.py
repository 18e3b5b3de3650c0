"""Arguments of plugins and actions, read as strictly as Volcano reads them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Any] = MappingProxyType({})


class Arguments:
    """The arguments of a plugin or an action in a configuration.

    A value of another type counts as not given, and :attr:`warnings` gets the line that Volcano
    logs.

    :param raw: the values as YAML has them: str, bool, int, float, None, list, dict.
    :param bool_texts: whether texts can be booleans.

    Source: pkg/scheduler/framework/arguments.go.
    """

    __slots__ = ("bool_texts", "raw", "warnings")

    def __init__(self, raw: Mapping[str, Any] = _NONE, *, bool_texts: bool = False) -> None:
        self.raw = raw
        self.bool_texts = bool_texts
        self.warnings: list[str] = []

    def get_int(self, key: str, default: int) -> int:
        """Return an integer; a float is not an integer, even without a fraction."""
        value = self.raw.get(key, default)
        if is_int(value):
            return int(value)
        self._warn(key, "int")
        return default

    def get_float(self, key: str, default: float) -> float:
        """Return a number."""
        value = self.raw.get(key, default)
        if is_number(value):
            return float(value)
        self._warn(key, "float64")
        return default

    def get_bool(self, key: str, default: bool) -> bool:  # noqa: FBT001 - a value like the others
        """Return a truth value."""
        value = truth_value(self.raw.get(key, default), texts=self.bool_texts)
        if value is not None:
            return value
        self._warn(key, "bool")
        return default

    def get_str(self, key: str, default: str) -> str:
        """Return a text; no number is one."""
        value = self.raw.get(key, default)
        return value if isinstance(value, str) else default

    def _warn(self, key: str, kind: str) -> None:
        warning = f"Could not parse argument: {go_text(self.raw[key])} for key {key} to {kind}"
        if warning not in self.warnings:
            self.warnings.append(warning)


def is_int(value: object) -> bool:
    """Return whether a YAML value is an ``int`` of Go: 64 bits, and not a boolean."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return -(2**63) <= value < 2**63


def is_number(value: object) -> bool:
    """Return whether Go reads a YAML value as a ``float64``: any number except a huge one."""
    return isinstance(value, float) or is_int(value)


def truth_value(value: object, *, texts: bool) -> bool | None:
    """Return a YAML value as a boolean, ``None`` if it is not one.

    :param texts: read texts too, as Go's ``strconv.ParseBool`` does.
    """
    if isinstance(value, bool):
        return value
    return _BOOL_TEXTS.get(value) if texts and isinstance(value, str) else None


_BOOL_TEXTS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
    | dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)
)


def go_text(value: object) -> str:
    """Return what Go's ``%v`` prints of a YAML value."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if value else "0"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, dict):
        pairs = sorted((go_text(key), go_text(item)) for key, item in value.items())
        return f"map[{' '.join(f'{key}:{item}' for key, item in pairs)}]"
    return str(value)
