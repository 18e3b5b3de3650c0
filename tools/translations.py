"""Keep the Chinese pages in step with the English ones: block by block, figure by figure.

A translated page has the blocks of its English page in the same order: headings, paragraphs, items
of lists, rows of tables, pictures and code. Code is the same to the letter, so no command of a
Chinese page has to be run again. Of what is prose, figures, names in backquotes and links are the
same; a link may lead to the translation of the page that the English one names.

``python tools/translations.py`` writes the code of the English pages into the Chinese ones, and
prints what else differs; with ``--check`` it writes nothing. It exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

PAIRS: Mapping[str, str] = MappingProxyType(
    {
        "README.zh-CN.md": "README.md",
        "docs/zh/tutorial.md": "docs/tutorial.md",
        "docs/zh/volcano.md": "docs/volcano.md",
        **{
            f"docs/zh/articles/{name}.md": f"docs/articles/{name}.md"
            for name in (
                "000-negative-idle",
                "001-child-above-parent",
                "002-podgroup-forgotten",
                "003-ignored-devices-race",
                "004-children-overrun-parent",
            )
        },
    }
)
"""Chinese pages that are translated block by block, and their English pages."""

OVERVIEWS: Mapping[str, str] = MappingProxyType(
    {
        "docs/zh/index.md": "docs/index.md",
        "docs/zh/commands.md": "docs/reference/commands.md",
        "docs/zh/glossary.md": "docs/glossary.md",
    }
)
"""Chinese pages that are about the same as an English page, and shorter."""

CODE = re.compile(r"(?:^<!--[^\n]*-->\n)*^(```|~~~)[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
"""A block of code with the marks above it."""

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NAME = re.compile(r"`([^`\n]+)`")
_UNITS = MappingProxyType(
    {"毫秒": "ms", "微秒": "us", "秒": "s", "分钟": "min", "小时": "h", "天": "d"}
    | {"ms": "ms", "s": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min"}
    | {"hour": "h", "hours": "h", "day": "d", "days": "d", "microsecond": "us"}
)
_FIGURE = re.compile(
    r"(?:[A-Za-z]+-?)?\d+(?:[.:,^]+\d+)*[A-Za-z]*"
    rf"(?: (?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})(?![A-Za-z]))?"
)
_MARKER = re.compile(r"\s*(?:[-*]|\d+\.) +")


class Block(NamedTuple):
    """A part of a page: its kind, its first line and its text."""

    kind: str
    line: int
    text: str


def blocks(page: str) -> list[Block]:
    """Return a page as its blocks."""
    found: list[Block] = []
    at = 0
    for code in CODE.finditer(page):
        found += _prose(page[at : code.start()], page.count("\n", 0, at) + 1)
        found.append(Block("code", page.count("\n", 0, code.start()) + 1, code[0]))
        at = code.end()
    return found + list(_prose(page[at:], page.count("\n", 0, at) + 1))


def _prose(text: str, first: int) -> Iterator[Block]:
    """Yield the blocks of what is no code; lines of a paragraph are joined."""
    open_block: Block | None = None
    for number, line in enumerate(text.split("\n"), start=first):
        kind = _kind(line)
        if open_block and kind in {"paragraph", "code"}:  # a line goes on
            open_block = open_block._replace(text=f"{open_block.text} {line.strip()}")
            continue
        if open_block:
            yield open_block
        open_block = None
        if kind in {"paragraph", "item"}:
            open_block = Block(kind, number, line.strip())
        elif kind:
            yield Block(kind, number, line)
    if open_block:
        yield open_block


def _kind(line: str) -> str:
    """Return what kind of block a line begins or is; an empty line is none."""
    heading = re.match(r"(#+) ", line)
    if heading:
        return f"heading {len(heading[1])}"
    if re.match(r"(?:English|\[English\]\([^)]*\)) \| ", line):
        return "languages"
    if line.startswith("|"):
        return f"row of {line.count('|') - 1}"
    if line.startswith("!["):
        return "picture"
    if _MARKER.match(line):
        return "item"
    return "paragraph" if line.strip() else ""


def figures(text: str) -> Counter[str]:
    """Return the figures of a text: numbers with their units, releases, times, issues."""
    text = _NAME.sub(" ", _LINK.sub("]", re.sub(rf"^{_MARKER.pattern}", "", text)))
    return Counter(
        " ".join((number, *(_UNITS[unit] for unit in units)))
        for number, *units in (found.split() for found in _FIGURE.findall(text))
    )


def names(text: str) -> Counter[str]:
    """Return what a text has in backquotes."""
    return Counter(_NAME.findall(text))


def links(path: str, text: str, pages: Mapping[str, str]) -> Counter[str]:
    """Return where the links of a text lead, by the paths of English pages and their headings.

    :param path: the page that has the text.
    :param pages: the text of each page that has a translation, and of each translation.
    """
    return Counter(_target(path, link, pages) for link in _LINK.findall(text))


def _target(path: str, link: str, pages: Mapping[str, str]) -> str:
    if re.match(r"[a-z]+:", link):
        return link
    file, _, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
    english = {**PAIRS, **OVERVIEWS}.get(target, target)
    if not anchor:
        return english
    if english in PAIRS.values():
        anchors = [_slug(each.text) for each in _headings(pages[target])]
        anchor = str(anchors.index(anchor)) if anchor in anchors else f"no heading {anchor}"
    return f"{english}#{anchor}"


def _headings(page: str) -> list[Block]:
    return [block for block in blocks(page) if block.kind.startswith("heading")]


def _slug(heading: str) -> str:
    """Return the anchor of a line that is a heading."""
    plain = re.sub(r"^#+ |[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def differences(chinese: str, pages: Mapping[str, str]) -> list[str]:
    """Return where a translated page and its English page differ, one line for each place.

    :param chinese: the path of the translated page.
    :param pages: the text of each page by its path.
    """
    english = PAIRS[chinese]
    ours, theirs = blocks(pages[chinese]), blocks(pages[english])
    found = [
        f"{chinese}:{our.line} and {english}:{their.line}: {what}"
        for our, their in zip(ours, theirs, strict=False)
        for what in block_differences((chinese, our), (english, their), pages)
    ]
    if len(ours) != len(theirs):
        found.append(f"{chinese} has {len(ours)} blocks, {english} {len(theirs)}")
    return found


def block_differences(
    ours: tuple[str, Block], theirs: tuple[str, Block], pages: Mapping[str, str]
) -> Iterator[str]:
    """Yield in what a block differs from that of the English page; each comes with its path."""
    (path, our), (english, their) = ours, theirs
    if our.kind != their.kind:
        yield f"a {our.kind} is a {their.kind}"
    elif our.kind == "code":
        if our.text != their.text:
            yield "other code: run python tools/translations.py"
    elif our.kind != "languages":
        yield from _unequal("figure", figures(our.text), figures(their.text))
        yield from _unequal("name", names(our.text), names(their.text))
        leads = links(path, our.text, pages), links(english, their.text, pages)
        yield from _unequal("link", *leads)
        yield from _untranslated(path, our.text)


def _untranslated(path: str, text: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    for link in _LINK.findall(text):
        target = posixpath.normpath(posixpath.join(folder, link.partition("#")[0]))
        if target in PAIRS.values():
            yield f"link {link!r} leads to a page that is translated"


def _unequal(what: str, ours: Counter[str], theirs: Counter[str]) -> Iterator[str]:
    for only, where in ((ours - theirs, "Chinese"), (theirs - ours, "English")):
        for value in only.elements():
            yield f"{what} {value!r} is only in the {where} page"


def with_code(chinese: str, english: str) -> str:
    """Return a translated page with the code of the English page, if both have as many blocks."""
    fresh = [match[0] for match in CODE.finditer(english)]
    if len(fresh) != len(CODE.findall(chinese)):
        return chinese
    following = iter(fresh)
    return CODE.sub(lambda _: next(following), chinese)


def read() -> dict[str, str]:
    """Return the text of each page that has a translation, and of each translation."""
    return {path: (ROOT / path).read_text("utf-8") for pair in PAIRS.items() for path in pair}


def main() -> int:
    """Write the code of the English pages into the Chinese ones; print what else differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    pages = read()
    for chinese, english in () if options.check else PAIRS.items():
        fresh = with_code(pages[chinese], pages[english])
        if fresh != pages[chinese]:
            (ROOT / chinese).write_text(fresh, "utf-8")
            pages[chinese] = fresh
    found = [line for chinese in PAIRS for line in differences(chinese, pages)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
