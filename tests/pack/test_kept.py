"""What a redacted pack keeps: listed keys, groups and kinds, and values of a checked form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import plinian.engine.session.session_run
from plinian.engine.events import Event
from plinian.engine.ingest.objects.version_events import version_event
from plinian.replay.pack.redact import NameRedaction
from sessions import document, node, pod, queue

ENGINE = Path(plinian.engine.session.session_run.__file__).resolve().parent.parent
DOMAINS = (
    *("kubernetes.io", "k8s.io", "volcano.sh", "nvidia.com", "amd.com", "intel.com"),
    *("huawei.com", "cambricon.com", "iluvatar.ai", "enflame.com", "node.kubernetes.io"),
    *("scheduling.volcano.sh", "kwok.x-k8s.io", "topology.kubernetes.io"),
)


def chosen(word: str) -> list[str]:
    """Return keys in which somebody chose a word, although everybody knows the domain."""
    return [
        *(f"{word}.{domain}/x" for domain in DOMAINS),
        *(f"{domain}/{word}" for domain in DOMAINS),
        *(f"{word}.stage.kwok.x-k8s.io/delay", f"node-role.kubernetes.io/{word}"),
        *(word, f"{word}.volcano.sh", f"volcano.sh/vgpu-{word}", f"nvidia.com/mig-{word}"),
    ]


def renamed(event: Event) -> tuple[dict[str, Any], bytes]:
    """Return the payload of an event with new names, and all that the event then says."""
    redaction = NameRedaction(b"salt")
    redaction.redacted(event)
    redaction.settle()
    found = redaction.redacted(event)
    assert found is not None
    return msgspec.json.decode(found.payload), msgspec.json.encode(found)


def told(made: dict[str, Any]) -> Event:
    """Return the event of an object."""
    metadata = {"uid": "u", "resourceVersion": "1", **made["metadata"]}
    whole = {"apiVersion": VERSIONS.get(made["kind"], "v1"), **made, "metadata": metadata}
    return version_event(whole, verb="created", source="a list", line=1)


WORD = "acmecorp"
VERSIONS = {
    "Queue": "scheduling.volcano.sh/v1beta1",
    "Numatopology": "nodeinfo.volcano.sh/v1alpha1",
}


@pytest.mark.parametrize("key", chosen(WORD))
def test_a_known_domain_makes_no_known_key(key: str) -> None:
    made = node("n", 8, labels={key: "5acmecorp"}, annotations={key: "5acmecorp"})
    made["spec"] = {"taints": [{"key": key, "value": "7acmecorp", "effect": "NoSchedule"}]}
    made["status"]["allocatable"] |= {key: "5", f"requests.{key}": "1"}
    waits = pod("p", "g", 1)
    waits["spec"]["tolerations"] = [{"key": key, "operator": "Exists"}]
    waits["spec"]["topologySpreadConstraints"] = [{"topologyKey": key, "maxSkew": 1}]
    shared = queue("q", deserved={key: "3", "cpu": "2"}, capability={f"limits.{key}": "3"})
    for one in (made, waits, shared):
        assert WORD.encode() not in renamed(told(one))[1]


def test_a_known_field_keeps_only_what_has_its_form() -> None:
    numa = document("Numatopology", "n")
    numa["spec"] = {
        "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": f"{WORD}-node"},
        "resReserved": {"cpu": "100m", WORD: WORD},
        "numares": {"cpu": {"allocatable": "0-3,8", "capacity": 4, WORD: [WORD]}},
        "cpuDetail": {"0": {"numa": 0, "core": 1}, WORD: {"socket": 5}},
    }
    found, text = renamed(told(numa))
    assert WORD.encode() not in text
    spec = found["spec"]
    assert spec["policies"]["CPUManagerPolicy"] == "static"
    assert spec["resReserved"]["cpu"] == "100m"
    assert spec["numares"]["cpu"]["allocatable"] == "0-3,8"
    assert spec["cpuDetail"]["0"] == {"numa": 0, "core": 1}
    made = node(
        "n",
        8,
        annotations={
            "pod-complete.stage.kwok.x-k8s.io/delay": f"5{WORD}",
            "volcano.sh/cooldown-time": f"600s-{WORD}",
            "volcano.sh/sla-waiting-time": "1h30m",
            "volcano.sh/hierarchy-weights": "1/2/3",
        },
    )
    made["status"]["allocatable"] |= {"cpu": f"8{WORD}"}
    made["status"]["conditions"] = [
        {"type": "Ready", "status": f"True-{WORD}", "lastHeartbeatTime": f"2026{WORD}"}
    ]
    made["status"]["nodeInfo"] = {"kubeletVersion": f"v1.30.0-{WORD}"}
    found, text = renamed(told(made))
    assert WORD.encode() not in text
    annotations = found["metadata"]["annotations"]
    assert annotations["volcano.sh/sla-waiting-time"] == "1h30m"
    assert annotations["volcano.sh/hierarchy-weights"] == "1/2/3"


def test_groups_and_kinds_of_others_get_new_names_also_below_known_domains() -> None:
    for version, kind in (
        (f"{WORD}.volcano.sh/v1", "Job"),
        ("volcano.sh/v1", WORD.title()),
        (f"scheduling.volcano.sh/{WORD}", "Queue"),
        ("v1", WORD.title()),
        (f"{WORD}.k8s.io/v1", "Pod"),
    ):
        made = {**document("ConfigMap", "a", "ns"), "apiVersion": version, "kind": kind}
        assert WORD not in renamed(told(made))[1].decode().lower(), (version, kind)


def test_every_key_that_the_scheduler_reads_is_listed() -> None:
    """A key that is missing in the list gets a new name, and the code no longer finds it."""
    found: set[str] = set()
    keys = re.compile(
        r"\"((?:[a-z0-9-]+\.)*(?:kubernetes\.io|volcano\.sh|nvidia\.com|k8s\.io)/[A-Za-z][\w.-]+)\""
    )
    for folder in ("cache", "model", "session", "kubernetes"):
        for file in (ENGINE / folder).rglob("*.py"):
            found |= set(keys.findall(file.read_text()))
    read = {key for key in found if not re.search(r"/v[0-9]", key)}
    assert len(read) > 40
    redaction = NameRedaction(b"salt")
    lost = {"kubectl.kubernetes.io/last-applied-configuration", "k8s.io/initial-events-end"}
    assert (
        sorted(
            key
            for key in read - lost
            if redaction.key(key) != key or key in redaction.renaming.names
        )
        == []
    )
