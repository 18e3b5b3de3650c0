"""Why an object waits, and with which changes it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec

from .fields import NAMED_OBJECT, NAMESPACE, PROGRESS, Door, Field
from .question import QuestionOfSessions

if TYPE_CHECKING:
    from ..answers.answer import Why
    from ..logs.log import Log, Progress
    from ..moments.moment import Moment
    from ..objects.kind_names import ObjectName
    from ..render.tables import Style
    from ..what_if.help import WouldHelp

A = TypeVar("A")

BUDGET = Field("Stop to try changes after this time.", "DURATION")
USUAL_BUDGET = "30s"
NAMED = Field(
    "A pod, job, podgroup, queue or node; its name alone is enough if only one has it.",
    "[KIND/]NAME",
    name="object",
    in_words=True,
    form=f"{NAMED_OBJECT}, or NAME",
)


def check_budget(given: Mapping[str, Any]) -> None:
    """Refuse a budget for changes that are not tried. :param given: options of a command.

    :raises UsageError: it is one.
    """
    if given["budget"] == USUAL_BUDGET or given["what_would_help"]:
        return
    from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

    raise UsageError(
        "--budget is for trying changes, and none are tried",
        now="add --what-would-help, or leave out --budget",
    )


class QuestionOfWaiting(QuestionOfSessions[A], Generic[A], frozen=True):
    """A question about an object that may wait."""

    named: Annotated[str, NAMED]
    namespace: Annotated[str | None, NAMESPACE] = None

    def meant(self, log: Log, moment: Moment) -> ObjectName:
        """Return the object that it is about."""
        from ..answers.target import KINDS  # noqa: PLC0415 -- doors read the fields only
        from ..logs.meant_objects import Meaning, object_meant  # noqa: PLC0415

        return object_meant(log, self.named, moment, self.namespace, Meaning("plinian why", KINDS))

    def why(self, log: Log) -> Why:
        """Return why it waits: :func:`plinian.replay.answers.why.why_at`."""
        from ..answers.why import assumed_of, why_at  # noqa: PLC0415 -- doors read the fields only
        from ..logs.given_confs import conf_text  # noqa: PLC0415

        moment, release = log.moment(self.at), self.as_release
        return why_at(
            log,
            self.meant(log, moment),
            moment,
            namespace=self.namespace,
            release=release,
            conf=conf_text(self.conf),
            assumed=assumed_of(self.release, release),
        )

    def helps(
        self, log: Log, why: Why, go_on: Callable[[], bool], progress: Progress | None
    ) -> WouldHelp:
        """Return with which changes the object starts.

        :param go_on: returns False when the time is over.
        """
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..what_if.help import startable, what_would_help  # noqa: PLC0415

        moment = log.moment(self.at)
        target = startable(log, self.meant(log, moment), self.namespace, moment)
        return what_would_help(
            log, moment, target, why, conf=conf_text(self.conf), go_on=go_on, progress=progress
        )


class WhyQuestion(QuestionOfWaiting["Why"], frozen=True, kw_only=True):
    """Say why an object waits.

    Prints one sentence, then the reasons in the order in which the scheduler comes to them: the
    PodGroup, the queue and those above it, the gang, the nodes, evictions. And since when it waits,
    and which events changed the reason. All numbers are those that the session compares, which is
    run again on the scheduler's cache at that moment.
    """

    command = "why"
    about = "Why a pod, job, podgroup, queue or node waits at a moment, and since when."
    guide = (
        "Begin with it whenever something is pending. `sentence` is the whole answer: repeat it. "
        "If `waits` is false, it does not wait at that moment: ask about an earlier one. `stages` "
        "say since when, `made_by` who changed what the reason rests on. Of a queue, `chain` has "
        "its account: what it holds, the share it deserves, its limit. Who uses what is lacking: "
        "`blame`; what changed before: `diff`; every check of a pod: `path`."
    )
    in_terminal = """\
Exits with 1 if there is no such object. Without -n, the namespace is the one that has the name.

With --plot the answer has a picture: of a queue its shares, of a node its use; of a pod, a job
or a PodGroup the queue that is full, if that is the answer, and else its gang."""
    examples = (
        "plinian why job/train -n ml --at -5m",
        "plinian why train",
        "plinian why queue/gold -v",
        "plinian why pod/train-0 -i cluster.json --conf volcano-scheduler.conf",
    )
    work = "changes"
    is_drawn = True
    reads_inputs = True
    says_release = True

    verbose: Annotated[
        int,
        Field(
            "Also print all numbers, and the changes that do not help; twice: also the steps of "
            "the session about the object.",
            short="v",
            only=Door.COMMAND,
        ),
    ] = 0
    what_would_help: Annotated[
        bool,
        Field(
            "Also find changes with which it starts, by running the session with each; pairs of "
            "them if none helps alone.",
            only=Door.COMMAND,
        ),
    ] = False
    budget: Annotated[str, BUDGET._replace(only=Door.COMMAND)] = USUAL_BUDGET
    progress: Annotated[Progress | None, PROGRESS._replace(only=Door.COMMAND)] = None

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> WhyQuestion:
        """Return the question that the options ask. :raises UsageError: one needs another."""
        check_budget(given)
        return cls(**given)

    def answer(self, log: Log) -> Why:
        """Return why it waits; in the terminal maybe also what would help.

        :raises ObjectNotFound: there is no such object at that moment.
        :raises UsageError: it is no pod, job, podgroup, queue or node.
        """
        from ..budget import within  # noqa: PLC0415 -- doors read the fields only

        go_on = within(self.budget)
        why = self.why(log)
        if not self.what_would_help:
            return why
        from ..what_if.help import HelpedWhy, instead  # noqa: PLC0415

        may_start = why.waits and not instead(why)
        helps = self.helps(log, why, go_on, self.progress) if may_start else msgspec.UNSET
        return HelpedWhy(**msgspec.structs.asdict(why), would_help=helps)

    def lines(self, why: Why, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.why import why_lines  # noqa: PLC0415

        yield from why_lines(why, depth=self.verbose, style=style)
        if not self.what_would_help:
            return
        from ..render.tables import paragraph, whole_sentence  # noqa: PLC0415
        from ..render.would_help import help_lines  # noqa: PLC0415
        from ..what_if.help import HelpedWhy  # noqa: PLC0415

        if isinstance(why, HelpedWhy) and why.would_help is not msgspec.UNSET:
            yield from help_lines(why.would_help, depth=self.verbose, style=style)
        for said in self.beside_document(why):
            yield from ("\n", *paragraph(whole_sentence(said), style))

    def notes(self, why: Why) -> Sequence[str]:
        """Return which session is the answer's."""
        asked = why.asked
        return (f"session at {asked.at} as {asked.release}, configuration {asked.conf}",)

    def beside_document(self, why: Why) -> Sequence[str]:
        """Return what to ask in place of what would help."""
        if not self.what_would_help:
            return ()
        from ..what_if.help import instead  # noqa: PLC0415

        said = instead(why)
        return (said,) if said else ()
