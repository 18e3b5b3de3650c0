"""New names change no decision, and no original name is left in the file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from happenings import events_of

import plinian
import plinian.engine.session.session_run
from packs import TIME, Logged
from plinian.engine.events import KINDS, Event, Reference, canonical_json
from plinian.engine.events.payloads import (
    ConfigApplied,
    DecisionLogged,
    ExtenderAnswered,
    MessageLogged,
    ProcessStarted,
    RequestRefused,
    UsageMeasured,
    WatchFollowed,
)
from plinian.replay.pack.redact import NameRedaction
from plinian.replay.pack.redacting import left_over
from sessions import document, group, node, pod, queue

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def redacted(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a redacted pack of the recording; its map is beside it. For reading only."""
    place = tmp_path_factory.mktemp("redacted") / "it.plinian"
    with plinian.open(recording, read_only=True) as log:
        log.pack(place, at=TIME, around="20s", ask="why does gpu-2 wait?", redact=True)
    return place


def test_the_bytes_of_the_file_have_no_name_of_an_object_a_user_or_an_image(
    recording: Path, redacted: Path
) -> None:
    data = redacted.read_bytes()
    kept = {"default", "root", "volcano", "kube-system", "volcano-system"}
    with plinian.open(recording, read_only=True) as log:
        objects = [
            one
            for kind in ("pods", "nodes", "queues", "podgroups", "jobs")
            for one in log.get(kind, at=TIME)
        ]
    names = {one["metadata"]["name"] for one in objects} | {
        one["metadata"]["uid"] for one in objects
    }
    names |= {
        container["image"]
        for one in objects
        for container in one.get("spec", {}).get("containers", [])
    }
    names = {name for name in names if len(name) >= 4} - kept
    assert len(names) > 80
    assert [name for name in sorted(names) if name.encode() in data] == []
    assert b"gpu-2" not in data


def test_open_shows_the_proof_and_with_the_map_the_original_names(redacted: Path) -> None:
    plain, named = (
        plinian.open_pack(redacted, map=given)
        for given in (None, redacted.with_name(f"{redacted.name}.map"))
    )
    assert plain.redacted is not None
    assert plain.as_expected
    assert named.as_expected
    assert plain.redacted.decisions > 12
    assert TIME in plain.redacted.moments
    assert "gpu-2" not in str(plain)
    assert named.expected.question == "why does gpu-2 wait?"
    assert any(about.startswith("default/gpu-2-") for _, about, _ in named.decisions)


def test_sessions_decide_the_same_up_to_names(recording: Path, redacted: Path) -> None:
    words = json.loads(redacted.with_name(f"{redacted.name}.map").read_bytes())["words"]

    def renamed(text: str) -> str:
        return "/".join(
            part if part == "default" else re.sub(r"[^\W_]+", word, part)
            for part in text.split("/")
        )

    def word(found: re.Match[str]) -> str:
        return str(words.get(found[0], found[0]))

    with (
        plinian.open(recording, read_only=True) as log,
        plinian.open(redacted, read_only=True) as pack,
    ):
        for at in (TIME, "2026-11-21T01:53:20Z", "2026-11-21T01:53:50Z"):
            for release in ("v1.8.2", "v1.12.1", "v1.15.1"):
                one, other = (side.session(at=at, release=release).result for side in (log, pack))
                binds = [(renamed(task), renamed(where)) for task, where in one.binds]
                assert other.binds == binds
                assert sorted(other.pod_groups) == sorted(map(renamed, one.pod_groups))


def test_the_map_is_for_its_owner_and_for_this_pack_alone(
    recording: Path, redacted: Path, tmp_path: Path
) -> None:
    own = redacted.with_name(f"{redacted.name}.map")
    assert own.stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other.plinian"
    with plinian.open(recording, read_only=True) as log:
        log.pack(other, at=TIME, around="1s", redact=True, map=tmp_path / "other.map")
        with pytest.raises(plinian.UsageError, match="the file for the map exists"):
            log.pack(tmp_path / "x", at=TIME, around="1s", redact=True, map=tmp_path / "other.map")
        assert not (tmp_path / "x").exists()
        log.pack(tmp_path / "plain", at=TIME, around="1s")
    with pytest.raises(plinian.UsageError, match="the map of another pack"):
        plinian.open_pack(redacted, map=tmp_path / "other.map")
    with pytest.raises(plinian.UsageError, match="the original ones"):
        plinian.open_pack(tmp_path / "plain", map=own)
    with pytest.raises(plinian.InputError, match="not a map"):
        plinian.open_pack(redacted, map=redacted)


