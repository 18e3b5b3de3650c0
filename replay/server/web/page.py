"""Declares pages: a path, the function that gives what a page says, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from ...facade.documents import document
from ...facade.log import Log
from ...render.documents import plain
from .blocks import BlockPage
from .look import Look

Data = Callable[..., Any]
"""Takes the log, the look, and the parts of the path by name; returns blocks or a typed record."""


class NavGroup(StrEnum):
    """The groups of the navigation: by what a person comes for."""

    SEE = "See"
    SCHEDULER = "Scheduler"
    CHECK = "Check"
    HELP = ""


class Page(NamedTuple):
    """A page of the log, and its twin ``.json`` with the same data.

    :param path: below the position, as in ``nodes`` or ``{kind}/{key:path}``; ``""`` is the
        timeline.
    :param title: what the page shows; the position and the log follow in the title of the window.
    :param template: in ``replay/pages/templates``. It extends ``site.html`` and gets ``page`` (the
        record), ``look`` and ``site``; that of blocks also gets ``blocks``.
    :param nav: its name in the navigation, in a ``group``; empty if it is not there. :param key:
        opens it after ``g``.
    :param takes: the names of the query that it reads, beside those that all pages share.
    :param long: it may take more than half a second, as sessions do.
    :param panes: the values that ``pane`` of the query may have; ``long_panes`` take long.
    :param runs: whether a look is answered in the background, as its query says: the page shows
        how far the work is, and a button to stop it. The data then gets a ``watch``, to which it
        reports.
    """

    path: str
    title: str
    data: Data
    template: str = "answer.html"
    nav: str = ""
    group: NavGroup = NavGroup.SEE
    key: str = ""
    takes: Sequence[str] = ()
    long: bool = False
    panes: Sequence[str] = ()
    long_panes: Sequence[str] = ()
    runs: Callable[[Look], bool] | None = None

    def document(self, record: Any) -> Any:
        """Return the data as JSON."""
        data = record.data if isinstance(record, BlockPage) else record
        is_ours = data is record or isinstance(data, dict)
        return plain_of(data) if is_ours else document(data)


def page(path: str, title: str, **options: Any) -> Callable[[Data], Page]:
    """Make a page of the function that gives its data; ``PAGES`` lists it.

    :param options: the other fields of :class:`Page`.
    """
    return lambda data: Page(path, title, data, **options)


def plain_of(value: Any) -> Any:
    """Return a record as JSON: structs and named tuples by field; results as ``-o json``."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_of(member) for key, member in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain_of(value._asdict())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_of(member) for member in value]
    # Records of pages are plain. Results have a document, as ``-o json`` prints it.
    if type(value).__module__.startswith(f"{__package__}."):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return {shown: plain_of(getattr(value, name)) for name, shown in names}
    if isinstance(value, msgspec.Struct):
        return document(value)
    return plain(value)


__all__ = ["Data", "Log", "Look", "NavGroup", "Page", "page", "plain_of"]
