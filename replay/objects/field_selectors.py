r"""Field selectors in kubectl's syntax, for any field of an object.

``spec.nodeName=n1,status.phase!=Running``: conditions with ``=``, ``==`` or ``!=``, all of which
must hold. A missing field counts as empty text, so ``spec.nodeName=`` finds pods without a node. A
comma, ``=`` or backslash in a value is escaped by a backslash. The API server supports a few fields
of each kind; here every field works, also in lists (``spec.containers[*].image``): then ``=``
requires one equal value, and ``!=`` none.

Source: k8s.io/apimachinery/pkg/fields/selector.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple

from ...engine.errors import UsageError
from ...engine.kubernetes.expressions.jsonpath import Path, find, parse_path
from ...engine.kubernetes.resources import GroupKind, plural_of
from ...engine.state.facts import PodFact
from ...engine.state.truth_fold import Entry

_TERMS = re.compile(r"(?:[^,\\]|\\.)+", re.DOTALL)
_TERM = re.compile(r"((?:[^=!\\]|\\.)+)(==|!=|=)((?:[^\\]|\\.)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\,=])")
_NEAR = 3

_OF_ALL = ("metadata.name", "metadata.namespace")
SUPPORTED: Mapping[GroupKind, tuple[str, ...]] = MappingProxyType(
    {
        ("", "Pod"): (
            *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName"),
            *("spec.serviceAccountName", "spec.hostNetwork"),
            *("status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"),
        ),
        ("", "Node"): ("spec.unschedulable",),
        ("", "Namespace"): ("status.phase",),
        ("", "Secret"): ("type",),
        ("", "ReplicationController"): ("status.replicas",),
        ("", "Event"): (
            *("involvedObject.kind", "involvedObject.namespace", "involvedObject.name"),
            *("involvedObject.uid", "involvedObject.apiVersion"),
            *("involvedObject.resourceVersion", "involvedObject.fieldPath"),
            *("reason", "reportingComponent", "source", "type"),
        ),
        ("apps", "ReplicaSet"): ("status.replicas",),
        ("batch", "Job"): ("status.successful",),
        ("certificates.k8s.io", "CertificateSigningRequest"): ("spec.signerName",),
    }
)
"""The fields that the API server supports by kind, besides name and namespace.

Source: pkg/apis/core/v1/conversion.go, and the conversions of the other groups.
"""

_QUICK: Mapping[str, Callable[[Entry], str]] = MappingProxyType(
    {
        "metadata.name": lambda entry: entry.reference.name,
        "metadata.namespace": lambda entry: entry.reference.namespace,
    }
)
_QUICK_OF_PODS: Mapping[str, Callable[[PodFact], str]] = MappingProxyType(
    {"spec.nodeName": lambda fact: fact.node, "status.phase": lambda fact: fact.phase}
)

Documents = Callable[[Sequence[Entry]], Iterator[dict[str, Any]]]


class FieldCondition(NamedTuple):
    """One condition on one field.

    :param field: as written. :param equal: False for ``!=``.
    """

    field: str
    path: Path
    value: str
    equal: bool

    def matches(
        self, entry: Entry, document: Mapping[str, Any] | None, *, strict: bool = True
    ) -> bool:
        """Return whether an object fulfils the condition.

        :param document: the whole object; needed unless :meth:`is_quick`.
        :param strict: a map or a list is an error, not a value that equals no text.
        """
        return (self.value in self._values(entry, document, strict=strict)) == self.equal

    def is_quick(self, entry: Entry) -> bool:
        """Return whether the object's facts contain the field."""
        fact = entry.fact
        return self.field in _QUICK or (isinstance(fact, PodFact) and self.field in _QUICK_OF_PODS)

    def _values(
        self, entry: Entry, document: Mapping[str, Any] | None, *, strict: bool
    ) -> list[str]:
        fact = entry.fact
        if self.field in _QUICK:
            return [_QUICK[self.field](entry)]
        if isinstance(fact, PodFact) and self.field in _QUICK_OF_PODS:
            return [_QUICK_OF_PODS[self.field](fact)]
        values = find(self.path, document)
        if not values:
            return [""]
        single = [value for value in values if strict or not isinstance(value, dict | list)]
        return [_text(value, self.field) for value in single]


