"""Which objects the deletion of a collection selects, by the selectors of its request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..errors import UsageError
from ..events.payloads import CollectionDeleted
from ..kubernetes.expressions.selector_text import parse_selector
from ..kubernetes.expressions.selectors import EVERYTHING, Selector

_DECODE = msgspec.json.Decoder(CollectionDeleted).decode
_DOCUMENT = msgspec.json.Decoder().decode


class FieldTerm(msgspec.Struct, frozen=True):
    """One condition on a field. :param path: its keys. :param equal: it must have the value."""

    path: tuple[str, ...]
    equal: bool
    value: str

    def may_hold(self, document: Any) -> bool:
        """Return whether an object may meet it; an absent field counts as empty text."""
        value: Any = document
        for key in self.path:
            value = value.get(key) if isinstance(value, dict) else None
        # Field selectors compare plain values only: what such a field selects is not known.
        if isinstance(value, dict | list):
            return True
        return (("" if value is None else str(value)) == self.value) is self.equal


class Collection(msgspec.Struct, frozen=True):
    """What a request selects. What it selects by in another way is not known: it may be all."""

    labels: Selector
    fields: Sequence[FieldTerm]

    def may_select(self, position: int, payload: Callable[[int], bytes]) -> bool:
        """Return whether it selects an object, as far as is known.

        :param position: of the object's version. :param payload: reads the version there.
        """
        if self.labels.empty and not self.fields:
            return True
        document = _DOCUMENT(payload(position))
        labels = (document.get("metadata") or {}).get("labels") or {}
        return self.labels.matches(labels) and all(term.may_hold(document) for term in self.fields)


def collection_of(payload: bytes) -> Collection:
    """Return what the deletion of a collection selects."""
    request = _DECODE(payload)
    try:
        labels = parse_selector(request.labels or "")
    except UsageError:
        # A selector that cannot be read may select anything.
        labels = EVERYTHING
    return Collection(labels, tuple(_terms(request.fields or "")))


def _terms(text: str) -> list[FieldTerm]:
    """Return the conditions of a field selector; one with an escape is left out."""
    terms = []
    for term in text.split(","):
        field, sign, value = term.partition("!=")
        equal = not sign
        if equal:
            field, sign, value = term.replace("==", "=", 1).partition("=")
        # A comma or a sign may be escaped, so a text with an escape cannot be split here.
        if sign and "\\" not in text:
            terms.append(FieldTerm(tuple(field.strip().split(".")), equal, value.strip()))
    return terms
