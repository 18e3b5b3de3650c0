"""Arguments for which Volcano asserts a type without a check: another type is a crash."""

from __future__ import annotations

from ....model.panic import Panic
from ....volcano.arguments import is_int


def text_or_panic(value: object, place: str) -> str:
    """Return a value that must be a text.

    :param place: the function that asserts it, as in ``Panic``.
    :raises Panic: it has another type.
    """
    if isinstance(value, str):
        return value
    raise _conversion(value, "string", place)


def int_or_panic(value: object, place: str) -> int:
    """Return a value that must be a whole number.

    :raises Panic: it has another type.
    """
    if is_int(value):
        assert isinstance(value, int)
        return value
    raise _conversion(value, "int", place)


def _conversion(value: object, wanted: str, place: str) -> Panic:
    return Panic(
        f"interface conversion: interface {{}} is {go_type(value)}, not {wanted}", (place,)
    )


def go_type(value: object) -> str:
    """Return the Go type of a YAML value."""
    if value is None:
        return "nil"
    for kind, name in (
        (bool, "bool"),
        (int, "int"),
        (float, "float64"),
        (str, "string"),
        (list, "[]interface {}"),
    ):
        if isinstance(value, kind):
            return name
    return "map[interface {}]interface {}"