def world() -> list[Event]:
    """Return a small world in which names, labels, claims, queues and taints decide."""
    fast = {"matchExpressions": [{"key": "disk-kind", "operator": "In", "values": ["fast"]}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [fast]}
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"team-label": "blue"}},
                    "topologyKey": "rack.example.com/row",
                }
            ]
        },
    }
    rows = {"alder": "one", "birch": "two", "cedar": "two"}
    nodes = [
        node(
            name,
            8,
            labels={
                "disk-kind": "fast" if name != "alder" else "slow",
                "rack.example.com/row": row,
            },
        )
        for name, row in rows.items()
    ]
    nodes[2]["spec"] = {
        "taints": [{"key": "only-for", "value": "red-team", "effect": "NoSchedule"}]
    }
    chosen, first = pod("zeta-1", "zeta"), pod("beta-0", "beta", on="birch")
    first["metadata"]["labels"] = {"team-label": "blue"}
    chosen["metadata"]["labels"] = {"team-label": "blue"}
    chosen["spec"]["affinity"] = affinity
    tolerant = pod("gamma-2", "gamma")
    tolerant["spec"]["nodeSelector"] = {"disk-kind": "fast"}
    tolerant["spec"]["tolerations"] = [{"key": "only-for", "operator": "Exists"}]
    claiming = pod("delta-0", "delta")
    claiming["spec"]["volumes"] = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "dataset-claim"}}
    ]
    claim = document("PersistentVolumeClaim", "dataset-claim", "ns", spec={"volumeName": ""})
    queues = [queue("default"), queue("research"), queue("research-vision")]
    queues[2]["spec"]["parent"] = "research"
    groups = [group(name, 1) for name in ("beta", "delta", "gamma", "zeta")]
    groups[2]["spec"]["queue"] = "research-vision"
    made = [*queues, *nodes, *groups, claim, first, chosen, tolerant, claiming]
    return events_of([("updated", one) for one in made])


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.15.1"])
def test_a_world_that_is_decided_by_names_and_labels_is_decided_the_same(
    logged: Logged, tmp_path: Path, release: str
) -> None:
    place = tmp_path / "world.plinian"
    with logged(world()) as log:
        before = log.session(release=release).result
        log.pack(place, around="60s", release=release, redact=True)
    assert before.binds
    found = plinian.open_pack(place)
    assert found.as_expected
    assert found.expected.decisions["bind"] == len(before.binds)
    named = plinian.open_pack(place, map=f"{place}.map")
    bound = {(about, where) for kind, about, where in named.decisions if kind == "bind"}
    assert bound == set(before.binds)
    data = place.read_bytes()
    for name in (
        "alder",
        "birch",
        "cedar",
        "red-team",
        "blue",
        "research",
        "dataset-claim",
        "disk-kind",
        "rack.example.com",
        "only-for",
        "zeta",
    ):
        assert name.encode() not in data, name


def test_a_rename_that_changes_a_decision_is_noticed_and_nothing_is_written(
    logged: Logged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = NameRedaction.label_value
    monkeypatch.setattr(
        NameRedaction,
        "label_value",
        lambda self, value: kept(self, value) if value != "fast" else kept(self, "slow"),
    )
    with logged(world()) as log, pytest.raises(plinian.PackDiffers, match="with new names"):
        log.pack(tmp_path / "it.plinian", around="60s", redact=True)
    assert [path.name for path in tmp_path.glob("*it.plinian*")] == []


def test_a_name_that_is_left_is_noticed_and_nothing_is_written(
    logged: Logged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        NameRedaction, "actor", lambda self, actor: self.renaming.name(actor) and actor
    )
    made = [*world()]
    made[0] = plinian.Event(
        kind=made[0].kind,
        reference=made[0].reference,
        payload=made[0].payload,
        resource_version=made[0].resource_version,
        revision=made[0].revision,
        actor="alice-of-accounting",
    )
    with logged(made) as log, pytest.raises(plinian.PackDiffers, match="still in the file"):
        log.pack(tmp_path / "it.plinian", around="60s", redact=True)
    assert [path.name for path in tmp_path.glob("*it.plinian*")] == []


def test_a_search_finds_names_but_not_parts_of_known_words(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b'\x00{"nodeName":"x1","spec":"secret-name"}\xff')
    names = ["secret-name", "node", "absent", "1234", "x1"]
    assert left_over(place, names, "nodeName spec") == ["secret-name"]


def test_free_text_environment_and_unknown_annotations_are_gone(
    logged: Logged, tmp_path: Path
) -> None:
    said = pod("talker-0", "talker")
    said["metadata"]["annotations"] |= {"acme.io/note": "call Bob Sumner", "volcano.sh/x": "tango"}
    said["spec"]["containers"][0] |= {"env": [{"name": "PASSPHRASE", "value": "v"}]}
    said["status"] = {
        "phase": "Pending",
        "message": "no room for Bob Sumner",
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "BobSaysNo",
                "message": "Bob Sumner",
            }
        ],
    }
    with logged([*world(), *events_of([("updated", said)] * 20)[19:]]) as log:
        log.pack(tmp_path / "it.plinian", around="60s", redact=True)
    data = (tmp_path / "it.plinian").read_bytes()
    for text in (b"Sumner", b"PASSPHRASE", b"BobSaysNo", b"acme.io", b"tango"):
        assert text not in data


