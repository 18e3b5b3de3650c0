"""The templates: what is put into them is escaped, and control characters are spelled out."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ...engine.errors import UsageError
from ...engine.kubernetes.counts import counted
from ..logs.given_names import shortened
from ..render.screen import one_line
from ..render.state_looks import STATES, look_of, state_rules
from ..render.tables import NONE, Table

_JOINT = re.compile(r"(?<=[,/;])")
_STEP = re.compile(r"(?<=[./])|(?=\[)")
_FOLDER = Path(__file__).with_name("templates")
_AMOUNT = r"[0-9][0-9.,]* ?[A-Za-z]{0,2}"
_NUMBER = re.compile(rf"(?:≥ |[~≥@+-])?(?:rv:)?{_AMOUNT}(?:/{_AMOUNT})?")


@cache
def environment() -> Environment:
    """Return the environment that all pages are made in."""
    templates = Environment(
        loader=FileSystemLoader(_FOLDER, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    templates.filters["numeric"] = numeric
    templates.filters["breakable"] = breakable
    templates.filters["dotted"] = dotted
    templates.filters["verbatim"] = verbatim
    templates.filters["query"] = query_of
    templates.filters["short_name"] = short_name
    templates.filters["state_look"] = look_of
    templates.globals["absent"] = NONE
    templates.globals["states"] = STATES
    templates.globals["counted"] = counted
    return templates


def _shown(value: Any) -> Any:
    """Return a value as it is put into a page: without control characters.

    Markup of our templates stays as it is.
    """
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return one_line(value)


def numeric(table: Table) -> list[bool]:
    """Return which columns of a table hold numbers alone, which are aligned to the right."""
    columns = zip(*table.rows, strict=True) if table.rows else ([] for _ in table.headers)
    return [_holds_numbers(column) for column in columns]


def _holds_numbers(column: Iterable[str]) -> bool:
    filled = [text for text in column if text not in {"", NONE}]
    return bool(filled) and all(_NUMBER.fullmatch(text) for text in filled)


def breakable(text: str) -> Markup:
    """Return text that a browser may break after commas and slashes."""
    parts = (escape(part) for part in _JOINT.split(one_line(text)))
    return Markup("<wbr>").join(parts)


def dotted(path: str) -> Markup:
    """Return the path of a field that a browser may break after dots and before brackets."""
    parts = (escape(part) for part in _STEP.split(one_line(path)))
    return Markup("<wbr>").join(parts)


def short_name(name: str) -> str:
    """Return a name with the begin of a uid at its end, which would fill the line."""
    return shortened([name]).get(name, name)


def verbatim(text: str) -> Markup:
    """Return text of several lines, each without control characters."""
    return Markup("\n").join(escape(one_line(line)) for line in text.splitlines())


def query_of(link: str) -> str:
    """Return the query of a link, with its question mark; empty if it has none."""
    _, mark, query = link.partition("?")
    return mark + query


def rendered(template: str, **values: Any) -> Markup:
    """Return a page or a part of one."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 -- autoescaped


def rendered_block(template: str, block: str, **values: Any) -> Markup:
    """Return one block of a page, to replace it in a browser.

    :raises UsageError: the page has no such block.
    """
    of = environment().get_template(template)
    if block not in of.blocks:
        raise UsageError(f"the page has no part {block!r}", now="leave out part")
    text = "".join(of.blocks[block](of.new_context(values)))
    return Markup(text)  # noqa: S704 -- autoescaped


@cache
def style_sheets() -> dict[str, str]:
    """Return the style sheets by the names of their files, in the order in which they apply."""
    tokens, style = (
        (_FOLDER / name).read_text(encoding="utf-8") for name in ("tokens.css", "style.css")
    )
    return {"tokens.css": tokens + state_rules(), "style.css": style}


def style_sheet() -> str:
    """Return the style sheets together, for a page that holds all that it needs."""
    return "".join(style_sheets().values())


def style_hash() -> str:
    """Return the hash by which a page allows its own style sheet, and no other."""
    return b64encode(sha256(style_sheet().encode()).digest()).decode()
