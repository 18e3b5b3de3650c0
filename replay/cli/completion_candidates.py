"""Candidates for the word that a person is typing: commands, options, and values.

It imports nothing that takes long to load: the answer must be there before the next key is pressed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .arguments import command_of, is_flag, options_of, runs_alone

_SHORT_OPTION = re.compile(r"(-\w=?)(.+|(?<==))")
_CHOICE = re.compile(r"[a-z][\w-]*(?:=…)?")
_POINTS = ("end", "session:")
_FIELDS = ("metadata.name=", "metadata.namespace=", "spec.nodeName=", "status.phase=")
_SORTED_BY = (".metadata.name", ".metadata.creationTimestamp", ".spec.nodeName")
_PARTS = ("nodes", "jobs", "tasks", "queues", "hypernodes", "work")

_POD, _PODGROUP = ("", "Pod"), ("scheduling.volcano.sh", "PodGroup")
_NUMBERS = (
    *("allocated.cpu", "allocated.memory", "inqueue.cpu", "pods", "used.cpu", "used.memory"),
    *("idle.cpu", "idle.memory", "capability.cpu", "deserved.cpu", "guarantee.cpu", "phase"),
)
"""Numbers that ``blame`` is often used for."""

_NAMED_IN_FULL: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"--bound": _POD, "--pending": _POD, "--enqueued": _PODGROUP, "--phase": _PODGROUP}
)
_OF_PART: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "nodes": ("", "Node"),
        "jobs": _PODGROUP,
        "tasks": _POD,
        "queues": ("scheduling.volcano.sh", "Queue"),
        "hypernodes": ("topology.volcano.sh", "HyperNode"),
    }
)


class _Typed(NamedTuple):
    """The words that were typed.

    :param path: the command's name. :param words: what follows it, without the last word.
    :param given: the values of its options, by every spelling of the option.
    :param plain: arguments that are not options.
    """

    path: str
    words: Sequence[str]
    given: Mapping[str, str]
    plain: Sequence[str]

    @property
    def log(self) -> str:
        """The place of the log."""
        from os import environ

        from .options import DEFAULT_LOG

        return self.given.get("--log") or environ.get("PLINIAN_LOG") or DEFAULT_LOG

    @property
    def namespace(self) -> str | None:
        """The namespace to look in; None is all."""
        if "-A" in self.words or "--all-namespaces" in self.words:
            return None
        return self.given.get("-n") or "default"


def candidates_of(root: Any, words: Sequence[str]) -> list[str]:
    """Return the candidates for the last word, sorted.

    A shell that splits words at ``=`` gets the value alone; another gets the option with it.
    """
    words, typed = list(words[:-1]), words[-1]
    # bash makes = a word: it may be the last one, before any letter of the value.
    if typed == "=":
        typed = ""
        words.append("=")
    if words[-1:] == ["="] and len(words) > 1:  # bash: ["-o", "=", "js"]
        words.pop()
        return _matching(_of_words(root, words, typed), typed)
    # This = belongs to an option that has its value already.
    if words[-2:-1] == ["="]:
        words.pop(-2)
    if typed.startswith("--") and "=" in typed:
        name, _, value = typed.partition("=")
        values = _matching(_of_words(root, [*words, name], value), value)
        return [f"{name}={text}" for text in values]
    begun = _SHORT_OPTION.fullmatch(typed)
    # -5m is a point, and no option -5.
    if begun and not begun[1][1:2].isdigit():
        name = begun[1].rstrip("=")
        command, _, _ = command_of(root, words)
        item = options_of(command).get(name)
        if item is not None and not is_flag(item):
            values = _matching(_of_words(root, [*words, name], begun[2]), begun[2])
            return [f"{begun[1]}{text}" for text in values]
    return _matching(_of_words(root, words, typed), typed)


def _matching(texts: Iterable[str], typed: str) -> list[str]:
    return sorted({text for text in texts if text.startswith(typed)})


def _of_words(root: Any, words: Sequence[str], typed: str) -> Iterable[str]:
    command, path, rest = command_of(root, words)
    waiting = _waiting(command, words)
    if waiting is None:  # Options before the command: does one still need a value?
        before = _all(root) if words and words[-1].startswith("-") else ()
        waiting = next(filter(None, (_waiting(candidate, words) for candidate in before)), None)
    typing = _Typed(" ".join(path), rest, *_given(command, root, words, rest))
    if waiting is not None:
        return _values(waiting, typing, typed)
    if hasattr(command, "commands"):
        if len(typing.plain) > len(path):  # not the name of a command
            return ()
        if typed.startswith("-"):
            return [name for below in (command, *_all(command)) for name in _options(below)]
        return list(command.summaries())
    if typed.startswith("-"):
        return _options(command)
    return _arguments(typing, typed)


def _all(group: Any) -> Iterable[Any]:
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from _all(command)
        if not hasattr(command, "commands") or runs_alone(command):
            yield command


def _options(command: Any) -> list[str]:
    return [name for name, item in options_of(command).items() if not item.hidden]


def _waiting(command: Any, words: Sequence[str]) -> Any:
    """Return the option whose value is the next word, or None."""
    if not words or "=" in words[-1] or not words[-1].startswith("-"):
        return None
    last = words[-1]
    item = options_of(command).get(last if last.startswith("--") else f"-{last[-1]}")
    return None if item is None or is_flag(item) else item


def _given(
    command: Any, root: Any, words: Sequence[str], rest: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the values of options by every spelling, and the other arguments."""
    everywhere = any(word.startswith("-") for word in words) and hasattr(command, "commands")
    commands = _all(root) if everywhere else (command,)
    options = {
        name: item for candidate in commands for item in candidate.params for name in item.opts
    }
    given: dict[str, str] = {}
    plain: list[str] = []
    items = iter(words if hasattr(command, "commands") else rest)
    for word in items:
        name, equals, value = word.partition("=")
        item = options.get(name) if word.startswith("-") else None
        if not word.startswith("-"):
            plain.append(word)
        elif item is not None and not is_flag(item):
            text = value if equals else next(items, "")
            given |= dict.fromkeys(item.opts, text)
    return given, plain


