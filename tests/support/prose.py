"""Laws about sentences: nothing takes our own apart, and facts of sessions are no sentences.

A sentence is made last, where it is printed. What is decided upon before is a code, a subject or a
number. What others write is data, and may be read: inputs, logs, and messages of Volcano.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from laws import Finding, Source, imported, within

READING = frozenset(
    {
        *("startswith", "endswith", "removeprefix", "removesuffix", "replace"),
        *("split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex"),
        *("compile", "match", "fullmatch", "search", "findall", "finditer", "sub"),
    }
)
"""Methods of texts, and functions of ``re``, that look into a text or take it apart."""

WRITTEN_BY_OTHERS = MappingProxyType(
    {
        "engine.ingest": "inputs, and what parsers say of them",
        "engine.kubernetes": "amounts, times and patterns of users, and what parsers say of them",
        "engine.log.sqlite_check": "what SQLite says of a file",
        "engine.cache.projector": "the command line of a scheduler",
        "replay.answers.contradicting": "conditions that Volcano's scheduler wrote",
        "replay.capture.recorder_kubeconfig": "what the package kubernetes logs",
        "replay.facade.question_method": "docstrings",
        "replay.fidelity.attempts": "conditions that Volcano's scheduler wrote",
        "replay.logs.logged_confs": "the scheduler's log",
        "replay.recorded.recorded_sessions": "the scheduler's log",
        "replay.server.api.openapi": "docstrings",
        "replay.lint.conf_rules": "why Volcano and a parser of YAML refuse a configuration",
        "replay.lint.other_admission_rules": "schedules of cron that users write",
        "replay.render.simulation": "results of scenarios, as the contract of fidelity has them",
        "replay.server.guard": "headers of requests",
        "replay.truth.points": "times that users write",
    }
)
"""Parts that read what somebody else wrote, with what it is."""

NOT_SENTENCES = MappingProxyType(
    {
        "engine.controllers.kubelet": "names of steps, which tokens hold",
        "engine.machine": "names of steps and of their faults, which tokens hold",
        "replay.render.device_list": "names of steps, which tokens hold",
        "replay.cli.command": "names of commands",
        "replay.cli.question_command": "names of commands",
        "replay.server.api.operation": "whether an error names a command",
        "replay.server.web.routes": "names of files",
        "replay.moments.zones": "times in printed text, which have one form",
        "replay.plot": "the style of a picture",
        "replay.render.layout": "lines of printed tables",
        "replay.render.short_names": "cells of printed tables",
        "replay.render.tables": "lines of printed tables",
    }
)
"""Parts that look into texts of ours that are names, pictures or tables, with what they are."""

FACTS = frozenset(
    {
        *("TraceStep", "Vote", "SkippedTask", "StoppedByQueues", "Unregistered"),
        *("QueueHolder", "QueueLevel", "QueueCheck", "ReservationCheck", "QuotaCheck"),
        *("NodeMiss", "RefusingNodes", "NodesChecked", "GangCounts", "Gated", "Spared"),
        *("HypernodeTry", "HypernodeRoom", "HypernodesChecked", "TriedNode"),
        *("EvictionTrials", "EvictionSearch", "EvictionVotes", "detail", "spare"),
    }
)
"""What makes facts of a session; and the steps of a trace, ``trace.add``."""

SAID_BY_PLUGINS = frozenset({"message"})
"""Fields of facts that have the words of a plugin: what the scheduler would write."""

_WORDS = re.compile(r"[A-Za-z]{2}'?,? |,? [A-Za-z]{2}")
"""Words with a space beside them."""

_DIVIDES = re.compile(r"[:,]? ")
"""What divides words."""

Constants = Mapping[str, str]


def constants_of(sources: Iterable[Source]) -> Constants:
    """Return the texts of constants of modules, by their full names."""
    found = {}
    for source in sources:
        for node in source.tree.body:
            if not isinstance(node, ast.Assign):
                continue
            pairs: list[tuple[ast.expr, ast.expr]] = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found[f"{source.module}.{name.id}"] = _text_of(value)
    return found


def taken_apart(source: Source, constants: Constants) -> Iterator[Finding]:
    """Nothing looks for words in a text of ours: who made it knows what they say."""
    known = {name.rpartition(".")[2]: name for _, name, _ in imported(source)}
    for node in source.nodes:
        for asked in _asked(node):
            for part in ast.walk(asked):
                text = _text_of(part)
                if isinstance(part, ast.Name):
                    own = f"{source.module}.{part.id}"
                    text = constants.get(own) or constants.get(known.get(part.id, ""), "")
                if _WORDS.search(text) or _DIVIDES.fullmatch(text):
                    yield Finding(source.path, node.lineno, f"looks for {text[:40]!r} in a text")
                    break


def may_read(source: Source) -> str:
    """Return the part that lets a module look for words in texts; empty if none does."""
    parts = (*WRITTEN_BY_OTHERS, *NOT_SENTENCES)
    return next((part for part in parts if within(source.module, f"plinian.{part}")), "")


def told(source: Source) -> Iterator[Finding]:
    """No fact of a session is a sentence: it has codes, subjects and numbers."""
    for node in source.nodes:
        if not isinstance(node, ast.Call) or not _makes_fact(node.func):
            continue
        given = [
            *node.args,
            *(one.value for one in node.keywords if one.arg not in SAID_BY_PLUGINS),
        ]
        if _called(node.func) == "Vote":
            del given[1:2]
        for value in given:
            text = next((text for part in ast.walk(value) if (text := _text_of(part))), "")
            if _WORDS.search(text):
                yield Finding(source.path, node.lineno, f"a fact is told: {text[:40]!r}")


def _makes_fact(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and function.attr == "add":
        return ast.unparse(function.value).endswith("trace")
    return _called(function) in FACTS


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _asked(node: ast.AST) -> list[ast.expr]:
    """Return what a node looks for in a text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args[:1] if node.func.attr in READING else []
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return [node.left] if _text_of(node.left) else []
    return []


def _text_of(node: ast.AST) -> str:
    """Return the text that a node writes; empty if it writes none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "0" for part in node.values)
    return ""
