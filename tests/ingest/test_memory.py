"""No input takes too much memory: each is read in a process that cannot have more."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import xor
from pathlib import Path

import pytest
from forking import Forking, forking

from clusters import pod, watched

MIB = 2**20
MOST = 600 * MIB
KEYS = 100_000


def gz(parts: Iterable[bytes]) -> bytes:
    """Return what a gzip of these pieces is, without ever holding them."""
    packer = zlib.compressobj(1, wbits=31)
    return b"".join([*(packer.compress(part) for part in parts), packer.flush()])


def crc_of_copies(crc: int, text: bytes, count: int) -> int:
    """Return the CRC of what has this one and so many copies of a text after it.

    Each bit of the one before changes the same bits of the one after.
    """
    of_none = zlib.crc32(text, 0)
    of_bits = [zlib.crc32(text, 1 << bit) ^ of_none for bit in range(32)]
    for _ in range(count):
        crc = reduce(xor, (of_bits[bit] for bit in range(32) if crc >> bit & 1), of_none)
    return crc


def times(text: bytes, count: int, begin: bytes = b"", end: bytes = b"") -> bytes:
    """Return a gzip of so many copies, of text between a beginning and an end.

    What is packed after a full flush needs nothing before it, so copies of the packed text will do.
    """
    packer = zlib.compressobj(1, wbits=-15)

    def packed(part: bytes) -> bytes:
        return packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)

    many = max(1, MIB // len(text))
    block, copies, rest = text * many, count // many, text * (count % many) + end
    body = packed(begin) + packed(block) * copies + packed(rest) + packer.flush()
    crc = zlib.crc32(rest, crc_of_copies(zlib.crc32(begin), block, copies))
    size = len(begin) + len(block) * copies + len(rest)
    return gzip.compress(b"")[:10] + body + struct.pack("<II", crc, size % 2**32)


def test_copies_are_packed_as_their_text() -> None:
    for count in (0, 5, 3 * MIB // 4, 2 * MIB):
        packed = times(b"abc,", count, b"[", b"d]")
        assert gzip.decompress(packed) == b"[" + b"abc," * count + b"d]"


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


def keys(first: int) -> bytes:
    return b"".join(b'"%x":1,' % number for number in range(first, first + KEYS))


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
        [OBJECT + b"{", *(keys(first) for first in range(0, 3_000_000, KEYS)), b'"a":1}}']
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


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    """Start processes that have the modules of an ingest loaded, and no others."""
    with forking(tmp_path_factory.mktemp("said"), "limited_memory") as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize(("case", "skip"), BOTH)
def test_an_input_takes_less_than_600_megabytes(
    fresh: Forking, case: str, skip: str, tmp_path: Path
) -> None:
    path = tmp_path / "input"
    path.write_bytes(CASES[case]())
    child = fresh.start("limited_memory:ingest_limited", str(tmp_path / "l.db"), str(path), skip)
    code = child.wait()
    assert code == 0, (case, code, child.stderr[-2000:])
    used, _, fault = child.stdout.partition(" ")
    assert int(used) * 1024 < MOST, (case, used, fault)
    assert fault.strip() or skip == "skip" or case in FINE, case


FINE = frozenset({"many large objects", "aliases of many values"})
"""What holds nothing that is wrong."""
