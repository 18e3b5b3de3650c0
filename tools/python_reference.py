"""The page of the Python API: functions, the log, results and errors, from what is exported."""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import plinian
from markup import documented, table
from plinian.replay.tabular.tabular import Tabular

MACHINERY = frozenset({"RecordedBehaviours", "ProcessState"})
"""Classes inside results that are parts of the engine: they are not for programs to rest on."""


def python() -> Iterator[str]:
    """Yield the page of the Python API: what the top-level package lists."""
    yield from ("# Python", "")
    yield from documented(plinian)
    named = {name: getattr(plinian, name) for name in plinian.__all__ if name != "Log"}
    functions = {name: thing for name, thing in named.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in named.items() if inspect.isclass(thing)}
    failing = {n: thing for n, thing in classes.items() if issubclass(thing, Exception)}
    yield "`plinian.__version__` is the version of Plinian, as a string."
    yield ""
    for name, thing in functions.items():
        yield from (f"## {name}", "")
        yield from ("```python", f"{name}{signature(thing)}", "```", "", *documented(thing))
    yield from ("## Log", "", *documented(plinian.Log), *_methods(plinian.Log))
    yield from ("## Tables", "", *documented(Tabular), *_methods(Tabular))
    yield from ("## Results", "")
    results = {name: thing for name, thing in classes.items() if name not in failing}
    for name, thing in results.items():
        yield from _record(name, thing)
    yield from ("## Inside results", "")
    for name, thing in _inside(results.values()):
        yield from _record(name, thing)
    yield from ("## Errors", "")
    yield "[Errors](errors.md) says what each means."
    yield ""
    yield from table(
        ("exception", "a kind of"),
        (
            (f"[`{name}`](errors.md#{name.lower()})", f"`{thing.__bases__[0].__name__}`")
            for name, thing in failing.items()
        ),
    )


def _methods(thing: type) -> Iterator[str]:
    """Yield the methods of a class and of the classes of ours that it is made of."""
    found: dict[str, object] = {}
    for base in reversed(thing.__mro__[:-1]):
        found |= vars(base)
    for name, method in found.items():
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        yield from (f"### {thing.__name__}.{name}", "")
        yield from ("```python", f"{name}{signature(method)}", "```", "", *documented(method))


def _record(name: str, thing: type) -> Iterator[str]:
    """Yield what a class of results says, its fields with their types, and its properties."""
    yield from (f"### {name}", "", *documented(thing))
    if issubclass(thing, Tabular) and "tables" in vars(thing):
        about = inspect.getdoc(thing.tables) or ""
        what = about.removeprefix("Return ").partition("\n")[0]
        yield from (f"[Tables](#tables): {what}", "")
    rows = [(f"`{field}`", _type_text(hint)) for field, hint in _hints(thing).items()]
    rows += [
        (f"`{field}`", _type_text(inspect.signature(getter).return_annotation))
        for field, getter in _getters(thing)
    ]
    if rows:
        yield from table(("field", "type"), rows)


_RECORDS = ("__struct_fields__", "_fields", "__dataclass_params__")
"""What structs, named tuples and dataclasses have, whether or not they have another document."""


def _getters(thing: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, member in vars(thing).items():
        if isinstance(member, property) and member.fget is not None and name[0] != "_":
            yield name, member.fget
        elif isinstance(member, cached_property):
            yield name, member.func


def _hints(thing: type) -> dict[str, str]:
    """Return the fields of a struct, a named tuple or a dataclass as they are annotated."""
    found: Mapping[str, Any] = {}
    if any(getattr(thing, mark, None) for mark in _RECORDS):
        ours = (base for base in reversed(thing.__mro__) if base.__module__.startswith("plinian"))
        found = {
            name: hint for base in ours for name, hint in inspect.get_annotations(base).items()
        }
    # Named tuples keep what is annotated as a forward reference.
    texts = {name: getattr(hint, "__forward_arg__", hint) for name, hint in found.items()}
    return {name: text for name, text in texts.items() if name[0] != "_"}


def _type_text(hint: str) -> str:
    return f"`{public(hint)}`".replace("|", "\\|")


def _inside(shown: Iterable[type]) -> Iterator[tuple[str, type]]:
    """Yield the classes of ours that fields of others have, as far as they have fields."""
    known = list(shown)
    found: dict[type, type] = {}
    waiting = list(known)
    while waiting:
        thing = waiting.pop(0)
        scope = vars(sys.modules[thing.__module__])
        hints = [*_hints(thing).values()]
        hints += [inspect.signature(getter).return_annotation for _, getter in _getters(thing)]
        for word in dict.fromkeys(re.findall(r"\w+", " ".join(hints))):
            other = scope.get(word)
            if not inspect.isclass(other) or other in known or other in found:
                continue
            if _hints(other) and other.__name__ not in MACHINERY:
                found[other] = thing
                waiting.append(other)
    names = Counter(thing.__name__ for thing in found)
    for thing, of in sorted(found.items(), key=lambda pair: pair[0].__name__):
        name = thing.__name__
        yield f"{name}, of {public(of.__name__)}" if names[name] > 1 else name, thing


def signature(function: Callable[..., Any]) -> str:
    """Return a function's signature, on several lines where it is long."""
    found = inspect.signature(function)
    parts = [_parameter(part) for part in found.parameters.values() if part.name != "self"]
    kinds = [part.kind for part in found.parameters.values() if part.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    back = found.return_annotation
    answer = "" if back is inspect.Signature.empty else f" -> {public(str(back))}"
    short = f"({', '.join(parts)}){answer}"
    if len(short) <= 80:
        return short
    return "(\n    {},\n){}".format(",\n    ".join(parts), answer)


def _parameter(part: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    hint = f": {public(str(part.annotation))}"
    default = "" if part.default is inspect.Parameter.empty else f" = {part.default!r}"
    return f"{stars.get(part.kind, '')}{part.name}{hint}{default}"


def public(hint: str) -> str:
    """Return a type as users may import it: some classes have another name in the package."""
    for name in plinian.__all__:
        own = getattr(getattr(plinian, name), "__name__", name)
        if own != name and inspect.isclass(getattr(plinian, name)):
            hint = re.sub(rf"\b{own}\b", name, hint)
    return hint
