"""Which releases of Volcano there are, and what each changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .question import Question

if TYPE_CHECKING:
    from ..compare.releases import ReleaseLine
    from ..logs.log import Log
    from ..render.tables import Style
    from ..tabular.tabular import Records

A = TypeVar("A")


class QuestionOfReleases(Question[A], Generic[A], frozen=True, kw_only=True):
    """A question about releases of Volcano, which needs no log."""

    needs_log = False
    point = ""
    is_list = True
    is_tool = False
    forms = "text|wide|json"

    def ask(self, log: Log | None = None) -> A:
        """Return the answer. :raises UsageError: it names a release that is not known."""
        nothing: Any = log
        return self.prepared(nothing).answer(nothing)


class ReleasesQuestion(QuestionOfReleases["Records[ReleaseLine]"], frozen=True):
    """List the known releases, and in what each differs from the one above it.

    In sessions, in the scheduler's cache, and in the controllers. The first release of a line may
    lack what came later to the line before it, as a backport. That is then marked, as in
    "preempt_in_queue_order (as before v1.12.4)".

    Sessions of all of them can be run. The last one, hardened, is not a release of Volcano: it is
    Plinian's, the newest release with fixes that no release has in full.
    """

    command = "release list"
    name = "releases"
    about = "The releases of Volcano that can be run, and what each changed."
    examples = ("plinian release list",)

    def answer(self, _log: Log | None = None) -> Records[ReleaseLine]:
        """Return them, oldest first."""
        from ..compare.releases import ReleaseLine, release_lines  # noqa: PLC0415 -- needed here
        from ..tabular.tabular import Records  # noqa: PLC0415

        return Records(release_lines(), "releases", ReleaseLine)

    def lines(self, records: Records[ReleaseLine], style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.release_tables import release_lines  # noqa: PLC0415 -- only needed here

        return release_lines(records, style)
