"""A configuration that a person gives: its text, a ConfigMap with it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from plinian.engine.errors import InputError
from plinian.replay.cli.main import app
from plinian.replay.logs.given_confs import conf_file, given_conf

TEXT = 'actions: "enqueue, allocate"\ntiers:\n- plugins:\n  - name: gang\n'
KEPT = {"volcano-scheduler.conf": TEXT}
CONFIGMAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": KEPT}
LIST = {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}, CONFIGMAP]}


@pytest.mark.parametrize("holder", [CONFIGMAP, LIST])
def test_of_a_configmap_it_is_the_configuration_inside(holder: object, tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(holder), "utf-8")
    assert conf_file(path) == (TEXT, "saved.json")


@pytest.mark.parametrize(
    "text", [TEXT, "", "# nothing\n", "configurations: []\n", "{", "- a\n", "plain\n"]
)
def test_what_a_scheduler_would_read_or_reject_stays_as_it_is(text: str) -> None:
    assert given_conf(text, "c").text == text


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("hello: world\n", "hello"),
        ("kind: ConfigMap\ndata: {other.txt: x}\n", "ConfigMap"),
        ("kind: List\nitems: [{kind: Node}]\n", "List"),
        ("kind: Application\nspec: {}\n", "Application"),
    ],
)
def test_anything_else_is_refused_and_named(text: str, named: str) -> None:
    with pytest.raises(InputError, match=rf"neither actions nor tiers \({named}\)"):
        given_conf(text, "c")


@pytest.mark.parametrize(
    "command",
    ["session --at end", "check --at end", "upgrade-check --from v1.12.1 --to v1.13.0 --at end"],
)
def test_no_command_takes_it_for_an_empty_configuration(command: str, tmp_path: Path) -> None:
    path, log = tmp_path / "hello.yaml", tmp_path / "l.db"
    path.write_text("hello: world\n", "utf-8")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u"}}
    node["metadata"] |= {"resourceVersion": "5"}  # type: ignore[operator]
    (tmp_path / "n.json").write_text(json.dumps(node), "utf-8")
    run = CliRunner().invoke
    assert run(app, ["ingest", str(tmp_path / "n.json"), "--log", str(log)]).exit_code == 0
    ran = run(app, [*command.split(), "--log", str(log), "--conf", str(path)])
    assert ran.exit_code not in {0, 1}
    assert "hello.yaml: no scheduler configuration" in ran.output + ran.stderr
