"""Pods that name claims of devices, which v1.15 wants to know first."""

from __future__ import annotations

import pytest

from sessions import Document, cache_of, document, group, node, pod, queue

NEWEST = "v1.15.1"
CLAIM = document("ResourceClaim", "gpus", "ns")


def claiming(name: str = "", template: str = "", made: str = "", on: str = "") -> Document:
    """Return a pod of ``g`` with one claim; ``made`` is what became of its template."""
    given = pod("a", "g", on=on)
    claim = {"name": "devices"}
    if name:
        claim["resourceClaimName"] = name
    if template:
        claim["resourceClaimTemplateName"] = template
    given["spec"]["resourceClaims"] = [claim]
    if made:
        status = [{"name": "devices", "resourceClaimName": made}]
        given["status"]["resourceClaimStatuses"] = status
    return given


def tasks_after(*documents: Document, release: str = NEWEST) -> list[str]:
    """Return the tasks of the job ``g`` when these were seen in turn."""
    cache = cache_of(queue("default"), node("n1"), group("g"), *documents, release=release)
    return sorted(task.name for task in cache.jobs["ns/g"].tasks.values())


def test_a_pod_is_known_if_its_claim_is() -> None:
    assert tasks_after(CLAIM, claiming("gpus")) == ["a"]


def test_a_pod_that_comes_before_its_claim_is_not_known() -> None:
    assert tasks_after(claiming("gpus")) == []
    assert tasks_after(claiming("gpus"), CLAIM) == []


def test_a_pod_that_runs_without_its_claim_is_on_no_account() -> None:
    cache = cache_of(queue("default"), node("n1"), claiming("gpus", on="n1"), release=NEWEST)
    assert cache.nodes["n1"].used.cpu == 0


@pytest.mark.parametrize("made", ["", "gpus-x7"])
def test_a_claim_made_from_a_template_is_awaited(made: str) -> None:
    assert tasks_after(claiming(template="gpus", made=made)) == ["a"]


def test_a_claim_without_any_name_is_no_claim() -> None:
    assert tasks_after(claiming()) == []


def test_releases_before_do_not_look() -> None:
    assert tasks_after(claiming("gpus"), release="v1.14.4") == ["a"]
