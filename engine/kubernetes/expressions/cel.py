"""The part of the Common Expression Language (CEL) that selects devices.

Literals, ``device``, fields and indices, arithmetic, comparison, logic, ``in``, lists, the
conditional, methods of strings, ``size``, ``has``, ``cel.bind``, and ``quantity`` and ``semver``
with their comparisons. All other features (macros over lists, dates, networks) are refused.

Source: https://github.com/google/cel-spec; k8s.io/dynamic-resource-allocation/cel/compile.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ..go.regexp import compile_go
from ..quantity import Quantity, parse

Scope = Mapping[str, Any]
Evaluate = Callable[[Scope], Any]
"""Returns the value of an expression for values of its variables."""


class CelError(Exception):
    """An expression without a value, with CEL's message."""


class CelUnknown(Exception):
    """An expression with a part that is not supported here."""


class Semver(NamedTuple):
    """A semantic version; one with ``pre`` comes before one without."""

    numbers: tuple[int, int, int]
    release: bool
    pre: tuple[tuple[bool, int, str], ...]

    @classmethod
    def parse(cls, text: str) -> Semver:
        """Read a version.

        :raises CelError: it is malformed.
        """
        match = _SEMVER.fullmatch(text) if len(text) <= _LONGEST_VERSION else None
        if match is None:
            raise CelError(f"{text!r} is no semantic version")
        # Identifiers of digits are compared as numbers, and come before all others.
        parts = tuple(
            (not part.isdigit(), int(part) if part.isdigit() else 0, part)
            for part in (match[4] or "").split(".")
            if part
        )
        return cls((int(match[1]), int(match[2]), int(match[3])), not parts, parts)


_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|0x[0-9a-fA-F]+|\d+)(?P<unsigned>[uU]?)"
    r"|(?P<text>r?\"(?:[^\"\\]|\\.)*\"|r?'(?:[^'\\]|\\.)*')"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]]))"
)
_DEEPEST = 30
"""The deepest nesting of expressions that is read."""
_LONGEST_NUMBER = 40
_LONGEST_TEXT, _LONGEST_LIST = 100_000, 1_000
"""What an expression may make: characters of a text, elements of a list."""
_LONGEST_VERSION = 256
"""The most characters; the API server accepts 64 for the version of a device."""
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = MappingProxyType({"n": "\n", "t": "\t", "r": "\r"})
_LITERALS: Mapping[str, Any] = MappingProxyType({"true": True, "false": False, "null": None})


@lru_cache(maxsize=1024)
def compile_cel(expression: str) -> Evaluate:
    """Return a function that evaluates an expression.

    :raises CelError: it is not a valid expression.
    :raises CelUnknown: a part of it is not supported here.
    """
    parser = _Parser(_tokens(expression))
    evaluate = parser.expression()
    if parser.kind != "end":
        raise CelError(f"Syntax error: extraneous input {parser.value!r}")
    return evaluate


def _tokens(expression: str) -> list[tuple[str, str]]:
    tokens, at = [], 0
    text = expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CelUnknown(f"{text[at : at + 20]!r}")
        # Of a number, the group that closed last is the one of its suffix.
        kind = match.lastgroup or ""
        kind = "number" if kind == "unsigned" else kind
        tokens.append((kind, match[kind]))
        at = match.end()
    return [*tokens, ("end", "")]


