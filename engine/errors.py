"""All errors that a user can meet, grouped by what can be done about them.

A message has three parts: what went wrong, where, and what to do now. The parts are also
attributes, so that a program need not parse the text. Exit codes follow ``diff(1)``: 0 success, 1 a
difference, 2 anything that broke; 130 is an interrupt.
"""

from __future__ import annotations

TYPE_CHECKING = False  # Not from typing: a program must handle interrupts before it loads much.

if TYPE_CHECKING:
    from typing import ClassVar

LONGEST_VALUE = 320
"""The most characters of a value that a message quotes in full."""


def shortened(message: str) -> str:
    """Return a message with overlong values shortened in the middle.

    A value is text in quotes, or text without spaces.
    """
    if len(message) <= LONGEST_VALUE:
        return message
    from .long_values import without_middles  # noqa: PLC0415 -- its module loads much, as above

    return without_middles(message, LONGEST_VALUE)


class PlinianError(Exception):
    """The base of all errors that a user can meet; caught only in the command line's shell.

    :param what: one sentence that names the fault, with the values found; overlong ones are
        :func:`shortened`.
    :param where: ``file:line``, a table, a position; empty if there is no place.
    :param now: what the user can do next; empty if there is nothing.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str = "", now: str = "") -> None:
        self.what = what = shortened(what)
        self.where = where
        self.now = now
        super().__init__(f"{where}: {what}" if where else what)
        # Python prints it below a traceback, and so do notebooks.
        if now:
            self.add_note(now)


class UsageError(PlinianError):
    """The arguments do not fit together, or name something that does not exist."""


class ObjectNotFound(UsageError):
    """A named object does not exist at the moment.

    The exit code is 1, as kubectl's: nothing broke, and a script can distinguish the two.
    """

    exit_code: ClassVar[int] = 1


class InputError(PlinianError):
    """An input cannot be read: missing, cut short, of no known format, or malformed."""


class FormatUnknown(InputError):
    """No format recognises an input."""


class InputDamaged(InputError):
    """The bytes of an input, or of one member of an archive, are damaged.

    With ``--skip-malformed`` its rest is skipped and counted.
    """


class InputTruncated(InputDamaged):
    """An input ends in the middle of something."""


class EventMalformed(InputError):
    """One record of an input is wrong; the others may be fine.

    With ``--skip-malformed`` it is skipped and counted.

    :param problem: what is wrong. :param path: of the field in the record, as in ``$.spec.queue``;
        empty if the problem is of no field.
    """

    def __init__(self, problem: str, *, path: str = "", where: str = "", now: str = "") -> None:
        super().__init__(f"{path}: {problem}" if path else problem, where=where, now=now)
        self.problem, self.path = problem, path

    def path_from(self, root: str) -> str:
        """Return the path of the field if the record itself has a path, as in ``$.items[3]``."""
        return f"{root}{self.path[1:]}" if self.path else ""


class LogError(PlinianError):
    """The log cannot do this."""


class LogUnavailable(LogError):
    """The database does not answer, went away, is locked, read-only or full.

    :ivar may_pass: whether the next attempt may do, as when another writer is done, the disk has
        room again, or the database is back.
    """

    may_pass = False


class ConnectionLost(LogUnavailable):
    """The connection to the database was lost; the next attempt makes another one.

    :ivar committing: whether it was lost in a commit, so that it is unclear if that was done.
    """

    may_pass = True
    committing = False


class LogNotFound(LogError):
    """There is no log at the given place."""


class LogNewer(LogError):
    """The log was written by a newer Plinian than this one."""


class LogOlder(LogError):
    """The log's tables were made by an older Plinian and must be upgraded first."""


class LogCorrupt(LogError):
    """Stored bytes differ from the bytes that were committed.

    :param position: the first position that cannot be trusted.
    """

    def __init__(self, what: str, *, position: int, where: str = "", now: str = "") -> None:
        self.position = position
        super().__init__(what, where=where or f"@{position}", now=now)


class HeadMissing(LogCorrupt):
    """The log lacks a hash that was kept elsewhere: its end was cut off, or it is another log.

    :param head: the hash, in hexadecimal.
    """

    def __init__(self, head: str, *, where: str) -> None:
        self.head = head
        super().__init__(
            f"the log has no batch with the hash {head}",
            position=0,
            where=where,
            now="a part was cut off or rewritten, or this is another log: restore a copy",
        )


class DerivedDamaged(LogError):
    """A row that was derived from the log is damaged; the log itself is not affected.

    The row is left out from now on: running the query again uses other rows and the events.
    """


class PositionConflict(LogError):
    """The log's end is not where the writer expected it; nothing was appended.

    :param expected: the position that the writer demanded.
    :param last: the position that the log really ends at.
    """

    def __init__(self, *, expected: int, last: int) -> None:
        self.expected = expected
        self.last = last
        super().__init__(
            f"expected the log to end at @{expected}, but it ends at @{last}; nothing was appended",
            now=f"read the events after @{expected}, decide again, and append with expected={last}",
        )


class PointUnknown(UsageError):
    """A point is not a moment of this log: malformed, before its begin or after its end."""


class PointMalformed(PointUnknown):
    """A point has none of the forms that points have, so no log has such a moment."""


class PackDiffers(PlinianError):
    """A pack would decide otherwise than the log, or hold an original name; it was not written."""


class NotKnown(PlinianError):
    """The log does not know all that is needed, and ``--strict`` requires it."""


class PointTooEarly(PointUnknown):
    """A point is before everything that the log holds.

    :param first: the first moment of the log, as a point.
    """

    def __init__(self, what: str, *, first: str, now: str = "") -> None:
        self.first = first
        super().__init__(what, now=now)
