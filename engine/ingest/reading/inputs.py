"""Paths to documents: files, folders, standard input, compressed or in archives, to any depth.

Unlike the formats, this module reads the file system; it gives them binary streams. The first bytes
of a file show what it is; names and suffixes do not matter.
"""

from __future__ import annotations

import lzma
import os
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tarfile import HeaderError, ReadError
from typing import IO, TYPE_CHECKING, BinaryIO, Self, cast

import msgspec

from ...errors import FormatUnknown, InputDamaged, InputError, InputTruncated
from ...events.storable import printable
from ...text_encodings import UTF_8_MARK, wide_encoding
from .compression import BUFFER, Guarded, Source, decompressor, moved
from .wide_text import Narrowed

if TYPE_CHECKING:
    from io import BufferedIOBase

    from _typeshed import WriteableBuffer

STDIN = "-"
HEAD = 2**16
"""Bytes that a format may look at to recognise a document."""

LONG_HEAD = 4 * 2**20
"""Bytes that they may look at if these are not enough: keys of an object are sorted, so a large
``data`` comes before its ``kind`` and ``metadata``."""

_MAX_DEPTH = 5
"""Archives within archives."""

_IN_MEMORY = 2**24
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    NotImplementedError,  # a method of compression
    RuntimeError,  # a password is needed
    EOFError,
    OSError,
    UnicodeDecodeError,
    zlib.error,
    lzma.LZMAError,
)
"""Errors of the library for a damaged archive, or for one that it cannot unpack."""

_CHECK = "check the path, and that you may read it"


_SPECIAL = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_MOST_HEADER = 2**20
"""Bytes of a name, or of another header of a member of a tar archive."""

_END_OF_ZIP, _END_OF_ZIP_BYTES = b"PK\x05\x06", 2**16 + 22
_DIRECTORY_AT, _MOST_DIRECTORY = 12, 16 * 2**20
"""Where the end of a zip has the size of its directory; and the greatest allowed size."""


class InputFile(msgspec.Struct, frozen=True):
    """A file that was named or found.

    :param path: as events have it. :param named: given by itself, not found in a folder.
    :param size: bytes on disk; 0 if unknown.
    """

    path: str
    named: bool
    size: int


class Document(msgspec.Struct):
    """A document to recognise and read before the next one is opened.

    :param source: its name in events; members of archives are ``archive.tar.gz!member``.
    :param name: its file name without compression suffixes, as a hint.
    :param head: its first bytes, up to 64 KiB; ``stream`` still begins with them.
    :param named: it was given by itself.
    :param encoding: from which ``stream`` was decoded to UTF-8; empty if it was not.
    """

    source: str
    name: str
    head: bytes
    stream: BinaryIO
    named: bool
    encoding: str = ""

    def replace(self, stream: BinaryIO) -> None:
        """Continue with another stream, such as one without what its lines were wrapped in."""
        self.head, self.stream = _with_head(stream)

    def look_further(self) -> bool:
        """Make the head longer; return False if it has all of the document already."""
        before = len(self.head)
        # A shorter head is all of the document, and a longer one was made longer before. A head
        # that was
        # full may lack its byte order mark.
        if before < HEAD - len(UTF_8_MARK) or before > HEAD:
            return False
        self.head = self.stream.read(LONG_HEAD)
        self.stream = _Counted(self.stream, lambda _size: None, ahead=self.head).buffered()
        return len(self.head) > before


def find_files(
    paths: Sequence[str], skip: Callable[[str, str], None] = lambda _path, _why: None
) -> list[InputFile]:
    """Return the files at paths, each once, sorted by path; folders are searched.

    :param skip: called with (path, reason) for an entry of a folder that is not a file.
    :raises InputError: a path does not exist, or cannot be read.
    """
    files: dict[str, InputFile] = {}
    for given in paths:
        if given == STDIN:
            files[given] = InputFile(given, named=True, size=0)
            continue
        path = Path(given)
        status = _status_of(given)
        if not stat.S_ISDIR(status.st_mode):
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            files[str(path)] = InputFile(str(path), named=True, size=size)
            continue
        for input_file in _in_folder(path, skip):
            # A file that was named by itself as well stays so.
            files.setdefault(input_file.path, input_file)
    return [files[path] for path in sorted(files)]