class _Parser:
    """Reads an expression from left to right, one function for each level of precedence."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def value(self) -> str:
        return self._tokens[self._at][1]

    def _next(self) -> str:
        value = self.value
        self._at += 1
        return value

    def _word(self) -> str:
        if self.kind != "name":
            raise CelError(f"Syntax error: mismatched input {self.value!r} expecting a name")
        return self._next()

    def _takes(self, *marks: str) -> str:
        return self._next() if self.kind in {"mark", "name"} and self.value in marks else ""

    def _expect(self, mark: str) -> None:
        if not self._takes(mark):
            raise CelError(f"Syntax error: mismatched input {self.value!r} expecting {mark!r}")

    def expression(self) -> Evaluate:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CelError("max recursion depth exceeded")
        condition = self._logic(0)
        if self._takes("?"):
            condition = self._choice(condition)
        self._depth -= 1
        return condition

    def _choice(self, condition: Evaluate) -> Evaluate:
        yes = self._logic(0)
        self._expect(":")
        no = self.expression()
        return lambda scope: yes(scope) if _truth(condition(scope)) else no(scope)

    def _logic(self, level: int) -> Evaluate:
        if level == len(_LOGIC):
            return self._relation()
        mark, decides = _LOGIC[level]
        left = self._logic(level + 1)
        while self._takes(mark):
            left = _either(left, self._logic(level + 1), decides=decides)
        return left

    def _relation(self) -> Evaluate:
        left = self._sum(0)
        while mark := self._takes("==", "!=", "<", "<=", ">", ">=", "in"):
            left = _binary(_RELATIONS[mark], left, self._sum(0))
        return left

    def _sum(self, level: int) -> Evaluate:
        if level == len(_SUMS):
            return self._unary()
        left = self._sum(level + 1)
        while mark := self._takes(*_SUMS[level]):
            left = _binary(_ARITHMETIC[mark], left, self._sum(level + 1))
        return left

    def _unary(self) -> Evaluate:
        marks = []
        while mark := self._takes("!", "-"):
            marks.append(mark)
        operand = self._member(self._primary())
        for mark in reversed(marks):
            operand = _negated(operand) if mark == "!" else _minus(operand)
        return operand

    def _member(self, member: Evaluate) -> Evaluate:
        while True:
            if self._takes("["):
                member = _binary(_index, member, self.expression())
                self._expect("]")
            elif self._takes("."):
                name = self._word()
                member = self._call(name, member) if self._takes("(") else _Field(member, name)
            else:
                return member

    def _call(self, name: str, of: Evaluate) -> Evaluate:
        arguments = self._list(")")
        method = _METHODS.get((name, len(arguments)))
        if method is None:
            raise CelUnknown(f"{name}()")
        return lambda scope: method(of(scope), *(each(scope) for each in arguments))

    def _list(self, end: str) -> list[Evaluate]:
        parts: list[Evaluate] = []
        while not self._takes(end):
            if parts:
                self._expect(",")
            parts.append(self.expression())
        return parts

    def _primary(self) -> Evaluate:
        if self._takes("("):
            inner = self.expression()
            self._expect(")")
            return inner
        if self._takes("["):
            parts = self._list("]")
            return lambda scope: _listed([part(scope) for part in parts])
        if self.kind in {"number", "text"}:
            literal = _literal(*self._tokens[self._at])
            self._at += 1
            return lambda _: literal
        if self.kind != "name":
            raise CelError(f"Syntax error: mismatched input {self.value!r}")
        return self._named(self._next())

    def _named(self, name: str) -> Evaluate:
        if name in _LITERALS:
            value = _LITERALS[name]
            return lambda _: value
        if name == "cel":
            return self._bind()
        if not self._takes("("):
            return lambda scope: _variable(scope, name)
        if name == "has":
            return self._has()
        arguments = self._list(")")
        function = _FUNCTIONS.get(name)
        if function is None or len(arguments) != 1:
            raise CelUnknown(f"{name}()")
        return lambda scope: function(arguments[0](scope))

    def _bind(self) -> Evaluate:
        """Read ``cel.bind(name, value, expression)``."""
        if not (self._takes(".") and self._takes("bind") and self._takes("(")):
            raise CelUnknown("cel")
        name = self._word()
        self._expect(",")
        value = self.expression()
        self._expect(",")
        inner = self.expression()
        self._expect(")")
        return lambda scope: inner({**scope, name: value(scope)})

    def _has(self) -> Evaluate:
        """Read ``has(of.name)``."""
        inner = self.expression()
        self._expect(")")
        if not isinstance(inner, _Field):
            raise CelError("invalid argument to has() macro")
        return inner.is_there


def _literal(kind: str, text: str) -> Any:
    if kind == "number":
        if len(text) > _LONGEST_NUMBER:
            raise CelError(f"invalid number {text[:_LONGEST_NUMBER]}")
        if text.startswith("0x"):
            return int(text, 16)
        return float(text) if "." in text else int(text)
    if text.startswith("r"):
        return text[2:-1]
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def _variable(scope: Scope, name: str) -> Any:
    if name not in scope:
        raise CelError(f"undeclared reference to '{name}'")
    return scope[name]


class _Field:
    """A field of a value; ``has`` checks whether it exists."""

    def __init__(self, of: Evaluate, name: str) -> None:
        self._of = of
        self._name = name

    def __call__(self, scope: Scope) -> Any:
        return _index(self._of(scope), self._name)

    def is_there(self, scope: Scope) -> bool:
        """Return whether the value has the field.

        :raises CelError: it is no map, and so has no fields.
        """
        of = self._of(scope)
        # In Python a text would have each part of it, and a number would raise a TypeError.
        if not isinstance(of, Mapping):
            raise CelError("no such overload")
        return self._name in of


def _has_key(of: Mapping[Any, Any], key: Any) -> bool:
    """Return whether a map has a key; a list or a map is none."""
    return isinstance(key, Hashable) and key in of


def _index(of: Any, key: Any) -> Any:
    if isinstance(of, Mapping):
        if _has_key(of, key):
            return of[key]
        raise CelError(f"no such key: {key}")
    if isinstance(of, list) and type(key) is int:
        if 0 <= key < len(of):
            return of[key]
        raise CelError(f"index out of bounds: {key}")
    raise CelError("no such overload")


def _either(left: Evaluate, right: Evaluate, *, decides: bool) -> Evaluate:
    """Return and (``decides`` False) or or (True): an error counts only if the other leaves it."""

    def evaluate(scope: Scope) -> bool:
        try:
            if _truth(left(scope)) is decides:
                return decides
        except CelError:
            if _truth(right(scope)) is decides:
                return decides
            raise
        return _truth(right(scope))

    return evaluate


def _binary(function: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: function(left(scope), right(scope))


def _negated(of: Evaluate) -> Evaluate:
    return lambda scope: not _truth(of(scope))


def _minus(of: Evaluate) -> Evaluate:
    return lambda scope: -_number(of(scope))


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise CelError("no such overload")


def _number(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise CelError("no such overload")


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return _compare(left, right) == 0
    # In Python True equals 1; in CEL a bool equals no number.
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    return bool(left == right)


def _compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1.

    :raises CelError: the two cannot be compared.
    """
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        least = min(left.power, right.power)
        first, second = (each.number * 10 ** (each.power - least) for each in (left, right))
        return bool(first > second) - bool(first < second)
    numbers = all(isinstance(each, int | float) for each in (left, right))
    alike = type(left) is type(right) and isinstance(left, str | bool | Semver)
    if alike or (numbers and not isinstance(left, bool) and not isinstance(right, bool)):
        return bool(left > right) - bool(left < right)
    raise CelError("no such overload")