class FieldSelector(NamedTuple):
    """A conjunction of conditions; without any it selects everything."""

    conditions: tuple[FieldCondition, ...] = ()

    def select(
        self, entries: Sequence[Entry], documents: Documents, *, strict: bool = True
    ) -> list[Entry]:
        """Return the objects that fulfil every condition, in the order given.

        :param documents: returns whole objects; called only if a condition needs more than facts.
        :param strict: a field that is a map or list is an error. Else it equals no text: where the
            fields that can be named are single values, only an object that no API server would
            store has another one.
        :raises UsageError: a field is a map or list, which has no text.
        """
        fitting = list(entries)
        slow = []
        # Facts are in memory, and whole objects are read: what needs only facts goes first. All are
        # of one kind, so what is quick for the first is quick for each.
        for condition in self.conditions:
            if fitting and condition.is_quick(fitting[0]):
                fitting = [entry for entry in fitting if condition.matches(entry, None)]
            else:
                slow.append(condition)
        if not slow:
            return fitting
        return [
            entry
            for entry, document in zip(fitting, documents(fitting), strict=True)
            if all(condition.matches(entry, document, strict=strict) for condition in slow)
        ]

    def unknown(self, kind: GroupKind, documents: Callable[[], Iterator[dict[str, Any]]]) -> str:
        """Return a field that no object has and the API server does not support, or ``""``.

        :param documents: returns all objects of the kind.
        """
        known = {*_OF_ALL, *SUPPORTED.get(kind, ())}
        left = {each.field: each.path for each in self.conditions if each.field not in known}
        for document in documents() if left else ():
            left = {field: path for field, path in left.items() if not find(path, document)}
            if not left:
                break
        return min(left, default="")


def parse_field_selector(text: str) -> FieldSelector:
    """Read a selector such as ``spec.nodeName=n1,status.phase!=Running``.

    :raises UsageError: a term is not a condition.
    """
    return FieldSelector(tuple(_condition(term) for term in _terms(text) if term.strip()))


def _terms(text: str) -> Iterator[str]:
    """Yield the terms between commas that are not escaped."""
    place = 0
    while place < len(text):
        term = _TERMS.match(text, place)
        if term is not None:
            yield term[0]
        place = term.end() if term is not None else place + 1


def no_such_field(field: str, kinds: Sequence[GroupKind], documents: Sequence[Any]) -> UsageError:
    """Return the error for a field that no object of some kinds has, with similar fields.

    :param documents: objects of the kinds, whose fields are suggested.
    """
    known = {*_OF_ALL, *(path for kind in kinds for path in SUPPORTED.get(kind, ()))}
    for document in documents:
        known.update(_paths(document, ""))
    lower = {path.lower(): path for path in sorted(known)}
    close = [lower[path] for path in get_close_matches(field.lower(), list(lower), n=_NEAR)]
    named = ", ".join(plural_of(*kind) for kind in kinds)
    return UsageError(
        f"none of {named} has a field {field!r}",
        now=f"did you mean {' or '.join(close)}?"
        if close
        else "as in: --field-selector spec.nodeName=n1,status.phase!=Running",
    )


def _condition(term: str) -> FieldCondition:
    match = _TERM.fullmatch(term)
    if match is None or not match[1].strip():
        raise UsageError(
            f"{term!r} is not a condition on a field",
            now="write path=value, path==value or path!=value, separated by commas",
        )
    field, operator, value = match[1].strip(), match[2], match[3]
    return FieldCondition(
        field, parse_path(field), _ESCAPED.sub(r"\1", value.strip()), operator != "!="
    )


def _text(value: Any, field: str) -> str:
    """Return a value as text for a condition."""
    if isinstance(value, dict | list):
        raise UsageError(
            f"the field {field!r} is a map or list, not a single value",
            now=f"name a field in it, as in {field}{'[*]' if isinstance(value, list) else ''}.name",
        )
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _paths(value: Any, above: str) -> Iterator[str]:
    """Yield the paths of an object's fields that are single values."""
    if not isinstance(value, dict):
        yield above
        return
    for name, part in value.items():
        yield from _paths(part, f"{above}.{name}" if above else name)
