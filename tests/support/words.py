"""Words that pages, help texts and messages do not use, as data, each with what to use instead.

A pattern is looked for in any case, unless it is written in capitals. The law reads pages, and the
string literals, docstrings and comments of code. Names in backquotes, commands and their output are
not prose and are not read.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

INSTEAD = (
    (r"(is|are|was|were|be|been|what) told", "is reported; says; shows"),
    (r"(tells?|told) of", "records; shows; says"),
    (r"tells? (what|which|when|how|where|nothing|everything|it)", "says; shows"),
    (r"what no object tells", "inputs that are not Kubernetes objects"),
    (r"asks? nobody|nobody asks|(is|are) asked (of|for)", "checks; queries; needs"),
    (r"asks? for an effect", "reads a behaviour"),
    (r"draws? lots|rolls? dice|by lot|(by|to) chance|chance has", "picks at random"),
    (r"lies?|lain|lay|lying", "runs on; is in; is"),
    (r"dies", "panics; ends"),
    (r"ways? parts?|parted|they part|sessions part", "the first difference; differ"),
    (r"(hold|holds|held) against", "compared with"),
    (r"names no (point|moment)", "invalid --at"),
    (r"belief and truth agree", "the scheduler's cache matches the API server"),
    (r"questions are asked", "choose exactly one of …"),
    (r"did nothing here", "had no effect"),
    (r"what was committed", "verified: no changes"),
    (r"out of account", "ignore"),
    (r"anew", "again; rebuilt"),
    (r"founded", "created"),
    (r"comes? by such", "obtain"),
    (r"who(so)?ever", "a person who; code that"),
    (r"whom", "which"),
    (r"nobody", "no one; nothing; no pod"),
    (r"a matter of", "drop it"),
    (r"of (its|one's|their|our) own", "separate; custom; its"),
    (r"kin", "related objects"),
    (r"at a glance", "overview"),
    (r"spared?", "skip"),
    (r"(give|gives|gave|given) way", "yields"),
    (r"(take|takes|taken|took) it for", "treat as"),
    (r"comes? to lie|to be had", "drop it"),
    (r"SAID|BECAUSE|WAITS BECAUSE", "EVENT; MESSAGE; PENDING REASON"),
    (r"THE LATER OF THEM|OTHER THAN THE ONE BEFORE", "WHAT CHANGES"),
    (r"CONSULTED THERE|DECIDES IT", "CHECKED; CAUSE"),
)
"""Patterns of whole words, and what to use in their place."""

CHECKED_CODE = ("engine/", "replay/", "benchmarks/", "tools/")
"""Code whose string literals, docstrings and comments are read."""

NOT_CHECKED = ("docs/reference/", "docs/decisions/", "docs/behaviours.md")
"""Pages that are made from docstrings and rows, and records of what was decided at a time."""

# Another branch rewrites these folders. The merge of both empties the tuple.
_STYLE = re.compile(r"^## How we write\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
_NOT_PROSE = re.compile(
    r"^(```|~~~)[^\n]*\n.*?^\1$|<!--.*?-->|`[^`\n]+`|\]\([^)]*\)", re.MULTILINE | re.DOTALL
)
_NAMES = re.compile(r"``[^`]+``|`[^`\n]+`")
_PATTERNS = tuple(
    (re.compile(rf"\b({pattern})\b", 0 if pattern.isupper() else re.IGNORECASE), instead)
    for pattern, instead in INSTEAD
)
_CAPITALS, _SMALL = (
    re.compile(
        rf"\b({'|'.join(pattern for pattern, _ in INSTEAD if pattern.isupper() == upper)})\b"
    )
    for upper in (True, False)
)


def _may_have(text: str) -> bool:
    """Say whether a text may have such a word: one look for all of them."""
    return bool(_SMALL.search(text.lower()) or _CAPITALS.search(text))


def prose(page: str) -> str:
    """Return a page without commands, output, names in backquotes and the list of such words."""
    kept = _STYLE.sub("", page)
    return _NOT_PROSE.sub(_without_name, kept)


def texts(code: str) -> Iterator[tuple[int, str]]:
    """Yield the string literals, docstrings and comments of a module with their first lines.

    Comments are left out where none has such a word.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, _NAMES.sub(_without_name, node.value)
    if _may_be_in_comments(code):
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], _NAMES.sub(_without_name, token.string)


def _may_be_in_comments(code: str) -> bool:
    """Say whether what looks like a comment has such a word; to read tokens takes much longer."""
    ends = "\n".join(line[line.index("#") :] for line in code.splitlines() if "#" in line)
    return any(map(_may_have, (ends, _NAMES.sub(_without_name, ends))))


def _without_name(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n") + " "


def found(path: str, text: str) -> list[str]:
    """Return the words of a file that are not used, one line each with what to use instead."""
    parts = list(texts(text)) if path.endswith(".py") else [(1, prose(text))]
    return [
        f"{path}:{first + part.count(chr(10), 0, match.start())}: “{match[0]}”: use {instead}"
        for first, part in parts
        if _may_have(part)
        for pattern, instead in _PATTERNS
        for match in pattern.finditer(part)
    ]
