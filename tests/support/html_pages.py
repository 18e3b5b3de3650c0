"""Pages of HTML, read strictly: every element is closed in its order, and tables are found."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = frozenset({"meta", "br", "hr", "img", "input", "link", "wbr"})
"""Elements without an end."""

SHAPES = frozenset({"rect", "line", "path", "circle", "polyline", "polygon"})
"""Elements of SVG that are written as ``<rect/>``."""


class Page(HTMLParser):
    """A page that was read.

    :ivar elements: each element with its attributes, in order.
    :ivar tables: the rows of each table, with its head, by caption.
    :ivar text: all text outside the style sheet.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.text = ""
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self.feed(page)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {tag} {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SHAPES, f"{tag} is no shape"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> is in the wrong place"
        if tag == "table":
            self.tables[" ".join(self._caption.split())] = self._rows

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.text += data
        if "caption" in self._open:
            self._caption += data
        elif {"td", "th"} & set(self._open):
            self._rows[-1][-1] += data

    def attributes(self, name: str) -> list[str]:
        """Return the values of an attribute, of all elements."""
        return [found for _, attrs in self.elements if (found := attrs.get(name)) is not None]

    def has(self, tag: str, **wanted: str) -> bool:
        """Return whether there is an element with these attributes."""
        return any(one == tag and wanted.items() <= attrs.items() for one, attrs in self.elements)
