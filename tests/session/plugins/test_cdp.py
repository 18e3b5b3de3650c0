"""The cdp plugin: pods that were placed a moment ago."""

from __future__ import annotations

from typing import Any

import pytest

from plinian.engine.session.framework import voting
from sessions import CREATED, Document, group, names, node, opened, pod, queue, tasks


def placed(
    name: str, phase: str = "Running", since: str | None = CREATED, **marks: Any
) -> Document:
    """Return a pod that was scheduled an hour ago."""
    told = {"type": "PodScheduled", "status": "True", "lastTransitionTime": since}
    return pod(name, "a", on="n1", status={"phase": phase, "conditions": [told]}, **marks)


def cooldown(duration: str) -> dict[str, str]:
    return {"volcano.sh/cooldown-time": duration}


@pytest.mark.parametrize("point", ["preemptable", "reclaimable"])
def test_who_is_a_victim(point: str) -> None:
    documents = [
        placed("plain"),
        placed("label", labels=cooldown("61m")),
        placed("annotation", annotations=cooldown("61m")),
        placed("over", labels=cooldown("60m")),
        placed("label-first", labels=cooldown("1m"), annotations=cooldown("2h")),
        placed("unreadable", labels=cooldown("2 hours"), annotations=cooldown("2h")),
        placed("not-running", "Pending", labels=cooldown("2h")),
        placed("unknown-since", since=None, labels=cooldown("2h")),
    ]
    ssn, _ = opened("cdp", node("n1"), queue("default"), group("a"), *documents, pod("new", "a"))
    *candidates, evictor = tasks(ssn, *(each["metadata"]["name"] for each in documents), "new")
    assert names(ssn, getattr(voting, point)(ssn, evictor, candidates)) == [
        "plain",
        "over",
        "label-first",
        "unreadable",
        "not-running",
        "unknown-since",
    ]
