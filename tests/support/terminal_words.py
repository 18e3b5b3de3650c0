"""What is wrong with the output of a command in a terminal, compared with what a pipe gets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from in_terminals import Shown

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_SPELLED = re.compile(r"\\u[0-9a-f]{4}")
_LEFT_OUT = re.compile(
    r"columns not shown: [^(]+ \((?:-o wide shows all|a wider terminal and a pipe show all|"
    r"with -o wide this command shows all)\)"
)
_SHORTENED = re.compile(
    r"the hash(?:es are| is) shortened: (?:plinian head )?-o wide prints (?:them|it) whole, "
    r"to be copied"
)
_CHANGE = re.compile(r"^ +\S+: .* → .*$", re.MULTILINE)
"""A field with two values, which may be of any length: a terminal cuts them."""

_JOINT = re.compile(r"(?<=[,;/=])")
_SAYS = re.compile(r"\w")
_COPIED = re.compile(r"\s*(?:\$ )?(?:plinian|kubectl) ")
_FINDINGS = frozenset(
    {
        *("WHERE", "SEVERITY", "OBJECT", "RULE", "RELEASES", "FIELD", "EFFECT", "MESSAGE", "DO"),
        *("field:", "effect:", "do:"),
    }
)
"""Heads of the table of ``lint``, and names instead of them where findings are no table."""

_LANES = frozenset({"COMPONENT", "DOES"})
"""Heads of the table that stands for lanes where they do not fit side by side."""


def faults(shown: Shown) -> list[str]:
    """Return what is wrong at any width, each in one line."""
    command = " ".join(word[:30] for word in shown.words)
    found = [f"{command}: {fault}" for fault in _open_colons(shown.piped)]
    for width, text in shown.by_width.items():
        found += [f"{command} [{width}]: {one}" for one in _faults(shown, width, text)]
    return found


def _faults(shown: Shown, width: int, text: str) -> Iterator[str]:
    plain = left_on_screen(text)
    yield from (f"control character {found!r}" for found in set(_CONTROL.findall(plain)))
    if len(_SPELLED.findall(plain)) > len(_SPELLED.findall(shown.piped)):
        yield f"an escape: {_SPELLED.findall(plain)[0]}"
    if shown.fitted:
        yield from _too_long(plain, width)
    if _BAR.search(plain):
        yield "a bar of progress is left"
    if "plot" in shown.words or "--plot" in shown.words:
        return  # The words of a picture depend on its width.
    prose = " ".join(plain.split())
    prose = _SHORTENED.sub("", prose)
    some = _LEFT_OUT.sub("", prose)
    here, there = _words(some), _words(shown.piped)
    instead = _FINDINGS if "lint" in shown.words else _LANES
    yield from (f"broken: {word}" for word in sorted(here - instead) if not _is_of(word, there))
    if some == prose:
        whole = _words(_CHANGE.sub("", shown.piped)) - (_FINDINGS & instead)
        yield from (f"lost: {word}" for word in sorted(whole) if not _is_shown(word, here))
    elif not shown.fitted:
        yield "columns are left out"


def left_on_screen(text: str) -> str:
    """Return what a terminal shows at the end: bars of progress move, and remove themselves.

    Control characters that bars have no use for stay in the text.
    """
    lines, row = [""], 0
    for piece in _MOVE.split(_COLOUR.sub("", text.replace("\r\n", "\n"))):
        if piece == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif piece == "\x1b[1A":
            row = max(row - 1, 0)
        elif piece in {"\r\x1b[2K", "\x1b[2K", "\r"}:
            lines[row] = ""
        elif piece not in {"\x1b[?25l", "\x1b[?25h"}:
            lines[row] += piece
    return "\n".join(lines)


_BAR = re.compile(r"━+ +\d+% +[-\d]+:")
_MOVE = re.compile(r"(\n|\r\x1b\[2K|\x1b\[2K|\r|\x1b\[1A|\x1b\[\?25[lh])")


def _too_long(plain: str, width: int) -> Iterator[str]:
    for line in plain.splitlines():
        if len(line) > width and len(line.split()) > 1 and not _COPIED.match(line):
            yield f"{len(line)} columns: {line}"


def _open_colons(text: str) -> list[str]:
    """Return lines that end in a colon after which nothing comes."""
    return re.findall(r"^.*:(?=\n\n(?! )|\n?\Z)", text, re.MULTILINE)


def _words(text: str) -> set[str]:
    """Return the words of a text; pictures and rules of lines are none."""
    return {word for word in text.split() if _SAYS.search(word)}


def _is_of(word: str, words: set[str]) -> bool:
    """Say whether a word is one of others, or a part of one between joints, or shortened."""
    if word in words or not _SAYS.search(word):
        return True
    return any(word in one and word in _parts(one) for one in words) or (
        "…" in word and any(_is_short(word, one) for one in words)
    )


def _parts(word: str) -> set[str]:
    """Return all that stands between two joints of a word."""
    places = [0, *(found.start() for found in _JOINT.finditer(word)), len(word)]
    return {word[begin:end] for begin, end in combinations(dict.fromkeys(places), 2)}


def _is_short(word: str, one: str) -> bool:
    for found in re.finditer("…", word):
        head, tail = word[: found.start()], word[found.end() :]
        if head in one and tail in one and _fits(head, tail, one):
            return True
    return False


def _fits(head: str, tail: str, one: str) -> bool:
    """Say whether some part of a word begins and ends so."""
    return any(
        part.startswith(head) and part.endswith(tail) and len(part) >= len(head) + len(tail)
        for part in _parts(one)
    )


def _is_shown(word: str, shown: set[str]) -> bool:
    """Say whether a word is among those that are shown, whole, in parts or shortened."""
    if word in shown or any("…" in one and _is_short(one, word) for one in shown):
        return True
    pieces = [piece for piece in _JOINT.split(word) if _SAYS.search(piece)]
    return len(pieces) > 1 and all(
        any(piece in _parts(one) for one in shown if piece in one)
        or any("…" in one and _is_short(one, piece) for one in shown)
        for piece in pieces
    )
