"""The scheduler's configuration: as a file, and inside ConfigMaps."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from plinian.engine.errors import EventMalformed
from plinian.engine.events import Event
from plinian.engine.ingest.objects.derived_facts import extra_events
from plinian.engine.ingest.objects.scheduler_conf import FORMAT
from plinian.engine.ingest.objects.version_events import version_event
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.kubernetes.scheduler_confs import configs_in

CONF = """actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
"""


def read(data: bytes, **options: Any) -> tuple[list[Event], Context]:
    context = Context(source="volcano-scheduler.conf", **options)
    return list(FORMAT.events(io.BytesIO(data), context)), context


def configmap(**data: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "volcano-scheduler-configmap",
            "namespace": "volcano-system",
            "uid": "u",
            "resourceVersion": "12",
        },
        "data": {key.replace("__", ".").replace("_", "-"): text for key, text in data.items()},
    }


def derived(document: dict[str, Any], verb: str = "updated") -> list[Event]:
    event = version_event(document, verb=verb, source="s", line=3, actor="alice")
    return extra_events(document, event)


class TestFile:
    def test_a_configuration_is_one_event_with_its_text_verbatim(self) -> None:
        (event,) = read(CONF.encode())[0]
        applied = msgspec.json.decode(event.payload)
        assert event.kind == "config.applied"
        assert applied["text"] == CONF
        assert applied["parsed"]["tiers"][0]["plugins"][1] == {
            "name": "gang",
            "enablePreemptable": False,
        }
        assert event.revision is None

    @pytest.mark.parametrize(
        ("head", "name", "own"),
        [
            (CONF, "-", True),
            ("# comment\n" + CONF, "x.yaml", True),
            ('actions: "allocate"\n', "volcano-scheduler.conf", True),
            ('actions: "allocate"\n', "workflow.yaml", False),
            (f"apiVersion: v1\nkind: ConfigMap\ndata:\n  x: |\n    {CONF}", "x.conf", False),
            ("kind: Queue\ntiers: []\n", "x.conf", False),
            ("on: push\njobs:\n  tiers: []\n", "x.yaml", False),
        ],
    )
    def test_it_is_told_from_other_yaml(self, head: str, name: str, *, own: bool) -> None:
        assert FORMAT.sniff(head.encode(), name) is own

    @pytest.mark.parametrize(
        ("data", "line"),
        [
            (b'actions: "enqueue\ntiers:\n- plugins: [', 3),
            (b"tiers: \xff\xfe", 1),
            (b"- tiers\n", 1),
            (b"tiers: [\x00]\n", 1),
            (b"tiers: " + b"[" * 500_000, 1),
            (b"tiers:\n" + b"- " * 100_000, 2),
        ],
    )
    def test_what_is_no_configuration_is_named_with_its_line(self, data: bytes, line: int) -> None:
        with pytest.raises(EventMalformed) as raised:
            read(data)
        assert raised.value.where == f"volcano-scheduler.conf:{line}"

    def test_aliases_that_unfold_without_bound_are_refused(self) -> None:
        levels = ["tiers: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        levels += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
        with pytest.raises(EventMalformed, match="unfolds to more than"):
            read("\n".join(levels).encode())

    def test_words_mean_what_they_mean_to_kubernetes(self) -> None:
        (event,) = read(b"tiers: []\nconfigurations: {2: 2026-01-02, yes: .5}\n")[0]
        assert msgspec.json.decode(event.payload)["parsed"]["configurations"] == {
            "2": "2026-01-02",
            "true": 0.5,
        }


class TestConfigMap:
    def test_a_version_with_a_configuration_applies_it_at_its_revision(self) -> None:
        (event,) = derived(configmap(volcano_scheduler__conf=CONF))
        applied = msgspec.json.decode(event.payload)
        assert event.kind == "config.applied"
        assert (event.revision, event.line, event.actor) == (12, 3, "alice")
        assert applied["configmap"] == (
            "volcano-system/volcano-scheduler-configmap:volcano-scheduler.conf"
        )

    def test_another_key_counts_if_it_has_tiers(self) -> None:
        document = configmap(gpu__conf="tiers: []", nginx__conf="server { }", readme=CONF)
        assert [key for key, _, _ in configs_in(document)] == ["gpu.conf"]

    def test_two_configurations_of_one_version_have_two_identities(self) -> None:
        events = derived(configmap(gpu__conf=CONF, volcano_scheduler__conf=CONF))
        assert len({(event.revision, event.reference) for event in events}) == 2
        assert events[0].reference.name == "volcano-scheduler-configmap"

    def test_a_configuration_that_is_no_yaml_was_applied_all_the_same(self) -> None:
        ((_, text, parsed),) = configs_in(configmap(volcano_scheduler__conf="actions: ["))
        assert (text, parsed) == ("actions: [", None)

    def test_a_deleted_configmap_applies_nothing(self) -> None:
        assert derived(configmap(volcano_scheduler__conf=CONF), "deleted") == []

    def test_a_configmap_without_data_applies_nothing(self) -> None:
        document = configmap()
        document["data"] = None
        assert derived(document) == []
