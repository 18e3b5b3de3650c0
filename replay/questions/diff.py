"""What differs between two moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec

from ...engine.errors import UsageError
from .fields import AFTER, ASSUME, BEFORE, IGNORE, NAMESPACE, STRICT, Door, Field
from .question import Question, Remark, lacking, unsaid

if TYPE_CHECKING:
    from ..histories.diff import Diff
    from ..histories.diff_actors import Who
    from ..logs.log import Log
    from ..render.tables import Style
    from ..truth.points import Point


class DiffQuestion(Question["Diff"], frozen=True):
    """Show what differs between two moments.

    Objects that were added, removed and changed, by field, and the resources of nodes and queues
    before and after. A and B are points: @1042, rv:7, 2026-01-02T03:04:05Z, -5m, end, what-if@1042.
    All namespaces are compared unless -n names one; totals of nodes and queues always cover all
    namespaces. Those of a queue count the pods of the queues below it as well.

    If the log does not know a kind at A, an object counts as added only if the log shows that it
    was created later; others are *first seen* (?). A kind that is known only from a later moment on
    is compared from there.
    """

    command = "diff"
    about = "What differs between two moments: objects, fields, used resources."
    guide = (
        "For what changed before something went wrong. In `nodes` and `queues`, cpu and other "
        "resources are in thousandths, memory is in bytes. Who changed an object is in `history`."
    )
    in_terminal = """

With --who, each line says who made the difference and which event shows it; for a field, that
is the last version that changed it. If it is not known who, the line says so. With --summary as
well, objects are counted by actor.

