"""What one database takes the other takes; what neither takes is refused before it is stored."""

from __future__ import annotations

import io
import json
import os
import random
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.test_times_out_of_range import audited
from clusters import pod, watched
from plinian.engine.errors import InputError, PlinianError, UsageError
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.storable import MOST_BYTES, printable
from plinian.engine.log import Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

GOOD = watched(*(("ADDED", pod(f"p{number}", number + 1)) for number in range(1500)))
NUL = "a\0b"
LONG = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789é", k=2704))


def audited_by(actor: str) -> bytes:
    record = json.loads(audited("2026-01-01T00:00:05Z"))
    record["user"] = {"username": actor}
    return json.dumps(record).encode() + b"\n"


BAD = {
    "a NUL in a name": watched(("ADDED", pod(NUL, 5000))),
    "a NUL in a uid": watched(("ADDED", pod("n", 5000, uid=NUL))),
    "a NUL in a namespace": watched(("ADDED", pod("n", 5000, namespace=NUL))),
    "a NUL in a kind": watched(("ADDED", {**pod("n", 5000), "kind": NUL})),
    "a NUL in a group": watched(("ADDED", {**pod("n", 5000), "apiVersion": f"{NUL}/v1"})),
    "a NUL in an actor": audited_by(NUL),
    "a long actor": audited_by(LONG),
    "a long actor that can be pressed": audited_by("a" * 2704),
    "a long namespace": watched(("ADDED", pod("n", 5000, namespace=LONG))),
    "a long kind": watched(("ADDED", {**pod("n", 5000), "kind": LONG})),
    "a long group": watched(("ADDED", {**pod("n", 5000), "apiVersion": f"{LONG}/v1"})),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_what_no_log_can_hold_is_refused_and_nothing_is_stored(
    case: str, log_place: str, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(GOOD)
    bad.write_bytes(BAD[case])
    with open_log(log_place, create=True) as store:
        with pytest.raises(InputError) as fault:
            ingest(store, [str(good), str(bad)])
        assert fault.value.where == f"{bad}:1"
        what = fault.value.what
        assert "which no log can store" in what or "a log takes 2,000" in what
        assert store.last() == 0
        summary = ingest(store, [str(good), str(bad)], IngestOptions(skip_malformed=True))
        assert summary.skipped["malformed"] == 1
        assert summary.appended >= 1500


@pytest.mark.parametrize("text", ["x" * MOST_BYTES, LONG[: MOST_BYTES - 100]])
def test_what_is_just_short_enough_is_taken(text: str, log_place: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(audited_by(text))
    with open_log(log_place, create=True) as store:
        ingest(store, [str(path)])
        assert text in {each.event.actor for each in store.read(Query())}


def long_names(text: str) -> dict[str, Any]:
    reference = Reference("", "Pod", "default", "a", "u")
    change = msgspec.structs.replace
    event = Event(kind="pod.observed", reference=reference, payload=canonical_json({}), revision=7)
    return {
        "name": change(event, reference=change(reference, name=text)),
        "uid": change(event, reference=change(reference, uid=text)),
        "namespace": change(event, reference=change(reference, namespace=text)),
        "actor": change(event, actor=text),
        "source": change(event, source=text),
        "cluster": change(event, cluster=text),
    }


@pytest.mark.parametrize("text", [NUL, LONG, "\ud800"], ids=["nul", "long", "half a pair"])
@pytest.mark.parametrize("field", sorted(long_names("")))
def test_an_append_refuses_it_as_well(field: str, text: str, log_place: str) -> None:
    good = long_names("fine")[field]
    bad = msgspec.structs.replace(long_names(text)[field], revision=8)
    with open_log(log_place, create=True) as store:
        if field in {"name", "uid"} and text == LONG:
            assert store.append([bad]).last == 1
            return
        with pytest.raises(UsageError, match="cannot be appended"):
            store.append([good, bad])
        assert store.last() == 0
        assert store.append([good]).last == 1


def tar_of(name: str, data: bytes, *, pax: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    kind = tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        header = tarfile.TarInfo(name)
        header.size = len(data)
        header.pax_headers = pax or {}
        archive.addfile(header, io.BytesIO(data))
    return out.getvalue()


def zip_of(name: bytes, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x" * len(name), data)
    return out.getvalue().replace(b"x" * len(name), name)


ODD = os.fsdecode(b"watch-\xff\xfe.jsonl")


def test_files_and_members_whose_names_are_no_utf8_are_taken(
    log_place: str, tmp_path: Path
) -> None:
    data = watched(("ADDED", pod("a", 1)))
    (tmp_path / ODD).write_bytes(data)
    (tmp_path / "m.tar").write_bytes(tar_of(ODD, watched(("ADDED", pod("b", 2)))))
    (tmp_path / "n.tar").write_bytes(
        tar_of("x", watched(("ADDED", pod("c", 3))), pax={"path": "c\0d.jsonl"})
    )
    (tmp_path / "o.zip").write_bytes(zip_of(b"w\xff.jsonl", watched(("ADDED", pod("d", 4)))))
    folder = tmp_path / os.fsdecode(b"folder-\xe9")
    folder.mkdir()
    (folder / "z.zip").write_bytes(zip_of(b"w.jsonl", watched(("ADDED", pod("e", 5)))))
    (folder / os.fsdecode(b"gone-\xe9")).symlink_to("nowhere")
    with open_log(log_place, create=True) as store:
        summary = ingest(store, [str(tmp_path)])
        told = {each.event.reference.name: each.event.source for each in store.read(Query())}
    assert set(told) - {""} == {"a", "b", "c", "d", "e"}
    assert told["a"].endswith(r"/watch-\xff\xfe.jsonl")
    assert told["b"].endswith(r"/m.tar!watch-\xff\xfe.jsonl")
    assert r"folder-\xe9/z.zip!w.jsonl" in told["e"]
    assert "\0" not in told["c"]
    assert summary.skipped_files[0].source.endswith(r"folder-\xe9/gone-\xe9")
    msgspec.json.encode(summary)


def test_the_name_of_a_file_is_written_so_that_it_can_be_printed() -> None:
    assert printable("a/ä.json") == "a/ä.json"
    assert printable(ODD) == r"watch-\xff\xfe.jsonl"
    assert printable("a\0b\ud800") == r"a\x00b\ud800"


def test_an_input_whose_name_is_too_long_is_refused(log_place: str, tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(GOOD)
    (tmp_path / "m.tar").write_bytes(tar_of(LONG, watched(("ADDED", pod("b", 2)))))
    with open_log(log_place, create=True) as store:
        with pytest.raises(InputError, match=r"an input's name .* bytes long"):
            ingest(store, [str(tmp_path)])
        assert store.last() == 0
        with pytest.raises(PlinianError, match="a cluster's name"):
            ingest(store, [str(tmp_path / "good.jsonl")], IngestOptions(cluster=LONG))