def _status_of(given: str) -> os.stat_result:
    try:
        if given:  # An empty path means the current folder; most likely a variable is not set.
            return Path(given).stat()
    except (FileNotFoundError, ValueError):  # A path with a NUL byte is a ValueError.
        pass
    except OSError as fault:
        raise InputError(
            f"cannot be read: {fault.strerror}", where=printable(given), now=_CHECK
        ) from None
    where = printable(given) or "''"
    raise InputError("there is no such file or folder", where=where, now=_CHECK)


def _in_folder(folder: Path, skip: Callable[[str, str], None]) -> Iterator[InputFile]:
    def refuse(fault: OSError) -> None:
        where = printable(str(fault.filename))
        raise InputError(f"cannot be read: {fault.strerror}", where=where, now=_CHECK)

    for parent, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(parent, name)
            try:
                status = path.stat()
            except OSError as fault:
                skip(printable(str(path)), f"cannot be looked at: {fault.strerror}")
                continue
            if stat.S_ISREG(status.st_mode):
                yield InputFile(str(path), named=False, size=status.st_size)
            else:
                skip(printable(str(path)), "no regular file")


def documents(
    file: InputFile,
    *,
    stdin: BinaryIO | None = None,
    read: Callable[[int], None] = lambda _size: None,
) -> Iterator[Document]:
    """Yield the documents in a file: one, or one for each member of an archive.

    A document's stream is valid until the next document is yielded.

    :param stdin: what ``-`` stands for; the process's own standard input by default.
    :param read: called with the number of bytes that were read from disk.
    :raises InputError: the file cannot be opened or is damaged (from here, or from the streams).
    """
    if file.path == STDIN:
        raw: BinaryIO = stdin or sys.stdin.buffer
        yield from _unpack(_buffered(raw, file.path, read), "standard input", file, 0)
        return
    with ExitStack() as stack:
        try:
            raw = stack.enter_context(Path(file.path).open("rb", buffering=0))
        except OSError as fault:
            raise InputError(
                f"cannot be opened: {fault.strerror}", where=printable(file.path), now=_CHECK
            ) from None
        source = printable(file.path)
        yield from _unpack(_buffered(raw, source, read), source, file, 0)


class _Counted(Source):
    """A stream that reports how much was read of it; it begins with bytes that were read ahead."""

    def __init__(self, stream: BinaryIO, read: Callable[[int], None], ahead: bytes = b"") -> None:
        self._stream = cast("BufferedIOBase", stream)
        self._read = read
        self._ahead = memoryview(ahead)

    def readinto(self, target: WriteableBuffer) -> int:
        if self._ahead:
            count, self._ahead = moved(self._ahead, target)
            return count
        count = self._stream.readinto(target)
        self._read(count)
        return count


def _buffered(stream: BinaryIO, source: str, read: Callable[[int], None]) -> BinaryIO:
    return Guarded(cast("BinaryIO", _Counted(stream, read)), source).buffered()


