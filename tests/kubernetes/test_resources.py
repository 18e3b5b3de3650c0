"""The table of resources is whole: names are unique, and every use of a scope reads it."""

from __future__ import annotations

from plinian.engine.kubernetes.resources import (
    CLUSTER_SCOPED,
    CLUSTER_SCOPED_KINDS,
    KINDS_BY_RESOURCE,
    RESOURCE_TYPES,
    SHORT_NAMES,
    plural_of,
)


def test_each_kind_plural_and_short_name_stands_once() -> None:
    assert len({one.group_kind for one in RESOURCE_TYPES}) == len(RESOURCE_TYPES)
    assert len(KINDS_BY_RESOURCE) == len(RESOURCE_TYPES)
    assert len(SHORT_NAMES) == sum(len(one.short_names) for one in RESOURCE_TYPES)


def test_no_short_name_is_another_kinds_name() -> None:
    names = {name for one in RESOURCE_TYPES for name in (one.singular, one.plural)}
    assert names.isdisjoint(SHORT_NAMES)


def test_no_kind_is_cluster_scoped_in_one_group_and_namespaced_in_another() -> None:
    namespaced = {one.kind for one in RESOURCE_TYPES if one.namespaced}
    assert namespaced.isdisjoint(CLUSTER_SCOPED_KINDS)


def test_scopes_are_those_of_kubernetes_and_volcano() -> None:
    assert ("nodeinfo.volcano.sh", "Numatopology") in CLUSTER_SCOPED
    assert ("node.k8s.io", "RuntimeClass") in CLUSTER_SCOPED
    assert ("storage.k8s.io", "CSIStorageCapacity") not in CLUSTER_SCOPED
    assert ("batch.volcano.sh", "Job") not in CLUSTER_SCOPED


def test_an_irregular_plural_is_in_the_table_and_a_regular_one_is_derived() -> None:
    assert plural_of("", "Endpoints") == "endpoints"
    assert plural_of("nodeinfo.volcano.sh", "Numatopology") == "numatopologies"
    assert plural_of("acme.io", "Gateway") == "gateways"
