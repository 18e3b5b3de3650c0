"""How a release of Volcano behaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Generic, Self, TypeVar

import msgspec

from ...engine.errors import UsageError
from .fields import ASSUME, Field, Names, several
from .question import Remark, taken, unsaid
from .releases import QuestionOfReleases

if TYPE_CHECKING:
    from ...engine.volcano.table import Part
    from ..compare.releases import ReleaseBehaviour
    from ..logs.log import Log
    from ..render.tables import Style
    from ..tabular.tabular import Records

A = TypeVar("A")

PARTS = ("session", "cache", "controllers")


class QuestionOfBehaviours(QuestionOfReleases[A], Generic[A], frozen=True, kw_only=True):
    """A question about behaviours of releases."""

    wide_adds = "wide adds subjects and sources"

    parts: Annotated[
        Names,
        Field(
            "Only behaviours of sessions, of the scheduler's cache, or of the controllers. "
            "Repeatable; by default all.",
            "|".join(PARTS),
            name="part",
            choices=PARTS,
        ),
    ] = ()
    subjects: Annotated[
        Names,
        Field(
            "Only behaviours about this, as in preempt; docs/behaviours.md lists the subjects. "
            "Repeatable; by default all.",
            "NAME",
            name="subject",
        ),
    ] = ()
    assume: Annotated[bool, ASSUME] = False

    @property
    def asked_parts(self) -> Sequence[Part]:
        """Return the parts.

        :raises UsageError: there is no such part.
        """
        from ...engine.volcano.table import Part  # noqa: PLC0415 -- doors read the fields only

        wanted = _known("part", self.parts, PARTS)
        return [part for part in Part if not wanted or part in wanted]

    @property
    def asked_subjects(self) -> Sequence[str]:
        """Return the subjects.

        :raises UsageError: there is no such subject.
        """
        from ..compare.releases import all_subjects  # noqa: PLC0415 -- doors read the fields only

        return _known("subject", self.subjects, all_subjects()) if self.subjects else ()


class _QuestionOfOne(QuestionOfBehaviours["Records[ReleaseBehaviour]"], frozen=True):
    release: Annotated[str, Field("A release, as in v1.12.1.", "RELEASE")]


class BehavioursQuestion(_QuestionOfOne, frozen=True, kw_only=True):
    """Show how a release behaves, since when, and what that means.

    Sources are paths below Volcano's pkg/scheduler/, or full paths, which begin with pkg/.
    """

    command = "release show"
    name = "behaviours"
    about = "How a release of Volcano behaves, with the source of each behaviour."
    examples = ("plinian release show v1.12.1 --part cache -o wide",)

    def prepared(self, _log: Log | None, remark: Remark = unsaid) -> Self:
        """Return the question with a known release."""
        release = taken(self.release, remark, assume=self.assume)
        return msgspec.structs.replace(self, release=release)

    def answer(self, _log: Log | None = None) -> Records[ReleaseBehaviour]:
        """Return the behaviours, part by part, by name.

        :raises UsageError: there is no such release, part or subject.
        """
        from ..compare.releases import ReleaseBehaviour, behaviours_of  # noqa: PLC0415
        from ..tabular.tabular import Records  # noqa: PLC0415

        behaviours = behaviours_of(self.release, self.asked_parts, self.asked_subjects)
        return Records(behaviours, "behaviours", ReleaseBehaviour)

    def lines(self, records: Records[ReleaseBehaviour], style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.release_tables import behaviour_lines  # noqa: PLC0415 -- only needed here

        return behaviour_lines(records, style)


def _known(what: str, names: Names, known: Sequence[str]) -> Sequence[str]:
    wanted = several(names)
    for name in wanted:
        if name not in known:
            raise UsageError(f"no {what} {name!r}", now=f"choose: {', '.join(known)}")
    return wanted
