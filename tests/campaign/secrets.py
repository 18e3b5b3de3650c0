"""Secrets in every format, and a search of every byte that a log then holds.

Each case writes one input with marks where a Secret has its content, ingests it, and looks for the
marks: in the bytes of the database's files, and in all that its tables hold, decompressed. Beside
every Secret stands a pod with a sign of its own that must be found, so that a search which sees
nothing fails.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import lzma
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml
import zstandard

from plinian.engine.errors import PlinianError
from plinian.engine.log import open_log
from plinian.engine.log.sql_log import SqlLog
from plinian.engine.log.store import Query
from plinian.replay.ingest.ingest_run import IngestOptions, ingest

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
TIME = "2026-01-02T12:00:00.000000Z"
SIGN = "to-be-found"


class Figures(NamedTuple):
    """What a campaign found. :param failures: a line for each case that let a mark in."""

    cases: int
    by_form: Mapping[str, int]
    failures: tuple[str, ...]


class Case(NamedTuple):
    """One input: the name of its form, its file's name, its bytes, and whether it must be read."""

    form: str
    name: str
    data: bytes


class Marked:
    """Makes Secrets whose content is marks, each of them new, and remembers the marks."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.marks: list[str] = []
        self._revision = random.randrange(100, 1000)

    def mark(self) -> str:
        mark = "".join(self.random.choices("bcdfghjkmnpqrstvwxyz", k=24))
        self.marks.append(mark)
        return mark

    def coded(self) -> str:
        """Return a mark as base64 has it."""
        return base64.b64encode(self.mark().encode()).decode()

    def revision(self) -> str:
        self._revision += 1
        return str(self._revision)

    def secret(self, name: str = "s", **more: Any) -> dict[str, Any]:
        applied = {"apiVersion": "v1", "kind": "Secret", "data": {"k": self.coded()}}
        fields = {
            "data": {"password": self.coded(), "tls.key": self.coded()},
            "stringData": {"clear": self.mark(), "line\nbreak": f'"{self.mark()}"'},
        }
        for field in list(fields):
            if self.random.random() < 0.2:
                del fields[field]
        document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"uid-{name}",
                "resourceVersion": self.revision(),
                "creationTimestamp": "2026-01-02T12:00:00Z",
                "labels": {"app": "x"},
                "annotations": {LAST_APPLIED: json.dumps(applied), "note": self.mark()},
                "managedFields": [{"manager": self.mark(), "time": "2026-01-02T12:00:00Z"}],
            },
            "type": self.random.choice(["Opaque", "kubernetes.io/tls", "helm.sh/release.v1"]),
            **fields,
        }
        metadata = document["metadata"] | more.pop("metadata", {})
        return document | {"metadata": metadata} | more

    def pod(self) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": SIGN,
                "namespace": "default",
                "uid": "uid-pod",
                "resourceVersion": self.revision(),
            },
            "spec": {"imagePullSecrets": [{"name": "s"}]},
        }


def _without(document: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in fields}


def _json(random: Random, *values: Any) -> bytes:
    indent = random.choice([None, 4])
    return b"\n".join(json.dumps(value, indent=indent).encode() for value in values) + b"\n"


def _list(m: Marked) -> bytes:
    return _json(m.random, {"apiVersion": "v1", "kind": "List", "items": [m.secret(), m.pod()]})


def _secret_list(m: Marked) -> bytes:
    items = [_without(m.secret(f"s{i}"), "kind", "apiVersion") for i in range(3)]
    items[1]["kind"] = m.random.choice(["Secret", "Thing"])
    items[1]["apiVersion"] = "v1"
    listed = {"apiVersion": "v1", "kind": "SecretList", "metadata": {"resourceVersion": "2000"}}
    return _json(m.random, {**listed, "items": items}, m.pod())


def _alone(m: Marked) -> bytes:
    return _json(m.random, m.secret(), m.pod())


def _claims(m: Marked) -> bytes:
    kind = m.random.choice(["Thing", "secret", "SECRET", "Secret"])
    version = m.random.choice(["v1", "example.com/v1"])
    false = m.secret(kind=kind, apiVersion=version, stringData={"x": m.mark()})
    typed = _without(m.secret("t", kind="Thing", type="kubernetes.io/tls"), "stringData")
    return _json(m.random, false, typed, m.pod())


def _nested(m: Marked) -> bytes:
    inside = _without(m.secret(), "managedFields")
    inside["metadata"].pop("managedFields")
    template = {
        "apiVersion": "template.example.com/v1",
        "kind": "Template",
        "metadata": {
            "name": "t",
            "uid": "u",
            "resourceVersion": m.revision(),
            "annotations": {LAST_APPLIED: json.dumps({"kind": "List", "items": [inside]})},
        },
        "objects": [inside, {"kind": "SecretList", "items": [_without(inside, "kind")]}],
    }
    return _json(m.random, template, m.pod())


def _yaml(m: Marked) -> bytes:
    documents = [m.secret(), {"apiVersion": "v1", "kind": "List", "items": [m.secret("b")]}]
    documents.append(m.pod())
    flow = m.random.choice([None, False])
    return yaml.safe_dump_all(documents, default_flow_style=flow).encode()


def _watch(m: Marked) -> bytes:
    secrets = [m.secret(f"s{i % 2}") for i in range(4)]
    kinds = ["ADDED", "ADDED", "MODIFIED", "DELETED"]
    lines = [{"type": kind, "object": secret} for kind, secret in zip(kinds, secrets, strict=True)]
    message = f'Secret "s" is invalid: data[x]: Invalid value: "{m.mark()}": no'
    status = {"kind": "Status", "code": 422, "message": message}
    lines += [{"type": "ERROR", "object": status}, {"type": "ADDED", "object": m.pod()}]
    indent = m.random.choice([None, 1])
    return b"".join(json.dumps(line, indent=indent).encode() + b"\n" for line in lines)


def _record(m: Marked, verb: str, **fields: Any) -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": m.revision(),
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/secrets/s",
        "verb": verb,
        "user": {"username": "alice"},
        "objectRef": {"resource": "secrets", "namespace": "default", "name": "s"},
        "responseStatus": {"code": 200},
        "stageTimestamp": TIME,
        "requestReceivedTimestamp": TIME,
    } | fields


def _refusal(m: Marked, name: str = "Secret") -> dict[str, Any]:
    value = m.mark()
    return {
        "metadata": {},
        "code": 422,
        "status": "Failure",
        "reason": "Invalid",
        "message": f'{name} "s" is invalid: data[k]: Invalid value: "{value}": no base64',
        "details": {"causes": [{"message": f'Invalid value: "{value}"'}]},
    }


def _audited(m: Marked) -> bytes:
    dying = {"deletionTimestamp": "2026-01-02T12:00:00Z", "deletionGracePeriodSeconds": 0}
    merge = {"data": {"k": m.coded()}, "metadata": {"annotations": {"note": m.mark()}}}
    patch = [{"op": "add", "path": "/data/k", "value": m.coded()}]
    thing = m.secret(kind=m.random.choice(["ConfigMap", "Pod", "Thing"]), apiVersion="v1")
    status = {"kind": "Status", "apiVersion": "v1", **_refusal(m)}
    options = {"kind": "DeleteOptions", "gracePeriodSeconds": 0, "extra": m.mark()}
    lists = {"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "3000"}}
    records = [
        _record(m, "create", requestObject=m.secret(), responseObject=m.secret()),
        _record(m, "update", requestObject=m.secret(), responseObject=m.secret(metadata=dying)),
        _record(m, "patch", requestObject=[], responseObject=m.secret(metadata=dying)),
        _record(m, "patch", requestObject=merge, level="Request"),
        _record(m, "patch", requestObject=patch, level="Request"),
        _record(m, "patch", requestObject=f"data: {m.mark()}", level="Request"),
        _record(m, "delete", requestObject=options, responseObject=m.secret(metadata=dying)),
        _record(m, "delete", requestObject=options),
        _record(m, "update", responseObject=thing, requestObject=thing),
        _record(m, "get", responseObject=m.secret("read")),
        _record(
            m, "list", responseObject={**lists, "items": [_without(m.secret("l"), "kind"), thing]}
        ),
        _record(m, "update", responseStatus=_refusal(m), responseObject=status),
        _record(m, "create", responseStatus=_refusal(m), requestObject=m.secret()),
        _record(m, "deletecollection", requestObject=options, responseObject=lists),
    ]
    m.random.shuffle(records)
    pods = {"resource": "pods", "namespace": "default", "name": SIGN}
    records.append(_record(m, "update", objectRef=pods, responseObject=m.pod()))
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _scenario(m: Marked) -> bytes:
    changes = [("ADDED", m.secret()), ("MODIFIED", m.secret()), ("ADDED", m.pod())]
    for _, document in changes:
        for field in ("uid", "resourceVersion", "managedFields"):
            document["metadata"].pop(field, None)
    events = [{"type": kind, "object": document} for kind, document in changes]
    return json.dumps({"name": "x", "steps": [{"events": events}]}).encode()


def _dump(m: Marked) -> bytes:
    task = {"Pod": m.pod(), "Mounted": [m.secret()], "Extra": {"stringData": {"k": m.mark()}}}
    node = {"Name": "n", "Allocatable": {"MilliCPU": 1}, "Tasks": {"t": task}}
    return json.dumps({"n": node}).encode() + b"\n"


def _klog(m: Marked) -> bytes:
    session = "d3b07384-d113-4ec5-a2d5-1f0f0f0f0f0f"
    told = [
        (
            f"I0102 12:00:00.000000       1 session.go:1] Open Session {session} with <1> Job and"
            " <1> Queues"
        ),
        (
            "E0102 12:00:01.000000       1 job_controller.go:9] create"
            f' &v1.Secret{{Data:map[string]string{{"k":"{m.mark()}"}}}} failed'
        ),
        (
            "W0102 12:00:01.000000       1 job_controller.go:9] Secret"
            f' "s" is invalid: data[k]: Invalid value: "{m.mark()}": no'
        ),
        (
            'E0102 12:00:02.000000       1 cache.go:7] body {"kind":"Secret","data":'
            f'{{"k":"{m.coded()}"}}}}'
        ),
        f"I0102 12:00:03.000000       1 allocate.go:8] Binding Task <d/{SIGN}> to node <n>",
        "panic: v1.Secret{StringData:" + m.mark() + "}",
    ]
    return "\n".join(told).encode() + b"\n"


FORMS: Mapping[str, tuple[str, Callable[[Marked], bytes]]] = MappingProxyType(
    {
        "alone": ("one.json", _alone),
        "list": ("list.json", _list),
        "secret-list": ("secrets.json", _secret_list),
        "claims": ("claims.json", _claims),
        "nested": ("nested.json", _nested),
        "yaml": ("objects.yaml", _yaml),
        "watch": ("watch.jsonl", _watch),
        "audit": ("audit.log", _audited),
        "scenario": ("x.case.json", _scenario),
        "dump": ("snapshot-1795226284.json", _dump),
        "klog": ("scheduler.log", _klog),
    }
)
"""Name of a form of input to its file's name, and what makes it."""


