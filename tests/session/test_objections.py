"""Refusals of nodes have codes that no release changes, in the JSON of why and of session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answer_worlds import NODES, links, log_of
from click.testing import CliRunner

from plinian.engine.kubernetes.objects import Taint
from plinian.engine.session.plugins.predicates.taint_toleration import UNTOLERATED, objection_to
from plinian.engine.session.reasons.objections import NodeCode, Objection, around, too_little
from plinian.replay.answers.records import Nodes
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from sessions import group, node, pod, queue


def test_codes_are_the_same_whatever_a_release_writes() -> None:
    named = objection_to(Taint(key="a", value="b", effect="NoSchedule"))
    assert (named.full_code, named.subject) == ("untolerated-taint", "a")
    assert UNTOLERATED.full_code == "untolerated-taint"
    assert too_little("nvidia.com/gpu").full_code == "insufficient-nvidia.com/gpu"
    assert too_little("pods").full_code == "too-many-pods"
    assert Objection("an extender says no").full_code == "other"
    assert all(code == code.lower() and " " not in code for code in NodeCode)


def test_what_a_release_writes_around_objections_does_not_hide_them() -> None:
    short, other = too_little("cpu"), too_little("memory")
    once = around("plugin x failed: Insufficient cpu", short)
    assert around("both", once, other).plain == (short, other)
    assert around(short.message, short) is short
    assert once != Objection(once.message)


@pytest.mark.parametrize("release", ["v1.8.0", "v1.12.1", "v1.15.1"])
def test_json_has_the_codes(tmp_path: Path, release: str) -> None:
    closed = node("n2", 8)
    closed["spec"] = {"unschedulable": True}
    documents = (node("n1", 1), closed, queue("default"), group("pg"), pod("a", "pg", 2))
    with log_of(tmp_path, NODES, *documents) as log:
        found = why_at(log, log.object("pod/ns/a"), release=release)
        (nodes,) = links(found, Nodes)
        codes = {one.nodes: (one.codes, one.lacks) for one in nodes.groups}
    assert codes == {
        ("n1",): (("insufficient-cpu",), ("cpu",)),
        ("n2",): (("cordoned",), ()),
    }
    command = ["session", "-o", "json", "--release", release, "--log", str(tmp_path / "log.db")]
    document = json.loads(CliRunner().invoke(app, command).stdout)
    assert document["fit_codes"] == {"ns/a": {"cordoned": 1, "insufficient-cpu": 1}}
