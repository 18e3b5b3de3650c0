"""Which events make up a number of an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from .fields import NAMED_OBJECT, Field
from .question import QuestionInNamespace

if TYPE_CHECKING:
    from ..answers.blamed import Blame
    from ..logs.log import Log
    from ..render.tables import Style


class BlameQuestion(QuestionInNamespace["Blame"], frozen=True):
    """Show which events make up a number.

    Of a sum: the pods or PodGroups that it counts, each with the event since which it does; of a
    field: its values, with the events that set them. And the event that changed the number last,
    also if it took something away.
    """

    command = "blame"
    about = "Which events make up a number of an object, and which one changed it last."
    guide = (
        "For who uses what is lacking: pass the number that `why` or `state` shows. `parts` are "
        "what it is made of, each with its event; `last` is the event that changed it last."
    )
    examples = (
        "plinian blame queue/gold allocated.cpu --at -5m",
        "plinian blame node/node-1 idle.nvidia.com/gpu",
        "plinian blame queue/gold capability.cpu",
    )

    named: Annotated[
        str,
        Field(
            "A pod, job, podgroup, queue or node.", "KIND/NAME", name="object", form=NAMED_OBJECT
        ),
    ]
    number: Annotated[
        str,
        Field(
            "As in allocated.cpu, inqueue.memory or pods of a queue; used.cpu, idle.cpu or "
            "releasing.cpu of a node; allocated.cpu or members.Running of a job or PodGroup; or a "
            "field: capability.cpu, spec.minMember.",
            "NUMBER",
        ),
    ]

    def answer(self, log: Log) -> Blame:
        """Return what makes up the number: :func:`plinian.replay.answers.blame.blame_at`.

        :raises UsageError: the object has no such number.
        :raises ObjectNotFound: there is no such object at that moment.
        """
        from ..answers.blame import blame_at  # noqa: PLC0415 -- doors read the fields only
        from ..answers.target import KINDS  # noqa: PLC0415
        from ..logs.meant_objects import Meaning, object_meant  # noqa: PLC0415

        moment = log.moment(self.at)
        named = object_meant(
            log, self.named, moment, self.namespace, Meaning("plinian blame", KINDS)
        )
        return blame_at(log, named, self.number, moment, namespace=self.namespace)

    def lines(self, blame: Blame, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.why import blame_lines  # noqa: PLC0415

        return blame_lines(blame, style=style)
