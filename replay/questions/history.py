"""All that is known about an object."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from .fields import IGNORE, NAMED_OBJECT, Field
from .question import QuestionInNamespace

if TYPE_CHECKING:
    from ...engine.errors import PlinianError
    from ...engine.kubernetes.resources import GroupKind
    from ..histories.history import ObjectHistory
    from ..logs.log import Log
    from ..objects.kind_names import ObjectName
    from ..render.tables import Style


class HistoryQuestion(QuestionInNamespace["ObjectHistory"], frozen=True):
    """Show all that is known about an object.

    In the order in which it happened: every version with its position, its time, who wrote it and
    which fields changed; bindings, refused writes, deletions, and complete lists that no longer
    held it. If several objects had the name one after the other, all of them are shown; for a job
    or a workload, also the objects that belong to it.
    """

    command = "history"
    about = "Everything that happened to an object up to a moment."
    guide = (
        "For who created, changed, evicted or deleted one object, and when; for a kind of event, "
        "ask `events`. An empty `actor` is not known. If `uids` has several, several objects had "
        "this name, one after the other. Who removed a pod is the one who first set its "
        "deletionTimestamp."
    )
    in_terminal = (
        "Exits with 1 if the log holds no such object, and names the objects that may be meant. "
        "Without -n, the namespace is the one that has the name."
    )
    examples = ("plinian history pod/train-0 -n ml", "plinian history queue/gold --ignore status")
    forms = "text|wide|json"

    named: Annotated[
        str | ObjectName,
        Field(
            "The object; its name alone is enough if only one has it.",
            "[KIND/]NAME",
            name="object",
            in_words=True,
            form=f"{NAMED_OBJECT}, or NAME",
        ),
    ]
    ignore: Annotated[Sequence[str], IGNORE] = ()

    def answer(self, log: Log) -> ObjectHistory:
        """Return the history, and the objects that belong to the object."""
        from ..histories.history import ObjectHistory, history_at  # noqa: PLC0415
        from ..histories.related_objects import belonging  # noqa: PLC0415
        from ..logs.given_names import name_of  # noqa: PLC0415
        from ..logs.meant_objects import Meaning, object_meant  # noqa: PLC0415

        moment, target = log.moment(self.at), self.named
        if isinstance(target, str):
            target = object_meant(
                log, target, moment, self.namespace, Meaning("plinian history", ever=True)
            )
        place = target.place(self.namespace) or ""
        name = name_of(log, (target.group, target.kind), target.name, place, moment)
        named = target._replace(name=name)
        history = history_at(log, named, namespace=place, moment=moment, ignore=self.ignore)
        owned = belonging(log.store, history.object, history.uids, moment)
        return ObjectHistory(**msgspec.structs.asdict(history), belonging=owned)

    def ask(self, log: Log) -> ObjectHistory:
        """Return the answer; one of lines that name the object is better than none.

        :raises ObjectNotFound: the log never held it; suggests what may be meant.
        :raises NotKnown: the question is strict, and the kind is not known all the time.
        """
        history = self.answer(log)
        fault = None if history.happenings else self.fault(log, history)
        if fault is not None:
            raise fault
        return self.strictly(history)

    def fault(self, log: Log, history: ObjectHistory) -> PlinianError | None:
        """Return that the log never held the object, with what may be meant."""
        from ..render.related_objects import never_held  # noqa: PLC0415

        return never_held(log, history, log.moment(self.at))

    def kinds(self, history: ObjectHistory) -> Collection[GroupKind]:
        """Return the kind of the object."""
        return [(history.object.group, history.object.kind)]

    def lines(self, history: ObjectHistory, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.differences import history_lines  # noqa: PLC0415
        from ..render.related_objects import belonging_lines  # noqa: PLC0415

        yield from history_lines(history, style=style)
        yield from belonging_lines(history.belonging)

    def notes(self, history: ObjectHistory) -> Sequence[str]:
        """Return that the log holds no version of the object, and what it holds instead."""
        if history.uids:
            return ()
        requested = any(happening.requested for happening in history.happenings)
        said = "these are requests about it" if requested else "these log lines name it"
        return (f"the log holds no version of it; {said}",)
