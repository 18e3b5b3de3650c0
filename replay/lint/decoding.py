"""Objects of manifests decoded, and if that fails, every field that has a wrong type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from ...engine.kubernetes.objects import Object, Undecodable, decode
from ...engine.kubernetes.objects.faults import Misfit, path_text
from .amounts import is_amount
from .objects import Manifest, amounts_in, copied

O = TypeVar("O", bound=Object)  # noqa: E741 -- the field's letter for an object

_NOW = "write the field with the API's type"
_SOUND: Mapping[str, str] = MappingProxyType(
    {"not a mapping": "{}", "not a list": "[]", "not text": '""', "not true or false": "false"}
)
"""By what is wrong, a value that is right, as JSON; of numbers it is 0."""


class TypeFault(NamedTuple):
    """A field that Go cannot decode. :param field: its path; empty if it is not known."""

    field: str
    message: str
    now: str = _NOW


def decoded(made: type[O], manifest: Manifest) -> tuple[O | None, tuple[TypeFault, ...]]:
    """Return an object, or None and what is wrong with it; amounts are for another rule."""
    try:
        return decode(made, manifest.document), ()
    except (Undecodable, AttributeError, TypeError):
        document = copied(manifest.document)
    for _, amounts in amounts_in(manifest._replace(document=document)):
        for name in [name for name, value in amounts.items() if not is_amount(value)]:
            del amounts[name]
    return None, tuple(_faults(made, document))


def _faults(made: type[Object], document: dict[str, Any]) -> Iterator[TypeFault]:
    """Yield what is wrong with an object, which is mended on the way, until it can be decoded."""
    while True:
        try:
            decode(made, document)
        except Undecodable as fault:
            misfit = fault.misfit
            if misfit is None:
                yield TypeFault("", fault.fault)
                return
            yield TypeFault(path_text(misfit.place), fault.fault, _advice(misfit))
            if not _mended(document, misfit):
                return
        except (AttributeError, TypeError) as fault:
            yield TypeFault("", str(fault))
            return
        else:
            return


def _mended(document: Any, misfit: Misfit) -> bool:
    """Replace a value of the wrong type, so that it hides no other; return whether it is there."""
    *way, last = misfit.place or ("",)
    try:
        for step in way:
            document = document[step]
        if document[last] != misfit.value:
            return False
    except (KeyError, IndexError, TypeError):
        return False  # A null item was left out before.
    if isinstance(document, dict):
        del document[last]
    else:
        document[last] = msgspec.json.decode(_SOUND.get(misfit.says, "0"))
    return True


def _advice(misfit: Misfit) -> str:
    value = misfit.value
    if misfit.says == "not text" and isinstance(value, bool | int | float):
        shown = str(value).lower() if isinstance(value, bool) else value
        return f'put it in quotes: "{shown}"'
    if misfit.says == "not a whole number" and isinstance(value, str) and value.isdecimal():
        return f"write it without quotes: {value}"
    return _NOW
