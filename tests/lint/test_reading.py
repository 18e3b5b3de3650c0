"""Files of all shapes are read, and every object knows where it is written."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from linting import TREE, job, queue

from plinian.engine.errors import InputError, UsageError
from plinian.replay.lint.known_background import Background
from plinian.replay.lint.lint_task import LintTask, check
from plinian.replay.lint.manifest_reading import WrittenFiles, read_conf, read_files
from plinian.replay.lint.objects import Manifest

TWO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
---
# another
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: b}
"""
LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata: {name: a}
- apiVersion: scheduling.volcano.sh/v1beta1
  kind: Queue
  metadata: {name: b}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: volcano-scheduler-configmap
  namespace: volcano-system
data:
  volcano-scheduler.conf: |
    actions: "allocate"
    tiers:
    - plugins:
      - name: gang
"""


def names_and_places(written: WrittenFiles) -> list[tuple[str, str, int]]:
    """Return (name, place, document) of each object."""
    found = []
    for manifest in written.manifests:
        assert manifest.place is not None
        found.append((manifest.subject().name, str(manifest.place), manifest.place.document))
    return found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (TWO, [(1, 1), (6, 2)]),
        (LIST, [(4, 1), (7, 1)]),
        (json.dumps(queue("a")) + "\n" + json.dumps(queue("b"), indent=1), [(1, 1), (2, 2)]),
        (
            json.dumps(
                {
                    "apiVersion": "scheduling.volcano.sh/v1beta1",
                    "kind": "QueueList",
                    "items": [{"metadata": {"name": "a"}}, queue("b")],
                }
            ),
            [(1, 1), (1, 1)],
        ),
        (f"---\n---\n{TWO}---\n", [(3, 2), (8, 3)]),
    ],
    ids=["documents", "list", "json", "json list", "empty documents"],
)
def test_objects_know_where_they_are(
    tmp_path: Path, text: str, lines: list[tuple[int, int]]
) -> None:
    path = tmp_path / "queues.yaml"
    path.write_text(text, "utf-8")
    assert names_and_places(read_files([str(path)])) == [
        (name, f"{path}:{line}", document)
        for name, (line, document) in zip("ab", lines, strict=True)
    ]


def test_folders_are_searched_for_manifests_only(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.yml").write_text(TWO, "utf-8")
    (tmp_path / "README.md").write_text("# no manifest\n", "utf-8")
    (tmp_path / "scheduler.conf").write_text(TREE, "utf-8")
    written = read_files([str(tmp_path)])
    assert [name for name, _, _ in names_and_places(written)] == ["a", "b"]
    assert [conf.text for conf in written.confs] == [TREE]


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "queues.yaml.gz"
    path.write_bytes(gzip.compress(TWO.encode()))
    assert len(read_files([str(path)]).manifests) == 2


def test_a_configuration_in_a_config_map_knows_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(CONFIG_MAP, "utf-8")
    written = read_files([str(path)])
    (conf,) = written.confs
    assert conf.text.startswith('actions: "allocate"')
    assert str(conf.place(1).place) == f"{path}:8"
    assert str(conf.subject) == "ConfigMap volcano-system/volcano-scheduler-configmap"
    path.write_text(json.dumps({**queue("x"), "kind": "ConfigMap", "apiVersion": "v1"}), "utf-8")
    assert read_files([str(path)]).confs == ()


def test_a_configuration_in_force_may_be_a_file_or_a_config_map(tmp_path: Path) -> None:
    plain, packed, other = (tmp_path / name for name in ("a.conf", "map.yaml", "queues.yaml"))
    plain.write_text(TREE, "utf-8")
    packed.write_text(CONFIG_MAP, "utf-8")
    other.write_text(TWO, "utf-8")
    assert read_conf(str(plain)).text == TREE
    assert "name: gang" in read_conf(str(packed)).text
    with pytest.raises(InputError, match="no scheduler configuration"):
        read_conf(str(other))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {{ .Values.queue }}\nkind: x\n", "a template, not a manifest"),
        ("kind: Queue\nkind: Queue\n", "without apiVersion"),
        ("- just\n- words\n", "expected a Kubernetes object"),
        ("name: a\n", "neither a Kubernetes object nor a scheduler configuration"),
        ('{"kind": "Queue", ', "not JSON|ends in the middle"),
        ("hello\n", "expected a Kubernetes object"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_files([str(path)])
    assert str(path) in caught.value.where


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_files([str(tmp_path / "nowhere.yaml")])


VALUES = """\
basic:
  image_tag_version: v1.10.0
