"""Objects that cannot be decoded: which field, its value, and what follows from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.state.extract import misread_words

if TYPE_CHECKING:
    from ...engine.events import Reference


def undecodable(about: Reference, payload: bytes) -> str:
    """Return what is so of an object of which a field cannot be decoded.

    :param payload: the version of it.
    """
    from ...engine.cache.projector import WATCHED  # noqa: PLC0415 -- few logs need the cache
    from ...engine.kubernetes.objects import Undecodable, decode  # noqa: PLC0415 -- likewise

    pair = (about.group, about.kind)
    kind = WATCHED.get(pair)
    if kind is None:
        return undecodable_words(misread_words(*pair, payload), in_sessions=False)
    try:
        decode(kind, payload)
    except Undecodable as fault:
        return undecodable_words(fault.fault)
    return undecodable_words(misread_words(*pair, payload))


def undecodable_words(fault: str, *, in_sessions: bool = True) -> str:
    """Return what is so of an object that cannot be decoded, as the end of a sentence about it.

    :param fault: the field, its value, and what the value is not. :param in_sessions: sessions see
        objects of its kind.
    """
    said = f"cannot be decoded: {fault}; no API server stores such an object"
    return f"{said}, and sessions ignore this version of it" if in_sessions else said
