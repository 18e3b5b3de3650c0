"""YAML into a given structure, as strictly as ``gopkg.in/yaml.v2`` decodes it into Go structs.

Unknown keys are ignored. If a key occurs twice, the last value counts. null changes nothing. With a
value of a wrong type, the whole text is rejected; the message lists all such places.

Source: gopkg.in/yaml.v2/decode.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import msgspec
import yaml

from ..kubernetes.yaml import YamlFault, resolve_yaml, scalar

_STR = "tag:yaml.org,2002:str"
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class ConfInvalid(Exception):
    """A configuration that a release rejects, with the text of its error."""


class FieldType(Enum):
    """The type of a field without structure; its value is the name of the Go type."""

    TEXT = "string"
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float64"
    TEXTS = "map[string]string"
    VALUES = "map[string]interface {}"


_ZEROS = MappingProxyType(
    {
        FieldType.TEXT: "",
        FieldType.BOOL: None,
        FieldType.INT: 0,
        FieldType.UINT: 0,
        FieldType.FLOAT: 0.0,
    }
)


class Struct(msgspec.Struct, frozen=True):
    """A Go struct: its name in messages, and its fields by key."""

    name: str
    fields: Mapping[str, Any]


Type = FieldType | Struct | list[Any]
"""The type that a YAML node is decoded into; a list holds the type of its elements."""


class Decoder:
    """Decodes the first document of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._faults: list[str] = []

    def decode(self, shape: Struct) -> dict[str, Any]:
        """Return the values by field; a missing one is None, or empty if it is a list or map.

        :raises ConfInvalid: the text is not YAML, or a value has a wrong type.
        """
        node = self._document()
        value = zero(shape) if node is None else self._value(node, shape)
        if self._faults:
            raise ConfInvalid("\n".join(["yaml: unmarshal errors:", *self._faults]))
        read: dict[str, Any] = value
        return read

    def _document(self) -> yaml.Node | None:
        loader = _LOADER(self._text)
        try:
            if not loader.check_node():
                return None
            node: yaml.Node | None = loader.get_node()
        except yaml.MarkedYAMLError as fault:
            mark = fault.problem_mark or fault.context_mark
            line = f"line {mark.line + 1}: " if mark is not None else ""
            raise ConfInvalid(f"yaml: {line}{fault.problem or fault.context}") from None
        except (yaml.YAMLError, RecursionError) as fault:
            raise ConfInvalid(f"yaml: {str(fault).splitlines()[0]}") from None
        finally:
            loader.dispose()
        return node

    def _value(self, node: yaml.Node, shape: Type) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, shape)
        if isinstance(node, yaml.SequenceNode):
            if isinstance(shape, list):
                return [self._value(item, shape[0]) for item in node.value]
        elif isinstance(shape, Struct):
            fields = zero(shape)
            for name, item in self._pairs(node):
                if name in shape.fields:
                    fields[name] = self._value(item, shape.fields[name])
            return fields
        elif shape is FieldType.VALUES:
            return {name: self._anything(item) for name, item in self._pairs(node)}
        elif shape is FieldType.TEXTS:
            return {name: self._value(item, FieldType.TEXT) for name, item in self._pairs(node)}
        return self._fault(node, shape)

    def _scalar(self, node: yaml.ScalarNode, shape: Type) -> Any:
        value = meaning(node)
        # yaml.v2 takes any scalar as a text, as it is written.
        if shape is FieldType.TEXT:
            return value if isinstance(value, str) else node.value
        if value is None:
            return zero(shape)
        # Before numbers, as booleans are integers in Python.
        if isinstance(value, bool):
            return value if shape is FieldType.BOOL else self._fault(node, shape)
        if isinstance(value, int | float) and _holds(shape, value):
            return float(value) if shape is FieldType.FLOAT else int(value)
        return self._fault(node, shape)

    def _pairs(self, node: yaml.Node) -> list[tuple[str, yaml.Node]]:
        """Return a mapping's pairs, those merged with ``<<`` first."""
        merged, own = [], []
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fault(key, FieldType.TEXT)
            elif key.value == "<<" and not key.style:
                sources = item.value if isinstance(item, yaml.SequenceNode) else [item]
                if not all(isinstance(source, yaml.MappingNode) for source in sources):
                    raise ConfInvalid(
                        "yaml: map merge requires map or sequence of maps as the value"
                    )
                # Of several maps the first one wins: it comes last here, and later pairs overwrite.
                for source in reversed(sources):
                    merged += self._pairs(source)
            else:
                own.append((key.value, item))
        return merged + own

    def _anything(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return meaning(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._anything(item) for item in node.value]
        return {name: self._anything(item) for name, item in self._pairs(node)}

    def _fault(self, node: yaml.Node, shape: Type) -> Any:
        tag, shown = "!!map", ""
        if isinstance(node, yaml.SequenceNode):
            tag = "!!seq"
        elif isinstance(node, yaml.ScalarNode):
            tag = f"!!{_kind(meaning(node))}"
            text = node.value if len(node.value) <= 10 else f"{node.value[:7]}..."
            shown = f" `{text}`"
        line = node.start_mark.line + 1
        self._faults.append(f"  line {line}: cannot unmarshal {tag}{shown} into {_go(shape)}")
        return zero(shape)


def zero(shape: Type) -> Any:
    """Return what a field is that is not there."""
    if isinstance(shape, Struct):
        return {name: zero(inner) for name, inner in shape.fields.items()}
    if isinstance(shape, list):
        return []
    return _ZEROS.get(shape, {})


def _holds(shape: Type, value: float) -> bool:
    """Return whether a number fits a type; an integer gets the whole part of a fraction."""
    if shape is FieldType.INT:
        return -(2**63) <= value < 2**63
    return shape is FieldType.FLOAT or (shape is FieldType.UINT and 0 <= value < 2**64)


def meaning(node: yaml.ScalarNode) -> Any:
    """Return a scalar as str, bool, int, float or None.

    :raises ConfInvalid: it does not match its tag.
    """
    if node.tag == _STR:
        # The base loader gives this tag to untagged scalars; only plain ones may have another type.
        return resolve_yaml(node.value) if not node.style else node.value
    try:
        return scalar(node.value, node.tag, plain=False)
    except (YamlFault, ValueError) as fault:
        raise ConfInvalid(f"yaml: {fault}") from None


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "bool", int: "int", float: "float"}
    return names.get(type(value), "str")


def _go(shape: Type) -> str:
    if isinstance(shape, Struct):
        return shape.name
    return f"[]{_go(shape[0])}" if isinstance(shape, list) else shape.value
