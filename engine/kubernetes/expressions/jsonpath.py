r"""JSONPath templates in kubectl's dialect: ``{range .items[*]}{.metadata.name}{"\n"}{end}``.

Supported: text outside braces; quoted text; fields (``.a``, ``['a']``, ``.a\.b``),
wildcards, indices, slices, unions, recursive descent (``..a``), filters (``?(@.a=="b")``), ``$``
and ``@``, ``range`` and ``end``. A missing field gives nothing, as in ``kubectl get``.

Source: k8s.io/client-go/util/jsonpath.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from ...errors import UsageError


class NamedMember(NamedTuple):
    """A member of an object by name."""

    name: str


class Wildcard(NamedTuple):
    """Every member or element."""


class ListSlice(NamedTuple):
    """Elements of a list, as Python slices them; one index is a slice of one."""

    start: int | None
    stop: int | None
    step: int | None
    single: bool = False


class Descent(NamedTuple):
    """The value and everything below it, in order of depth."""


class Filter(NamedTuple):
    """The elements for which a comparison holds; without operator, for which the left exists."""

    left: Operand
    operator: str
    right: Operand | None


class Union(NamedTuple):
    """The results of several steps, one after the other."""

    steps: tuple[Step, ...]


class Path(NamedTuple):
    """Steps from the root (``$``) or from the current value."""

    steps: tuple[Step, ...]
    from_root: bool = False


class Text(NamedTuple):
    """Literal text."""

    text: str


class RangeBlock(NamedTuple):
    """A part of a template repeated for every result of a path."""

    path: Path
    body: tuple[Node, ...]


Step: TypeAlias = NamedMember | Wildcard | ListSlice | Descent | Filter | Union
Operand: TypeAlias = Path | str | int | float | bool | None
Node: TypeAlias = Text | Path | RangeBlock

_TOKEN = re.compile(r"\s*(range\b|end\b|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')", re.DOTALL)
_FIELD = re.compile(r"(?:[^\s.\[\](){}'\"*?@$=<>!,\\]|\\.)+")
_SLICE = re.compile(r"(-?\d{1,18})?(?:(:)(-?\d{1,18})?)?(?:(:)(-?\d{1,18})?)?", re.ASCII)
_OPERATOR = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = (("n", "\n"), ("t", "\t"), ("r", "\r"))


MOST_VALUES = 20_000_000
"""The values that a path may come by in one document: each ``..`` can multiply them."""


class Template(NamedTuple):
    """A parsed template."""

    nodes: tuple[Node, ...]

    def render(self, document: Any) -> str:
        """Return the template's text with what it finds in a document.

        :raises UsageError: it comes by too many values.
        """
        return "".join(_rendered(self.nodes, document, _Root(document, Allowance())))


def parse_template(text: str) -> Template:
    """Read a template.

    :raises UsageError: a brace, bracket or quote is open, or something stands where it cannot.
    """
    return Template(_Reader(text).template())


def parse_path(text: str) -> Path:
    """Read one path, with or without braces and leading dot, as ``--sort-by`` takes it.

    :raises UsageError: it is not a path.
    """
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    if inner and not inner.startswith((".", "[", "$", "@")):
        inner = f".{inner}"
    reader = _Reader(inner)
    path = reader.path()
    if reader.place != len(inner) or not inner:
        raise reader.fault("a path goes on here that cannot")
    return path


class Allowance:
    """How many values may still be seen; several paths can share it.

    :ivar left: so many.
    """

    def __init__(self, left: int = MOST_VALUES) -> None:
        self.left = left


def find(path: Path, document: Any, allowance: Allowance | None = None) -> list[Any]:
    """Return everything that a path finds in a document, in the document's order.

    :param allowance: the values that it may come by on its way.
    :raises UsageError: it comes by too many values, as ``..*..*`` does.
    """
    return _find(path, document, _Root(document, allowance or Allowance()))


class _Reader:
    """Reads a template from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def fault(self, what: str) -> UsageError:
        return UsageError(
            f"jsonpath: {what}, at character {self.place + 1} of {self.text!r}",
            now="""as in: -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'""",
        )

    def template(self) -> tuple[Node, ...]:
        nodes = self.nodes(inside_range=False)
        if self.place < len(self.text):
            raise self.fault("{end} without {range}")
        return nodes

    def nodes(self, *, inside_range: bool) -> tuple[Node, ...]:
        blocks: list[Node] = []
        while self.place < len(self.text):
            brace = self.text.find("{", self.place)
            if brace != self.place:
                end = len(self.text) if brace < 0 else brace
                blocks.append(Text(self.text[self.place : end]))
                self.place = end
                continue
            begin = self.place
            self.place += 1
            more = self.block()
            if more is None:
                # Back before the brace: where it stands, {end} has no {range}.
                if not inside_range:
                    self.place = begin
                return tuple(blocks)
            blocks += more
        if inside_range:
            raise self.fault("{range} without {end}")
        return tuple(blocks)

    def block(self) -> list[Node] | None:
        """Read the inside of braces; None is ``end``."""
        blocks: list[Node] = []
        while True:
            self.spaces()
            if self.take("}"):
                return blocks
            token = _TOKEN.match(self.text, self.place)
            if token is None:
                blocks.append(self.path())
                continue
            self.place = token.end()
            if token[1] == "end":
                self.close()
                return None
            if token[1] == "range":
                self.spaces()
                path = self.path()
                self.close()
                blocks.append(RangeBlock(path, self.nodes(inside_range=True)))
                return blocks
            blocks.append(Text(_unquoted(token[1])))

    def close(self) -> None:
        self.spaces()
        if not self.take("}"):
            raise self.fault("expected }")

    def path(self) -> Path:
        begin = self.place
        from_root = self.take("$")
        if not from_root:
            self.take("@")
        steps: list[Step] = []
        while self.place < len(self.text):
            if self.text.startswith("..", self.place):
                self.place += 2
                steps.append(Descent())
                if not self.text.startswith("[", self.place):
                    steps.append(self.name())
            elif self.take("."):
                # A lone dot is the current value: {.} or .[0].
                if self.place < len(self.text) and self.text[self.place] not in "[ })":
                    steps.append(self.name())
            elif self.take("["):
                steps.append(self.bracket())
            else:
                break
        if self.place == begin:
            raise self.fault("expected a path, quoted text, range or end")
        return Path(tuple(steps), from_root)

    def name(self) -> Step:
        if self.take("*"):
            return Wildcard()
        match = _FIELD.match(self.text, self.place)
        if match is None:
            raise self.fault("expected a field's name")
        self.place = match.end()
        return NamedMember(_ESCAPE.sub(r"\1", match[0]))

    def bracket(self) -> Step:
        steps = [self.element()]
        while self.take(","):
            steps.append(self.element())
        self.spaces()
        if not self.take("]"):
            raise self.fault("expected ]")
        return steps[0] if len(steps) == 1 else Union(tuple(steps))

    def element(self) -> Step:
        self.spaces()
        if self.take("*"):
            return Wildcard()
        if self.take("?("):
            return self.filter()
        token = _TOKEN.match(self.text, self.place)
        if token is not None and token[1][0] in "'\"":
            self.place = token.end()
            return NamedMember(_unquoted(token[1]))
        match = _SLICE.match(self.text, self.place)
        if match is None or match.end() == self.place:
            raise self.fault("expected an index, a slice, a name in quotes, * or ?(…)")
        self.place = match.end()
        start, colon, stop, _, step = match.groups()
        numbers = [None if part is None else int(part) for part in (start, stop, step)]
        if numbers[2] == 0:
            raise self.fault("a slice cannot have the step 0")
        return ListSlice(numbers[0], numbers[1], numbers[2], single=colon is None)

    def filter(self) -> Filter:
        left = self.operand()
        operator = _OPERATOR.match(self.text, self.place)
        right: Operand | None = None
        if operator is not None:
            self.place = operator.end()
            right = self.operand()
        self.spaces()
        if not self.take(")"):
            raise self.fault("expected )")
        return Filter(left, operator[1] if operator else "", right)

    def operand(self) -> Operand:
        self.spaces()
        token = _TOKEN.match(self.text, self.place)
        if token is not None and token[1][0] in "'\"":
            self.place = token.end()
            return _unquoted(token[1])
        number = _NUMBER.match(self.text, self.place)
        if number is not None:
            self.place = number.end()
            return float(number[0]) if number[1] else int(number[0])
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.take(word):
                return value
        return self.path()

    def spaces(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def take(self, token: str) -> bool:
        if self.text.startswith(token, self.place):
            self.place += len(token)
            return True
        return False


def _unquoted(token: str) -> str:
    def character(match: re.Match[str]) -> str:
        return dict(_ESCAPES).get(match[1], match[1])

    return _ESCAPE.sub(character, token[1:-1])


class _Root:
    """The whole document, and how many values of it may still be seen."""

    def __init__(self, document: Any, allowance: Allowance) -> None:
        self.document, self._allowance = document, allowance

    def see(self, values: list[Any]) -> list[Any]:
        """Count values.

        :raises UsageError: they are too many.
        """
        self._allowance.left -= len(values) + 1
        if self._allowance.left < 0:
            raise UsageError(
                "jsonpath: the path comes by too many values",
                now="name the fields instead of ..",
            )
        return values


def _rendered(nodes: Sequence[Node], current: Any, root: _Root) -> Iterator[str]:
    for node in nodes:
        match node:
            case Text(text):
                yield text
            case Path():
                yield " ".join(_shown(value) for value in _find(node, current, root))
            case RangeBlock(path, body):
                for value in _find(path, current, root):
                    yield from _rendered(body, value, root)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _find(path: Path, current: Any, root: _Root) -> list[Any]:
    values = [root.document if path.from_root else current]
    for step in path.steps:
        values = [inner for value in values for inner in root.see(_step(step, value, root))]
    return values


def _step(step: Step, value: Any, root: _Root) -> list[Any]:
    match step:
        case NamedMember(name):
            return [value[name]] if isinstance(value, dict) and name in value else []
        case Wildcard():
            return _children(value)
        case ListSlice():
            return _elements(step, value)
        case Descent():
            return list(_descend(value))
        case Filter():
            return [element for element in _children(value) if _holds(step, element, root)]
        case Union(steps):
            return [inner for part in steps for inner in root.see(_step(part, value, root))]


def _elements(step: ListSlice, value: Any) -> list[Any]:
    if not isinstance(value, list):
        return []
    if step.single and step.start is not None:
        # The last element: -1 + 1 is 0, which would end the slice before its begin.
        return value[step.start : step.start + 1 or None]
    return value[step.start : step.stop : step.step]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _descend(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descend(child)


def _holds(condition: Filter, element: Any, root: _Root) -> bool:
    lefts = _operand(condition.left, element, root)
    if not condition.operator:
        return bool(lefts)
    rights = _operand(condition.right, element, root)
    if not lefts or not rights:
        return False
    return _compare(lefts[0], condition.operator, rights[0])


def _operand(operand: Operand, element: Any, root: _Root) -> list[Any]:
    return _find(operand, element, root) if isinstance(operand, Path) else [operand]


def _compare(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if not (numbers or (isinstance(left, str) and isinstance(right, str))):
        return False
    match operator:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)
