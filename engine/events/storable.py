"""The texts that a log can store; the rules are the same for both databases.

Postgres stores no text with a NUL, and indexes at most 2,704 bytes; neither database stores half of
a surrogate pair.
"""

from __future__ import annotations

from functools import lru_cache

from .kinds import Event

MOST_BYTES = 2000
"""UTF-8 bytes of a text that is looked up: a namespace, a kind, an actor, the name of an input."""


@lru_cache(maxsize=4096)
def fault_of_text(text: str) -> str:
    """Return why a log cannot index a text; empty if it can."""
    fault = fault_of_name(text)
    # No character has more than 4 bytes, so most texts need not be encoded to be measured.
    if fault or len(text) * 4 <= MOST_BYTES:
        return fault
    size = len(text.encode())
    return f"{size} bytes long, and a log takes {MOST_BYTES:,}" if size > MOST_BYTES else ""


def fault_of_name(text: str) -> str:
    """Return why a log cannot store the name of an object; empty if it can."""
    if "\0" in text:
        return "with a NUL in it, which no log can store"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "that is not text in UTF-8"
    return ""


def fault_of_event(event: Event) -> str:
    """Return why a log cannot store an event: a text, and its fault; empty if it can."""
    reference = event.reference
    for label, text in (("a name", reference.name), ("a uid", reference.uid)):
        if fault := fault_of_name(text):
            return f"{label} {fault}"
    for label, text in (
        ("a kind of events", event.kind),
        ("an API group", reference.group),
        ("a kind", reference.kind),
        ("a namespace", reference.namespace),
        ("a user's name", event.actor),
        ("an input's name", event.source),
        ("a cluster's name", event.cluster),
    ):
        if fault := fault_of_text(text):
            return f"{label} {fault}"
    return ""


def printable(text: str) -> str:
    r"""Return a file's name as text that a log can store: bytes that are not UTF-8 as ``\xff``."""
    if text.isascii() and "\0" not in text:
        return text
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace").replace("\0", r"\x00")