def _values(option: Any, typed: _Typed, text: str) -> Iterable[str]:
    """Return the values that an option may have."""
    for name in option.opts:
        if name in _NAMED_IN_FULL:
            return _in_full(typed, _NAMED_IN_FULL[name], text)
        if name in _VALUES:
            return _VALUES[name](typed, text)
    written = option.metavar or ""
    return [choice.removesuffix("…") for choice in written.split("|") if _CHOICE.fullmatch(choice)]


def _arguments(typed: _Typed, text: str) -> Iterable[str]:
    """Return the arguments that may come next."""
    match typed.path:
        case "get" | "describe" | "history" | "why" | "path" | "events":
            return _objects(typed, text)
        case "blame" if not typed.plain:
            return _objects(typed, text)
        case "blame":
            return _NUMBERS
        case "release show" | "release diff":
            return _releases(typed, text)
        case "belief" if not typed.plain:
            before, comma, _ = text.rpartition(",")
            return [f"{before}{comma}{part}" for part in _PARTS]
        case "belief" if typed.plain[0] in _OF_PART:
            kind = _OF_PART[typed.plain[0]]
            in_full = kind in {_POD, _PODGROUP}
            return _in_full(typed, kind, text) if in_full else _names(typed, kind, text)
        case "diff":
            return _POINTS
        case "completion":
            return ("bash", "fish", "zsh")
        case _:
            return ()


def _objects(typed: _Typed, text: str) -> Iterable[str]:
    """Return kinds for the first word, and names of the log's objects after a kind."""
    from ...engine.kubernetes.resources import plural_of
    from ..objects.kind_names import names_for_completion

    kind, slash, begin = text.partition("/")
    if slash:
        own = [f"{kind}/{name}" for name in _names(typed, kind, begin)]
        return [*own, *(f"{kind}/{name}" for name in _elsewhere(typed, kind, begin))]
    if typed.plain and "/" not in typed.plain[0]:
        return _names(typed, typed.plain[0], text)
    before, comma, _ = text.rpartition(",")
    kinds = _look(typed, lambda log: [plural_of(*kind) for kind in log.kinds()])
    return [f"{before}{comma}{name}" for name in (*names_for_completion(), *kinds)]


def _names(typed: _Typed, kind: str | tuple[str, str], begin: str) -> list[str]:
    """Return names of all objects of a kind that the log has ever held."""
    from ..objects.kind_names import kind_named

    def look(log: Any) -> list[str]:
        pair = kind_named(kind, log.kinds()) if isinstance(kind, str) else kind
        return [name for _, name in log.names(pair, typed.namespace, begin)]

    return _look(typed, look)