custom:
  scheduler_config_override: |
    actions: "enqueue, allocate"
    tiers:
    - plugins:
      - name: gang
  other: |
    text
"""
DATA = """\
data:
  volcano-scheduler.conf: |
    actions: "enqueue"
"""


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (VALUES, "custom.scheduler_config_override", 5),
        (DATA, "data.volcano-scheduler.conf", 3),
        (VALUES.replace("|\n    actions", ">\n    actions"), "", 0),
        ("conf: {actions: allocate, tiers: [{plugins: [{name: gang}]}]}\n", "conf", 1),
        (json.dumps({"data": {"volcano-scheduler.conf": "actions: allocate"}}), "data.volcano", 1),
    ],
)
def test_a_configuration_within_other_values_is_found(
    tmp_path: Path, text: str, name: str, line: int
) -> None:
    path = tmp_path / "values.yaml"
    path.write_text(text, "utf-8")
    if not name:  # A folded text is another text: its lines are joined.
        with pytest.raises(InputError, match="nor a scheduler configuration"):
            read_files([str(path)])
        return
    written = read_files([str(path)])
    (conf,) = written.confs
    assert written.manifests == ()
    assert conf.subject.name.startswith(name)
    assert str(conf.place(1).place) == f"{path}:{line}"
    assert read_conf(str(path)).text == conf.text


BUNDLE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: admission
  labels:
    app: one
    app: two
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {weight: 1}
spec: {weight: 2}
"""


def test_a_key_that_occurs_twice_is_noted_and_its_last_value_counts(tmp_path: Path) -> None:
    path = tmp_path / "bundle.yaml"
    path.write_text(BUNDLE, "utf-8")
    deployment, of_queue = read_files([str(path)]).manifests
    assert deployment.repeated == ((7, "app"),)
    assert deployment.document["metadata"]["labels"] == {"app": "two"}
    assert of_queue.repeated == ((13, "spec"),)
    assert of_queue.document["spec"] == {"weight": 2}
    report = check(LintTask(read_files([str(path)])), [])
    told = [str(one.issue.subject.place) for one in report.findings if one.rule == "key-repeated"]
    assert told == [f"{path}:7", f"{path}:13"]


OF_JSON = """\
{"kind": "List", "apiVersion": "v1",
 "items": [
  {"kind": "Queue", "apiVersion": "scheduling.volcano.sh/v1beta1",
   "metadata": {"name": "a"}, "spec": {"weight": 1}},
  {"kind": "Queue", "apiVersion": "scheduling.volcano.sh/v1beta1",
   "metadata": {"name": "b", "labels": {"x": "\\"x\\":", "y": "{"}},
   "spec": {"weight": 1,
            "we\\u0069ght": 2}}
 ]}
"""


def told_twice(path: Path) -> list[tuple[str, str]]:
    """Return what lint says of repeated keys: where, and of what."""
    report = check(LintTask(read_files([str(path)])), [])
    issues = [one.issue for one in report.findings if "occurs twice" in one.issue.message]
    return [(str(one.subject.place), one.subject.name) for one in issues]


