"""Answers of a log: why something waits, and what a number is made of."""

from __future__ import annotations

from ...engine.errors import NotKnown
from ..answers.blame import Blame, blame_at
from ..answers.records import Why
from ..answers.why import assumed_of, why_at
from ..ingest.one_off import log_of
from ..moments.log import Log as AnyLog
from ..moments.moment import Moment
from ..moments.points import Point
from .options import DEFAULT_RELEASE, Conf, FilePath, accepted_conf, paths_of, release_of
from .stored import StoredLog


class AnsweringLog(StoredLog):
    """A log that says why."""

    def why(
        self,
        named: str,
        *,
        at: Point = "end",
        namespace: str | None = None,
        release: str | None = None,
        conf: Conf | None = None,
        assume: bool = False,
        strict: bool = False,
    ) -> Why:
        """Return why an object waits at a moment, and since when.

        :param named: a pod, job, podgroup, queue or node: ``job/train``, ``pod/ml/train-0``.
        :param namespace: by default ``default``; ignored for queues and nodes.
        :param release: the release of Volcano; by default v1.12.1, which the answer says.
        :param conf: a configuration instead of the log's at the moment.
        :param assume: use the nearest release for an unknown one, and the built-in configuration
            for one that a release rejects.
        :param strict: refuse to answer if the log lacks what sessions need.
        :raises ObjectNotFound: there is no such object at that moment.
        :raises UsageError: it is no pod, job, podgroup, queue or node; or as :meth:`session`.
        """
        moment = self.moment(at)
        self._check(moment, conf, strict=strict)
        return _why(self, named, moment, namespace, (release, conf, assume))

    def blame(
        self,
        named: str,
        number: str,
        *,
        at: Point = "end",
        namespace: str | None = None,
        strict: bool = False,
    ) -> Blame:
        """Return which events make up a number, and which one changed it last.

        :param named: as for :meth:`why`.
        :param number: ``allocated.cpu``, ``inqueue.cpu`` or ``pods`` of a queue; ``used.cpu``,
            ``idle.cpu`` or ``pods`` of a node; or a field, as in ``spec.capability.cpu``.
        :param strict: raise if not all is known.
        :raises UsageError: the object has no such number.
        :raises ObjectNotFound: there is no such object at that moment.
        :raises NotKnown: not all is known, and ``strict`` is set.
        """
        from ..moments.coverage import refuse  # noqa: PLC0415 -- only needed here

        moment = self.moment(at)
        found = blame_at(self, self.object(named, moment), number, moment, namespace=namespace)
        if strict:
            refuse(found.not_known)
        return found

    def _check(self, moment: Moment, conf: object, *, strict: bool) -> None:
        """Refuse a moment at which the log lacks what sessions need.

        :param conf: a configuration instead of the log's; None requires that the log has one.
        :raises NotKnown: anything is missing, and ``strict`` is set.
        """
        from ..moments.coverage import SCHEDULING, refuse, unknown_at  # noqa: PLC0415
        from ..moments.scheduler_confs import has_no_conf  # noqa: PLC0415

        if not strict:
            return
        refuse(unknown_at(self, moment, SCHEDULING))
        if conf is None and has_no_conf(self, moment):
            raise NotKnown(
                "the log holds no configuration of the scheduler",
                now="give one as conf, or ingest it",
            )


def why(
    named: str,
    inputs: FilePath | list[FilePath],
    *,
    namespace: str | None = None,
    release: str | None = None,
    conf: Conf | None = None,
    assume: bool = False,
) -> Why:
    """Return why an object waits, by files alone, as from ``kubectl get``, without a log.

    :param inputs: files, folders or archives. The other parameters are those of :meth:`Log.why`.
    :raises InputError: an input is missing, damaged or malformed.
    """
    with log_of(paths_of(inputs)) as log:
        return _why(log, named, "end", namespace, (release, conf, assume))


def _why(
    log: AnyLog,
    named: str,
    at: Point,
    namespace: str | None,
    chosen: tuple[str | None, Conf | None, bool],
) -> Why:
    release, conf, assume = chosen
    moment = log.moment(at)
    name = release_of(release or DEFAULT_RELEASE, assume=assume)
    return why_at(
        log,
        log.object(named, moment),
        moment,
        namespace=namespace,
        release=name,
        conf=accepted_conf(conf, [name], assume=assume),
        assumed=assumed_of(release, name),
    )