def _elsewhere(typed: _Typed, kind: str, text: str) -> list[str]:
    """Return ``namespace/name`` of objects of a kind, if no namespace is chosen."""
    from ..objects.kind_names import kind_named

    if typed.namespace is None or "-n" in typed.given:
        return []
    place, slash, begin = text.partition("/")

    def look(log: Any) -> list[str]:
        names = log.names(kind_named(kind, log.kinds()), place if slash else None, begin)
        return [f"{space}/{name}" for space, name in names if space not in {"", "default"}]

    return _look(typed, look)


def _in_full(typed: _Typed, kind: tuple[str, str], text: str) -> list[str]:
    """Return ``namespace/name`` of objects of a kind."""
    from ..logs.given_names import stem_of

    place, slash, begin = text.partition("/")

    def look(log: Any) -> list[str]:
        if not slash:
            return [f"{namespace}/" for namespace in log.namespaces()]
        names = log.names(kind, place, begin)
        if kind == _PODGROUP:  # A PodGroup may be named by its job.
            names = [*names, *((space, stem_of(name)) for space, name in names)]
        return [f"{space}/{name}" for space, name in names]

    return _look(typed, look)


def _look(typed: _Typed, ask: Callable[[Any], list[str]]) -> list[str]:
    """Return what a log holds, and nothing if it cannot be read, or has no such kind."""
    import sqlite3

    from ...engine.errors import PlinianError
    from ..logs.completion_names import open_names

    try:
        with open_names(typed.log) as log:
            return ask(log)
    except (OSError, sqlite3.Error, PlinianError):
        return []


def _releases(typed: _Typed, text: str) -> list[str]:
    """Return the names of releases, also as the end of a range ``R1..R2``."""
    from ...engine.volcano.releases import RELEASES

    before, dots, _ = text.rpartition("..")
    every = ["all"] if typed.path in {"simulate", "lint", "explore"} and not dots else []
    return [*every, *(f"{before}{dots}{release}" for release in RELEASES)]


def _from_or_to(typed: _Typed, text: str) -> Iterable[str]:
    return _releases(typed, text) if typed.path == "upgrade-check" else _POINTS


def _kinds(typed: _Typed, text: str) -> list[str]:
    """Return kinds of objects, or in ``events`` of events."""
    before, comma, _ = text.rpartition(",")
    if typed.path == "events":
        from ...engine.events import KINDS

        nouns = sorted({kind.partition(".")[0] for kind in KINDS})
        kinds = [*KINDS, *(f"{noun}.*" for noun in nouns)]
    else:
        from ..objects.kind_names import names_for_completion

        kinds = names_for_completion()
    return [f"{before}{comma}{name}" for name in kinds]


def _rules(typed: _Typed, _text: str) -> Sequence[str]:
    from ..lint.rule_names import RULE_NAMES

    return RULE_NAMES if typed.path == "lint" else ()


def _invariants(_typed: _Typed, _text: str) -> Sequence[str]:
    from ...engine.invariants.ids import IDS

    return IDS


def _subjects(_typed: _Typed, _text: str) -> Sequence[str]:
    from ..compare.releases import all_subjects

    return all_subjects()


def _branches(typed: _Typed, _text: str) -> list[str]:
    return _look(typed, lambda log: log.branches())


def _points(typed: _Typed, _text: str) -> list[str]:
    return [*_POINTS, *(name for name in _branches(typed, "") if name != "main")]


_VALUES: Mapping[str, Callable[[_Typed, str], Iterable[str]]] = MappingProxyType(
    {
        "--namespace": lambda typed, _: _look(typed, lambda log: log.namespaces()),
        "--cluster": lambda typed, _: _look(typed, lambda log: log.clusters()),
        "--branch": _branches,
        **dict.fromkeys(("--at", "--since", "--until"), _points),
        **dict.fromkeys(("--from", "--to"), _from_or_to),
        **dict.fromkeys(("--release", "--releases"), _releases),
        "--kind": _kinds,
        **dict.fromkeys(
            ("--object", "--why"), lambda typed, text: _objects(typed._replace(plain=()), text)
        ),
        "--ignore": _rules,
        "--invariant": _invariants,
        "--subject": _subjects,
        "--field-selector": lambda _typed, text: _after_comma(text, _FIELDS),
        "--sort-by": lambda _typed, _text: _SORTED_BY,
        "--tz": lambda _typed, _text: _zones(),
    }
)


def _zones() -> list[str]:
    from zoneinfo import available_timezones

    return ["local", "UTC", *available_timezones()]


def _after_comma(text: str, values: Iterable[str]) -> list[str]:
    before, comma, _ = text.rpartition(",")
    return [f"{before}{comma}{value}" for value in values]
