"""From paths to documents: folders, compression and archives, by content and to any depth."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from plinian.engine.errors import InputError, InputTruncated
from plinian.engine.ingest.reading.inputs import HEAD, InputFile, documents, find_files

TEXT = b'{"type":"ADDED"}\n' * 20_000
PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip in two members": lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:]),
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,  # damage shows for sure
    "zstd in two frames": lambda data: (
        zstandard.compress(data[:99]) + zstandard.compress(data[99:])
    ),
    "bzip2": bz2.compress,
    "gzip in xz": lambda data: lzma.compress(gzip.compress(data)),
}


def contents(path: Path, stdin: bytes = b"") -> dict[str, bytes]:
    """Return everything in a path by source."""
    return {
        document.source: document.stream.read()
        for file in find_files([str(path)])
        for document in documents(file, stdin=io.BytesIO(stdin))
    }


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("how", PACK)
def test_a_file_is_unpacked_by_what_is_in_it_and_not_by_its_name(how: str, tmp_path: Path) -> None:
    path = tmp_path / "misleading.txt"
    path.write_bytes(PACK[how](TEXT))
    assert contents(path) == {str(path): TEXT}


@pytest.mark.parametrize("how", PACK)
def test_standard_input_is_unpacked_too(how: str) -> None:
    (document,) = documents(InputFile("-", named=True, size=0), stdin=io.BytesIO(PACK[how](TEXT)))
    assert document.source == "standard input"
    assert document.head == TEXT[:HEAD]
    assert document.stream.read() == TEXT


@pytest.mark.parametrize(
    "pack", [tar_of, lambda m: tar_of(m, "w:gz"), zip_of], ids=["tar", "tgz", "zip"]
)
def test_members_of_archives_are_named_after_both(
    pack: Callable[[dict[str, bytes]], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "dump"
    inner = zip_of({"deep.json": b"deep"})
    path.write_bytes(pack({"a/one.json": b"one", "two.gz": gzip.compress(b"two"), "in.zip": inner}))
    assert contents(path) == {
        f"{path}!a/one.json": b"one",
        f"{path}!two.gz": b"two",
        f"{path}!in.zip!deep.json": b"deep",
    }


def test_an_archive_comes_through_standard_input() -> None:
    file = InputFile("-", named=True, size=0)
    for archive in (zip_of({"x": b"1"}), tar_of({"x": b"1"}, "w:gz")):
        (document,) = list(documents(file, stdin=io.BytesIO(archive)))
        assert document.source == "standard input!x"


def test_archives_within_archives_have_an_end(tmp_path: Path) -> None:
    data = b"x"
    for _ in range(20):
        data = gzip.compress(data)
    path = tmp_path / "bomb"
    path.write_bytes(data)
    with pytest.raises(InputError, match="too deep"):
        contents(path)


def test_folders_are_searched_in_the_order_of_names_and_each_file_is_taken_once(
    tmp_path: Path,
) -> None:
    for name in ("b/2", "a/9", "c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    told: list[tuple[str, str]] = []
    paths = [str(tmp_path / "c"), str(tmp_path), str(tmp_path / "b")]
    files = find_files(paths, lambda path, why: told.append((path, why)))
    assert [Path(file.path).name for file in files] == ["9", "2", "c"]
    assert [file.named for file in files] == [False, False, True]
    assert files == find_files(paths[::-1])
    assert told == [(str(tmp_path / "pipe"), "no regular file")]


def test_what_is_read_from_disk_is_told_for_progress(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(os.urandom(300_000)))
    read: list[int] = []
    (file,) = find_files([str(path)])
    for document in documents(file, read=read.append):
        document.stream.read()
    assert sum(read) == path.stat().st_size == file.size


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file") as fault:
        find_files([str(tmp_path / "missing")])
    assert fault.value.where == str(tmp_path / "missing")


@pytest.mark.parametrize("how", ["gzip", "xz", "zstd", "bzip2"])
def test_compressed_data_that_is_cut_off_is_noticed(how: str, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    path.write_bytes(PACK[how](os.urandom(200_000))[:-100])
    with pytest.raises(InputTruncated) as fault:
        contents(path)
    assert fault.value.where == str(path)
    assert fault.value.now


@pytest.mark.parametrize("how", ["gzip", "xz", "zstd"])
def test_compressed_data_that_is_damaged_is_noticed(how: str, tmp_path: Path) -> None:
    packed = bytearray(PACK[how](TEXT + os.urandom(100_000)))
    packed[len(packed) // 2] ^= 0xFF
    packed[-6] ^= 0xFF
    path = tmp_path / "damaged"
    path.write_bytes(packed)
    with pytest.raises(InputError) as fault:
        contents(path)
    assert str(path) in str(fault.value)


def test_archives_that_are_cut_off_or_damaged_are_noticed(tmp_path: Path) -> None:
    members = {"a": os.urandom(50_000), "b": os.urandom(50_000)}
    whole = zip_of(members)
    flipped = bytearray(whole)
    flipped[2_000] ^= 0xFF
    for number, data in enumerate((tar_of(members)[:60_000], whole[:60_000], bytes(flipped))):
        path = tmp_path / str(number)
        path.write_bytes(data)
        with pytest.raises(InputError) as fault:
            contents(path)
        assert str(path) in fault.value.where


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "from-windows.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert contents(path) == {str(path): b"{}"}
