"""The scheduler's cache as it was at a moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from .fields import Door, Field
from .question import QuestionOfScheduler

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..render.believed import Belief
    from ..render.tables import Style, Table

_PARTS = ("nodes", "jobs", "tasks", "queues", "hypernodes", "work")
_USUAL = ("nodes", "jobs", "queues")


class BeliefQuestion(QuestionOfScheduler["Belief"], frozen=True):
    """Show the scheduler's cache at a moment.

    It is rebuilt as a release builds it: everything that had happened by then is delivered to the
    release's handlers in that order, and its workers run after each event. Decisions of a session
    that no event shows yet are missing. Exits with 1 if a name is not in the cache.

    The cache is stored in the log every few thousand events, so the next command is faster. A
    stored cache is dropped when later events make it wrong.
    """

    command = "belief"
    about = "What the scheduler's cache held at a moment."
    examples = ("plinian belief --at rv:1042 --release v1.12.1", "plinian belief jobs ml/bert")
    work = "deliver"
    is_table = True
    is_tool = False
    words = (",".join(_PARTS),)

    parts: Annotated[
        Sequence[str],
        Field(
            "nodes, jobs, tasks, queues, hypernodes, work (what the workers still have to do); "
            "after one part, names select rows. By default nodes,jobs,queues.",
            "[PART[,PART]] [NAME...]",
            only=Door.COMMAND,
            is_argument=True,
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Refuse what names no parts.

        :raises UsageError: there is no such part, or names follow several.
        """
        from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

        wanted, names = self._wanted
        for part in wanted:
            if part not in _PARTS:
                raise UsageError(
                    f"a cache has no {part!r}", now=f"choose from: {', '.join(_PARTS)}"
                )
        if len(wanted) != 1 and names:
            raise UsageError("names can follow one part only", now="as in: plinian belief nodes n1")

    @property
    def _wanted(self) -> tuple[Sequence[str], Sequence[str]]:
        """The parts to print, and the names that select rows."""
        if not self.parts:
            return _USUAL, ()
        return [part for part in self.parts[0].split(",") if part], self.parts[1:]

    def answer(self, log: Log) -> Belief:
        """Return the cache: :func:`plinian.replay.belief.belief.belief_at`."""
        from ...engine.volcano.session.history import resolve  # noqa: PLC0415
        from ..belief.belief import belief_at  # noqa: PLC0415 -- doors read the fields only
        from ..render.believed import Belief  # noqa: PLC0415

        moment, behaviours = log.moment(self.at), resolve(self.as_release)
        recent, progress = log.recent_beliefs, self.progress
        cache = belief_at(log.store, moment, behaviours, recent=recent, progress=progress)
        return Belief(moment.label, behaviours.release, cache)

    def document(self, belief: Belief) -> Mapping[str, Any]:
        """Return the named parts as ``-o json`` prints them."""
        return {**self._rows(belief), **({"panic": belief.panic} if belief.panic else {})}

    def tables(self, belief: Belief, _style: Style) -> Iterable[Table]:
        """Return the named parts."""
        from ..render.believed import part_table  # noqa: PLC0415

        return [part_table(belief.cache, part, rows) for part, rows in self._rows(belief).items()]

    def nothing(self, _found: Belief) -> str:
        """Return that the parts are empty."""
        return "Nothing."

    def notes(self, belief: Belief) -> Sequence[str]:
        """Return the panic that leaves no session to run."""
        if not belief.panic:
            return ()
        return (f"The scheduler of {belief.release} panics here: {belief.panic}",)

    def _rows(self, belief: Belief) -> dict[str, list[Any]]:
        """Return the rows of each part; with names, only theirs."""
        from ..render.believed import PARTS  # noqa: PLC0415

        wanted, names = self._wanted
        rows: dict[str, list[Any]] = {part: getattr(belief, part) for part in wanted}
        if names:
            # Names follow one part only, which was checked.
            (part,) = wanted
            name_of = attrgetter(PARTS[part].name)
            known = set(map(name_of, rows[part]))
            full = {_full(name, known, part, belief.at) for name in names}
            rows[part] = [row for row in rows[part] if name_of(row) in full]
        return rows


def _full(text: str, known: set[str], part: str, at: str) -> str:
    """Return the full name for a name, a shortened name, or the name of a PodGroup's job.

    :raises ObjectNotFound: the cache has none.
    """
    from ...engine.errors import ObjectNotFound  # noqa: PLC0415 -- doors read the fields only
    from ..logs.given_names import matching, nearest, one_of, owned_by  # noqa: PLC0415

    name = one_of(text, matching(text, known) or owned_by(text, known), part)
    if name is None:
        close = nearest(text, known)
        raise ObjectNotFound(
            f"the scheduler's cache has no {part.removesuffix('s')} {text!r} at {at}",
            now=f"did you mean {' or '.join(close)}?" if close else f"see: plinian belief {part}",
        )
    return name