def payload(kind: str, struct: msgspec.Struct, **more: Any) -> Event:
    """Return an event without an object."""
    return Event(kind=kind, reference=Reference(), payload=canonical_json(struct), **more)


CONF = {
    "actions": "enqueue",
    "tiers": [
        {
            "plugins": [
                {
                    "name": "binpack",
                    "arguments": {
                        "binpack.resources": "nvidia.com/gpu, acme.io/fpga",
                        "binpack.cpu": 5,
                    },
                }
            ]
        }
    ],
    "metrics": {"type": "prometheus", "address": "http://bob"},
}

DECIDED = DecisionLogged(
    component="scheduler", verb="bind-failed", task="ns/p", node="alder", message="alder is full"
)
STARTED = ProcessStarted(
    component="scheduler", flags={"node-selector": "[disk:fast]", "kubeconfig": "/home/bob"}
)
FOLLOWED = WatchFollowed(
    group="", listed="Pod", namespaces=("ns",), since=1, until=2, begin="marked"
)
REFUSED = RequestRefused(verb="create", code=409, message="alder exists", user_agent="bob/1.0")
ANSWERED = ExtenderAnswered(verb="filter", about="ns/p alder", answer={"nodeNames": ["alder"]})


def telling() -> list[Event]:
    """Return an event of each shape that can hold names or free text."""
    return [
        payload("usage.measured", UsageMeasured(node="alder", cpu={"10m": 42.5})),
        payload("extender.answered", ANSWERED),
        payload("decision.logged", DECIDED),
        payload("process.started", STARTED),
        payload("watch.followed", FOLLOWED),
        payload("request.refused", REFUSED),
        payload("config.applied", ConfigApplied(text="# for bob", parsed=CONF)),
    ]


def test_every_kind_of_event_is_still_readable_with_new_names() -> None:
    redaction = NameRedaction(b"salt")
    made = telling()
    for event in made:
        redaction.redacted(event)
    redaction.settle()
    found = [redaction.redacted(event) for event in made]
    text = b"".join(event.payload for event in found if event is not None)
    for name in (b"alder", b"bob", b"fast", b"acme", b"fpga"):
        assert name not in text
    for event in found:
        assert event is not None
        shape = KINDS[event.kind].payload
        assert shape is not None
        msgspec.json.decode(event.payload, type=shape)
    usage, answered = (msgspec.json.decode(event.payload) for event in found[:2] if event)
    assert usage["cpu"] == {"10m": 42.5}
    assert answered["answer"]["nodeNames"] == [usage["node"]]
    assert b"nvidia.com/gpu" in text


def test_lines_of_logs_and_dumps_are_left_out() -> None:
    redaction = NameRedaction(b"salt")
    said = payload(
        "message.logged", MessageLogged(component="scheduler", severity="W", message="x")
    )
    assert redaction.redacted(said) is None


def test_names_of_resources_of_other_vendors_are_new_and_quotas_stay_quotas() -> None:
    redaction = NameRedaction(b"salt")
    names = (
        "cpu",
        "nvidia.com/gpu",
        "requests.nvidia.com/gpu",
        "count/pods",
        "count/jobs.batch",
        "acme.io/fpga",
        "requests.acme.io/fpga",
        "count/jobs.acme.io",
        "gold.storageclass.storage.k8s.io/requests.storage",
    )
    for name in names:
        redaction.resource(name)
    redaction.settle()
    new = {name: redaction.resource(name) for name in names}
    assert [name for name in names if new[name] == name] == list(names[:5])
    assert new["requests.acme.io/fpga"] == f"requests.{new['acme.io/fpga']}"
    assert new["count/jobs.acme.io"].startswith("count/")
    assert new[names[-1]].endswith(".storageclass.storage.k8s.io/requests.storage")
    assert not any(word in "".join(new.values()) for word in ("acme", "fpga", "gold"))
