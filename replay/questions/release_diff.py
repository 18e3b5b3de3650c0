"""In which behaviours two releases of Volcano differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Self

import msgspec

from .behaviours import QuestionOfBehaviours
from .fields import Field
from .question import Remark, taken, unsaid

if TYPE_CHECKING:
    from ..compare.releases import BehaviourDiff
    from ..logs.log import Log
    from ..render.tables import Style
    from ..tabular.tabular import Records


class ReleaseDiffQuestion(QuestionOfBehaviours["Records[BehaviourDiff]"], frozen=True):
    """Show the behaviours in which two releases differ.

    Sources are as in plinian release show.
    """

    command = "release diff"
    name = "release-diff"
    about = "The behaviours in which two releases of Volcano differ."
    examples = ("plinian release diff v1.11.0 v1.12.1",)

    one: Annotated[str, Field("A release, as in v1.11.0.", "A")]
    other: Annotated[str, Field("Another.", "B")]

    def prepared(self, _log: Log | None, remark: Remark = unsaid) -> Self:
        """Return the question with known releases."""
        one, other = (
            taken(name, remark, assume=self.assume, pre_releases=True)
            for name in (self.one, self.other)
        )
        return msgspec.structs.replace(self, one=one, other=other)

    def answer(self, _log: Log | None = None) -> Records[BehaviourDiff]:
        """Return the behaviours: :func:`plinian.replay.compare.releases.release_diff`.

        :raises UsageError: there is no such release, part or subject.
        """
        from ..compare.releases import BehaviourDiff, release_diff  # noqa: PLC0415
        from ..tabular.tabular import Records  # noqa: PLC0415

        parts, subjects = self.asked_parts, self.asked_subjects
        diffs = release_diff(self.one, self.other, parts=parts, subjects=subjects)
        return Records(diffs, "behaviours", BehaviourDiff)

    def lines(self, records: Records[BehaviourDiff], style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.release_tables import difference_lines  # noqa: PLC0415 -- only needed here

        return difference_lines(records, self.one, self.other, style)

    def beside_lines(self, records: Records[BehaviourDiff]) -> Sequence[str]:
        """Return how many there are."""
        return (f"{len(records)} behaviours differ",)
