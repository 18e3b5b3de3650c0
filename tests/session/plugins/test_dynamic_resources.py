"""Where devices are that pods claim, and who gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.model.session_tables import TaskStatus
from plinian.engine.session.framework import voting
from plinian.engine.session.framework.process_parts import ProcessState
from plinian.engine.session.framework.session import Session
from plinian.engine.session.plugins import Predicates
from plinian.engine.session.plugins.predicates.dynamic_resources import ClaimMemory
from sessions import Document, document, group, node, opened, pod, queue, tasks

NEWEST = "v1.15.1"
DRIVER = "gpu.example.com"
FEW = "cannot allocate all claims"
CLASS = document("DeviceClass", "gpu", spec={})
BASE = (queue("default"), CLASS, group("g", 3), node("n1"), node("n2"))


def gpus(name: str, *devices: Document, on: str = "", count: int = 1, **spec: Any) -> Document:
    """Return a slice of a pool of a node; its name is that of the pool and a number."""
    pool = {"name": name.partition("-")[0], "generation": spec.pop("generation", 1)}
    pool["resourceSliceCount"] = count
    where = {"nodeName": on} if on else {}
    made = {"driver": DRIVER, "pool": pool, "devices": list(devices), **where, **spec}
    return document("ResourceSlice", name, spec=made)


def gpu(name: str, model: str = "a", memory: str = "10Gi") -> Document:
    """Return a device."""
    attributes = {"model": {"string": model}, "numa/node": {"int": len(name)}}
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": memory}}}


def asking(count: int = 1, mode: str = "ExactCount", **more: Any) -> Document:
    """Return what a request asks for exactly."""
    return {"deviceClassName": "gpu", "allocationMode": mode, "count": count, **more}


def cel(text: str) -> list[Document]:
    """Return a condition."""
    return [{"cel": {"expression": text}}]


def claim(name: str, *exact: Document, status: Document | None = None, **devices: Any) -> Document:
    """Return a claim with these requests; ``devices`` has the rest of them."""
    requests = [{"name": f"r{number}", "exactly": each} for number, each in enumerate(exact)]
    spec = {"devices": {"requests": requests or [{"name": "r", "exactly": asking()}], **devices}}
    return document("ResourceClaim", name, "ns", spec=spec, status=status or {})


def claiming(name: str, *claims: str) -> Document:
    """Return a pod with these claims."""
    made = pod(name, "g")
    made["spec"]["resourceClaims"] = [
        {"name": f"c{number}", "resourceClaimName": each} for number, each in enumerate(claims)
    ]
    return made


def session(
    *documents: Document, release: str = NEWEST, process: ProcessState | None = None
) -> Session:
    """Return a session with only this plugin."""
    return opened("predicates", *BASE, *documents, release=release, process=process)[0]


def reasons(ssn: Session, name: str) -> list[str] | str:
    """Return why each node does not take a pod, empty where one does; or why none is asked."""
    (task,) = tasks(ssn, name)
    error = voting.pre_predicate(ssn, task)
    if error is not None:
        return error
    verdicts = dict(ssn.registry.flat("Predicate"))["predicates"].function(task, np.arange(2))
    return [
        " ".join(one.message for one in ssn.reasons.objections(verdict))
        for verdict in verdicts.tolist()
    ]


def place(ssn: Session, name: str, row: int, status: int = TaskStatus.ALLOCATED) -> list[str]:
    """Tell the plugin that a pod was placed; return its errors."""
    (task,) = tasks(ssn, name)
    ssn.tasks.status[task] = status
    return ssn.registry.notify_allocated(task, row)


def test_a_node_without_the_devices_does_not_take_the_pod() -> None:
    ssn = session(gpus("p", gpu("d"), on="n1"), claim("c"), claiming("a", "c"), pod("b", "g"))
    assert reasons(ssn, "a") == ["", FEW]
    assert reasons(ssn, "b") == ["", ""]


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        (asking(2), [True, False]),
        (asking(3), [False, False]),
        (asking(0), [True, True]),
        (asking(mode=""), [True, True]),
        (asking(mode="All"), [True, True]),
        (asking(selectors=cel('device.attributes["gpu.example.com"].model == "b"')), [True, False]),
        (
            asking(selectors=cel('device.capacity["gpu.example.com"].memory > quantity("1Gi")')),
            [True, True],
        ),
    ],
)
def test_what_a_request_asks_for(asked: Document, there: list[bool]) -> None:
    ssn = session(
        gpus("p", gpu("d"), gpu("e", "b"), on="n1"),
        gpus("q", gpu("d"), on="n2"),
        claim("c", asked),
        claiming("a", "c"),
    )
    assert [not reason for reason in reasons(ssn, "a")] == there


def test_the_first_wish_that_can_be_had_counts() -> None:
    wishes = claim("c")
    several = [{**asking(2), "name": "many"}, {**asking(), "name": "one"}]
    wishes["spec"]["devices"]["requests"] = [{"name": "r", "firstAvailable": several}]
    ssn = session(gpus("p", gpu("d"), on="n1"), wishes, claiming("a", "c"))
    assert reasons(ssn, "a") == ["", FEW]


def test_devices_of_a_claim_may_have_to_be_alike() -> None:
    alike = [{"matchAttribute": "gpu.example.com/model"}]
    ssn = session(
        gpus("p", gpu("d", "a"), gpu("e", "b"), gpu("f", "a"), on="n1"),
        gpus("q", gpu("d", "a"), gpu("e", "b"), on="n2"),
        claim("c", asking(), asking(), constraints=alike),
        claiming("a", "c"),
    )
    assert reasons(ssn, "a") == ["", FEW]


def test_slices_are_of_a_node_of_some_or_of_all() -> None:
    named = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]
    for where, there in (
        ({"allNodes": True}, ["", ""]),
        ({"nodeSelector": {"nodeSelectorTerms": named}}, [FEW, ""]),
        ({"perDeviceNodeSelection": True}, [FEW, FEW]),
        ({}, [FEW, FEW]),
    ):
        ssn = session(gpus("p", gpu("d"), **where), claim("c"), claiming("a", "c"))
        assert reasons(ssn, "a") == there


def test_a_pool_is_its_newest_slices_and_must_be_whole() -> None:
    newer = gpus("p-2", gpu("e"), on="n2", generation=2)
    ssn = session(gpus("p", gpu("d"), on="n1"), newer, claim("c"), claiming("a", "c"))
    assert reasons(ssn, "a") == [FEW, ""]
    half = gpus("p", gpu("d"), on="n1", count=2)
    ssn = session(half, claim("c"), claiming("a", "c"))
    assert reasons(ssn, "a") == [FEW, FEW]
    ssn = session(half, claim("c", asking(mode="All")), claiming("a", "c"))
    assert "resource pool gpu.example.com/p is currently being updated" in reasons(ssn, "a")[0]
    twice = gpus("p", gpu("d"), gpu("d"), on="n1")
    ssn = session(twice, claim("c"), claiming("a", "c"))
    assert reasons(ssn, "a") == ["invalid resource pools were encountered", FEW]


def test_what_claims_have_is_taken_unless_for_administration() -> None:
    for admin, there in ((False, FEW), (True, "")):
        device = {"driver": DRIVER, "pool": "p", "device": "d", "adminAccess": admin}
        has = claim("has", status={"allocation": {"devices": {"results": [device]}}})
        ssn = session(gpus("p", gpu("d"), on="n1"), has, claim("c"), claiming("a", "c"))
        assert reasons(ssn, "a") == [there, FEW]
        watching = claim("w", asking(adminAccess=True))
        ssn = session(gpus("p", gpu("d"), on="n1"), has, watching, claiming("a", "w"))
        assert reasons(ssn, "a") == ["", FEW]


def test_a_claim_that_has_devices_is_used_where_they_are() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["n2"]}
    there = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    has = claim("c", status={"allocation": {"nodeSelector": there}})
    ssn = session(has, claiming("a", "c"))
    assert reasons(ssn, "a") == ["resourceclaim not available on the node", ""]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"deviceClassName": "none"}, "request r: device class none does not exist"),
        ({"deviceClassName": ""}, "request r: unsupported request type"),
        (None, "resource claim ns/c, request r: unknown request type"),
    ],
)
def test_what_no_node_can_help(made: Document | None, reason: str) -> None:
    wrong = claim("c")
    wrong["spec"]["devices"]["requests"] = [
        {"name": "r", **({} if made is None else {"exactly": made})}
    ]
    ssn = session(wrong, claiming("a", "c"))
    assert reasons(ssn, "a") == f"plugin DynamicResources pre-predicates failed {reason}"


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("device.x == 1", "runtime error: no such key: x"),
        ("device.", "compile error"),
        ("[1].exists(x, true)", "not simulated"),
        ("1", "the result is no bool"),
    ],
)
def test_what_is_wrong_with_a_condition_is_told(expression: str, fault: str) -> None:
    asked = asking(selectors=cel(expression))
    ssn = session(gpus("p", gpu("d"), on="n1"), claim("c", asked), claiming("a", "c"))
    here, elsewhere = reasons(ssn, "a")
    assert here.startswith("claim ns/c: selector #0: CEL ")
    assert fault in here
    assert elsewhere == FEW


def test_devices_of_v1beta1_say_what_they_are_within_basic() -> None:
    device = gpu("d")
    older = {"name": device.pop("name"), "basic": device}
    many = asking(selectors=cel('device.capacity["gpu.example.com"].memory > quantity("1Gi")'))
    ssn = session(gpus("p", older, on="n1"), claim("c", many), claiming("a", "c"))
    assert reasons(ssn, "a") == ["", FEW]


def test_an_amount_that_is_none_is_no_device() -> None:
    with pytest.raises(EventMalformed):
        session(gpus("p", gpu("d", memory="much"), on="n1"))


def test_a_search_ends_somewhere() -> None:
    alike = [{"matchAttribute": "gpu.example.com/model"}]
    many = [gpu(f"d{number}", model=str(number // 8)) for number in range(32)]
    ssn = session(
        gpus("p", *many, on="n1"), claim("c", asking(9), constraints=alike), claiming("a", "c")
    )
    assert reasons(ssn, "a") == ["timed out trying to allocate devices", FEW]


def test_devices_that_are_given_are_taken_until_they_are_given_back() -> None:
    ssn = session(
        gpus("p", gpu("d"), on="n1"),
        claim("c"),
        claim("d"),
        claiming("a", "c"),
        claiming("b", "d"),
        claiming("e", "c"),
    )
    assert reasons(ssn, "a") == ["", FEW]
    assert place(ssn, "a", 0) == []
    assert reasons(ssn, "b") == [FEW, FEW]
    assert "is in the process of being allocated" in reasons(ssn, "e")
    ssn.registry.notify_deallocated(*tasks(ssn, "a"), 0)
    assert reasons(ssn, "b") == ["", FEW]


def test_a_pod_that_is_pipelined_gets_none() -> None:
    ssn = session(gpus("p", gpu("d"), on="n1"), claim("c"), claiming("a", "c"))
    reasons(ssn, "a")
    assert place(ssn, "a", 0, TaskStatus.PIPELINED) == ["claim allocation not found for node"]


def test_the_process_remembers_what_pods_that_were_bound_have() -> None:
    process = ProcessState()
    documents = (
        gpus("p", gpu("d"), on="n1"),
        claim("c"),
        claim("d"),
        claiming("a", "c"),
        claiming("b", "d"),
        claiming("e", "c"),
    )
    plugins = opened("predicates", *BASE, *documents, release=NEWEST, process=process)
    ssn, predicates = plugins[0], plugins[1]["predicates"]
    assert isinstance(predicates, Predicates)
    reasons(ssn, "a")
    place(ssn, "a", 0)
    ssn.binds.append((*tasks(ssn, "a"), 0))
    predicates.on_session_close(ssn)
    kept = process.memory.of(ClaimMemory)
    assert not kept.pending
    assert [each.claim.name for each in kept.assumed.values()] == ["c"]


def test_releases_before_do_not_look_for_devices() -> None:
    ssn = session(claiming("a", "c"), release="v1.14.4")
    assert reasons(ssn, "a") == ["", ""]
