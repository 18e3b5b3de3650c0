"""One scheduling session at a moment: what it decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from .compare import ComparisonQuestion
from .fields import CONF, LOCAL, RELEASE_OF_IMAGE, Field
from .question import Question, QuestionOfSessions

if TYPE_CHECKING:
    from ..logs.given_confs import Conf
    from ..logs.log import Log
    from ..render.tables import Style
    from ..sessions.session_answer import SessionAnswer, SessionRun

_LEAST_NAME = "least-name"


class SessionQuestion(QuestionOfSessions["SessionAnswer"], frozen=True, kw_only=True):
    """Run one scheduling session at a moment.

    Prints what the session would decide on the state at that moment. The scheduler's cache is
    rebuilt from the log as the release builds it; nothing is written to a cluster. If the scheduler
    would crash, that is the answer.
    """

    command = "session"
    about = "One scheduling session on the state at a moment: what it decides."
    guide = (
        "For all decisions of a moment, also which pods it evicts. Why one object waits is in "
        "`why`, which sessions ran in `sessions`. Take `trace` only if the steps matter: it is "
        "long. What the scheduler's cache had wrong by then: `drift`."
    )
    in_terminal = """

With several releases or configurations, every release is run with every configuration, and the
differences are printed: decisions side by side, the first step that differs with the numbers of
each, and the behaviours in which the releases differ."""
    examples = (
        "plinian session --at rv:1042 --trace",
        "plinian session --at session:12",
        "plinian session --at rv:1042 --release v1.8.2 --release v1.12.1",
    )
    forms = "table|wide|json|yaml"
    reads_inputs = True
    exit_code = (
        "Exit with 1 if the sessions decide differently; with 2 if they do not, but the log lacks "
        "what they need."
    )

    release: Annotated[str | None, RELEASE_OF_IMAGE._replace(repeatable=True)] = None
    conf: Annotated[Conf | None, CONF._replace(repeatable=True)] = None
    trace: Annotated[bool, Field("Also every step, with the values that it compared.")] = False
    choose: Annotated[
        str | int,
        Field(
            "How to choose among equal nodes, where the scheduler picks at random: the least name, "
            "the node that the log recorded, or at random with this seed.",
            "least-name|recorded|SEED",
            form="least-name, recorded, or a number",
        ),
    ] = _LEAST_NAME
    sample_nodes: Annotated[
        bool,
        Field(
            "If there are more than 100 nodes, look at some only, as the scheduler does.",
            only=LOCAL,
        ),
    ] = False

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> Question[Any]:
        """Return the question about one session, or about several, which are compared.

        :raises UsageError: there are several, and options that only one has.
        """
        releases, confs = given["release"], given["conf"]
        if max(len(releases), len(confs)) < 2:
            single = {name: next(iter(given[name]), None) for name in ("release", "conf")}
            return cls(**{**given, **single})
        if given["sample_nodes"] or given["choose"] != _LEAST_NAME:
            from ...engine.errors import UsageError  # noqa: PLC0415 -- doors read the fields only

            raise UsageError(
                "--choose and --sample-nodes work for one session only",
                now="leave them out, or give one release and one configuration",
            )
        shared = {name: given[name] for name in ("at", "trace", "assume", "strict")}
        return ComparisonQuestion(releases=releases, confs=confs, **shared)

    @property
    def named_releases(self) -> Sequence[str]:
        """Return its release, if one is named."""
        return () if self.release is None else (self.release,)

    def answer(self, log: Log) -> SessionAnswer:
        """Return the session: :func:`plinian.replay.sessions.session_answer.session_at`.

        :raises PointUnknown: the point is not a moment of the log.
        """
        from ..logs.given_confs import conf_text  # noqa: PLC0415 -- doors read the fields only
        from ..sessions.session_answer import session_at  # noqa: PLC0415
        from ..sessions.tie_breaking import chance_of  # noqa: PLC0415

        moment = log.moment(self.at)
        return session_at(
            log,
            moment,
            release=self.as_release,
            conf=conf_text(self.conf),
            trace=self.trace,
            chance=chance_of(log, moment, str(self.choose), samples_nodes=self.sample_nodes),
        )

    def lines(self, answer: SessionAnswer, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.session import session_lines  # noqa: PLC0415

        return session_lines(answer, style=style, trace=self.trace)

    def notes(self, answer: SessionAnswer) -> Sequence[str]:
        """Return what the session was run on."""
        from ..sessions.remarks import session_remarks  # noqa: PLC0415

        recorded, named = self.conf is None, self.release is not None
        return tuple(session_remarks(answer, recorded=recorded, named=named))

    def sessions(self, answer: SessionAnswer) -> Sequence[SessionRun]:
        """Return the session."""
        return (answer,)
