"""What is inside of objects of other tools: found and checked, or said not to be."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from linting import TREE, job, queue

from plinian.engine.errors import InputError, UsageError
from plinian.replay.lint.lint_task import LintTask, Report, check
from plinian.replay.lint.manifest_reading import read_files
from plinian.replay.render.documents import plain
from plinian.replay.render.lint import lint_notes

CONF = TREE.replace("enqueue, allocate", "enqueue, alocate").strip() + "\n"
"""A configuration with a misspelt action."""

WRONG = {**queue("wrong"), "spec": {"weigth": 2}}
VALUES = f"custom:\n  scheduler_config_override: |\n{textwrap.indent(CONF, '    ')}"


def argo(source: str, *, kind: str = "Application") -> str:
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: {kind}\n"
        "metadata: {name: volcano, namespace: argocd}\n"
        f"spec:\n  project: default\n{textwrap.indent(source, '  ')}"
    )


def block(text: str, deep: int) -> str:
    return textwrap.indent(text, " " * deep)


YAML_OF_QUEUE = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata:\n  name: wrong\n"
    "spec:\n  weigth: 2\n"
)
WITH_CONF = {
    "values of an Application": argo(f"source:\n  helm:\n    values: |\n{block(VALUES, 6)}"),
    "values of one of its sources": argo(
        f"sources:\n- chart: x\n- helm:\n    values: |\n{block(VALUES, 6)}"
    ),
    "an object with values of an Application": argo(
        f"source:\n  helm:\n    valuesObject:\n{block(VALUES, 6)}"
    ),
    "a parameter of an Application": argo(
        "source:\n  helm:\n    parameters:\n    - name: custom.scheduler_config_override\n"
        f"      value: |\n{block(CONF, 8)}"
    ),
    "an ApplicationSet": argo(
        "template:\n  spec:\n    source:\n      helm:\n        values: |\n" + block(VALUES, 10),
        kind="ApplicationSet",
    ),
    "a HelmRelease": (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: volcano}\n"
        f"spec:\n  values:\n{block(VALUES, 4)}"
    ),
    "a HelmChart of k3s": (
        "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: volcano}\n"
        f"spec:\n  valuesContent: |-\n{block(VALUES, 4)}"
    ),
    "a patch of a Kustomization": (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches:\n- patch: |\n"
        "    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: volcano-scheduler-configmap}"
        f"\n    data:\n      volcano-scheduler.conf: |\n{block(CONF, 8)}"
    ),
    "a kustomization without a kind": (
        "resources: [base]\npatches:\n- patch: |\n    data:\n"
        f"      volcano-scheduler.conf: |\n{block(CONF, 8)}"
    ),
    "a list of Applications": (
        "apiVersion: v1\nkind: List\nitems:\n- "
        + block(argo(f"source:\n  helm:\n    values: |\n{block(VALUES, 6)}"), 2).lstrip()
    ),
}
WITH_QUEUE = {
    "values with objects": f"extraObjects:\n- {block(YAML_OF_QUEUE, 2).lstrip()}",
    "values with texts of objects": f"extraDeploy:\n- |\n{block(YAML_OF_QUEUE, 2)}",
    "a ConfigMap": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: queues}\ndata:\n  queues.yaml: |\n"
        + block(f"---\n{YAML_OF_QUEUE}---\n", 4)
    ),
    "a ManifestWork": (
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: q}\n"
        f"spec:\n  workload:\n    manifests:\n    - {block(YAML_OF_QUEUE, 6).lstrip()}"
    ),
    "an Object of Crossplane": (
        "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {name: q}\n"
        f"spec:\n  forProvider:\n    manifest:\n{block(YAML_OF_QUEUE, 6)}"
    ),
    "a Template of OpenShift": (
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: q}\n"
        f"objects:\n- {block(YAML_OF_QUEUE, 2).lstrip()}"
    ),
    "a plan of Terraform": json.dumps(
        {
            "format_version": "1.2",
            "planned_values": {
                "root_module": {
                    "resources": [
                        {"type": "kubernetes_manifest", "values": {"manifest": WRONG}},
                    ]
                }
            },
        }
    ),
    "JSON in a text": json.dumps(
        {"apiVersion": "v1", "kind": "Secret", "stringData": {"q": json.dumps(WRONG)}}
    ),
    "a list in a text": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: queues}\ndata:\n  queues.yaml: |\n"
        + block("apiVersion: v1\nkind: List\nitems:\n- " + block(YAML_OF_QUEUE, 2).lstrip(), 4)
    ),
}


def report_on(tmp_path: Path, text: str) -> Report:
    path = tmp_path / "wrapped.yaml"
    path.write_text(text, "utf-8")
    return check(LintTask(read_files([str(path)])), ["v1.12.1"])


def several(*documents: object) -> str:
    return "".join(f"---\n{json.dumps(one)}\n" for one in documents)


def found(report: Report, rule: str) -> list[str]:
    return [str(one.issue.subject.place) for one in report.findings if one.rule == rule]


@pytest.mark.parametrize("case", WITH_CONF)
def test_a_configuration_inside_of_another_object_is_checked_at_its_line(
    case: str, tmp_path: Path
) -> None:
    text = WITH_CONF[case]
    report = report_on(tmp_path, text)
    (place,) = found(report, "action-unknown")
    if "valuesObject" not in text:
        line = next(n for n, one in enumerate(text.splitlines(), 1) if "alocate" in one)
        assert place == f"{tmp_path / 'wrapped.yaml'}:{line}"


@pytest.mark.parametrize("case", WITH_QUEUE)
def test_an_object_inside_of_another_object_is_checked(case: str, tmp_path: Path) -> None:
    text = WITH_QUEUE[case]
    report = report_on(tmp_path, text)
    (place,) = found(report, "field-unknown")
    lines = text.splitlines()
    if "|\n" in text:
        line = next(n for n, one in enumerate(lines, 1) if "apiVersion: scheduling" in one)
        assert place == f"{tmp_path / 'wrapped.yaml'}:{line}"
    assert report.objects == 1


def test_a_patch_is_no_object_and_lint_says_how_to_render_it(tmp_path: Path) -> None:
    patch = YAML_OF_QUEUE.replace("weigth", "weight")
    text = WITH_CONF["a patch of a Kustomization"] + f"- patch: |\n{block(patch, 4)}"
    report = report_on(tmp_path, text)
    assert report.objects == 1, "the configuration alone"
    notes = "\n".join(lint_notes(report))
    assert "kubectl kustomize" in notes
    with pytest.raises(UsageError, match="only 1 Kustomization") as caught:
        report_on(tmp_path, "resources: [a.yaml]\nnamespace: ml\n")
    assert "kubectl kustomize" in caught.value.now


@pytest.mark.parametrize("text", ["{}\n", "labels: {a: b}\n", "resources: {limits: {cpu: 1}}\n"])
def test_values_with_keys_of_a_kustomization_are_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a Kubernetes object nor"):
        report_on(tmp_path, text)


def test_a_kustomization_does_not_keep_a_folder_from_being_checked(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [queue.yaml]\n", "utf-8")
    (tmp_path / "queue.yaml").write_text(YAML_OF_QUEUE, "utf-8")
    report = check(LintTask(read_files([str(tmp_path)])), ["v1.12.1"])
    assert found(report, "field-unknown")
    assert any("kubectl kustomize" in note for note in lint_notes(report))


def test_what_is_rendered_elsewhere_is_said_not_to_be_checked(tmp_path: Path) -> None:
    app = argo("source:\n  chart: volcano\n  helm:\n    values: |\n      basic: {}\n")
    report = report_on(tmp_path, f"---\n{json.dumps(queue('a'))}\n---\n{app}")
    (note,) = [one for one in lint_notes(report) if "Application" in one]
    assert "nothing of Volcano's in Application argocd/volcano is checked" in note
    assert "argocd app manifests volcano | plinian lint -" in note
    (row,) = plain(report.document)["not_rendered"]
    assert (row["kind"], row["name"], row["checked"]) == ("Application", "volcano", 0)
    with pytest.raises(UsageError, match="only 1 Application") as caught:
        report_on(tmp_path, app)
    assert "argocd app manifests volcano" in caught.value.now
    whole = report_on(tmp_path, WITH_CONF["values of an Application"])
    (note,) = [one for one in lint_notes(whole) if "Application" in one]
    assert "only 1 configuration in Application argocd/volcano is checked" in note


def test_kinds_without_rules_are_counted(tmp_path: Path) -> None:
    other = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}
    text = several(queue("a"), other, other)
    report = report_on(tmp_path, text)
    assert "no rule is about 2 Deployment" in list(lint_notes(report))
    assert report.document.without_rules == {"Deployment": 2}


def test_a_copy_in_an_annotation_and_a_mere_reference_are_no_objects(tmp_path: Path) -> None:
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    live = queue("a", annotations={applied: json.dumps(WRONG)})
    scaled = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledJob",
        "metadata": {"name": "s", "annotations": {applied: json.dumps(WRONG)}},
        "spec": {"targetRef": {"apiVersion": WRONG["apiVersion"], "kind": "Queue", "name": "x"}},
    }
    report = report_on(tmp_path, several(live, scaled))
    assert report.objects == 1
    assert not found(report, "field-unknown")


def test_a_template_inside_is_left_out(tmp_path: Path) -> None:
    made = job("{{inputs.name}}")
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w"},
        "spec": {"templates": [{"resource": {"action": "create", "manifest": json.dumps(made)}}]},
    }
    report = report_on(tmp_path, several(queue("a"), workflow))
    assert report.objects == 1
    assert any("Workflow" in note for note in lint_notes(report))


def test_files_of_terraform_are_named_with_the_command_that_shows_their_objects(
    tmp_path: Path,
) -> None:
    path = tmp_path / "queues.tf"
    path.write_text('resource "kubernetes_manifest" "q" {\n  manifest = {\n  }\n}\n', "utf-8")
    with pytest.raises(InputError) as caught:
        read_files([str(path)])
    assert "terraform show -json" in caught.value.now


def test_nested_texts_are_bounded(tmp_path: Path) -> None:
    text = json.dumps(WRONG)
    for _ in range(14):
        text = json.dumps({"apiVersion": "v1", "kind": "Secret", "data": {"x": text}})
        if len(text) > 200_000:
            break
    path = tmp_path / "deep.json"
    path.write_text(text, "utf-8")
    assert len(read_files([str(path)]).manifests) == 1
