"""Amounts of resources keep an absent map, an absent name and 0 apart, as the scheduler does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.model.panic import Panic
from plinian.engine.model.resource import (
    INFINITY,
    ZERO,
    Default,
    Resource,
    exceeded_part,
    maximum,
    minimum,
    share,
)
from plinian.engine.model.resource_names import is_scalar_name

GPU = "nvidia.com/gpu"
NPU = "huawei.com/npu"

AMOUNTS = st.integers(0, 10**6).map(float)
SCALARS = st.none() | st.dictionaries(st.sampled_from([GPU, NPU, "pods"]), AMOUNTS)
RESOURCES = st.builds(Resource, AMOUNTS, AMOUNTS, SCALARS)
DEFAULTS = st.sampled_from(Default)


def res(cpu: float = 0, memory: float = 0, **scalars: float) -> Resource:
    """Return a resource; without scalars their map is absent."""
    return Resource(cpu, memory, {_name(name): v for name, v in scalars.items()} or None)


def _name(word: str) -> str:
    return {"gpu": GPU, "npu": NPU}.get(word, word)


def test_of_counts_cpu_in_milli_memory_in_bytes_scalars_in_milli_and_pods_twice() -> None:
    made = Resource.of(
        {"cpu": "1500m", "memory": "1Gi", "pods": "110", GPU: 2, "ephemeral-storage": "1Ki"}
    )
    assert made.cpu == 1500
    assert made.memory == 2**30
    assert made.max_task_num == 110
    assert made.scalars == {"pods": 110, GPU: 2000, "ephemeral-storage": 1024000}


def test_of_drops_counts_unknown_native_names_and_what_devices_count() -> None:
    listed = {
        "count/jobs.batch": 3,
        "storage": "1Gi",
        "requests.cpu": 1,
        "volcano.sh/vgpu-cores": 5,
    }
    assert Resource.of(listed).scalars == {"volcano.sh/vgpu-cores": 5000}
    assert Resource.of(listed, frozenset({"volcano.sh/vgpu-cores"})).scalars is None
    assert Resource.of(None) == Resource()


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        (GPU, True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi-x", True),
        ("kubernetes.io/batch-cpu", True),
        ("node.kubernetes.io/batch-cpu", True),
        ("requests.nvidia.com/gpu", False),
        ("gpu", False),
        ("count/pods", False),
        ("count/nvidia.com/gpu", False),
        ("Nvidia.com/gpu", False),
        ("nvidia.com/", False),
        ("nvidia.com/a/b", False),
        ("nvidia.com/" + "g" * 64, False),
    ],
)
def test_scalar_names_are_those_of_kubernetes(name: str, *, scalar: bool) -> None:
    assert is_scalar_name(name) is scalar


def test_sub_loses_scalars_without_a_map_and_goes_below_zero_with_one() -> None:
    assert res(5).sub_unchecked(res(2, gpu=1)) == res(3)
    assert res(5, npu=1).sub_unchecked(res(2, gpu=1)) == res(3, npu=1, gpu=-1)


def test_sub_dies_with_the_text_of_the_assertion() -> None:
    with pytest.raises(Panic) as caught:
        res(30000, 24652726272, pods=330).sub(res(200000, 214748364800))
    assert caught.value.message == (
        "resource is not sufficient to do operation: <cpu 30000.00, memory 24652726272.00, "
        "pods 330.00> sub <cpu 200000.00, memory 214748364800.00>"
    )
    outer = caught.value.through("api.(*NodeInfo).FutureIdle", "util.ValidateVictims")
    assert str(outer).endswith(
        "at api.(*Resource).Sub < api.(*NodeInfo).FutureIdle < util.ValidateVictims"
    )


def test_sub_tolerates_less_than_a_tenth() -> None:
    assert res(1).sub(res(1.05)).cpu == pytest.approx(-0.05)
    with pytest.raises(Panic):
        res(1).sub(res(1.1000001))


def test_set_max_resource_copies_all_scalars_or_raises_them() -> None:
    assert res(1).set_max_resource(res(2, 3, gpu=0)) == res(2, 3, gpu=0)
    assert res(1, 9, gpu=4).set_max_resource(res(0, 3, gpu=2, npu=0)) == res(1, 9, gpu=4, npu=0)


def test_fit_delta_takes_a_tenth_more_of_what_is_requested() -> None:
    left = res(1000, 100).fit_delta(res(500, 0, gpu=1, npu=0))
    assert left.cpu == 499.9
    assert left.memory == 100
    assert left.scalars == {GPU: -1.1}


@pytest.mark.parametrize(
    ("other", "default", "scalars"),
    [
        (res(), ZERO, {GPU: 0.0, NPU: 0.0}),
        (res(), INFINITY, {GPU: 5.0, NPU: 6.0}),
        (res(gpu=2), ZERO, {GPU: 2.0, NPU: 0.0}),
        (res(gpu=2), INFINITY, {GPU: 2.0, NPU: 6.0}),
    ],
)
def test_min_dimension_resource_touches_its_own_scalars_only(
    other: Resource, default: Default, scalars: dict[str, float]
) -> None:
    assert res(1, 1, gpu=5, npu=6).min_dimension_resource(other, default).scalars == scalars
    assert res(1, 1).min_dimension_resource(res(gpu=2), default).scalars is None


def test_diff_puts_equals_into_the_decrease_and_keeps_infinity() -> None:
    more, less = res(3, 1, gpu=2).diff(res(1, 1, npu=4), ZERO)
    assert more == Resource(2, 0, {GPU: 2})
    assert less == Resource(0, 0, {NPU: 4})
    more, less = res(3, 1, gpu=2).diff(res(1, 1, npu=4), INFINITY)
    assert (more.scalars, less.scalars) == ({NPU: -1}, {GPU: -1})


@pytest.mark.parametrize(
    ("left", "right", "default", "less", "less_equal", "partly", "equal_partly"),
    [
        (res(1, 1), res(2, 2), ZERO, True, True, True, True),
        (res(2, 2), res(2, 2), ZERO, False, True, False, True),
        (res(2.05, 2), res(2, 2), ZERO, False, True, False, True),
        (res(3, 3), res(2, 2), ZERO, False, False, False, False),
        # Only the right side has the scalar.
        (res(1, 1), res(2, 2, gpu=0), ZERO, True, True, True, True),
        (res(1, 1), res(2, 2, gpu=0), INFINITY, False, False, True, True),
        (res(3, 3), res(2, 2, gpu=0), ZERO, False, False, True, True),
        (res(3, 3), res(2, 2, gpu=0), INFINITY, False, False, False, False),
        # Only the left side has it.
        (res(1, 1, gpu=1), res(2, 2), ZERO, False, False, True, True),
        (res(1, 1, gpu=0), res(2, 2), ZERO, False, True, True, True),
        (res(1, 1, gpu=1), res(2, 2), INFINITY, True, True, True, True),
        (res(3, 3, gpu=1), res(2, 2), ZERO, False, False, False, False),
        (res(3, 3, gpu=1), res(2, 2), INFINITY, False, False, True, True),
    ],
)
def test_comparisons(
    left: Resource,
    right: Resource,
    default: Default,
    *,
    less: bool,
    less_equal: bool,
    partly: bool,
    equal_partly: bool,
) -> None:
    assert left.less(right, default) is less
    assert left.less_equal(right, default) is less_equal
    assert left.less_partly(right, default) is partly
    assert left.less_equal_partly(right, default) is equal_partly


def test_the_naming_comparison_ignores_what_only_the_right_side_has() -> None:
    assert res(3, 1, npu=2, gpu=2).less_equal_with_resources_name(res(1, 1, pods=1), ZERO) == (
        False,
        ["cpu", NPU, GPU],
    )
    assert res(1, gpu=2).less_equal_with_resources_name(res(1, pods=1), INFINITY) == (True, [])


def test_less_equal_with_dimension_looks_at_what_is_requested_without_tolerance() -> None:
    asked = res(1, gpu=1, pods=1)
    assert res(5, 9, gpu=2, pods=9).less_equal_with_dimension(res(5, 0, gpu=2), asked)
    assert not res(5.01, gpu=2).less_equal_with_dimension(res(5, gpu=2), asked)
    assert not res(5, gpu=2.01).less_equal_with_dimension(res(5, gpu=2), asked)
    assert res(5).less_equal_with_dimension(res(5, gpu=-1), asked)
    assert not res(5).less_equal_with_dimension(None, asked)
    assert res(5.05).less_equal_with_dimension(res(5), None)


def test_what_exceeds_the_limit_is_named_where_it_is_requested() -> None:
    asked, limit = res(1, 1, gpu=1, npu=1, pods=1), res(1, 1, gpu=1, npu=1, pods=1)
    named = Resource.less_equal_with_dimension_and_resources_name
    every = ["cpu", "memory", NPU, GPU]
    assert named(res(2, 2, gpu=2, npu=2, pods=2), limit, asked) == (False, every)
    assert named(res(2, 2, gpu=1, npu=2), limit, res(npu=1)) == (False, [NPU])
    assert named(res(1, 1, gpu=1), limit, asked) == (True, [])
    assert named(res(2, gpu=1), None, asked) == (False, ["cpu", GPU])
    assert named(res(1.05, gpu=2), res(1, gpu=1), None) == (False, [GPU])


def test_emptiness_ignores_pods_and_less_than_a_tenth() -> None:
    assert res(0.09, 0.09, pods=5).is_empty()
    assert not res(gpu=0.1).is_empty()
    assert res(0.5, gpu=1, pods=2).resource_names() == ["cpu", GPU, "pods"]


def test_an_unknown_scalar_is_zero_only_if_there_are_no_scalars() -> None:
    assert res().is_zero(GPU)
    assert res(gpu=0).is_zero(GPU)
    with pytest.raises(Panic, match=f"unknown resource {GPU} at"):
        res(npu=1).is_zero(GPU)


def test_minimum_and_maximum_treat_scalars_each_in_its_own_way() -> None:
    assert minimum(res(1, 5, gpu=3), res(2, 4, npu=1)) == res(1, 4, gpu=0)
    assert minimum(res(1, 5, gpu=3), res(2, 4)) == res(1, 4)
    assert maximum(res(1, 5, gpu=0), res(2, 4, npu=1)) == res(2, 5, npu=1)
    assert maximum(res(1), res(2)).scalars is None


def test_exceeded_part_returns_the_left_itself_without_a_right() -> None:
    left = res(3, 1, gpu=2)
    assert exceeded_part(left, None) is left
    assert exceeded_part(None, left) == Resource()
    assert exceeded_part(left, res(1, 5)) == res(2, gpu=2)


def test_share_of_nothing() -> None:
    assert [share(0, 0), share(1, 0), share(1, 4)] == [0, 1, 0.25]


def test_the_list_of_a_queue_status() -> None:
    listed = Resource(18750.9, 33536 * 2**20, {"pods": 27, GPU: 1500}).resource_list()
    assert listed == {"cpu": "18750m", "memory": "33536Mi", "pods": "27", GPU: "1500m"}
    assert Resource().resource_list() == {"cpu": "0", "memory": "0"}


@given(RESOURCES, RESOURCES)
def test_what_was_added_can_be_taken_away_again(left: Resource, right: Resource) -> None:
    before, total = left.clone(), left.clone().add(right)
    assert left == before
    after = total.clone().sub_unchecked(right)
    assert after.vector(("cpu", "memory", GPU, NPU, "pods")) == before.vector(
        ("cpu", "memory", GPU, NPU, "pods")
    )
    assert right.less_equal(total, ZERO)
    assert total.sub(right) == after


@given(RESOURCES, RESOURCES, DEFAULTS)
def test_less_implies_less_equal_and_the_names_agree(
    left: Resource, right: Resource, default: Default
) -> None:
    if left.less(right, default):
        assert left.less_equal(right, default)
    ok, names = left.less_equal_with_resources_name(right, ZERO)
    assert ok is left.less_equal(right, ZERO) is (not names)


ANY = st.floats(allow_nan=False)


@given(ANY, ANY, st.sampled_from([0.0, 0.05, 0.1, 0.15]))
def test_less_or_equal_is_less_or_nearer_than_a_tenth(left: float, right: float, by: float) -> None:
    for one, other in ((left, right), (left, left + by), (left + by, left)):
        expected = one < other or abs(one - other) < 0.1
        for default in Default:
            assert res(one).less_equal(res(other), default) is expected
            assert res(gpu=one).less_equal(res(gpu=other), default) is expected


@given(RESOURCES, RESOURCES)
def test_a_difference_adds_up(left: Resource, right: Resource) -> None:
    more, less = left.diff(right, ZERO)
    dims = ("cpu", "memory", GPU, NPU, "pods")
    assert right.clone().add(more).sub_unchecked(less).vector(dims) == left.vector(dims)


@given(RESOURCES)
def test_a_vector_reads_back(resource: Resource) -> None:
    dims = ("cpu", "memory", "pods", GPU, NPU)
    assert Resource.from_vector(dims, resource.vector(dims)).vector(dims) == resource.vector(dims)
