"""Forms of pages: what a person fills in is in the query, and what the form lacks stays there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...render.blocks import Drawn
from .blocks import drawn
from .look import Look

POINT_FORMS = (
    "A time as 01:53:36 or 2026-11-21T01:53:36Z, a position as @1042, -5m or 10 minutes "
    "ago (before the end), yesterday 14:00, rv:NUMBER, session:NUMBER or end"
)
"""What a box for a moment takes: all that the command line takes."""

POINT = MappingProxyType(
    {"size": "20", "spellcheck": "false", "autocomplete": "off", "title": POINT_FORMS}
)
"""The attributes of a box for a moment."""


class FormField(NamedTuple):
    """A field of a form.

    :param name: in the query. :param value: the present one.
    :param choices: the values to choose from, with their texts; else any text can be typed.
    :param attributes: more attributes of the element.
    """

    label: str
    name: str
    value: str
    choices: Mapping[str, str] = MappingProxyType({})
    attributes: Mapping[str, str] = MappingProxyType({})


def choices_of(values: Iterable[str], none: str = "") -> dict[str, str]:
    """Return values as choices. :param none: the text of another one, which is empty."""
    return {**({"": none} if none else {}), **{value: value for value in values}}


def form(
    look: Look,
    button: str,
    fields: Sequence[FormField],
    *,
    drops: Iterable[str] = (),
    after: str = "",
    action: str = "",
    adds: Mapping[str, str] = MappingProxyType({}),
    attributes: Mapping[str, str] = MappingProxyType({}),
) -> Drawn:
    """Return a form.

    :param button: the text of its button. :param drops: more names that it takes from the query.
    :param after: words behind the button. :param action: where it leads, if not to this page.
    :param adds: what it adds to the query.
    :param attributes: of the form.
    """
    return drawn(
        look,
        "form.html",
        button=button,
        fields=fields,
        adds=adds,
        without={"skip", "part", *adds, *drops, *(field.name for field in fields)},
        after=after,
        action=action or look.here(),
        attributes=attributes,
    )
