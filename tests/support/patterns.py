"""Whether a pattern can backtrack: proved from its automaton, not by trying texts.

Python's engine tries every way in which a pattern can match. The time is linear if no text can be
read in a number of ways that grows with its length. That is decided on the automaton of the
pattern's characters (Glushkov's): there must be neither two cycles through one state over the same
word, nor a word that can be read by one cycle, by another, and by the way between them.

Source: A. Weber and H. Seidl, On the degree of ambiguity of finite automata, 1991.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import plinian

Chars = frozenset[str]
Edges = dict[int, dict[int, Chars]]

_COPIES = 40
"""A repetition of at most so many is written out; one of more is taken for one without a bound."""

_SAMPLES = "\x00aZ09_ \t\n\r-.:/é٣\u2003"
_CATEGORIES: dict[Any, str] = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_LINE, _TEXT = "line", "text"
"""Where something must begin: after a line break, or at the begin of the text."""


class _Part(NamedTuple):
    """A piece of a pattern: its first positions (and where they must begin), its last ones.

    ``leaving`` are the characters on which a last position may not be left.
    """

    nullable: bool
    first: dict[int, str]
    last: dict[int, Chars]
    begins: str = ""


_NOTHING = _Part(True, {}, {})


class CanBacktrack(ValueError):
    """A pattern takes more than linear time on some texts."""


def check(pattern: re.Pattern[Any], *, searched: bool) -> None:
    """Hold a compiled pattern to linear time.

    :param searched: it is looked for anywhere in a text, not only at one place.
    :raises CanBacktrack: it does not keep it.
    """
    text = pattern.pattern
    automaton = _Automaton(text.decode("latin-1") if isinstance(text, bytes) else text, pattern)
    whole = automaton.sequence(parser.parse(text, pattern.flags))
    if searched:
        automaton.look_anywhere(whole)
    automaton.hold()


class _Automaton:
    """The positions of a pattern, and which may follow which."""

    def __init__(self, text: str, pattern: re.Pattern[Any]) -> None:
        near = {chr(max(0, min(ord(c) + step, 0x10FFFF))) for c in text for step in (-1, 0, 1)}
        samples = near | set(_SAMPLES)
        if isinstance(pattern.pattern, bytes):
            samples = {char for char in samples if ord(char) < 256} | {"\xe9"}
        self._alphabet = frozenset(samples)
        flags = re.RegexFlag(pattern.flags)
        self._dotall = bool(flags & re.DOTALL)
        self._multiline = bool(flags & re.MULTILINE)
        self._any_case = bool(flags & re.IGNORECASE)
        self._ascii = flags & re.ASCII or (0 if flags & re.UNICODE else re.ASCII)
        self._chars: list[Chars] = []
        self._edges: Edges = {}
        self._twice: set[tuple[int, int]] = set()

    def sequence(self, items: Iterable[tuple[Any, Any]]) -> _Part:
        """Return the part that items make one after the other."""
        whole = _NOTHING
        for code, value in items:
            whole = self._joined(whole, self._part(code, value))
        return whole

    def _joined(self, one: _Part, two: _Part) -> _Part:
        self._link(one.last, two.first)
        begins = one.begins or (two.begins if one.nullable else "")
        first = dict(one.first)
        if one.nullable:
            first |= {place: where or one.begins for place, where in two.first.items()}
        last = dict(two.last) | (one.last if two.nullable else {})
        return _Part(one.nullable and two.nullable, first, last, begins)

    def _link(self, last: dict[int, Chars], first: Iterable[int]) -> None:
        for (before, kept), after in product(last.items(), first):
            on = self._chars[after] - kept
            if after in self._edges[before]:
                self._twice.add((before, after))
            self._edges[before][after] = on

    def _part(self, code: Any, value: Any) -> _Part:
        if code in {codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN}:
            return self._position(self._reads(code, value))
        if code is codes.AT:
            return self._place(value)
        if code is codes.SUBPATTERN:
            return self.sequence(value[3])
        if code is codes.ATOMIC_GROUP:
            return self.sequence(value)
        if code is codes.BRANCH:
            return self._branches([self.sequence(branch) for branch in value[1]])
        if code in {codes.ASSERT, codes.ASSERT_NOT}:
            if parser.SubPattern(parser.State(), value[1]).getwidth()[1] > _COPIES:
                raise CanBacktrack("it looks ahead or back without a bound")
            return _NOTHING
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            return self._repeated(*value, possessive=code is codes.POSSESSIVE_REPEAT)
        raise CanBacktrack(f"{code} is not understood, and may take any time")

    def _position(self, chars: Chars) -> _Part:
        place = len(self._chars)
        self._chars.append(chars)
        self._edges[place] = {}
        return _Part(False, {place: ""}, {place: frozenset()})

    def _place(self, value: Any) -> _Part:
        if value is codes.AT_BEGINNING_STRING:
            return _NOTHING._replace(begins=_TEXT)
        if value is codes.AT_BEGINNING:
            return _NOTHING._replace(begins=_LINE if self._multiline else _TEXT)
        return _NOTHING

    def _branches(self, parts: list[_Part]) -> _Part:
        first, last = dict[int, str](), dict[int, Chars]()
        for part in parts:
            first |= part.first
            last |= part.last
        return _Part(any(part.nullable for part in parts), first, last)

    def _repeated(self, least: int, most: int, item: Any, *, possessive: bool) -> _Part:
        if most <= _COPIES:
            whole = _NOTHING
            for number in range(most):
                copy = self.sequence(item)
                whole = self._joined(
                    whole, copy._replace(nullable=number >= least or copy.nullable)
                )
            return whole
        part = self.sequence(item)
        if part.nullable:
            raise CanBacktrack("it repeats what may be empty")
        self._link(part.last, part.first)
        if possessive:
            (only,) = part.first  # Of one character, or it is not understood.
            part = part._replace(last={only: self._chars[only]})
        return part._replace(nullable=least == 0)

    def _reads(self, code: Any, value: Any) -> Chars:
        return frozenset(char for char in self._alphabet if self._takes(code, value, char))

    def _takes(self, code: Any, value: Any, char: str) -> bool:
        if code is codes.ANY:
            return self._dotall or char != "\n"
        if code is codes.IN:
            negated = value[0][0] is codes.NEGATE
            return negated != any(self._takes(*one, char) for one in value[negated:])
        if code is codes.CATEGORY:
            return re.match(_CATEGORIES[value], char, self._ascii) is not None
        cases = {char}
        if self._any_case:
            cases = {char, char.lower(), char.upper()}
        if code is codes.RANGE:
            return any(value[0] <= ord(one[0]) <= value[1] for one in cases)
        found = chr(value) in cases
        return not found if code is codes.NOT_LITERAL else found

    def look_anywhere(self, whole: _Part) -> None:
        """Let the pattern begin after any text.

        What has matched after its first character does not fail, and is not looked for again.
        """
        if whole.first.keys() <= whole.last.keys():
            return
        other = self._position(self._alphabet - {"\n"})
        line = self._position(frozenset("\n"))
        before = [*other.first, *line.first]
        for one in before:
            self._link({one: frozenset()}, before)
        for place, where in whole.first.items():
            if where != _TEXT:
                after = line.last if where == _LINE else {**other.last, **line.last}
                self._link(after, [place])

    def hold(self) -> None:
        """Complain of cycles that can read the same.

        :raises CanBacktrack: there are such.
        """
        cycles = [part for part in components(self._edges, self._after) if self._is_cycle(part)]
        for cycle in cycles:
            if any(pair[0] in cycle and pair[1] in cycle for pair in self._twice):
                raise CanBacktrack("one repetition stands directly in another")
            self._hold_alone(cycle)
        for one, two in product(cycles, cycles):
            for p, q in product(one, two):
                if p != q and self._leads(p, q, one, two):
                    raise CanBacktrack("two repetitions can read the same, one after the other")

    def _after(self, place: int) -> Iterator[int]:
        return (after for after, on in self._edges[place].items() if on)

    def _is_cycle(self, part: frozenset[int]) -> bool:
        return len(part) > 1 or any(place in self._edges[place] for place in part)

    def _hold_alone(self, cycle: frozenset[int]) -> None:
        def after(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
            for one, two in product(self._edges[pair[0]], self._edges[pair[1]]):
                if one in cycle and two in cycle:
                    both = self._edges[pair[0]][one] & self._edges[pair[1]][two]
                    if both:
                        yield one, two

        for part in components(product(cycle, cycle), after):
            same = [pair for pair in part if pair[0] == pair[1]]
            if same and len(same) < len(part):
                raise CanBacktrack("a repetition can read the same in two ways")

    def _leads(self, p: int, q: int, one: frozenset[int], two: frozenset[int]) -> bool:
        """Say whether a word leads from p to p, from p to q, and from q to q."""
        seen, todo = {(p, p, q)}, [(p, p, q)]
        while todo:
            a, b, c = todo.pop()
            for x, y, z in product(self._edges[a], self._edges[b], self._edges[c]):
                if x in one and z in two and (x, y, z) not in seen:
                    on = self._edges[a][x] & self._edges[b][y] & self._edges[c][z]
                    if on and (x, y, z) == (p, q, q):
                        return True
                    if on:
                        seen.add((x, y, z))
                        todo.append((x, y, z))
        return False


def components(nodes: Iterable[Any], after: Callable[[Any], Iterable[Any]]) -> list[frozenset[Any]]:
    """Return the strongly connected components of a graph (Kosaraju's algorithm)."""
    order, before = _by_end(nodes, after)
    found, done = list[frozenset[Any]](), set[Any]()
    for root in reversed(order):
        part, todo = set[Any](), [root]
        while todo:
            node = todo.pop()
            if node not in done:
                done.add(node)
                part.add(node)
                todo += before.get(node, ())
        if part:
            found.append(frozenset(part))
    return found


def _by_end(
    nodes: Iterable[Any], after: Callable[[Any], Iterable[Any]]
) -> tuple[list[Any], dict[Any, list[Any]]]:
    """Return nodes by when a walk in depth is done with them, and what leads to each."""
    order, before, seen = list[Any](), dict[Any, list[Any]](), set[Any]()
    for root in nodes:
        path = [] if root in seen else [(root, iter(list(after(root))))]
        seen.add(root)
        while path:
            node, rest = path[-1]
            other = next(rest, None)
            if other is None:
                order.append(node)
                path.pop()
                continue
            before.setdefault(other, []).append(node)
            if other not in seen:
                seen.add(other)
                path.append((other, iter(list(after(other)))))
    return order, before


_ANYWHERE = frozenset({"search", "sub", "subn", "findall", "finditer"})
_SEARCHES = _ANYWHERE - {"sub", "subn"}
_DIRECT = _ANYWHERE | {"match", "fullmatch", "split"}
_USES = re.compile(rf"\b(?:{'|'.join(sorted(_DIRECT))}|compile)\b")
"""What a module has that makes or uses a pattern; others need no look at their syntax."""


@cache
def own_patterns() -> tuple[tuple[str, re.Pattern[Any], bool], ...]:
    """Return the patterns of all modules: name, pattern, and whether it is looked for anywhere."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(plinian.__path__, "plinian.")
        if not found.name.endswith("__main__") and ".migrations." not in found.name
    ]
    anywhere = set[int]()
    for module in modules:
        source = Path(module.__file__ or "").read_text("utf-8")
        anywhere |= {id(vars(module).get(name)) for name in _sought(source)}
    return tuple(
        (f"{module.__name__}.{name}", pattern, id(pattern) in anywhere)
        for module in modules
        for name, value in vars(module).items()
        for pattern in _patterns_in(value, 4)
    )


def _patterns_in(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in value.values():
            yield from _patterns_in(one, depth - 1)
    elif depth and isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _patterns_in(one, depth - 1)


def _sought(source: str) -> Iterator[str]:
    """Yield the names of what is looked for anywhere, or split by."""
    if not _USES.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        anywhere = isinstance(node, ast.Attribute) and node.attr in {*_ANYWHERE, "split"}
        if isinstance(node, ast.Attribute) and anywhere and isinstance(node.value, ast.Name):
            yield node.value.id


def faults(source: str) -> list[str]:
    """Return where a module has patterns that :func:`own_patterns` would not see."""
    if not _USES.search(source):
        return []
    nodes = tuple(ast.walk(ast.parse(source)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    owners = {id(node): one.name for one in functions for node in ast.walk(one)}
    named = [node for node in nodes if isinstance(node, ast.Name)]
    # A function that is called as the module is loaded, and only then, is as good as its begin.
    at_begin = {node.id for node in named} - {node.id for node in named if id(node) in owners}
    uses_re = "re" in {node.id for node in named}
    found = []
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        of, does, owner = node.value.id, node.attr, owners.get(id(node))
        late = does == "compile" and owner is not None and owner not in at_begin
        if of == "re" and (late or does in _DIRECT):
            found.append(f"{node.lineno}: compile it where the module begins")
        elif of != of.upper() and (does in _SEARCHES or (does in _ANYWHERE and uses_re)):
            found.append(f"{node.lineno}: search with a pattern that has a name of its own")
    return found