def _with_head(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Read the first bytes of a stream; return them, and a stream that still begins with them."""
    head = stream.read(HEAD).removeprefix(UTF_8_MARK)
    return head, _Counted(stream, lambda _size: None, ahead=head).buffered()


def _unpack(stream: BinaryIO, source: str, file: InputFile, depth: int) -> Iterator[Document]:
    if depth > _MAX_DEPTH:
        raise InputError(
            "archives within archives, too deep", where=source, now="unpack the outer ones first"
        )
    head, whole = _with_head(stream)
    unpack = decompressor(head)
    if unpack is not None:
        inner = Guarded(unpack(whole), source).buffered()
        yield from _unpack(inner, source, file, depth + 1)
    elif head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        yield from _tar_members(whole, source, file, depth)
    elif head.startswith(_ZIP_MAGICS):
        yield from _zip_members(whole, source, file, depth)
    else:
        encoding = wide_encoding(head)
        if encoding:
            head, whole = _with_head(Narrowed(whole, encoding).buffered())
        named = file.named and "!" not in source
        # The order of bytes in the name of an encoding says nothing to a reader.
        shown = encoding.upper()[: len("UTF-16")]
        yield Document(source, _plain_name(source), head, whole, named, shown)


def _plain_name(source: str) -> str:
    name = source.rpartition("!")[2].rpartition("/")[2]
    for suffix in (".gz", ".xz", ".zst", ".bz2"):
        name = name.removesuffix(suffix)
    return name


def _tar_members(stream: BinaryIO, source: str, file: InputFile, depth: int) -> Iterator[Document]:
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarHeader) as archive:
            for member in archive:
                opened = archive.extractfile(member) if member.isreg() else None
                if opened is not None:
                    name = f"{source}!{printable(member.name.removeprefix('./'))}"
                    inner = _TarMember(opened, member.size, name).buffered()
                    yield from _unpack(inner, name, file, depth + 1)
                archive.members.clear()  # type: ignore[attr-defined]  # Or it would keep them all.
    except (tarfile.TarError, EOFError) as fault:
        raise InputTruncated(
            f"the archive is damaged, or ends in the middle: {fault}",
            where=source,
            now="fetch the archive again",
        ) from None


class _TarHeader(tarfile.TarInfo):
    """A member's header, which reports faults; the library treats them as the archive's end."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Read an extended header, within a limit: the library reads all of it into memory.

        :raises ReadError: it is too large, or the member is a sparse file.
        """
        if self.type in _SPECIAL and self.size > _MOST_HEADER:
            raise ReadError(f"a header of {self.size} bytes")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise ReadError("a sparse file, which cannot be a text")
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        if any(name.startswith("GNU.sparse.") for name in member.pax_headers):
            raise ReadError("a sparse file, which cannot be a text")
        return member

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        """Read the next header.

        :raises ReadError: it is damaged, or there is not even an end mark.
        """
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as fault:
            if type(fault).__name__ == "EOFHeaderError":  # The end mark; its type stubs lack it.
                raise
            raise ReadError(f"no member, and no end mark ({fault})") from None


class _TarMember(Source):
    """A member of an archive; it must have the length that the archive says."""

    def __init__(self, stream: IO[bytes], size: int, source: str) -> None:
        self._stream = cast("BufferedIOBase", stream)
        self._left = size
        self._source = source

    def readinto(self, target: WriteableBuffer) -> int:
        view = memoryview(target).cast("B")[: self._left]
        count = self._stream.readinto(view)
        if not count and self._left:
            raise InputTruncated(
                "the archive ends in the middle of this member",
                where=self._source,
                now="fetch the archive again",
            )
        self._left -= count
        return count


def _zip_members(stream: BinaryIO, source: str, file: InputFile, depth: int) -> Iterator[Document]:
    """Open a zip; its directory is at its end, so a stream that cannot seek is copied first."""
    with ExitStack() as stack:
        # The file itself is a zip, and no pipe: the library can read it in place.
        if printable(file.path) == source and file.size:
            seekable: BinaryIO = stack.enter_context(Path(file.path).open("rb"))
        else:
            copy = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))
            while piece := stream.read(BUFFER):
                copy.write(piece)
            copy.seek(0)
            seekable = cast("BinaryIO", copy)
        try:
            _hold_directory(seekable)
            archive = stack.enter_context(zipfile.ZipFile(seekable))
            for member in archive.infolist():
                if not member.is_dir():
                    name = f"{source}!{printable(member.filename)}"
                    with archive.open(member) as opened:
                        inner = _ZipMember(opened, name).buffered()
                        yield from _unpack(inner, name, file, depth + 1)
        except _ZIP_FAULTS as fault:
            raise InputDamaged(
                f"the archive cannot be read: {fault}",
                where=source,
                now="fetch it again; if it is encrypted, unpack it first",
            ) from None


def _hold_directory(stream: BinaryIO) -> None:
    """Limit the size of a zip's directory: the library reads all of it into memory.

    :raises zipfile.BadZipFile: it is larger.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - _END_OF_ZIP_BYTES))
    tail = stream.read()
    place = tail.rfind(_END_OF_ZIP)
    size = tail[place + _DIRECTORY_AT : place + _DIRECTORY_AT + 4]
    if place >= 0 and int.from_bytes(size, "little") > _MOST_DIRECTORY:
        raise zipfile.BadZipFile("its directory has more than 16 MiB")
    stream.seek(0)


class _ZipMember(Source):
    """A member of a zip; a wrong checksum is found at its end."""

    def __init__(self, stream: IO[bytes], source: str) -> None:
        self._stream = cast("BufferedIOBase", stream)
        self._source = source

    def readinto(self, target: WriteableBuffer) -> int:
        try:
            return self._stream.readinto(target)
        except _ZIP_FAULTS as fault:
            raise InputDamaged(
                f"this member of the archive is damaged: {fault}",
                where=self._source,
                now="fetch the archive again",
            ) from None


def unknown(document: Document, why: str, now: str) -> FormatUnknown:
    """Return the error for a document that no format recognises."""
    return FormatUnknown(f"cannot be ingested: {why}", where=document.source, now=now)
