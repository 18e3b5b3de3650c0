"""Names that do not exist are refused, at every door that takes changes."""

from __future__ import annotations

import pytest

from plinian.engine.errors import UsageError
from plinian.replay.what_if.changed_names import checked, checked_patches
from plinian.replay.what_if.cluster_changes import Apply, set_field


def test_a_patch_of_a_scenario_names_a_field_that_does_not_exist() -> None:
    with pytest.raises(UsageError) as fault:
        checked_patches(['queue/a={"spec":{"wieght":2}}'])
    assert fault.value.what == "a Queue has no field spec.wieght"
    assert fault.value.now.startswith("did you mean spec.weight? there are: affinity, ")
    (patch,) = checked_patches(['queue/a={"spec":{"weight":2}}'])
    assert patch.change == {"spec": {"weight": 2}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("queue/a.spec.guarantee.resources.cpu=1", "spec.guarantee.resources"),
        ("podgroup/a.spec.minMembers=2", "spec.minMembers"),
        ("pod/a.spec.nodeSelectors.a=b", "spec.nodeSelectors"),
        ("queue/a.metadata.lables.a=b", "metadata.lables"),
        ("hypernode/a.spec.teir=2", "spec.teir"),
    ],
)
def test_a_field_that_a_kind_does_not_have(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"has no field {said}"):
        list(checked([set_field(text)]))


def test_a_field_without_a_name_does_not_exist() -> None:
    with pytest.raises(UsageError, match=r"a Pod has no field spec\."):
        checked_patches(['pod/a={"spec":{"":{}}}'])


def test_a_manifest_with_a_field_that_its_kind_does_not_have() -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    with pytest.raises(UsageError, match=r"has no field spec\.parrent"):
        list(checked([Apply({**queue, "metadata": {"name": "a"}, "spec": {"parrent": "b"}})]))


def test_fields_that_exist_pass_also_if_no_session_reads_them() -> None:
    own = "pod/a.spec.hostname=x"
    for text in ("queue/a.spec.extendClusters=[]", "node/a.spec.podCIDR=x", own):
        assert len(list(checked([set_field(text)]))) == 1
