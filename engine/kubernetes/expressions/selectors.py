"""Label selectors as Kubernetes matches them, and as it reads them from objects.

A :class:`Selector` is a list of conditions on labels. It comes from a field of an object
(:func:`label_selector`, :func:`node_term`) or from a text for kubectl (``selector_text.py``).

Source: k8s.io/apimachinery/pkg/labels/selector.go; k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go
LabelSelectorAsSelector; k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..go.text import parse_int

if TYPE_CHECKING:  # A matcher for kubectl needs no objects, and should start without them.
    from .. import objects

IN = "In"
NOT_IN = "NotIn"
EXISTS = "Exists"
DOES_NOT_EXIST = "DoesNotExist"
GREATER = "Gt"
LESS = "Lt"

_LABEL_OPERATORS = frozenset({IN, NOT_IN, EXISTS, DOES_NOT_EXIST})
_NODE_OPERATORS = _LABEL_OPERATORS | {GREATER, LESS}

_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


class SelectorError(ValueError):
    """A selector that Kubernetes refuses to parse; the message says why."""


class LabelRequirement(NamedTuple):
    """One condition on the value of one label.

    :param values: for ``Gt`` and ``Lt`` exactly one, a decimal integer.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, value: str | None) -> bool:
        """Say whether a label's value (``None``: there is no such label) meets the condition."""
        if self.operator == IN:
            return value is not None and value in self.values
        if self.operator == NOT_IN:
            return value is None or value not in self.values
        if self.operator == EXISTS:
            return value is not None
        if self.operator == DOES_NOT_EXIST:
            return value is None
        mine, bound = _integer(value), _integer(self.values[0])
        if mine is None or bound is None:
            return False
        return mine > bound if self.operator == GREATER else mine < bound


class Selector(NamedTuple):
    """A conjunction of conditions; with ``nothing`` it never matches."""

    requirements: tuple[LabelRequirement, ...] = ()
    nothing: bool = False

    @property
    def empty(self) -> bool:
        """Whether it restricts nothing."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet all conditions."""
        return not self.nothing and all(
            requirement.holds(labels.get(requirement.key)) for requirement in self.requirements
        )

    def add(self, requirements: Iterable[LabelRequirement]) -> Selector:
        """Return a selector with more conditions; one that never matches stays so."""
        return self if self.nothing else Selector((*self.requirements, *requirements))


def matcher(selector: Selector) -> Callable[[Mapping[str, str]], bool]:
    """Return a function that says the same as ``selector.matches``, for many objects.

    A condition may list thousands of values; here each takes one look, not one for each value.
    """
    listed = tuple(
        (condition, frozenset(condition.values) if condition.operator in (IN, NOT_IN) else None)
        for condition in selector.requirements
    )

    def matches(labels: Mapping[str, str]) -> bool:
        for condition, values in listed:
            value = labels.get(condition.key)
            if values is None:
                if not condition.holds(value):
                    return False
            elif (value is not None and value in values) is not (condition.operator == IN):
                return False
        return not selector.nothing

    return matches


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


def exactly(labels: Mapping[str, str]) -> Selector:
    """Return the selector for objects with all these labels. Source: ``SelectorFromSet``."""
    return Selector(tuple(LabelRequirement(key, IN, (labels[key],)) for key in sorted(labels)))


def label_selector(source: objects.LabelSelector | None) -> Selector:
    """Return the selector of an object's field; a missing one matches nothing, an empty one all.

    :raises SelectorError: an operator, key or value is not allowed.

    Source: ``LabelSelectorAsSelector``.
    """
    if source is None:
        return NOTHING
    labels = dict(source.match_labels)
    requirements = [requirement(key, IN, (labels[key],)) for key in sorted(labels)]
    for expression in source.match_expressions:
        if expression.operator not in _LABEL_OPERATORS:
            raise SelectorError(f'"{expression.operator}" is not a valid label selector operator')
        requirements.append(
            requirement(expression.key, expression.operator, tuple(expression.values))
        )
    return Selector(tuple(requirements))


@lru_cache(maxsize=65536)
def requirement(key: str, operator: str, values: tuple[str, ...]) -> LabelRequirement:
    """Return a checked condition.

    :raises SelectorError: Kubernetes would refuse it.

    Source: ``NewRequirement``.
    """
    faults = [*_key_faults(key), *_values_faults(operator, values)]
    faults += [
        f"values[{place}][{key}]: Invalid value: {_quoted(value)}: must be a valid label value"
        for place, value in enumerate(values)
        # An empty text is a valid value of a label.
        if value and (len(value) > 63 or _NAME.fullmatch(value) is None)
    ]
    if faults:
        raise SelectorError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return LabelRequirement(key, operator, values)


def _values_faults(operator: str, values: tuple[str, ...]) -> list[str]:
    listed = f"[]string{{{', '.join(map(_quoted, values))}}}"
    if operator in (IN, NOT_IN):
        wrong, rule = not values, "for 'in', 'notin' operators, values set can't be empty"
    elif operator in (EXISTS, DOES_NOT_EXIST):
        wrong, rule = bool(values), "values set must be empty for exists and does not exist"
    else:
        wrong, rule = len(values) != 1, "for 'Gt', 'Lt' operators, exactly one value is required"
    faults = [f"values: Invalid value: {listed}: {rule}"] if wrong else []
    if operator in (GREATER, LESS):
        faults += [
            f"values[{place}]: Invalid value: {_quoted(value)}:"
            " for 'Gt', 'Lt' operators, the value must be an integer"
            for place, value in enumerate(values)
            if _integer(value) is None
        ]
    return faults


def _key_faults(key: str) -> list[str]:
    prefix, slash, name = key.rpartition("/")
    fine = 0 < len(name) <= 63 and _NAME.fullmatch(name) is not None
    if slash:
        fine = fine and len(prefix) <= 253 and _SUBDOMAIN.fullmatch(prefix) is not None
    return [] if fine else [f"key: Invalid value: {_quoted(key)}: must be a valid label key"]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _integer(text: str | None) -> int | None:
    """Return what Go's ParseInt returns for a text in base 10; ``None`` if it fails."""
    return None if text is None else parse_int(text)


class NodeTerm(NamedTuple):
    """Conditions on a node's labels, and on its name (the only field that can be matched)."""

    labels: tuple[LabelRequirement, ...]
    fields: tuple[LabelRequirement, ...]


def node_term(source: objects.NodeSelectorTerm) -> NodeTerm | None:
    """Return a term of a node selector; ``None`` if it is empty, which matches no node.

    :raises SelectorError: it does not parse; such a term matches no node.

    Source: ``newNodeSelectorTerm``.
    """
    if not source.match_expressions and not source.match_fields:
        return None
    labels = []
    for expression in source.match_expressions:
        if expression.operator not in _NODE_OPERATORS:
            raise SelectorError(f'operator: Unsupported value: "{expression.operator}"')
        labels.append(requirement(expression.key, expression.operator, tuple(expression.values)))
    fields = []
    for expression in source.match_fields:
        if expression.operator not in (IN, NOT_IN):
            raise SelectorError(f'operator: Unsupported value: "{expression.operator}"')
        if len(expression.values) != 1:
            raise SelectorError("values: Invalid value: must have one element")
        fields.append(
            LabelRequirement(expression.key, expression.operator, tuple(expression.values))
        )
    return NodeTerm(tuple(labels), tuple(fields))