def _in(value: Any, of: Any) -> bool:
    if isinstance(of, Mapping):
        return _has_key(of, value)
    if isinstance(of, list):
        return any(_equal(value, each) for each in of)
    raise CelError("no such overload")


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        return _bounded(left + right, _LONGEST_TEXT)
    if isinstance(left, list) and isinstance(right, list):
        return _bounded([*left, *right], _LONGEST_LIST)
    return _whole(_number(left) + _number(right))


def _bounded(value: Any, most: int) -> Any:
    """Return a text or a list, unless it costs more than an expression may.

    With ``cel.bind`` each ``+`` can double what it is given. Source: CELSelectorExpressionMaxCost
    in k8s.io/api resource/v1/types.go; here the size is what is bounded.
    """
    if len(value) > most:
        raise CelError("operation cancelled: actual cost limit exceeded")
    return value


def _whole(value: Any) -> Any:
    """Return a number, unless it is an integer that has more than 64 bits."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise CelError("integer overflow")
    return value


def _listed(parts: list[Any]) -> list[Any]:
    """Return a list; lists of lists of lists can be equal in very many places."""
    for part in parts:
        if isinstance(part, list) and any(isinstance(element, list) for element in part):
            raise CelUnknown("a list in a list of lists")
    _bounded(parts, _LONGEST_LIST)
    return parts


def _divide(left: Any, right: Any) -> Any:
    dividend, divisor = _number(left), _number(right)
    if not divisor:
        raise CelError("division by zero")
    exact = isinstance(dividend, float) or isinstance(divisor, float)
    # Towards zero, as Go divides.
    return (
        dividend / divisor
        if exact
        else int(abs(dividend) // abs(divisor)) * (1 if dividend * divisor >= 0 else -1)
    )


def _modulo(left: Any, right: Any) -> Any:
    return _number(left) - _divide(left, right) * _number(right)


def _size(value: Any) -> int:
    if isinstance(value, str | list | Mapping):
        return len(value)
    raise CelError("no such overload")


def _quantity(value: Any) -> Quantity:
    try:
        return parse(_text(value))
    except ValueError as fault:
        raise CelError(str(fault)) from fault


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise CelError("no such overload")


def _matches(value: Any, pattern: Any) -> bool:
    try:
        return compile_go(_text(pattern)).found_in(_text(value))
    except ValueError as fault:
        raise CelError(str(fault)) from fault


_LOGIC = (("||", True), ("&&", False))
_SUMS = (("+", "-"), ("*", "/", "%"))
_RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "==": _equal,
        "!=": lambda left, right: not _equal(left, right),
        "<": lambda left, right: _compare(left, right) < 0,
        "<=": lambda left, right: _compare(left, right) <= 0,
        ">": lambda left, right: _compare(left, right) > 0,
        ">=": lambda left, right: _compare(left, right) >= 0,
        "in": _in,
    }
)
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": _add,
        "-": lambda left, right: _whole(_number(left) - _number(right)),
        "*": lambda left, right: _whole(_number(left) * _number(right)),
        "/": _divide,
        "%": _modulo,
    }
)
_METHODS: Mapping[tuple[str, int], Callable[..., Any]] = MappingProxyType(
    {
        ("compareTo", 1): _compare,
        ("isGreaterThan", 1): lambda left, right: _compare(left, right) > 0,
        ("isLessThan", 1): lambda left, right: _compare(left, right) < 0,
        ("startsWith", 1): lambda text, part: _text(text).startswith(_text(part)),
        ("endsWith", 1): lambda text, part: _text(text).endswith(_text(part)),
        ("contains", 1): lambda text, part: _text(part) in _text(text),
        ("matches", 1): _matches,
        ("lowerAscii", 0): lambda text: _text(text).lower(),
        ("upperAscii", 0): lambda text: _text(text).upper(),
        ("size", 0): _size,
    }
)
_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "quantity": _quantity,
        "semver": lambda value: Semver.parse(_text(value)),
        "size": _size,
    }
)
