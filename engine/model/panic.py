"""A predicted crash of the scheduler: a result, not an error of Plinian."""

from __future__ import annotations

from typing import NamedTuple

NIL_POINTER = "runtime error: invalid memory address or nil pointer dereference"
"""Go's message when a nil pointer is used."""


class Shortage(NamedTuple):
    """A resource of which more is taken than there is."""

    resource: str
    has: float
    taken: float


class Panic(Exception):
    """The scheduler's process panics here and ends.

    :param message: what Go prints after ``panic:``, for instance an assertion's text.
    :param place: the functions on the stack, innermost first, named as Go's trace names them below
        ``pkg/scheduler/``: ``api.(*Resource).Sub``.
    :param fatal: Go ends the process at once; calls that were deferred, such as the close of the
        session, are not made.
    :param during: what the process does with which object, if it panics outside of the actions of
        a session: "it handles Pod ml/a-0 (ADDED)". Empty in a session.
    :param short: the resources that a subtraction found too small, if it is what panics.
    """

    def __init__(
        self,
        message: str,
        place: tuple[str, ...] = (),
        *,
        fatal: bool = False,
        during: str = "",
        short: tuple[Shortage, ...] = (),
    ) -> None:
        self.message = message
        self.place = place
        self.fatal = fatal
        self.during = during
        self.short = short
        super().__init__(message)

    def through(self, *callers: str) -> Panic:
        """Return the same crash with ``callers`` added at the outer end of the stack."""
        place = (*self.place, *callers)
        return Panic(self.message, place, fatal=self.fatal, during=self.during, short=self.short)

    def in_worker(self) -> Panic:
        """Return the same crash in another goroutine: nothing recovers it there, so it is fatal."""
        return Panic(self.message, self.place, fatal=True, during=self.during, short=self.short)

    def while_it(self, does: str) -> Panic:
        """Return the same crash with what the process does; an inner text is kept."""
        during = self.during or does
        return Panic(self.message, self.place, fatal=self.fatal, during=during, short=self.short)

    @property
    def sentence(self) -> str:
        """What happens, in words and without its place."""
        when = f" while {self.during}" if self.during else ""
        return f"the scheduler panics{when}: {self.message}"

    @property
    def in_context(self) -> str:
        """The message, and what the scheduler does when it panics; without its place."""
        return f"{self.message}, while {self.during}" if self.during else self.message

    def __str__(self) -> str:
        at = f"{self.message} at {' < '.join(self.place)}" if self.place else self.message
        return f"{at}, while {self.during}" if self.during else at