def test_a_key_that_occurs_twice_in_json_is_told_of_its_object(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(OF_JSON, "utf-8")
    assert told_twice(path) == [(f"{path}:8", "b")]
    path.write_text(OF_JSON.replace('"y": "{"', r'"y": "\u0022\u0022"'), "utf-8")
    assert told_twice(path) == [(f"{path}:8", "b")], "as many quotes as without the key"
    path.write_text(OF_JSON.replace("we\\u0069ght", "other"), "utf-8")
    assert told_twice(path) == []


def test_a_key_that_occurs_twice_in_values_of_helm_is_told(tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    conf = 'custom:\n  scheduler_config: |\n    actions: "allocate"\n    tiers: []\n'
    path.write_text(f"{conf}basic:\n  tag: a\n  image: b\n  tag: c\n", "utf-8")
    assert [place for place, _ in told_twice(path)] == [f"{path}:8"]


@pytest.mark.parametrize(
    "text",
    [
        "{{- if .Values.on }}\nkind: Queue\n{{- end }}\n",
        "{% if on %}\nkind: Queue\n{% endif %}\n",
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: {{ .n }}\n",
        'apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: "{{ .n }}"\n',
    ],
)
def test_a_template_is_to_be_rendered_first(tmp_path: Path, text: str) -> None:
    path = tmp_path / "queue.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        read_files([str(path)])
    assert "helm template" in caught.value.now
    assert "--skip-malformed" not in str(caught.value.now)


def test_no_advice_names_an_option_that_lint_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    for text in ('{"kind": ', '{"kind": x}', "{]"):
        path.write_text(text, "utf-8")
        with pytest.raises(InputError) as caught:
            read_files([str(path)])
        assert "--skip-malformed" not in caught.value.now


def test_files_in_which_no_rule_checks_anything_are_nothing_to_check(tmp_path: Path) -> None:
    path = tmp_path / "service.yaml"
    path.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "utf-8")
    with pytest.raises(UsageError, match="nothing to check: there is only 1 Service"):
        check(LintTask(read_files([str(path)])), [])
    behind = Background((Manifest(queue("b"), None),), None)
    with pytest.raises(UsageError, match="nothing to check"):
        check(LintTask(read_files([str(path)]), behind), [])
    assert check(LintTask(background=behind), []).objects == 1


SOUND = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\n"
HELM = "{{- if .Values.on }}\n" + SOUND + "{{- end }}\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (HELM, 1, "a template, not a manifest"),
        (f"{SOUND}---\n{SOUND}  labels: [\n", 8, ""),
        ("apiVersion: v2\nname: my\nversion: 1.0.0\n", 1, "the description of a chart of Helm"),
        ("a: 1\n", 1, "neither a Kubernetes object nor a scheduler configuration"),
        ("kind: Queue\n", 1, "found one without apiVersion"),
        ('{"kind": ', 1, ""),
        (f"{SOUND}---\n" + SOUND.replace("{name: a}", '{name: "{{ .n }}"}'), 5, "template's"),
    ],
)
def test_one_file_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    (tmp_path / "b.yaml").write_text(text, "utf-8")
    for name in ("a.yaml", "c.yaml"):
        (tmp_path / name).write_text(SOUND.replace("name: a", f"name: {name[0]}"), "utf-8")
    written = read_files([str(tmp_path)], go_on=True)
    named = {manifest.subject().name for manifest in written.manifests}
    assert {"a", "c"} <= named
    (unread,) = written.unread
    assert unread.place.file == f"{tmp_path}/b.yaml"
    assert unread.what
    assert what in unread.what
    report = check(LintTask(written), [])
    (finding,) = [one for one in report.findings if one.rule == "file-unreadable"]
    assert finding.issue.subject.place == unread.place
    assert (finding.message, finding.issue.now) == (unread.what, unread.now)
    assert report.unread == 1
    assert check(LintTask(written, ignored=("file-unreadable",)), []).unread == 0
    with pytest.raises(InputError):
        read_files([str(tmp_path)])
    assert unread.place.line == line


def test_if_nothing_can_be_read_that_is_an_error(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(HELM, "utf-8")
    with pytest.raises(InputError, match=r"and 1 more cannot be read"):
        read_files([str(tmp_path)], go_on=True)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("{parent: '{{ .Values.parent }}'}", "spec.parent"),
        ("{capability: {cpu: '{{ .Values.cpu }}'}}", "spec.capability.cpu"),
    ],
)
def test_a_field_of_a_template_is_not_taken_for_its_value(
    tmp_path: Path, spec: str, path: str
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"{SOUND}spec: {spec}\n", "utf-8")
    with pytest.raises(InputError, match=re.escape(f"{path} '{{{{ .Values.")):
        read_files([str(file)])


def test_what_a_container_runs_with_may_have_braces(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    pod_spec = {"containers": [{"name": "a", "args": ["{{ $x }}"], "env": [{"value": "{%"}]}]}
    made = job("j", {"name": "w", "replicas": 1, "template": {"spec": pod_spec}})
    file.write_text(json.dumps(made), "utf-8")
    assert len(read_files([str(file)]).manifests) == 1


def test_documents_after_one_that_cannot_be_read_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    broken = "kind: [\n"
    also = "a: b: c\n"
    last = SOUND.replace("name: a", "name: z")
    file.write_text(f"{SOUND}---\n{broken}---\n{also}---\n{last}", "utf-8")
    written = read_files([str(file)], go_on=True)
    assert names_and_places(written) == [("a", f"{file}:1", 1), ("z", f"{file}:9", 4)]
    assert [one.place.line for one in written.unread] == [6, 7]


@pytest.mark.parametrize("end", ["", "---\n", "---\nkind: [\n", "--- \n---\n"])
def test_a_document_that_is_never_closed_ends_the_reading(tmp_path: Path, end: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"{SOUND}---\nkind: [\n{end}", "utf-8")
    written = read_files([str(file)], go_on=True)
    assert [name for name, _, _ in names_and_places(written)] == ["a"]
    assert written.unread
