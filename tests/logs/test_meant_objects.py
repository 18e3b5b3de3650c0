"""A name alone, or without a namespace, is the object that has it; of several, all are listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import plinian
from plinian.engine.errors import ObjectNotFound, UsageError
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.engine.log import open_log
from plinian.replay.answers.target import KINDS
from plinian.replay.logs.meant_objects import Meaning, object_meant

VOLCANO = "scheduling.volcano.sh/v1beta1"
UID = "09629e74-7499-407b-919d-48e2f6f7cdba"
WHY = Meaning("plinian why", KINDS)
HISTORY = Meaning("plinian history", ever=True)

OBJECTS = (
    ("created", "v1", "Pod", "ml", "train-0"),
    ("created", "v1", "Pod", "ml", "twice"),
    ("created", "v1", "Pod", "web", "twice"),
    ("created", "v1", "Pod", "default", "usual"),
    ("created", "v1", "Pod", "web", "usual"),
    ("created", "batch.volcano.sh/v1alpha1", "Job", "ml", "train"),
    ("created", VOLCANO, "PodGroup", "ml", f"train-{UID}"),
    ("created", VOLCANO, "Queue", "", "gold"),
    ("created", "batch.volcano.sh/v1alpha1", "Job", "ml", "gold"),
    ("created", "v1", "Node", "", "node-1"),
    ("created", "v1", "Pod", "ml", "gone"),
    ("deleted", "v1", "Pod", "ml", "gone"),
)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[plinian.Log]:
    with open_log(tmp_path / "log.db", create=True) as store:
        events: list[Any] = []
        for number, (verb, api, kind, namespace, name) in enumerate(OBJECTS, start=2):
            metadata = {"name": name, "uid": f"{kind}-{namespace}-{name}"}
            metadata |= {"resourceVersion": str(number)}
            if namespace:
                metadata["namespace"] = namespace
            time = parse_time("2026-01-02T12:00:00Z") + number * SECOND_US
            document = {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {}}
            options = {"source": "w", "line": number, "earliest": time, "latest": time}
            events.append(version_event(document, verb=verb, **options))  # type: ignore[arg-type]
        store.append(events)
    with plinian.open(tmp_path / "log.db") as opened:
        yield opened


def meant(
    log: plinian.Log, text: str, meaning: Meaning = WHY, namespace: str | None = None
) -> tuple[str, str, str]:
    named = object_meant(log, text, log.moment(), namespace, meaning)
    return named.kind, named.namespace, named.name


def test_a_name_alone_is_the_object_that_has_it(log: plinian.Log) -> None:
    assert meant(log, "train-0") == ("Pod", "ml", "train-0")
    assert meant(log, "node-1") == ("Node", "", "node-1")
    assert meant(log, "train-0", namespace="ml") == ("Pod", "ml", "train-0")


def test_a_job_comes_before_its_podgroup(log: plinian.Log) -> None:
    assert meant(log, "train") == ("Job", "ml", "train")
    assert meant(log, "train-09629e74…") == ("PodGroup", "ml", f"train-{UID}")


def test_a_kind_and_a_name_find_the_only_namespace_that_has_it(log: plinian.Log) -> None:
    assert meant(log, "pod/train-0") == ("Pod", "ml", "train-0")
    assert meant(log, "podgroup/train") == ("PodGroup", "ml", "train")
    assert meant(log, "queue/gold") == ("Queue", "", "gold")
    assert meant(log, "pod/web/twice") == ("Pod", "web", "twice")
    assert meant(log, "pod/twice", namespace="web") == ("Pod", "", "twice")
    assert meant(log, "pod/nosuch") == ("Pod", "", "nosuch")


@pytest.mark.parametrize("name", ["twice", "usual"])
def test_a_name_in_several_namespaces_is_refused_with_all_of_them(
    log: plinian.Log, name: str
) -> None:
    with pytest.raises(UsageError, match=f'pods "{name}" exist in 2 namespaces') as refused:
        meant(log, f"pod/{name}")
    lines = refused.value.now.split("\n")
    assert lines[0] == "choose one:"
    assert f"  plinian why pod/{name} -n web" in lines
    assert len(lines) == 3


def test_a_name_of_several_kinds_is_refused_with_all_of_them(log: plinian.Log) -> None:
    with pytest.raises(UsageError, match="2 objects are called 'gold'") as refused:
        meant(log, "gold")
    assert refused.value.now.split("\n")[1:] == [
        "  plinian why job/gold -n ml",
        "  plinian why queue/gold",
    ]


def test_what_is_advised_is_about_the_same_moment(log: plinian.Log) -> None:
    with pytest.raises(UsageError) as refused:
        object_meant(log, "gold", log.moment("rv:12"), None, WHY)
    assert refused.value.now.split("\n")[1] == "  plinian why job/gold -n ml --at rv:12"


def test_of_an_object_that_is_gone_its_own_error_says_when_it_was(log: plinian.Log) -> None:
    assert meant(log, "gone") == ("Pod", "ml", "gone")
    assert meant(log, "gone", HISTORY) == ("Pod", "ml", "gone")
    with pytest.raises(ObjectNotFound) as refused:
        log.why("gone")
    assert refused.value.now.endswith("plinian history pod/gone -n ml")


def test_a_name_that_nothing_has_is_refused_with_similar_ones(log: plinian.Log) -> None:
    with pytest.raises(ObjectNotFound, match=r"no job, node, pod, .* called 'trian'") as refused:
        meant(log, "trian")
    assert refused.value.now.startswith("did you mean job/train -n ml")
    with pytest.raises(ObjectNotFound, match="in namespace web") as refused:
        meant(log, "train", namespace="web")
    assert refused.value.now == "there is job/train -n ml"


def test_all_that_may_be_asked_take_a_name_alone(log: plinian.Log) -> None:
    assert log.why("train-0").asked.name == "ml/train-0"
    assert log.path("train-0").asked.name == "ml/train-0"
    assert log.history("node-1").object.kind == "Node"
    assert log.blame("node-1", "pods").number
    assert [event.event.reference.name for event in log.events(objects="gone")] == ["gone"] * 2
