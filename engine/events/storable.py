"""Which texts a log can hold: the same in every database, so that what one takes the other takes.

Postgres has no texts with a NUL, and takes no more than 2,704 bytes into an index; neither database
takes halves of a surrogate pair.
"""

from __future__ import annotations

from functools import lru_cache

from .kinds import Event

MOST_BYTES = 2000
"""UTF-8 bytes of a text that is looked up: a namespace, a kind, who did it, an input's name."""


@lru_cache(maxsize=4096)
def fault_of_text(text: str) -> str:
    """Return why a log cannot look a text up; empty if it can."""
    fault = fault_of_name(text)
    if fault or len(text) * 4 <= MOST_BYTES:
        return fault
    size = len(text.encode())
    return f"{size} bytes long, and a log takes {MOST_BYTES:,}" if size > MOST_BYTES else ""


def fault_of_name(text: str) -> str:
    """Return why a log cannot hold the name of an object; empty if it can."""
    if "\0" in text:
        return "with a NUL in it, which no log takes"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "that is no text in UTF-8"
    return ""


def fault_of_event(event: Event) -> str:
    """Return why a log cannot hold an event: which text of it is what; empty if it can."""
    reference = event.reference
    for what, text in (("a name", reference.name), ("a uid", reference.uid)):
        if fault := fault_of_name(text):
            return f"{what} {fault}"
    for what, text in (
        ("a kind of events", event.kind),
        ("an API group", reference.group),
        ("a kind", reference.kind),
        ("a namespace", reference.namespace),
        ("a user's name", event.actor),
        ("an input's name", event.source),
        ("a cluster's name", event.cluster),
    ):
        if fault := fault_of_text(text):
            return f"{what} {fault}"
    return ""


def printable(text: str) -> str:
    r"""Return a file's name as a text that any log holds: what is no UTF-8 is written ``\xff``."""
    if text.isascii() and "\0" not in text:
        return text
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace").replace("\0", r"\x00")