def _wrapped(random: Random, name: str, data: bytes) -> tuple[str, bytes]:
    """Return a file as it is, compressed, or as a member of an archive."""
    how = random.randrange(8)
    if how == 0:
        return f"{name}.gz", gzip.compress(data, mtime=0)
    if how == 1:
        return f"{name}.xz", lzma.compress(data)
    if how == 2:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"in/{name}", data)
        return "all.zip", out.getvalue()
    if how == 3:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            member = tarfile.TarInfo(f"in/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        return "all.tar.gz", out.getvalue()
    return name, data


def cases(seed: int, marked: Callable[[Random], Marked] = Marked) -> Iterator[tuple[Case, Marked]]:
    """Yield inputs without end, each form in turn; the same for the same seed."""
    number = 0
    while True:
        for form, (name, make) in FORMS.items():
            random = Random(f"{seed}/{number}")
            m = marked(random)
            data = make(m)
            yield Case(form, *_wrapped(random, name, data)), m
            number += 1


def searched(place: str, folder: Path | None) -> bytes:
    """Return everything that a log holds, one after the other: files, cells, and what they pack."""
    found: list[bytes] = []
    if folder is not None:
        found += [path.read_bytes() for path in sorted(folder.glob("*.db*"))]
    with open_log(place, read_only=True) as store:
        for recorded in store.read(Query()):
            found += [recorded.event.payload, repr(recorded.event).encode()]
        assert isinstance(store, SqlLog)
        found += _cells(store)
    return b"\n".join(found)


def _cells(store: SqlLog) -> Iterator[bytes]:
    database = store._database
    if database.name == "sqlite":
        names = [
            row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
    else:
        names = [
            row[0]
            for row in database.rows(
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            )
        ]
    dictionaries = [
        zstandard.ZstdCompressionDict(zstandard.ZstdDecompressor().decompress(row[0]))
        for row in database.rows("SELECT data FROM dictionary")
    ]
    for name in names:
        for row in database.rows(f"SELECT * FROM {name}"):
            for cell in row:
                yield from _opened(cell, dictionaries)


def _opened(cell: Any, dictionaries: list[zstandard.ZstdCompressionDict]) -> Iterator[bytes]:
    if not isinstance(cell, bytes | memoryview):
        yield str(cell).encode(errors="backslashreplace")
        return
    data = bytes(cell)
    yield data
    for start in range(min(len(data), 64)):
        if data[start : start + 4] == b"\x28\xb5\x2f\xfd":
            for dictionary in [None, *dictionaries]:
                try:
                    unpacker = zstandard.ZstdDecompressor(dict_data=dictionary)
                    yield unpacker.decompressobj().decompress(data[start:])
                except zstandard.ZstdError:
                    continue


def forms_of(mark: str) -> list[bytes]:
    """Return how a mark may be written: clear, as base64 (at any offset), as hexadecimal."""
    raw = mark.encode()
    coded = [base64.b64encode(b"x" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return [raw, *coded, raw.hex().encode()]


def leaks(place: str, folder: Path | None, marks: list[str]) -> list[str]:
    """Return the marks that are found in a log, or a line that the search itself does not work."""
    held = searched(place, folder)
    if SIGN.encode() not in held:
        return ["the pod beside the Secret is not found: nothing was searched"]
    return [mark for mark in marks if any(form in held for form in forms_of(mark))]


def run(
    seed: int = 1,
    count: int = 44,
    seconds: float = 60.0,
    place: Callable[[int], str] | None = None,
) -> Figures:
    """Ingest marked inputs and search the logs; the same cases for the same seed.

    :param count: how many cases at most. :param seconds: after which no new case is begun.
    :param place: gives the URL of a new log for a case; by default a file in a temporary folder.
    """
    began = time.monotonic()
    done: Counter[str] = Counter()
    failures: list[str] = []
    for number, (case, m) in enumerate(cases(seed)):
        if number >= count or time.monotonic() - began > seconds:
            break
        with tempfile.TemporaryDirectory() as folder:
            held = Path(folder)
            (held / case.name).write_bytes(case.data)
            where = place(number) if place else str(held / "log.db")
            options = IngestOptions(year=2026, skip_malformed=True, redact=number % 5 == 4)
            try:
                found = _found(where, held / case.name, options, m, None if place else held)
            except PlinianError as fault:
                found = [f"cannot be ingested: {fault}"]
            failures += [f"{case.form} ({case.name}): {what}" for what in found]
        done[case.form] += 1
    return Figures(sum(done.values()), dict(done), tuple(failures))


def _found(
    where: str, path: Path, options: IngestOptions, m: Marked, folder: Path | None
) -> list[str]:
    """Ingest a file and search the log while it is open: the database has its WAL then."""
    with open_log(where, create=True) as store:
        ingest(store, [str(path)], options)
        return leaks(where, folder, m.marks)
