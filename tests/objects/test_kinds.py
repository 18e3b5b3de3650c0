"""Kinds are found by all the names that people give them."""

from __future__ import annotations

import pytest

from plinian.engine.errors import UsageError
from plinian.engine.kubernetes.resources import plural_of
from plinian.replay.objects.kind_names import kind_named, object_named, plain_name, resource_name


@pytest.mark.parametrize(
    ("name", "group", "kind"),
    [
        ("pods", "", "Pod"),
        ("Pod", "", "Pod"),
        ("po", "", "Pod"),
        ("pods.v1", "", "Pod"),
        ("q", "scheduling.volcano.sh", "Queue"),
        ("podgroups", "scheduling.volcano.sh", "PodGroup"),
        ("queues.v1beta1.scheduling.volcano.sh", "scheduling.volcano.sh", "Queue"),
        ("priorityclasses", "scheduling.k8s.io", "PriorityClass"),
        ("jobs", "batch.volcano.sh", "Job"),
        ("job", "batch.volcano.sh", "Job"),
        ("vcjob", "batch.volcano.sh", "Job"),
        ("jobs.batch", "batch", "Job"),
        ("jobs.v1.batch", "batch", "Job"),
        ("jobs.batch.volcano.sh", "batch.volcano.sh", "Job"),
        ("events", "", "Event"),
        ("events.events.k8s.io", "events.k8s.io", "Event"),
        ("ev", "", "Event"),
        ("endpoints", "", "Endpoints"),
    ],
)
def test_a_name_stands_for_a_kind(name: str, group: str, kind: str) -> None:
    assert kind_named(name) == (group, kind)


def test_kinds_that_only_a_log_knows_are_found_too() -> None:
    assert kind_named("widgets", [("acme.io", "Widget")]) == ("acme.io", "Widget")
    assert kind_named("widget.acme.io", [("acme.io", "Widget")]) == ("acme.io", "Widget")


def test_a_misspelt_kind_is_answered_with_a_guess() -> None:
    with pytest.raises(UsageError) as caught:
        kind_named("podgroop")
    assert "podgroup" in caught.value.now


def test_an_object_is_named_by_type_and_name() -> None:
    assert object_named("queue/root") == ("scheduling.volcano.sh", "Queue", "root", "")
    assert object_named("pod/ml/train-0") == ("", "Pod", "train-0", "ml")
    for text in ("queue", "queue/", "/gold", "a/b/c", "queue/ml/root", "pod//a", "pod/a/b/c"):
        with pytest.raises(UsageError):
            object_named(text)


def test_a_kind_is_written_with_its_group_where_the_kind_alone_would_mislead() -> None:
    assert plain_name("batch.volcano.sh", "Job") == "job"
    assert plain_name("batch", "Job") == "job.batch"
    assert resource_name("scheduling.volcano.sh", "Queue") == "queue.scheduling.volcano.sh"
    assert plural_of("scheduling.k8s.io", "PriorityClass") == "priorityclasses"
