"""Whether manifests that are not applied yet would start at a moment, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

from ...engine.errors import UsageError
from .fields import NAMESPACE, PROGRESS, Door, Field, Names, several
from .forecast import RUN_FOR
from .question import QuestionOfSessions
from .why import BUDGET, USUAL_BUDGET, check_budget

if TYPE_CHECKING:
    from ..lint.manifest_reading import WrittenFiles
    from ..logs.log import Log, Progress
    from ..render.tables import Style
    from ..would_start.start_records import WouldStart

MANIFEST = "manifest.yaml"
"""What a manifest is called that comes as a text."""


class WouldStartQuestion(QuestionOfSessions["WouldStart"], frozen=True, kw_only=True):
    """Say whether manifests that are not applied yet would start at a moment, and when.

    The cluster of the moment lives on with the objects, as in *what-if --for*: webhooks admit them,
    controllers make PodGroups and pods, sessions enqueue and place them, other pods end. Prints
    whether and when they start, where their pods go, and else the sentence of *why*. Nothing is
    written to the log.
    """

    command = "try"
    name = "would-start"
    about = "Whether manifests that are not applied yet would start at a moment, when, and where."
    guide = (
        "Ask it about a manifest that somebody is about to apply; of objects that exist, ask `why` "
        "and `forecast`. `starts` is now, later, no or refused. `objects` says of each when it "
        "starts, where its pods go (`placements`), and else why not (`why`). It is a "
        "forecast: give `resting_on` and `not_modelled` with a time that is later than at once."
    )
    examples = (
        "plinian try -f job.yaml",
        "plinian try -f job.yaml -n ml --at -5m --for 30m --what-would-help",
        "helm template chart | plinian try -f - --exit-code",
    )
    work = "time"
    reads_inputs = True
    says_release = True
    names_inputs = True
    forms = "text|wide|json|yaml"
    exit_code = "Exit with 1 if anything does not start."

    namespace: Annotated[
        str | None, NAMESPACE._replace(help="The namespace of objects that name none.")
    ] = None
    files: Annotated[
        str | PathLike[str] | Sequence[str | PathLike[str]],
        Field(
            "Manifests, as for kubectl apply; - is standard input.",
            "FILE",
            short="f",
            name="filename",
            only=Door.COMMAND | Door.PYTHON,
        ),
    ] = ()
    manifest: Annotated[
        str,
        Field("The text of the manifests, in YAML or JSON.", only=Door.PYTHON | Door.API),
    ] = ""
    lasts: Annotated[
        str, Field("How long to wait for a start, as in 10m.", "DURATION", name="for")
    ] = "10m"
    run_for: Annotated[Names, RUN_FOR._replace(only=Door.COMMAND | Door.PYTHON)] = ()
    no_arrivals: Annotated[bool, Field("Without what users wrote after the moment.")] = False
    what_would_help: Annotated[
        bool, Field("Also find changes with which what does not start now would start.")
    ] = False
    budget: Annotated[str, BUDGET] = USUAL_BUDGET
    progress: Annotated[Progress | None, PROGRESS] = None

    @classmethod
    def of_command(cls, given: Mapping[str, Any]) -> WouldStartQuestion:
        """Return the question that the options ask. :raises UsageError: one needs another."""
        check_budget(given)
        return cls(**given)

    def answer(self, log: Log) -> WouldStart:
        """Return whether they start: :func:`plinian.replay.would_start.would_start.would_start`.

        :raises InputError: a manifest cannot be read, or is a template.
        :raises NotKnown: the log does not have all that a cluster needs to live on.
        :raises UsageError: there is nothing to try; an object exists, is for another scheduler, or
            of a kind whose pods no controller here makes; or the moment has no time.
        """
        from ..answers.why import assumed_of  # noqa: PLC0415 -- doors read the fields only
        from ..budget import within  # noqa: PLC0415
        from ..forecast.recorded_durations import wish_of  # noqa: PLC0415
        from ..logs.given_confs import conf_text  # noqa: PLC0415
        from ..would_start.would_start import TryTask, would_start  # noqa: PLC0415

        runs = several(self.run_for)
        task = TryTask(
            written=self._written(),
            moment=log.moment(self.at),
            release=self.as_release,
            wish=wish_of(
                self.lasts, runs=runs, namespace=self.namespace, arrivals=not self.no_arrivals
            ),
            conf=conf_text(self.conf),
            namespace=self.namespace,
            assumed=tuple(assumed_of(self.release, self.as_release)),
            helps=within(self.budget) if self.what_would_help else None,
        )
        return would_start(log, task, self.progress)

    def _written(self) -> WrittenFiles:
        """Return the manifests.

        :raises UsageError: none are given, or both files and a text.
        """
        from ..lint.manifest_reading import read_files, read_text  # noqa: PLC0415

        files = [self.files] if isinstance(self.files, str | PathLike) else self.files
        if bool(files) == bool(self.manifest):
            what = "both files and a manifest" if files else "no manifest is given"
            raise UsageError(what, now="give the objects once, as in plinian try -f job.yaml")
        return (
            read_files([str(path) for path in files])
            if files
            else read_text(self.manifest, MANIFEST)
        )

    def lines(self, found: WouldStart, style: Style) -> Iterator[str]:
        """Yield the answer for people."""
        from ..render.would_start import would_start_lines  # noqa: PLC0415

        return would_start_lines(found, style=style)

    def assumptions(self) -> Sequence[str]:
        """Return that the release is assumed, and which webhooks the cluster has."""
        from ..would_start.would_start import webhooks_of  # noqa: PLC0415

        return (*super().assumptions(), webhooks_of(self.as_release))

    def code(self, found: WouldStart, *, asked: bool) -> int:
        """Return 1 if anything does not start."""
        return int(asked and found.starts not in {"now", "later"})
