"""Two contents of one version: reported everywhere, and the same one counts in every order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from kubectl_lists import Document, pod_on, small_cluster, take, without

import plinian
from plinian import Log
from plinian.engine.errors import NotKnown
from plinian.engine.log import open_log
from plinian.replay.ingest.ingest_run import ingest_at
from plinian.replay.logs.log_status import status_of

FIRST, SECOND = "2026-05-04T10:00:00Z", "2026-05-04T10:10:00Z"


def with_a_on(node: str) -> list[Document]:
    return [*without(small_cluster(), "a"), pod_on(node, "a", 41)]


def answers(log: Log) -> tuple[object, ...]:
    """Return what a log answers about pod ``a``, without positions."""
    (pod,) = log.get("pods", "a", namespace="ml")
    told = log.history("pod/ml/a").happenings
    task = log.belief().cache.stores.of("Pod")["ml/a"].spec.node_name
    unknown = [one.reason for one in log.not_known("pods")]
    fields = [(one.kind, one.time, one.earliest, one.latest) for one in told]
    return pod["spec"]["nodeName"], task, log.digest(), tuple(unknown), tuple(fields)


def written(folder: Path, name: str, items: Sequence[Document]) -> str:
    document = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(items)}
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)


def test_the_same_content_counts_whichever_is_ingested_first(tmp_path: Path) -> None:
    lists = [(with_a_on("n1"), FIRST), (with_a_on("n2"), SECOND), (with_a_on("n0"), FIRST)]
    found = set()
    for number, some in enumerate(permutations(lists)):
        with plinian.open(tmp_path / f"{number}.db", create=True) as log:
            for place, (items, at) in enumerate(some):
                take(log, tmp_path / f"{place}.json", items, at)
            found.add(answers(log)[:4])
    ((node, task, *_),) = found
    assert node == task == "n2", "the greatest as canonical JSON"


def test_a_contradiction_is_said_at_ingest_in_the_status_and_on_answers(tmp_path: Path) -> None:
    place = str(tmp_path / "a.db")
    paths = [
        written(tmp_path, "1.json", with_a_on("n1")),
        written(tmp_path, "2.json", with_a_on("n2")),
    ]
    summary = ingest_at(place, paths)
    (note,) = [note for note in summary.notes if "contradict" in note]
    assert "pod ml/a at rv:41 came with two contents" in note
    assert summary.kinds["version.contradicted"] == 1
    with open_log(place) as store:
        log = Log(place, store)
        assert any("pod ml/a at rv:41" in text for text in status_of(log).times.disagreements)
        (unknown,) = log.not_known("pods")
        assert unknown.name == "pod ml/a"
        with pytest.raises(NotKnown, match="two contents"):
            log.get("pods", strict=True)
        (one,) = [one for one in log.history("pod/ml/a").happenings if one.revision == 41]
        assert "2 contents of it" in one.note
        assert unknown in log.session().not_known
        assert not log.not_known("nodes")


def test_two_contents_within_one_list_are_a_contradiction(tmp_path: Path) -> None:
    place = str(tmp_path / "a.db")
    items = [*small_cluster(), pod_on("n2", "a", 41)]
    for name, some in (("a.db", items), ("b.db", items[::-1])):
        summary = ingest_at(str(tmp_path / name), [written(tmp_path, "list.json", some)])
        assert summary.kinds["version.contradicted"] == 1
        with plinian.open(tmp_path / name) as log:
            (pod,) = log.get("pods", "a", namespace="ml")
            assert pod["spec"]["nodeName"] == "n2"
    assert ingest_at(place, [written(tmp_path, "list.json", items)]).appended == 0


def test_another_version_of_the_api_is_no_contradiction(tmp_path: Path) -> None:
    group = {"apiVersion": "scheduling.volcano.sh/v1alpha1", "kind": "PodGroup"}
    other = [one | group for one in small_cluster() if one["kind"] == "PodGroup"]
    paths = [written(tmp_path, "1.json", small_cluster()), written(tmp_path, "2.json", other)]
    summary = ingest_at(str(tmp_path / "a.db"), paths)
    assert "version.contradicted" not in summary.kinds
