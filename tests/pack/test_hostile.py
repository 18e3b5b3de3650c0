"""A source that has secrets wherever a text can be: none is in a redacted pack, in any form."""

from __future__ import annotations

import base64
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import PROPORTION, Document, listing

import plinian
from plinian.engine.log.event_packing import Block, Packer
from sessions import document, group, node, pod, queue

AT_ALL = ("pods", "nodes", "queues", "podgroups", "jobs")


class Secrets:
    """Makes texts that occur nowhere else, and remembers them."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, hint: str = "") -> str:
        made = f"qz{hint}{len(self.made):03d}xk"
        self.made.append(made)
        return made


def hostile(new: Secrets) -> list[Document]:
    """Return objects with a new secret in each text that a user or a program may choose."""
    told = {"type": new(), "status": "False", "reason": new(), "message": f"{new()} {new()}"}
    image = f"{new()}.example.com:5000/{new()}/{new()}@sha256:{'ab' * 32}"
    sized = hostile_node(new, told, image)
    team = new("queue")
    under = queue(team, parent="root", capability={"cpu": "4", f"{new()}.com/{new()}": "3"})
    under["metadata"]["annotations"] = {new(): new()}
    gang = group(new("gang"), 1, queue=team, priorityClassName=new())
    gang["metadata"]["labels"] = {new(): new()}
    gang["status"]["conditions"] = [dict(told)]
    gang["spec"]["minTaskMember"] = {new(): 1}
    waits = hostile_pod(new, told, image, gang["metadata"]["name"])
    job = document("Job", new("job"), "ns", status={"state": {"phase": "Pending"}})
    job["spec"] = {
        "queue": team,
        "plugins": {"env": [new()], new(): []},
        "tasks": [{"name": new(), "replicas": 1, "template": {"spec": {"nodeName": new()}}}],
    }
    job["status"]["state"] |= {"message": new(), "reason": new()}
    odd = document("ConfigMap", new("map"), "ns", data={new(): new()})
    return [sized, queue("root"), queue("default"), under, gang, waits, job, odd]


def hostile_node(new: Secrets, told: Document, image: str) -> Document:
    """Return a node with secrets."""
    sized = node(new("node"), 8, labels={f"{new()}.io/{new()}": new(), "zone": new()})
    sized["metadata"]["annotations"] = {f"{new()}/{new()}": f"{new()} {new()}@{new()}.com"}
    sized["spec"] = {
        "providerID": f"aws:///{new()}/{new()}",
        "taints": [{"key": f"{new()}/{new()}", "value": new(), "effect": "PreferNoSchedule"}],
    }
    sized["status"] |= {
        "conditions": [{"type": "Ready", "status": "True", "message": new()}, dict(told)],
        "addresses": [{"type": "Hostname", "address": new()}],
        "nodeInfo": {"machineID": new(), "kubeletVersion": f"v1.30.0-{new()}", "osImage": new()},
        "images": [{"names": [image], "sizeBytes": 7}],
    }
    return sized


def hostile_pod(new: Secrets, told: Document, image: str, gang: str) -> Document:
    """Return a pod of a gang with secrets."""
    gate = {"type": f"{new()}.example.com/{new()}", "status": "True"}
    waits = pod(new("pod"), gang, 2)
    waits["metadata"]["labels"] = {new(): new(), f"{new()}/app": new()}
    waits["metadata"]["annotations"] |= {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"a": "{new()}"}}',
        "volcano.sh/task-spec": new(),
        new(): f"https://{new()}:{new()}@{new()}.org/{new()}?x={new()}",
    }
    waits["metadata"]["managedFields"] = [{"manager": new(), "operation": "Apply"}]
    waits["spec"] |= {
        "serviceAccountName": new(),
        "hostname": new(),
        "nodeSelector": {f"{new()}/x": new()},
        "schedulingGates": [],
        "volumes": [{"name": new(), "secret": {"secretName": new()}}],
        "tolerations": [{"key": new(), "operator": "Equal", "value": new()}],
    }
    waits["spec"]["containers"][0] |= {
        "name": new(),
        "image": image,
        "args": [f"--password={new()}"],
        "env": [{"name": new(), "value": new()}],
    }
    waits["status"] = {
        "phase": "Pending",
        "message": new(),
        "reason": new(),
        "hostIP": new(),
        "conditions": [{**told, "type": "PodScheduled"}, gate],
    }
    return waits


def forms(text: str) -> Iterator[bytes]:
    """Yield a text as it may be written, also inside of something that is encoded."""
    yield from (text.encode(), text.upper().encode(), text.encode("utf-16-le"))
    yield text.encode().hex().encode()
    for lead in range(3):  # In base64 the same bytes look different at each of three places.
        coded = base64.b64encode(b"\0" * lead + text.encode())
        yield coded[(lead * 8 + 5) // 6 + 1 : -4]


def everything(path: Path) -> bytes:
    """Return the bytes of a file, and all that is compressed in it, uncompressed."""
    data = path.read_bytes()
    parts = [data]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        packer = Packer(dict(connection.execute("SELECT id, data FROM dictionary")))
        columns = "first, last, codec, dictionary_id, sizes, data"
        blocks = connection.execute(f"SELECT {columns} FROM payload_block")
        parts += [packer.unpack(Block(*row))[1] for row in blocks]
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for held in connection.execute(f'SELECT * FROM "{table}"'):
                parts += [_plain(one) for one in held if isinstance(one, bytes | str)]
    return b"\n".join(parts)


def _plain(held: bytes | str) -> bytes:
    data = held.encode() if isinstance(held, str) else held
    try:
        return data + zlib.decompress(data)
    except zlib.error:
        return data


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], bytes, Any]:
    """Make a redacted pack of a hostile source: its secrets, its bytes, and what it opens as."""
    folder, new = tmp_path_factory.mktemp("hostile"), Secrets()
    place = folder / new()
    place.mkdir()
    (place / "cluster.json").write_bytes(listing(hostile(new)))
    conf = PROPORTION.replace("overcommit", f"overcommit\n  - name: {new()}")
    conf += f"# {new()}\n{new()}: {new()}\nconfigurations:\n- name: enqueue\n"
    conf += f"  arguments:\n    {new()}: {new()}\n"
    (place / f"{new()}.conf").write_text(conf)
    with plinian.open(place / "log.db", create=True) as log:
        log.ingest([str(one) for one in place.glob("*.[jc]*")])
        question = f"why does {log.get('pods')[0]['metadata']['name']} wait?"
        log.pack(folder / "it.plinian", around="60s", ask=question, redact=True)
    return new.made, everything(folder / "it.plinian"), plinian.open_pack(folder / "it.plinian")


def test_no_secret_is_left_in_any_form(told: tuple[list[str], bytes, Any]) -> None:
    secrets, data, _ = told
    assert len(secrets) > 70
    left = [one for one in secrets if any(form in data for form in forms(one) if len(form) > 5)]
    assert left == [], [
        data[max(0, data.find(one.encode()) - 80) : data.find(one.encode()) + 30] for one in left
    ]


def test_the_pack_still_answers(told: tuple[list[str], bytes, Any]) -> None:
    assert told[2].as_expected
    assert told[2].redacted is not None


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """The test of tests: a pack with its names has them, and each form of a text is found."""
    new = Secrets()
    (tmp_path / "cluster.json").write_bytes(listing(hostile(new)))
    with plinian.open(tmp_path / "log.db", create=True) as log:
        log.ingest(str(tmp_path / "cluster.json"))
        log.pack(tmp_path / "it.plinian", around="60s")
    data = everything(tmp_path / "it.plinian")
    assert sum(one.encode() in data for one in new.made) > 60
    for coded in (base64.b64encode(b"ab" + b"qz001xk" + b"c"), b"qz001xk".hex().encode()):
        assert any(form in coded for form in forms("qz001xk"))
