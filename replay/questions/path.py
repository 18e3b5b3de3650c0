"""The path of one pod through a session: every check, and each node by each filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from .fields import NAMESPACE, Field
from .question import QuestionOfSessions

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..pod_path.path_records import PodPath
    from ..render.tables import Style

A = TypeVar("A")

NAMED_POD = Field(
    "A pod; its name alone is enough.",
    "[pod/]NAME",
    name="object",
    in_words=True,
    form="pod/NAME, pod/NAMESPACE/NAME or NAME",
)
NODES = Field(
    "Give each of these nodes its own row: names with commas between them, or all. By default, "
    "nodes of which all filters say the same are one row.",
    "NODE,…",
    form="all, or NODE,NODE",
)


class _OfPod(QuestionOfSessions[A], Generic[A], frozen=True):
    """A question about a pod."""

    named: Annotated[str, NAMED_POD]
    namespace: Annotated[str | None, NAMESPACE] = None


class PathQuestion(_OfPod["PodPath"], frozen=True, kw_only=True):
    """Show every check of a pod, and each node by each filter.

    Prints the sentence of *why*, then each check of the session in the order in which the
    scheduler comes to it: passed, failed, not known, or not reached, with what was compared. Then
    comes a table of the nodes: what each has free of what the pod requests, what each filter says,
    and the score. The scheduler stops at the first filter that refuses a node; those after it are
    not reached.
    """

    command = "path"
    about = "Every check that a session makes for one pod, and what each filter says of each node."
    guide = (
        "For why one pod gets no node, if the sentence of `why` is not enough: `checks` has each "
        "check in order, and `nodes` what each filter says of each node. `rows` joins equal nodes; "
        "name nodes to get their own."
    )
    in_terminal = "Exits with 1 if there is no such pod."
    examples = (
        "plinian path pod/train-0 -n ml --at -5m",
        "plinian path pod/train-0 --nodes all",
        "plinian path pod/train-0 --nodes node-1,node-2 -o json",
    )
    reads_inputs = True
    says_release = True
    wide_adds = "the filters that all nodes pass"

    nodes: Annotated[str, NODES] = ""

    def answer(self, log: Log) -> PodPath:
        """Return the path: :func:`plinian.replay.pod_path.path_answer.path_at`.

        :raises ObjectNotFound: there is no such pod at that moment.
        :raises UsageError: it is no pod, or there is no such node.
        """
        from ..answers.answering_session import POD  # noqa: PLC0415 -- doors read the fields only
        from ..answers.why import assumed_of  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..logs.meant_objects import Meaning, object_meant  # noqa: PLC0415
        from ..pod_path.path_answer import PathTask, path_at  # noqa: PLC0415

        moment, release = log.moment(self.at), self.as_release
        pods = Meaning("plinian path", [POD])
        task = PathTask(
            named=object_meant(log, self.named, moment, self.namespace, pods),
            moment=moment,
            release=release,
            namespace=self.namespace,
            conf=conf_text(self.conf),
            assumed=tuple(assumed_of(self.release, release)),
            nodes=self.nodes,
        )
        return path_at(log, task)

    def lines(self, path: PodPath, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.blocks import block_lines  # noqa: PLC0415
        from ..render.path import path_sections  # noqa: PLC0415

        return block_lines(path_sections(path, wide=style.wide), style=style)

    def notes(self, path: PodPath) -> Sequence[str]:
        """Return which session is the answer's."""
        asked = path.asked
        return (f"session at {asked.at} as {asked.release}, configuration {asked.conf}",)
