"""Parameters of questions: their types and bounds, and how values are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec

from ....engine.errors import UsageError
from ....engine.kubernetes.units import SECOND_US, parse_duration

LONGEST_TEXT = 1_000
"""The most characters of a value, unless its parameter says otherwise."""

MOST_VALUES = 100
"""The most values of a parameter that may be repeated."""

_FLAGS: Mapping[str, bool] = MappingProxyType(
    {"": True, "true": True, "1": True, "false": False, "0": False}
)


class ParameterType(StrEnum):
    """The type of a value."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    DURATION = "duration"


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a question.

    :param argument: the name in the Python API, if it is another. :param option: what the command
        line calls it; None if there is no option, empty for an argument without a name.
    :param prefix: what the command line has before a value. :param absent: the option that stands
        for no value.
    :param many: it may be repeated. :param least: and ``most``: the bounds of a number, or of a
        duration in seconds.
    :param pattern: what a text must look like, as a regular expression.
    :param default: None is the default of the Python API.
    :param in_path: it is a part of the path. :param in_body: it may be the body of a request.
    """

    name: str
    about: str
    kind: ParameterType = ParameterType.TEXT
    required: bool = False
    default: str | int | None = None
    many: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    longest: int = LONGEST_TEXT
    pattern: str = ""
    argument: str = ""
    option: str | None = "--"
    prefix: str = ""
    absent: str = ""
    in_path: bool = False
    in_body: bool = False

    @property
    def flag(self) -> str:
        """The option of the command line; empty if there is none."""
        usual = f"--{self.name.replace('_', '-')}"
        return usual if self.option == "--" else self.option or ""

    @property
    def keyword(self) -> str:
        """Return its name in the Python API."""
        return self.argument or self.name

    def read(self, values: list[str]) -> Any:
        """Return what some texts mean: one value, or a list of them if it may be repeated.

        :raises UsageError: they are not of the type, or outside of the bounds.
        """
        if not self.many and len(values) != 1:
            raise UsageError(f"{self.name} is given {len(values)} times", now="give it once")
        if len(values) > MOST_VALUES:
            raise UsageError(f"{self.name}: {len(values)} values", now=f"at most {MOST_VALUES}")
        read_values = [self._read(value) for value in values]
        return read_values if self.many else read_values[0]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its values."""
        schema = self._schema()
        if self.many:
            schema = {"type": "array", "items": schema, "maxItems": MOST_VALUES}
        elif self.default is not None:
            schema["default"] = self.default
        return schema

    def _schema(self) -> dict[str, Any]:
        if self.kind is ParameterType.FLAG:
            return {"type": "boolean"}
        if self.kind is ParameterType.NUMBER:
            bounds = {"minimum": self.least, "maximum": self.most}
            return {"type": "integer", **{k: v for k, v in bounds.items() if v is not None}}
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        if self.pattern:
            return {"type": "string", "pattern": f"^{self.pattern}$"}
        least = 1 if self.required or self.kind is ParameterType.DURATION else 0
        return {"type": "string", "minLength": least, "maxLength": self.longest}

    def _read(self, text: str) -> Any:
        if self.kind is ParameterType.FLAG:
            return self._flag(text)
        if self.kind is ParameterType.NUMBER:
            return self._number(text)
        self._check_text(text)
        if self.kind is ParameterType.DURATION:
            self._check_duration(text)
        return text

    def _flag(self, text: str) -> bool:
        flag = _FLAGS.get(text.lower())
        if flag is None:
            raise UsageError(f"{self.name}={text!r} is not true or false", now="write true")
        return flag

    def _number(self, text: str) -> int:
        digits = text.removeprefix("-")
        # int() raises for thousands of digits, and takes digits of other scripts.
        number = int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
        if number is None or not self._is_within(number):
            raise UsageError(f"{self.name}={text!r} is not {self.bounds()}", now="give another")
        return number

    def _is_within(self, number: float) -> bool:
        above = self.least is None or number >= self.least
        return above and (self.most is None or number <= self.most)

    def bounds(self) -> str:
        """Return which values it takes, in words."""
        if self.kind is ParameterType.NUMBER:
            if self.most is None:
                return "a number" if self.least is None else f"a number from {self.least} on"
            return f"a number from {self.least} to {self.most}"
        if self.kind is ParameterType.DURATION:
            return "a duration" if self.most is None else f"a duration of at most {self.most}s"
        if self.choices:
            return "one of " + ", ".join(self.choices)
        return "true or false" if self.kind is ParameterType.FLAG else "a text"

    def _check_text(self, text: str) -> None:
        if len(text) > self.longest:
            raise UsageError(
                f"{self.name} has {len(text)} characters", now=f"at most {self.longest}"
            )
        # No database has surrogates in a text, and Postgres no NUL.
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"{self.name} holds a character that no text has", now="leave it out")
        if self.required and not text:
            raise UsageError(f"{self.name} is empty", now="give a value")
        if self.choices and text not in self.choices:
            raise UsageError(
                f"{self.name}={text!r} is not known", now=f"choose from: {', '.join(self.choices)}"
            )

    def _check_duration(self, text: str) -> None:
        try:
            seconds = parse_duration(text) / SECOND_US
        except (ValueError, OverflowError) as fault:
            raise UsageError(f"{self.name}: {fault}", now="write 30s or 5m") from fault
        if seconds <= 0 or not self._is_within(seconds):
            raise UsageError(f"{self.name}={text!r} is not {self.bounds()}", now="give another")


def given(parameters: Iterable[Parameter], values: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the values of parameters, by their names; those that are not given are missing.

    :raises UsageError: there is no such parameter, one is missing, or a value is wrong.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in known:
            raise UsageError(
                f"there is no parameter {name!r}",
                now=f"choose from: {', '.join(known)}" if known else "this takes none",
            )
    lacking = [
        name for name, parameter in known.items() if parameter.required and not values.get(name)
    ]
    if lacking:
        raise UsageError(f"{lacking[0]} is missing", now=known[lacking[0]].about)
    return {name: known[name].read(texts) for name, texts in values.items() if texts}


def texts_of(arguments: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return arguments in JSON's types as the texts that a query would have.

    :raises UsageError: one is an object, or a list of anything but plain values.
    """
    texts = {}
    for name, value in arguments.items():
        named_texts = value if isinstance(value, list) else [value]
        texts[name] = [_text(name, member) for member in named_texts if member is not None]
    return {name: named_texts for name, named_texts in texts.items() if named_texts}


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    raise UsageError(f"{name} is neither a text nor a number", now="give a plain value")
