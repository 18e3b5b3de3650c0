"""Which release a cluster runs, from the images of its scheduler's pods."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import plinian
from plinian.engine.state.fold import FoldRecord
from plinian.engine.state.truth_fold import Entry
from plinian.replay.cli.main import app
from plinian.replay.logs.scheduler_release import release_of_image, running_release
from sessions import group, node, pod, queue

Document = dict[str, Any]


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("volcanosh/vc-scheduler:v1.9.0", "v1.9.0"),
        ("registry.example.com:5000/mirror/volcanosh/vc-scheduler:v1.9.0", "v1.9.0"),
        ("vc-scheduler:1.12.1-arm64", "v1.12.1"),
        ("volcanosh/vc-scheduler:v1.9.0_patched@sha256:" + "0" * 64, "v1.9.0"),
        ("volcanosh/vc-scheduler@sha256:" + "0" * 64, ""),
        ("volcanosh/vc-scheduler:v1.13.0-alpha.0", ""),
        ("volcanosh/vc-scheduler:latest", ""),
        ("volcanosh/vc-scheduler:v1.2.3", ""),
        ("volcanosh/vc-controller-manager:v1.9.0", ""),
        ("registry:5000/vc-scheduler", ""),
    ],
)
def test_an_image_names_a_release_with_any_registry_digest_and_suffix(
    image: str, release: str
) -> None:
    assert release_of_image(image) == release


def scheduler(name: str, image: str, phase: str = "Running") -> Document:
    """Return a pod of the scheduler."""
    made = pod(f"volcano-scheduler-{name}", "", on="n1", namespace="volcano-system")
    made["spec"] = {"nodeName": "n1", "containers": [{"name": "s", "image": image}]}
    made["status"] = {"phase": phase}
    return made


def cluster(folder: Path, *schedulers: Document) -> Path:
    """Return a file with a cluster in which a pod waits, and its scheduler's pods."""
    items = [
        node("n1", 1),
        queue("default"),
        group("g"),
        pod("a", "g", 2),
        *schedulers,
    ]
    apis = {"Queue": "scheduling.volcano.sh/v1beta1", "PodGroup": "scheduling.volcano.sh/v1beta1"}
    for number, one in enumerate(items, start=1):
        one["metadata"]["resourceVersion"] = str(number)
        one["apiVersion"] = apis.get(one["kind"], "v1")
    place = folder / "cluster.json"
    place.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return place


OLD, NEW = "volcanosh/vc-scheduler:v1.9.0", "volcanosh/vc-scheduler:v1.13.1"


@pytest.mark.parametrize(
    ("pods", "release"),
    [
        ([scheduler("a", OLD)], "v1.9.0"),
        ([scheduler("a", OLD), scheduler("b", OLD)], "v1.9.0"),
        ([scheduler("a", OLD, "Failed"), scheduler("b", NEW)], "v1.13.1"),
        ([scheduler("a", OLD), scheduler("b", NEW)], None),
        ([], None),
    ],
)
def test_pods_that_run_name_the_release_unless_they_differ(
    tmp_path: Path, pods: list[Document], release: str | None
) -> None:
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest([cluster(tmp_path, *pods)])
        found = running_release(log, log.moment("end"))
        said = log.why("pod/a", namespace="ns")
    assert (found.release if found else None) == release
    assert said.asked.release == (release or "v1.12.1")
    assumed = "as v1.12.1, which is assumed" in said.sentence
    assert assumed is (release is None)


def test_whatever_depends_on_the_release_takes_the_one_that_runs(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest([cluster(tmp_path, scheduler("a", NEW))])
        answers = [log.fidelity(), log.check(), log.drift(), log.belief()]
        named = log.drift(release="v1.9.0")
        status = log.status()
    assert [answer.release for answer in answers] == ["v1.13.1"] * 4
    assert named.release == "v1.9.0"
    assert [(each.component, each.version) for each in status.releases] == [
        ("scheduler", "v1.13.1")
    ]
    assert not any("no release" in advice for advice in status.advice)


def test_no_other_pod_is_decoded(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest([cluster(tmp_path, scheduler("a", OLD))])
        truth = log.truth("end")
        decode, decoded = truth.entries_of, list[str]()

        def noted(records: Sequence[FoldRecord]) -> list[Entry]:
            decoded.extend(record.reference.name for record in records)
            return decode(records)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(truth, "entries_of", noted)
            patch.setattr(log, "truth", lambda _: truth)
            assert running_release(log, log.moment("end")) is not None
    assert decoded == ["volcano-scheduler-a"]


def test_the_command_says_from_which_image_it_knows_the_release(tmp_path: Path) -> None:
    place = cluster(tmp_path, scheduler("a", OLD))
    result = CliRunner().invoke(app, ["why", "pod/a", "-n", "ns", "-i", str(place)])
    assert "release v1.9.0: pod volcano-system/volcano-scheduler-a runs the image" in result.stderr
    assert "session at" in result.stderr
    named = CliRunner().invoke(
        app, ["why", "pod/a", "-n", "ns", "-i", str(place), "--release", "v1.13.0"]
    )
    assert "as v1.13.0" in named.stderr
    assert "assumed)" not in named.stdout