With --release, what sessions decide at A and at B is compared instead of objects."""
    examples = ("plinian diff -5m end", "plinian diff rv:1042 rv:1100 --kind nodes")
    forms = "text|wide|json"
    exit_code = (
        "Exit with 1 if anything differs; with 2 if no difference is seen but not all is known: "
        "objects are first seen, or there are none to compare."
    )
    point = "after"

    before: Annotated[Point, BEFORE]
    after: Annotated[Point, AFTER] = "end"
    kinds: Annotated[
        Sequence[str], Field("Only these kinds of objects; repeatable.", "KIND", name="kind")
    ] = ()
    namespace: Annotated[str | None, NAMESPACE] = None
    ignore: Annotated[Sequence[str], IGNORE] = ()
    strict: Annotated[bool, STRICT] = False
    releases: Annotated[
        Sequence[str],
        Field(
            "Compare what sessions decide instead of objects: one release at A and at B; given "
            "twice, the first release at A and the second at B.",
            "RELEASE",
            name="release",
            only=Door.COMMAND,
        ),
    ] = ()
    summary: Annotated[
        bool,
        Field(
            "Print counts only: objects by kind, and how often each field changed.",
            only=Door.COMMAND,
        ),
    ] = False
    who: Annotated[
        bool,
        Field(
            "Show who made each difference, and which event of the log shows it.", only=Door.COMMAND
        ),
    ] = False
    assume: Annotated[bool, ASSUME._replace(only=Door.COMMAND)] = False

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question that the options ask: of objects, or of what sessions decide.

        :raises UsageError: they do not go together.
        """
        releases = given["releases"]
        if not releases:
            return cls(**given)
        if any(given[name] for name in ("kinds", "namespace", "ignore", "summary", "who")):
            raise UsageError(
                "--release compares sessions; -n, --kind, --ignore, --summary and --who apply to "
                "objects only",
                now="leave them out",
            )
        asked = {name: given[name] for name in ("before", "after", "assume", "strict")}
        from .compare_moments import MomentsComparisonQuestion  # noqa: PLC0415 -- seldom asked

        return MomentsComparisonQuestion(**asked, releases=releases)

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with a range that begins when something of what it asks is known.

        :raises NotKnown: it is strict, and not all is known at both moments.
        """
        from ..coverage.coverage import (  # noqa: PLC0415 -- doors read the fields only
            known_from,
            refuse,
            unknown_at_ends,
            unknown_text,
            usual_kinds,
        )
        from ..logs.assumptions import assumptions_at  # noqa: PLC0415

        before, after = log.moment(self.before), log.moment(self.after)
        kinds = [name for text in self.kinds for name in text.split(",") if name]
        asked = list(map(log.kind, kinds)) or usual_kinds(log, after)
        # A strict question keeps its begin: it is refused below.
        later = None if self.strict else known_from(log, before, after, asked)
        before = later or before
        unknown = unknown_at_ends(log, (before, after), asked, self.namespace)
        if self.strict:
            refuse(unknown)
        parts = (
            []
            if later is None
            else [f"nothing of it is known before {later.label}: the range begins there"]
        )
        parts += [unknown_text(unknown)] if unknown else []
        if parts:
            remark(f"warning: {'; '.join(parts)}")
        for text in assumptions_at(log, after, asked):
            remark(f"assumed: {text}")
        return msgspec.structs.replace(self, before=before, after=after, kinds=kinds)

    def answer(self, log: Log) -> Diff:
        """Return the difference: :func:`plinian.replay.histories.first_seen.diff_at`."""
        from ..histories.diff_actors import AttributedDiff, who_made  # noqa: PLC0415
        from ..histories.first_seen import diff_at  # noqa: PLC0415 -- doors read the fields only

        ends = log.moment(self.before), log.moment(self.after)
        diff = diff_at(log, ends, self.kinds, namespace=self.namespace, ignore=self.ignore)
        if not self.who:
            return diff
        makers = who_made(log.store, diff, *ends)
        return AttributedDiff(**msgspec.structs.asdict(diff), who=makers)

    def ask(self, log: Log) -> Diff:
        """Return the answer; a strict question takes no uncertain one.

        :raises NotKnown: it is strict, and not all is known at both moments.
        """
        diff = self.answer(log)
        if self.strict:
            from ..coverage.coverage import refuse  # noqa: PLC0415 -- seldom needed

            refuse(lacking(diff))
        return diff

    def document(self, diff: Diff) -> Any:
        """Return the answer as ``-o json`` prints it."""
        from ..render.diff_views import counts_json, who_json  # noqa: PLC0415

        makers, difference = _made(diff), _difference(diff)
        if self.summary:
            return counts_json(difference, makers)
        return diff if makers is None else who_json(difference, makers)

    def lines(self, diff: Diff, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.diff_views import counts_lines, made_by  # noqa: PLC0415
        from ..render.differences import diff_lines  # noqa: PLC0415

        makers = _made(diff)
        if self.summary:
            return counts_lines(diff, makers, style=style)
        by = None if makers is None else made_by(makers)
        return diff_lines(diff, style=style, events=bool(self.kinds), made=by)

    def notes(self, diff: Diff) -> Sequence[str]:
        """Return which kinds are compared from a later moment on."""
        from ...engine.kubernetes.resources import plural_of  # noqa: PLC0415

        return [
            f"warning: {plural_of(begin.group, begin.kind)}: compared from {begin.point} on, as "
            "nothing is known before"
            for begin in diff.begun
        ]

    def code(self, diff: Diff, *, asked: bool) -> int:
        """Return 1 if anything differs, 2 if that is not known."""
        blind = bool(diff.not_known) and bool(diff.first_seen or not diff.summary.same)
        return (1 if diff else 2 if blind else 0) if asked else 0


def _made(diff: Diff) -> Who | None:
    """Return who made the differences, if that was asked."""
    from ..histories.diff_actors import AttributedDiff  # noqa: PLC0415

    return diff.who if isinstance(diff, AttributedDiff) else None


def _difference(diff: Diff) -> Diff:
    """Return the differences alone."""
    from ..histories.diff import Diff  # noqa: PLC0415

    return Diff(**{name: getattr(diff, name) for name in Diff.__struct_fields__})
