"""What pods count for quotas, added up and written as Go writes it."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.kubernetes.pod_quota import quota_usage
from plinian.engine.kubernetes.quantity_lists import add, amount, amounts, times, written


def _pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}}


def _container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1025Mi", "1025Mi"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("1e3", "1e3"),
        ("12E", "12E"),
        ("1000", "1k"),
        ("0", "0"),
        ("-1500m", "-1500m"),
    ],
)
def test_a_quantity_is_written_in_its_canonical_form(given: str, expected: str) -> None:
    assert str(amount(given)) == expected


def test_a_sum_is_written_like_its_first_part_that_is_not_zero() -> None:
    sums = amounts({"memory": "1Gi", "other": "0"})
    add(sums, amounts({"memory": "1M", "other": "1Ki", "cpu": "500m"}))
    assert written(sums) == {"cpu": "500m", "memory": "1074741824", "other": "1Ki"}


def test_no_times_a_list_has_no_names() -> None:
    assert times(amounts({"cpu": "1"}), 0) == {}
    assert written(times(amounts({"cpu": "300m"}), 10)) == {"cpu": "3"}


def test_requests_limits_and_extended_resources_count_by_their_names_in_quotas() -> None:
    resources = {
        "requests": {"cpu": "1", "nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi"},
        "limits": {"memory": "1Gi", "nvidia.com/gpu": "2"},
    }
    assert written(quota_usage(_pod({"resources": resources}))) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1",
        "requests.cpu": "1",
        "limits.memory": "1Gi",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "nvidia.com/gpu": "2",
        "requests.nvidia.com/gpu": "2",
    }


def test_init_containers_count_where_they_need_more_than_what_runs_later() -> None:
    pod = _pod(
        _container("1"),
        _container("1"),
        initContainers=[_container("500m", restartPolicy="Always"), _container("3")],
        overhead={"cpu": "100m", "memory": "1Mi"},
    )
    usage = quota_usage(pod)
    assert str(usage["requests.cpu"]) == "3600m"
    assert str(usage["memory"]) == "1Mi"
    assert "limits.memory" not in usage


def test_a_pod_that_has_ended_counts_as_an_object_alone() -> None:
    pod = {**_pod(_container("1")), "status": {"phase": "Succeeded"}}
    assert written(quota_usage(pod)) == {"count/pods": "1"}
