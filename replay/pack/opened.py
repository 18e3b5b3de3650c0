"""Open a pack: check it, run its session again, and compare with the expected answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ...engine.errors import (
    InputTruncated,
    LogCorrupt,
    LogNotFound,
    LogUnavailable,
    PlinianError,
)
from ...engine.events.payloads import AnswerExpected, NamesRedacted
from ..logs.log import opened
from .file import summary_in
from .name_map import read_map
from .pack_answer import Answered, Decisions, digest_of
from .pack_reading import About, about_pack, summary_of
from .shape import check_shape

_AGAIN = "ask the sender for the file again: this copy is damaged"

_MAGIC = b"SQLite format 3\x00"

Progress = Callable[[int, int], None]


class OpenedPack(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack is, and whether its session decides as expected.

    :param begin: its first and :param end: its last revision. :param since: and ``until``: their
        times in microseconds, None if not known.
    :param objects: events that give the state at the begin. :param events: those that followed.
    :param verified: how many events were checked. :param head: the hash of all of them.
    :param redacted: how names were replaced; None if they are the original ones.
    :param decisions: what the session decided now: kind, object and value.
    :param digest: of these. :param as_expected: whether it is the expected one.
    """

    path: str
    plinian: str
    format: int
    begin: int
    end: int
    since: int | None
    until: int | None
    objects: int
    events: int
    verified: int
    head: str
    expected: AnswerExpected
    redacted: NamesRedacted | None
    decisions: tuple[tuple[str, str, str], ...]
    digest: str
    as_expected: bool


def open_pack(
    path: str | Path, *, map_file: str | Path | None = None, progress: Progress | None = None
) -> OpenedPack:
    """Check a pack, run its session again, and compare with the expected answer.

    :param map_file: the map of its names; with it, decisions and the question have the original
        names. :param progress: called with (events checked, in all).
    :raises LogNotFound: there is no such file. :raises UsageError: it is a log, but no pack.
    :raises LogNewer: a newer Plinian wrote it. :raises LogCorrupt: it is damaged.
    :raises InputError: the file has a trigger, a view, a table or a column that no pack has.
    :raises InputError: the map is none. :raises UsageError: it is that of another pack.
    """
    path = Path(path)
    _check_file(path)
    check_shape(path)
    with _damage_named(path), opened(path, read_only=True) as log:
        about = about_pack(log)
        named: Callable[[str], str] = str
        # A pack with the original names has no map: any is refused.
        if map_file is not None:
            identity = "" if about.redacted is None else about.redacted.map
            named = read_map(Path(map_file), of=identity).original()
        report = log.verify(progress=progress)
        # The table can be changed without a broken hash, so it must repeat what the events say.
        if summary_in(path) != summary_of(about):
            raise LogCorrupt(
                "the table pack does not say what the events say",
                position=1,
            )
        decided = Answered(log, about.expected.at, about.expected.release).decisions
        return _with_names(_opened(path, about, decided, report.events, report.head), named)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Name the file if its bytes are damaged, and what helps: only who sent it has another copy."""
    try:
        yield
    except LogCorrupt as fault:
        raise LogCorrupt(
            fault.what, position=fault.position, where=str(path), now=_AGAIN
        ) from fault
    except InputTruncated as fault:
        raise InputTruncated(fault.what, where=str(path), now=_AGAIN) from fault
    except LogUnavailable as fault:
        now = "see that the file can be read; if it can, ask the sender for the file again"
        raise LogUnavailable(fault.what, where=str(path), now=now) from fault


def _with_names(pack: OpenedPack, named: Callable[[str], str]) -> OpenedPack:
    """Return the same with other names in the question and the decisions."""
    question = named(pack.expected.question)
    return msgspec.structs.replace(
        pack,
        expected=msgspec.structs.replace(pack.expected, question=question),
        decisions=tuple(
            (kind, named(about), named(value)) for kind, about, value in pack.decisions
        ),
    )


def _opened(path: Path, about: About, decided: Decisions, verified: int, head: str) -> OpenedPack:
    digest = digest_of([decided])
    return OpenedPack(
        path=str(path),
        plinian=about.begin.slice.plinian,
        format=about.begin.slice.format,
        begin=about.begin.revision,
        end=about.end,
        since=about.since,
        until=about.until,
        objects=about.begin.slice.objects,
        events=about.events,
        verified=verified,
        head=head,
        expected=about.expected,
        redacted=about.redacted,
        decisions=tuple((*key, value) for key, value in sorted(decided.items())),
        digest=digest,
        as_expected=digest == about.expected.digest,
    )


def _check_file(path: Path) -> None:
    """Check that a file can be a pack, as far as its first bytes show.

    :raises LogNotFound: there is no such file. :raises PlinianError: it is another file.
    """
    if not path.is_file():
        what = "this is not a file" if path.exists() else "there is no such file"
        raise LogNotFound(what, where=str(path), now="check the path")
    with path.open("rb") as file:
        begin = file.read(100)
    if not begin.startswith(_MAGIC):
        raise PlinianError(
            "this is not a pack: a pack is an SQLite file",
            where=str(path),
            now="write one with: plinian pack --at POINT -o incident.plinian",
        )
    # The header of SQLite: the size of a page, and the number of pages.
    size = int.from_bytes(begin[16:18]) * int.from_bytes(begin[28:32])
    if path.stat().st_size < size:
        raise LogCorrupt(
            f"the file is cut short: it has {path.stat().st_size:,} of {size:,} bytes",
            position=1,
            where=str(path),
            now=_AGAIN,
        )
