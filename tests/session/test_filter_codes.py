"""Refusals of nodes have codes that no release changes, in the JSON of why and of session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer_worlds import NODES, links, log_of
from click.testing import CliRunner

from plinian.engine.session.plugins import nodegroup
from plinian.engine.session.plugins.predicates import (
    answers,
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_ports,
    pod_topology_spread,
    stable,
    taint_toleration,
    volume_binding,
    volume_limits,
    volume_zone,
)
from plinian.engine.session.plugins.tdm import plugin as tdm
from plinian.engine.session.reasons.filter_codes import CODES, OTHER, code_of
from plinian.replay.answers.records import Nodes
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from sessions import group, node, pod, queue

MODULES = (
    *(nodegroup, answers, dynamic_resources, inter_pod_affinity, node_affinity, node_ports),
    *(pod_topology_spread, stable, taint_toleration, volume_binding, volume_limits, volume_zone),
    tdm,
)


def test_every_message_of_a_filter_has_a_code() -> None:
    texts = [text for one in MODULES for text in vars(one).values() if isinstance(text, str)]
    messages = [text for text in texts if text.startswith(("node(s) ", "node group "))]
    assert len(messages) >= 15
    assert [text for text in messages if code_of(text, {}) == OTHER] == []


def test_codes_are_the_same_whatever_a_release_writes() -> None:
    assert code_of("node(s) had untolerated taint {a: b}", {}) == "untolerated-taint"
    assert code_of("node(s) had untolerated taint(s)", {}) == "untolerated-taint"
    assert code_of("Insufficient nvidia.com/gpu", {}) == "insufficient-nvidia.com/gpu"
    assert code_of("an extender says no", {}) == OTHER
    assert all(code == code.lower() and " " not in code for code in CODES.values())


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
def test_json_has_the_codes(tmp_path: Path, release: str) -> None:
    closed = node("n2", 8)
    closed["spec"] = {"unschedulable": True}
    documents = (node("n1", 1), closed, queue("default"), group("pg"), pod("a", "pg", 2))
    with log_of(tmp_path, NODES, *documents) as log:
        found = why_at(log, log.object("pod/ns/a"), release=release)
        (nodes,) = links(found, Nodes)
        codes = {one.nodes: one.codes for one in nodes.groups}
    assert codes == {("n1",): ("insufficient-cpu",), ("n2",): ("cordoned",)}
    command = ["session", "-o", "json", "--release", release, "--log", str(tmp_path / "log.db")]
    document = json.loads(CliRunner().invoke(app, command).stdout)
    assert document["fit_codes"] == {"ns/a": {"cordoned": 1, "insufficient-cpu": 1}}
