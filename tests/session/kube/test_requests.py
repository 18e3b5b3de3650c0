"""What a pod asks for, as kube-scheduler adds it up."""

from __future__ import annotations

from typing import Any

from plinian.engine.kubernetes.objects import Pod, decode
from plinian.engine.session.kube.pod_requests import (
    PodRequests,
    kube_amount,
    pod_requests,
    requests_on_nodes,
)

MI = 1024 * 1024


def asked(
    *containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any
) -> PodRequests:
    """Return the requests of a pod with these containers."""
    return pod_requests(made(*containers, init=init, **spec))


def made(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any) -> Pod:
    """Return a pod with these containers."""
    written = {
        "containers": [wrapped(one) for one in containers],
        "initContainers": [wrapped(one) for one in init],
        **spec,
    }
    return decode(Pod, {"spec": written})


def wrapped(container: dict[str, Any]) -> dict[str, Any]:
    """Return a container that asks for what is not in lower camel case of its own fields."""
    requests = {key: value for key, value in container.items() if key != "restartPolicy"}
    rest = {key: value for key, value in container.items() if key == "restartPolicy"}
    return {"resources": {"requests": requests}, **rest}


def test_containers_add_up() -> None:
    found = asked({"cpu": "500m", "memory": "1Gi"}, {"cpu": "1", "nvidia.com/gpu": "2"})
    assert found == PodRequests(1500, 1024 * MI, 2, 1500, 1224 * MI)


def test_fractions_are_rounded_once_for_the_whole_pod() -> None:
    assert asked({"cpu": "0.5m"}, {"cpu": "0.5m"}).cpu == 1
    assert asked({"cpu": "0.6m"}, {"cpu": "0.6m"}).cpu == 2


def test_who_does_not_ask_counts_for_a_tenth_of_a_core_and_200_mib() -> None:
    found = asked({}, {"cpu": "0", "memory": "0"})
    assert (found.cpu, found.memory) == (0, 0)
    assert (found.nonzero_cpu, found.nonzero_memory) == (100, 200 * MI)


def test_an_init_container_counts_if_it_asks_for_more() -> None:
    found = asked({"cpu": "2", "memory": "2Gi"}, init=({"cpu": "3", "memory": "1Gi"},))
    assert (found.cpu, found.memory) == (3000, 2048 * MI)


def test_sidecars_stay_and_run_beside_later_init_containers() -> None:
    sidecar = {"cpu": "1", "restartPolicy": "Always"}
    assert asked({"cpu": "1"}, init=(sidecar,)).cpu == 2000
    assert asked({"cpu": "1"}, init=(sidecar, {"cpu": "4"})).cpu == 5000
    assert asked({"cpu": "1"}, init=({"cpu": "4"}, sidecar)).cpu == 4000


def test_overhead_counts_in_both_phases() -> None:
    overhead = {"cpu": "250m", "memory": "120Mi"}
    assert asked({"cpu": "1"}, overhead=overhead).cpu == 1250
    assert asked({"cpu": "1"}, init=({"cpu": "3"},), overhead=overhead).cpu == 3250
    assert asked({"cpu": "1"}, overhead=overhead).nonzero_memory == 320 * MI


def test_amounts_of_a_node_are_cpu_in_milli_and_the_rest_in_units() -> None:
    has = {"cpu": "1.5", "memory": "1Ki", "nvidia.com/gpu": "4"}
    assert [kube_amount(has, name) for name in ("cpu", "memory", "nvidia.com/gpu", "no")] == [
        1500,
        1024,
        4,
        0,
    ]


def test_up_to_v1_31_sidecars_count_on_nodes_only_beyond_the_containers() -> None:
    sidecar = {"cpu": "1", "memory": "512Mi", "restartPolicy": "Always"}
    pod = made({"cpu": "2", "memory": "2Gi"}, init=(sidecar, sidecar))
    found = requests_on_nodes(pod, pod_requests(pod), sidecars=True)
    assert found == PodRequests(4000, 3072 * MI, 0, 2000, 2048 * MI)
    pod = made({"cpu": "500m"}, init=(sidecar, {"cpu": "1"}), overhead={"cpu": "100m"})
    found = requests_on_nodes(pod, pod_requests(pod), sidecars=True)
    assert (found.nonzero_cpu, found.nonzero_memory) == (2100, 512 * MI)
    # Where sidecars do not say, what they count is not added up.
    silent = {"restartPolicy": "Always"}
    pod = made({}, init=(silent, silent))
    found = requests_on_nodes(pod, pod_requests(pod), sidecars=True)
    assert (found.nonzero_cpu, found.nonzero_memory) == (100, 200 * MI)


def test_cores_of_overhead_once_counted_for_thousandths() -> None:
    pod = made({"cpu": "500m", "memory": "1Gi"}, overhead={"cpu": "1500m", "memory": "1Mi"})
    now, before = pod_requests(pod), pod_requests(pod, overhead_in_cores=True)
    assert (now.cpu, before.cpu) == (2000, 502)
    assert (now.nonzero_cpu, before.nonzero_cpu) == (2000, 502)
    assert before.memory == now.memory
