"""Draw the pictures of the documents, and list the layers of the code in ``docs/architecture.md``.

``docs/answer.svg`` shows the console example below a heading of a page. A test runs that example,
so the picture shows what Plinian prints. ``docs/layers.svg`` and the table of layers show the
folders in the order of ``tests/support/layers.py``, with the first sentence of each folder's
docstring. The pictures are text in a few boxes, readable on light and on dark backgrounds.

``PYTHONPATH=tests/support python tools/picture.py`` writes; ``--check`` exits 1 if one is stale.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import layers

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

PAGE = "how-to/compare-releases.md"
HEADING = "One moment"
PARAGRAPHS = 4
"""How much of the example is shown: decisions, first difference, numbers, cause."""

LINE, LETTER, EDGE = 19, 8.0, 22
"""The height of a line, the width of a letter, and the margin, in pixels."""

WIDTH, MOST = 920, 92
"""The width of a layer, and how many letters of its purpose are drawn."""

STYLE = """
    .paper { fill: #fbfcfd; stroke: #c8d0da; }
    .box { fill: #e9eff6; stroke: #7b8798; }
    text { fill: #1f2530; }
    .head { fill: #5a6475; }
    .differs { fill: #a4460a; }
    .typed { font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #14181f; stroke: #39424f; }
      .box { fill: #232b36; stroke: #6b7788; }
      text { fill: #e4e9f0; }
      .head { fill: #9aa6b5; }
      .differs { fill: #f0a35e; }
    }
  """


def example(page: str, heading: str) -> list[str]:
    """Return the lines of the first console example below a heading of a page."""
    below = page.partition(f"\n## {heading}\n")[2]
    return below.partition("```console\n")[2].partition("\n```")[0].splitlines()


def kind(line: str) -> str:
    """Return the class of a line: typed, a head of columns, a difference, or plain."""
    if line.startswith("$ "):
        return "typed"
    if re.match(r"[A-Z]{4}[A-Z]* +\S", line) and line.upper()[:24] == line[:24]:
        return "head"
    if re.search(r" \* |  yes$|^v\d.*reject|^(enqueue|phase) ", line):
        return "differs"
    return "plain"


def svg(width: float, height: float, title: str, about: str, parts: Iterable[str]) -> str:
    """Return a picture with its title, its description and its parts."""
    return "\n".join(
        (
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
                ' role="img" aria-labelledby="title about"'
                ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"'
                ' font-size="13">'
            ),
            f'  <title id="title">{escape(title)}</title>',
            f'  <desc id="about">{escape(about)}</desc>',
            f"  <style>{STYLE}</style>",
            (
                f'  <rect class="paper" x="0.5" y="0.5" width="{width - 1:g}"'
                f' height="{height - 1:g}"'
                ' rx="8"/>'
            ),
            *(f"  {part}" for part in parts),
            "</svg>\n",
        )
    )


def words(x: float, y: float, said: str, mark: str = "plain") -> str:
    """Return a line of text; its width is given, so that columns stay columns in any font."""
    return (
        f'<text class="{mark}" x="{x:g}" y="{y:g}" xml:space="preserve"'
        f' textLength="{len(said) * LETTER:g}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(said)}</text>"
    )


def answer() -> str:
    """Return the picture of an answer."""
    shown = "\n".join(example((DOCS / PAGE).read_text("utf-8"), HEADING)).split("\n\n")
    lines = "\n\n".join(shown[:PARAGRAPHS]).splitlines()
    return svg(
        2 * EDGE + LETTER * max(map(len, lines)),
        2 * EDGE + LINE * len(lines) - 6,
        "Two releases decide differently, and why",
        "The console's answer: what v1.11.0 and v1.12.1 decide, the first step of their traces "
        "that differs, the numbers that were compared there, and the behaviour that is the cause.",
        [
            words(EDGE, EDGE + 8 + LINE * row, line, kind(line))
            for row, line in enumerate(lines)
            if line
        ],
    )


def purpose(folder: str) -> str:
    """Return the first sentence of a folder's docstring."""
    path = ROOT / (folder.replace(".", "/") or "replay/api") / "__init__.py"
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return re.sub(r":\w+:", "", " ".join(said.partition("\n\n")[0].split()))


def bands(order: Sequence[str]) -> list[str]:
    """Return the large parts, lowest first: ``engine/ingest`` stands for all folders in it."""
    parts = ("/".join(name.split(".")[:2]) for name in order)
    return list(dict.fromkeys("migrations" if "migrations" in part else part for part in parts))


def layer_picture() -> str:
    """Return the picture of the layers: each imports only what is drawn below it."""
    drawn = list(reversed(bands(layers.ORDER)))
    parts: list[str] = []
    for row, part in enumerate(drawn):
        top = EDGE + row * (LINE + 12)
        said = purpose(part.replace("/", ".")).partition(";")[0].replace("`", "").rstrip(".")
        short = said if len(said) <= MOST else f"{said[:MOST]}…"
        parts += [
            f'<rect class="box" x="{EDGE}" y="{top}" width="{WIDTH}" height="{LINE + 6}" rx="4"/>',
            words(EDGE + 12, top + 17, part or "plinian", "typed"),
            words(EDGE + 160, top + 17, short, "head"),
        ]
    return svg(
        WIDTH + 2 * EDGE,
        2 * EDGE + len(drawn) * (LINE + 12) - 6,
        "The layers of the code",
        "The folders, one above the other. A folder imports only folders drawn below it.",
        parts,
    )


def layer_table() -> str:
    """Return the rows of the table of layers, highest first."""
    rows = (
        f"| `{folder.replace('.', '/') or 'plinian'}` | {purpose(folder)} |"
        for folder in reversed(layers.ORDER)
    )
    return "\n".join(("| folder | what is in it |", "| --- | --- |", *rows))


def architecture() -> str:
    """Return the page about the architecture, with the table of layers as it is now."""
    page = (DOCS / "architecture.md").read_text("utf-8")
    table = f"<!-- layers -->\n{layer_table()}\n<!-- end -->"
    return re.sub(r"<!-- layers -->\n.*?<!-- end -->", lambda _: table, page, flags=re.DOTALL)


MADE = {"answer.svg": answer, "layers.svg": layer_picture, "architecture.md": architecture}


def main() -> int:
    """Write the files, or with ``--check`` compare them with the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args().check
    stale = 0
    for name, draw in MADE.items():
        path, fresh = DOCS / name, draw()
        if path.exists() and path.read_text("utf-8") == fresh:
            continue
        stale += 1
        if check:
            print(f"{path.name} is stale: run PYTHONPATH=tests/support python tools/picture.py")
        else:
            path.write_text(fresh, "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
