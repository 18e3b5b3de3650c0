"""The templates: what is put into them is escaped, and control characters are spelled out."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..render.screen import one_line
from ..render.tables import NONE

_FOLDER = Path(__file__).with_name("templates")
_NUMBER = re.compile(r"[~≥@+-]?(?:rv:)?[0-9][0-9.,]*(?:[A-Za-zµ]{1,3}|%|/[0-9]+)?")


@cache
def environment() -> Environment:
    """Return the environment that all pages are made in."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.tests["number"] = is_number
    made.globals["absent"] = NONE
    return made


def _shown(value: Any) -> Any:
    """Return a value as it is put into a page: without control characters.

    Markup of our templates stays as it is.
    """
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return one_line(value)


def is_number(text: str) -> bool:
    """Return whether a cell is a number, with its unit: such cells are aligned to the right."""
    return _NUMBER.fullmatch(text) is not None


def rendered(template: str, **values: Any) -> Markup:
    """Return a page or a part of one."""
    return Markup(environment().get_template(template).render(values))  # noqa: S704 -- autoescaped


@cache
def style_sheet() -> str:
    """Return the style sheet that pages hold."""
    return (_FOLDER / "style.css").read_text(encoding="utf-8")


def style_hash() -> str:
    """Return the hash by which a page allows its own style sheet, and no other."""
    return b64encode(sha256(style_sheet().encode()).digest()).decode()
