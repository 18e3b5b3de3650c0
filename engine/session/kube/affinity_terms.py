"""Pod affinity terms, as read for a pod to place.

Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go
mergeAffinityTermNamespacesIfNotEmpty, of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from ...kubernetes.expressions.selectors import NOTHING
from ...kubernetes.objects import Namespace
from .pod_class import AffinityTerm

Namespaces = Mapping[str, Namespace]
"""Namespaces by name."""

_NO_LABELS: Mapping[str, str] = MappingProxyType({})


def namespace_labels(namespaces: Namespaces, name: str) -> Mapping[str, str]:
    """Return a namespace's labels; none if it is not known."""
    namespace = namespaces.get(name)
    return _NO_LABELS if namespace is None else namespace.labels


def own_terms(terms: Iterable[AffinityTerm], namespaces: Namespaces) -> tuple[AffinityTerm, ...]:
    """Return terms whose selectors of namespaces are replaced by the namespaces they select."""
    return tuple(_own(term, namespaces) for term in terms)


def _own(term: AffinityTerm, namespaces: Namespaces) -> AffinityTerm:
    if term.namespace_selector.empty or term.namespace_selector == NOTHING:
        return term
    selector = term.namespace_selector
    selected = {name for name in namespaces if selector.matches(namespaces[name].labels)}
    return msgspec.structs.replace(
        term, namespaces=term.namespaces | selected, namespace_selector=NOTHING
    )
