"""Objects of manifests decoded, and every field that has a wrong type.

The rest of such an object is checked with a value in place of each that cannot be read. What is
found with a small one and with a large one alike holds whatever the field will say.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from ...engine.kubernetes.objects import Object, Undecodable, decode
from ...engine.kubernetes.objects.decoding_faults import Misfit, path_text
from .message_amounts import is_amount
from .objects import Manifest, amounts_in, copied

O = TypeVar("O", bound=Object)  # noqa: E741 -- the field's letter for an object

_NOW = "write the field with the API's type"
_SOUND: Mapping[str, str] = MappingProxyType({"not a mapping": "{}", "not a list": "[]"})
"""By what is wrong, a value that is right, as JSON; others have one for each :class:`Stand`."""


class Stand(Enum):
    """What stands for a value that cannot be read: (amount, number, truth, text).

    None of them is zero or empty, which mean that a field is not written.
    """

    LEAST = ("1m", 1, False, "unread-a")
    MOST = ("9000000000000000", 1000, True, "unread-b")


class TypeFault(NamedTuple):
    """A field that Go cannot decode. :param field: its path; empty if it is not known."""

    field: str
    message: str
    now: str = _NOW


class Decoded(NamedTuple, Generic[O]):
    """An object as far as it can be read.

    :param item: None if more than single values of it cannot be read. :param faults: what is wrong
        with it; amounts are for another rule. :param unread: the fields without a value, by path.
    """

    item: O | None
    faults: tuple[TypeFault, ...] = ()
    unread: tuple[str, ...] = ()


def decoded(made: type[O], manifest: Manifest, stand: Stand) -> Decoded[O]:
    """Return an object with values in place of those that cannot be read.

    :param stand: the values.
    """
    wrong = {
        f"{path}.{name}"
        for path, amounts in amounts_in(manifest)
        for name, value in amounts.items()
        if not is_amount(value)
    }
    # Wrong amounts are replaced first: they are findings of quantity-malformed, not of the decoder.
    if not wrong:
        try:
            return Decoded(decode(made, manifest.document))
        # The fields are looked at one by one below.
        except (Undecodable, AttributeError, TypeError):
            pass
    document = copied(manifest.document)
    for path, amounts in amounts_in(manifest._replace(document=document)):
        amounts.update({name: stand.value[0] for name in amounts if f"{path}.{name}" in wrong})
    mended = _mended(made, document, stand)
    return mended._replace(unread=(*sorted(wrong), *mended.unread))


def _mended(made: type[O], document: dict[str, Any], stand: Stand) -> Decoded[O]:
    """Return an object and what was wrong with it; it is mended until it can be decoded."""
    faults: list[TypeFault] = []
    item: O | None = None
    whole = True
    while item is None:
        try:
            item = decode(made, document)
        except Undecodable as fault:
            misfit = fault.misfit
            field = "" if misfit is None else path_text(misfit.place)
            # The same field again would not end; a decoder that names none cannot be helped.
            if misfit is None or any(fault.field == field for fault in faults):
                faults += [TypeFault("", fault.fault)] if misfit is None else []
                break
            faults.append(TypeFault(field, fault.fault, _advice(misfit)))
            if not _put(document, misfit, stand):
                break
            # An empty mapping in place of another value says nothing about the object.
            whole = whole and misfit.says not in _SOUND
        except (AttributeError, TypeError) as fault:
            faults.append(TypeFault("", str(fault)))
            break
    return Decoded(item if whole else None, tuple(faults), tuple(fault.field for fault in faults))


def _put(document: Any, misfit: Misfit, stand: Stand) -> bool:
    """Replace a value of the wrong type, so that it hides no other; return whether it is there."""
    *way, last = misfit.place or ("",)
    try:
        for step in way:
            document = document[step]
        if document[last] != misfit.value:
            return False
    except (KeyError, IndexError, TypeError):
        return False  # A null item was left out before.
    document[last] = _right(misfit.says, stand)
    return True


def _right(says: str, stand: Stand) -> Any:
    """Return a value of the right type."""
    amount, number, truth, text = stand.value
    if says in _SOUND:
        return msgspec.json.decode(_SOUND[says])
    return {"not a quantity": amount, "not true or false": truth, "not text": text}.get(
        says, number
    )


def _advice(misfit: Misfit) -> str:
    value = misfit.value
    if misfit.says == "not text" and isinstance(value, bool | int | float):
        shown = str(value).lower() if isinstance(value, bool) else value
        return f'put it in quotes: "{shown}"'
    if misfit.says == "not a whole number" and isinstance(value, str) and value.isdecimal():
        return f"write it without quotes: {value}"
    return _NOW
