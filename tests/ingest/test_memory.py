"""No input takes too much memory: each is read in a process that cannot have more."""

from __future__ import annotations

import io
import lzma
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

import pytest

from clusters import pod, watched

MIB = 2**20
MOST = 600 * MIB

CHILD = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
from plinian.engine.errors import PlinianError
from plinian.replay.ingest.run import IngestOptions, ingest_at
skip = sys.argv[3] == "skip"
fault = ""
try:
    ingest_at(sys.argv[1], [sys.argv[2]], IngestOptions(skip_malformed=skip))
except PlinianError as told:
    fault = f"{type(told).__name__}: {told}"
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(status["VmHWM"].split()[0], fault[:300])
"""


def gz(parts: Iterable[bytes]) -> bytes:
    """Return what a gzip of these pieces is, without ever holding them."""
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([*(packer.compress(part) for part in parts), packer.flush()])


def times(text: bytes, count: int, begin: bytes = b"", end: bytes = b"") -> bytes:
    """Return a gzip of so many copies, of text between a beginning and an end."""

    def parts() -> Iterable[bytes]:
        yield begin
        many = max(1, MIB // len(text))
        for _ in range(count // many):
            yield text * many
        yield text * (count % many)
        yield end

    return gz(parts())


OBJECT = b'{"kind":"Widget","apiVersion":"acme.io/v1","metadata":{"name":"w","uid":"u",'
OBJECT += b'"resourceVersion":"7"},"spec":'
EVENT = b'{"type":"ADDED","object":' + OBJECT
AUDIT = b'"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","stage":"ResponseComplete",'
AUDIT += (
    b'"level":"RequestResponse","verb":"create","user":{"username":"a"},"objectRef":{"resource":'
)
AUDIT += b'"pods","name":"a"},"responseStatus":{"code":201},"stageTimestamp":"2026-01-01T00:00:00Z"'
YAML = b"apiVersion: v1\nkind: Widget\nmetadata:\n  name: w\n  uid: u\n  resourceVersion: '7'\n"


def aliases() -> bytes:
    """Return YAML in which names stand for lists of names for lists of long texts."""
    text = YAML + b'x0: &a0 "' + b"y" * 400_000 + b'"\n'
    for level in range(1, 6):
        text += b"x%d: &a%d [%s]\n" % (level, level, b",".join([b"*a%d" % (level - 1)] * 9))
    return text


def tar_header(kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def zip_directory() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", b"")
    data = out.getvalue()
    place, end = data.find(b"PK\x01\x02"), data.find(b"PK\x05\x06")
    entry, count = data[place:end], 1_500_000
    tail = data[end : end + 12] + (len(entry) * count).to_bytes(4, "little") + data[end + 16 :]
    return times(entry, count, data[:place], tail)


def huge_list(item: bytes, count: int) -> bytes:
    begin = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":['
    return times(item, count, begin, b"{}]}")


def xz_of_large_dictionary() -> bytes:
    """Return an xz whose header asks for a dictionary of 4 GiB (in the old format, .lzma in xz)."""
    data = bytearray(lzma.compress(watched(("ADDED", pod("a", 1)))))
    # The block's header follows the stream's of 12 bytes; its filter's property is the size.
    size = (data[12] + 1) * 4
    place = data.index(b"\x21\x01", 12, 12 + size) + 2
    data[place] = 40
    data[12 + size - 4 : 12 + size] = zlib.crc32(data[12 : 12 + size - 4]).to_bytes(4, "little")
    return bytes(data)


CASES: dict[str, Callable[[], bytes]] = {
    "aliases of long texts": aliases,
    "aliases of many values": lambda: aliases().replace(b"y" * 400_000, b"y"),
    "anchors of many values": lambda: times(b"- &a [1,2,3,4,5,6,7,8]\n", 4_000_000, YAML + b"x:\n"),
    "a lone brace before an audit log": lambda: times(
        b" " + AUDIT + b",\n", 1_900_000, b"{\n" + AUDIT + b",\n"
    ),
    "a lone brace before short lines": lambda: times(b"x\n", 3_500_000, b"{\n" + AUDIT + b",\n"),
    "a YAML text without an end": lambda: times(b"y" * 100, 10_000_000, YAML + b'x: "'),
    "a plain YAML text without an end": lambda: times(b"y z\n  ", 100_000_000, YAML + b"x: "),
    "a YAML list without an end": lambda: times(b"{}, ", 50_000_000, YAML + b"x: ["),
    "a YAML comment without an end": lambda: times(b"#" * 99, 10_000_000, YAML + b"x: 1 "),
    "a YAML key without an end": lambda: times(b"k" * 99, 10_000_000, YAML + b'? "'),
    "a watch line of objects": lambda: times(b"{},", 20_000_000, EVENT + b'{"a":[', b"{}]}}}\n"),
    "an object of objects": lambda: times(b"{},", 20_000_000, OBJECT + b'{"a":[', b"{}]}}\n"),
    "an object of keys": lambda: gz(
        chain([OBJECT + b"{"], (b'"%x":1,' % n for n in range(3_000_000)), [b'"a":1}}'])
    ),
    "a list of empty objects": lambda: huge_list(b"{},", 80_000_000),
    "a list of numbers": lambda: huge_list(b"1,", 120_000_000),
    "an array of empty objects": lambda: times(b"{},", 80_000_000, b"[" + OBJECT + b"{}},", b"{}]"),
    "a document of one text": lambda: times(b"y" * 100, 2_600_000, OBJECT + b'{"a":"', b'"}}'),
    "a second document of one text": lambda: times(
        b"y" * 100, 2_600_000, OBJECT + b"{}}\n" + OBJECT + b'{"a":"', b'"}}'
    ),
    "texts of escapes": lambda: times(rb"\u0001", 10_000_000, EVENT + b'{"a":"', b'"}}}\n'),
    "a line without an end": lambda: times(b"y" * 100, 3_500_000, EVENT + b'{"a":"'),
    "many large objects": lambda: times(
        EVENT + b'{"a":"' + b"y" * (7 * MIB) + b'"}}}\n' + b"\n", 60
    ),
    "an audit list of empty records": lambda: times(
        b"{},",
        20_000_000,
        b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[',
        b"{}]}\n",
    ),
    "an audited body of objects": lambda: times(
        b"{},", 20_000_000, b"{" + AUDIT + b',"responseObject":{"a":[', b"{}]}}\n"
    ),
    "an audited request of objects": lambda: times(
        b"{},", 20_000_000, b"{" + AUDIT + b',"requestObject":{"a":[', b"{}]}}\n"
    ),
    "a scenario of objects": lambda: times(
        b"{},", 20_000_000, b'{"steps":[{"events":[{"type":"ADDED","object":{}},', b"{}]}]}"
    ),
    "a dump of objects": lambda: times(
        b"{},", 20_000_000, b'{"n":{"Name":"n","MilliCPU":1,"a":[', b"{}]}}\n"
    ),
    "a dump of values": lambda: times(b'{"n":{"Name":"n","MilliCPU":1}}\n', 20_000_000),
    "a log line of bytes": lambda: times(
        b"\xff" * 100, 600_000, b"I1122 10:00:00.000000       1 allocate.go:60] Enter Allocate "
    ),
    "a long name in a tar": lambda: times(
        b"\0" * 512, 4 * MIB, tar_header(tarfile.GNUTYPE_LONGNAME, 2**31)
    ),
    "a long header in a tar": lambda: times(
        b"9" * 512, 4 * MIB, tar_header(tarfile.XHDTYPE, 2**31)
    ),
    "a large directory in a zip": zip_directory,
    "an xz with a large dictionary": xz_of_large_dictionary,
}


BOTH = [(case, "stop") for case in sorted(CASES)]
BOTH += [
    (case, "skip") for case in sorted(CASES) if case.startswith(("a lone", "aliases", "an aud"))
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "skip"), BOTH)
def test_an_input_takes_less_than_600_megabytes(case: str, skip: str, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(CASES[case]())
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "l.db"), str(path), skip],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, (case, child.returncode, child.stderr[-2000:])
    used, _, fault = child.stdout.partition(" ")
    assert int(used) * 1024 < MOST, (case, used, fault)
    assert fault.strip() or skip == "skip" or case in FINE, case


FINE = frozenset({"many large objects", "aliases of many values"})
"""What holds nothing that is wrong."""
