"""A page of the server as one file: it needs no server, no network and no script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser

_VOID = frozenset({"meta", "br", "hr", "img", "input", "link", "wbr"})
"""Elements without an end."""

_LEFT_OUT = frozenset(
    {"script", "noscript", "dialog", "link", "input", "select", "textarea", "button", "label"}
)
"""Elements that need a server or a script, with all that is in them."""

_LIVE = "data-live"
"""An attribute of other elements that are left out likewise."""

_POLICY = (
    "default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def one_file(page: str, sheet: Callable[[str], str]) -> str:
    """Return a page as one file.

    Style sheets are put into it. Forms and scripts are left out, and the targets of links, except
    of those within the page.

    :param page: well-formed HTML. :param sheet: returns the text of a style sheet by its name.
    """
    reader = _Reader(sheet)
    reader.feed(page)
    reader.close()
    # The policy names the hash of all style sheets, so it is known only after the last one.
    style = "".join(reader.sheets)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest=digest)}">\n'
        f'<meta name="referrer" content="no-referrer">\n<style>{style}</style>\n'
    )
    return "".join(reader.parts).replace("</head>", f"{head}</head>", 1)


class _Reader(HTMLParser):
    """Copies a page; what is left out is read to its end.

    :ivar parts: of the file. :ivar sheets: the texts of the page's style sheets.
    """

    def __init__(self, sheet: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.sheets: list[str] = []
        self._sheet = sheet
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") == "stylesheet":
            self.sheets.append(self._sheet(str(given["href"]).rpartition("/")[2]))
        if self._skipped or tag in _LEFT_OUT or _LIVE in given:
            # More elements may be in it: the stack says where it ends. Void elements have no end.
            if tag not in _VOID:
                self._skipped.append(tag)
            return
        text = self.get_starttag_text() or ""
        if tag == "form":
            text = "<div>"
        elif tag == "a" and not str(given.get("href") or "#").startswith("#"):
            text = "<a>"
        self.parts.append(text)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._skipped and tag not in _LEFT_OUT and _LIVE not in dict(attrs):
            self.parts.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._skipped.pop()
            return
        self.parts.append("</div>" if tag == "form" else f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self.parts.append(f"<!{decl}>")
