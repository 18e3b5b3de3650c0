"""Pods with scheduling gates as releases that do not read them: what they decide, and what is true.

A session of v1.8 or v1.9 binds such a pod; the API server refuses that (Kubernetes 1.26 and later,
the only ones that store gates).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from answer_worlds import NODES, log_of

from plinian.engine.kubernetes.api_errors import Conflict
from plinian.engine.kubernetes.api_server import ApiServer
from plinian.replay.answers.why import why_at
from plinian.replay.render.session import session_lines
from plinian.replay.sessions.session_answer import SessionAnswer, session_at
from plinian.replay.what_if.help import startable, what_would_help
from sessions import group, node, pod, queue

GATE = {"name": "example.com/quota"}
SAID = (
    "the API server refuses to bind ns/a: it has the scheduling gate example.com/quota, which "
    "{release} does not read"
)


def world(*pods: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return (node("n1"), queue("default"), group("g"), *pods)


def answered(folder: Path, release: str, *pods: dict[str, Any]) -> SessionAnswer:
    with log_of(folder, NODES, *world(*pods)) as log:
        return session_at(log, release=release)


@pytest.mark.parametrize("release", ["v1.8.2", "v1.9.0"])
def test_a_bind_that_the_api_server_refuses_is_said_beside_the_decision(
    release: str, tmp_path: Path
) -> None:
    answer = answered(tmp_path, release, pod("a", "g", schedulingGates=[GATE]), pod("b", "g"))
    assert [name for name, _ in answer.result.binds] == ["ns/a", "ns/b"], "as the scheduler decides"
    said = SAID.format(release=release)
    assert answer.document.binds_refused == [("ns/a", said)]
    text = "".join(session_lines(answer))
    assert f"{said[0].upper()}{said[1:]}." in text
    assert text.count("refuses") == 1


def test_a_release_that_reads_gates_binds_nothing_that_is_refused(tmp_path: Path) -> None:
    answer = answered(tmp_path, "v1.12.1", pod("a", "g", schedulingGates=[GATE]))
    assert answer.result.binds == []
    assert answer.refused == ()


def test_a_job_with_a_gated_pod_is_said_to_wait_for_its_gate(tmp_path: Path) -> None:
    with log_of(tmp_path, NODES, *world(pod("a", "g", schedulingGates=[GATE]))) as log:
        moment = log.moment("end")
        target = log.object("podgroup/g", moment)
        found = why_at(log, target, moment, namespace="ns", release="v1.8.2")
        assert found.cause == "gated"
        assert "gate example.com/quota of its pods must be removed first; v1.8.2" in found.sentence
        helps = what_would_help(log, moment, startable(log, target, "ns", moment), found)
        assert helps.unchanged == ""
        assert any("scheduling gate" in str(one) for one in helps.found)


def test_the_api_server_refuses_to_bind_a_gated_pod() -> None:
    server = ApiServer()
    server.create(pod("a", "g", schedulingGates=[GATE]))
    with pytest.raises(Conflict, match="non-empty"):
        server.bind("ns/a", "n1")
