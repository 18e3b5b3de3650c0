"""The log as a store: what goes in and out of it, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import msgspec

from ...engine.errors import UsageError
from ...engine.events import Reference
from ...engine.kubernetes.expressions.label_selectors import EVERYTHING, Selector
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.log import MAIN, BranchInfo, LogInfo, LogStore
from ..moments.actors import Told, told
from ..moments.coverage import Unknown, refuse, unknown_at, usual_kinds
from ..moments.history import History
from ..moments.kinds import ObjectName
from ..moments.log import Log, Point, Progress
from ..moments.names import name_of, not_found
from ..moments.times import AT_ONCE
from .options import DEFAULT_RELEASE, FilePath, Names, paths_of, several

if TYPE_CHECKING:
    from ..ingest.run import IngestOptions, IngestSummary
    from ..moments.diff import Diff
    from ..moments.field_selectors import FieldSelector
    from ..moments.who import Who

_VERSIONS_DESCRIBED = 10


class CheckpointInfo(NamedTuple):
    """A stored state: all known by a position and happened by a revision; its size in bytes.

    :param of: ``truth``, or ``belief``: what schedulers of some release believed.
    """

    branch: str
    cluster: str
    revision: int
    known: int
    bytes: int
    of: str = "truth"


class ObjectHistory(History, frozen=True, kw_only=True):
    """The history of everything that had one name, and what belongs to it.

    :param belonging: the objects that it owns, also through others: pods of a job, say.
    """

    belonging: list[Reference]


class StoredLog(Log):
    """A log that knows where it is; see :class:`.log.Log`."""

    def __init__(
        self, place: str, store: LogStore, *, branch: str = MAIN, cluster: str | None = None
    ) -> None:
        super().__init__(store, branch=branch, cluster=cluster)
        self.place = place

    def ingest(
        self,
        paths: FilePath | Sequence[FilePath],
        options: IngestOptions | None = None,
        *,
        progress: Callable[[str, int, int], None] | None = None,
        no_checkpoint: bool = False,
        **named: Any,
    ) -> IngestSummary:
        """Append what files, folders and archives tell, and return what was done with them.

        :param options: what to know about the inputs, all together; or one by one, by the names of
            the fields of :class:`IngestOptions`: ``skip_malformed=True``. Cluster and branch are by
            default those that the log was opened with.
        :param progress: called with (``read`` or ``append``, done, in all).
        :param no_checkpoint: do not index what was added; questions take longer then.
        :raises InputError: an input is missing, damaged or malformed; then nothing was appended.
        :raises UsageError: an option is not known.
        """
        from ..ingest.run import IngestOptions, ingest  # noqa: PLC0415 -- only needed here
        from ..moments.truth import build_index  # noqa: PLC0415

        if options is None:
            known = IngestOptions.__struct_fields__
            for name in named:
                if name not in known:
                    raise UsageError(
                        f"ingest has no option {name!r}", now=f"there are: {', '.join(known)}"
                    )
            own = {"branch": self.branch, "cluster": self.cluster or "default"}
            options = IngestOptions(**{**own, **named})
        elif named:
            raise UsageError("options are given twice", now="give them all in options, or by name")
        self.forget()
        names = [str(path) for path in paths_of(paths)]
        summary = ingest(self.store, names, options, progress)
        if not no_checkpoint:
            build_index(self.store, branch=options.branch, cluster=options.cluster)
        return summary

    def events(
        self,
        *,
        kinds: Names = (),
        objects: str | Sequence[str | tuple[str, str]] = (),
        since: Point | None = None,
        until: Point | int | None = None,
        after: str | int | None = None,
        follow: bool = False,
        **narrowed: Any,
    ) -> Iterator[Told]:
        """Yield events in the order of position: the order in which they were learned.

        Also takes the other fields of a query: ``namespace``, ``name``, ``uid``, ``source``,
        ``limit``, ``newest_first``.

        :param kinds: event kinds, as in ``pod.bound`` or ``pod.*``.
        :param objects: kinds of objects, or one object (``pod/train-0``) or uid.
        :param since: from here on, inclusive. :param until: up to here, inclusive.
        :param after: ``@POSITION``; only what was appended after it.
        :param follow: wait for more events for ever.
        :raises UsageError: there is no such kind, or the bounds do not go together.
        """
        from ...engine.log import Query  # noqa: PLC0415 -- only needed here
        from ..moments.narrowing import about, bounds, known_kinds  # noqa: PLC0415

        if follow and (narrowed.get("newest_first") or until is not None):
            raise UsageError(
                "what is followed has no end: newest_first and until do not go with it",
                now="leave out follow",
            )
        self.moment()  # complains of an unknown cluster
        end = f"@{until}" if isinstance(until, int) else until
        begin = f"@{after}" if isinstance(after, int) else after
        fields: dict[str, Any] = {"branch": self.branch, "cluster": self.cluster}
        fields |= {"kinds": known_kinds(several(kinds))}
        fields |= bounds(self, since, end, begin)
        names = [objects] if isinstance(objects, str) else list(objects)
        pairs = tuple(name for name in names if not isinstance(name, str))
        fields |= about(self, [name for name in names if isinstance(name, str)])
        fields["objects"] = (*fields.get("objects", ()), *pairs)
        query = Query(**{**fields, **narrowed})
        read = self.store.follow(query) if follow else self.store.read(query)
        branch, clock = query.branch, self.clock()
        return told(self.store, clock, read, branch=branch, at_once=1 if follow else AT_ONCE)

    def get(
        self,
        kind: str | GroupKind,
        name: str | None = None,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = EVERYTHING,
        fields: str | FieldSelector = "",
        strict: bool = False,
    ) -> list[dict[str, Any]]:
        """Return whole objects of a kind as the API server would have answered at a moment.

        :param name: only objects of this name; of a PodGroup, also the name of its job.
        :param strict: refuse to answer if the log does not know all of the kind there.
        :raises ObjectNotFound: a name was given, and there is none at that moment.
        :raises NotKnown: not all is known, and ``strict``.
        """
        moment = self.moment(at)
        if strict:
            refuse(self.not_known(kind, at=moment, namespace=namespace))
        return super().get(
            kind, name, at=moment, namespace=namespace, selector=selector, fields=fields
        )

    def not_known(
        self,
        kinds: str | GroupKind | Sequence[str | GroupKind] = (),
        *,
        at: Point = "end",
        namespace: str | None = None,
    ) -> list[Unknown]:
        """Return what of some kinds the log does not know as a whole at a moment, and why.

        :param kinds: ``pods``, say, or several; none are those that matter to scheduling.
        :param namespace: only in it; None is everywhere.
        :raises UsageError: no kind is called so.
        """
        moment = self.moment(at)
        some = [kinds] if isinstance(kinds, str) or _is_pair(kinds) else kinds
        asked = [self.kind(one, moment) if isinstance(one, str) else one for one in some]
        return unknown_at(self, moment, asked or usual_kinds(self, moment), namespace)

    def diff(
        self,
        before: Point,
        after: Point = "end",
        *,
        kinds: Sequence[str] = (),
        namespace: str | None = None,
        ignore: Sequence[str] = (),
        strict: bool = False,
    ) -> Diff:
        """Return what differs between two moments: objects, fields, nodes' and queues' holdings.

        :param kinds: only these. :param ignore: fields to leave out, as in ``status.conditions``.
        :param strict: refuse to answer if not all is known at both moments; else see
            ``not_known``, ``first_seen`` and ``begun`` of the result.
        :raises NotKnown: not all is known, and ``strict``.
        """
        found = super().diff(before, after, kinds=kinds, namespace=namespace, ignore=ignore)
        if strict:
            refuse(found.not_known)
        return found

    def digest(self, at: Point = "end", *, strict: bool = False) -> str:
        """Return the digest of the state at a moment; equal states have equal digests anywhere.

        :param strict: refuse to answer if the log does not know all that matters to scheduling.
        :raises NotKnown: it does not, and ``strict``.
        """
        moment = self.moment(at)
        if strict:
            refuse(self.not_known(at=moment))
        return super().digest(moment)

    def history(
        self,
        named: str | ObjectName,
        *,
        namespace: str = "",
        at: Point = "end",
        ignore: Sequence[str] = (),
        strict: bool = False,
    ) -> ObjectHistory:
        """Return everything the log knows of an object, ``pod/train-0`` say, up to a moment.

        :param named: also ``pod/ml/train-0``; a PodGroup may be named by its job.
        :param namespace: by default ``default``; means nothing to kinds without one.
        :param ignore: fields whose changes do not count, as in ``status.conditions``.
        :param strict: refuse to answer if the kind is not known all along.
        :raises ObjectNotFound: the log never held it; names what may be meant.
        :raises NotKnown: the kind is not known all along, and ``strict``.
        """
        from ..moments.kin import belonging  # noqa: PLC0415 -- only needed here
        from ..render.leads import never_held  # noqa: PLC0415

        moment = self.moment(at)
        target = self.object(named, moment) if isinstance(named, str) else named
        place = target.place(namespace) or ""
        kind = (target.group, target.kind)
        target = target._replace(name=name_of(self, kind, target.name, place, moment))
        found = super().history(target, namespace=place, at=moment, ignore=ignore)
        fault = None if found.happenings else never_held(self, target, found, moment)
        if fault is not None:
            raise fault
        if strict:
            refuse(found.not_known)
        owned = belonging(self.store, found.object, found.uids, moment)
        return ObjectHistory(**msgspec.structs.asdict(found), belonging=owned)

    def who_made(self, found: Diff, before: Point, after: Point = "end") -> Who:
        """Return who made each difference of a :meth:`diff`, as far as the log tells.

        :param found: what the diff returned. :param before: and ``after``: its moments.
        """
        from ..moments.who import who_made  # noqa: PLC0415 -- only needed here

        return who_made(self.store, found, self.moment(before), self.moment(after))

    def describe(
        self,
        named: str,
        *,
        at: Point = "end",
        namespace: str | None = None,
        strict: bool = False,
    ) -> str:
        """Return the description of an object, ``pod/train-0`` say, as ``plinian describe`` does.

        :param named: also ``pod/ml/train-0``.
        :param namespace: by default ``default``; means nothing to kinds without one.
        :param strict: refuse to answer if the log does not know all of the kind there.
        :raises ObjectNotFound: it does not exist at that moment.
        :raises NotKnown: not all is known, and ``strict``.
        """
        from ..render.columns import Sight  # noqa: PLC0415 -- only needed here
        from ..render.description import Described, description_lines  # noqa: PLC0415

        moment = self.moment(at)
        target = self.object(named, moment)
        kind = (target.group, target.kind)
        place = "" if kind in CLUSTER_SCOPED else target.place(namespace) or ""
        if strict:
            refuse(self.not_known(kind, at=moment, namespace=place or None))
        truth = self.truth(moment)
        entry = truth.find(*kind, place, target.name)
        if (
            entry is None and not namespace and not target.namespace
        ):  # a kind that no input told us has no namespace
            entry = truth.find(*kind, "", target.name)
        if entry is None:
            raise not_found(self, kind, target.name, place, moment)
        past = Log.history(self, target, namespace=entry.reference.namespace, at=moment)
        described = Described(
            sight=Sight(truth),
            entry=entry,
            document=next(self.documents([entry], branch=moment.branch)),
            versions=past.happenings[-_VERSIONS_DESCRIBED:],
        )
        return "".join(description_lines(described))

    def export(
        self,
        file: FilePath,
        *,
        format: str | None = None,  # noqa: A002 -- it is the option's name
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Write all events with their payloads to a file, and return how many there are.

        The file appears when it is complete.

        :param format: ``ndjson``, ``csv`` or ``parquet``; by default what the file's name ends
            with. Parquet needs the extra ``plinian[parquet]``.
        :param progress: called with the number of events written.
        :raises UsageError: there is no such format, or the name says another one or none.
        """
        from .. import export as writers  # noqa: PLC0415 -- only needed here

        path = Path(file)
        write = {
            writers.NDJSON: writers.write_ndjson,
            writers.CSV: writers.write_csv,
            writers.PARQUET: writers.write_parquet,
        }[writers.format_of(str(path), format)]
        found = self.events()
        return writers.write_file(path, lambda out: write(found, out, progress=progress))

    def info(self) -> LogInfo:
        """Return where the log is, how long and how large, its branches and clusters."""
        return self.store.info()

    def branches(self) -> list[BranchInfo]:
        """Return all branches, ``main`` first, then by name."""
        return list(self.store.branches())

    def create_branch(self, name: str, *, at: Point = "end") -> BranchInfo:
        """Create a branch that shares the past of this log's branch and never touches it.

        :param at: the position to fork at, as in ``@1042``.
        :raises UsageError: it is no position, or there is such a branch already.
        """
        moment = self.moment(at)
        if moment.revision is not None or moment.time is not None:
            raise UsageError(
                f"a branch forks at a position, not at {moment.label}",
                now="write at='@1042'; events tell their positions",
            )
        return self.store.create_branch(name, parent=moment.branch, fork=moment.known)

    def checkpoints(self) -> list[CheckpointInfo]:
        """Return the stored states, which make questions about a moment fast."""
        from ..moments.stored_belief import what_of  # noqa: PLC0415 -- only needed here

        return [CheckpointInfo(*row[:5], what_of(row[5])) for row in self.store.checkpoints()]

    def build_checkpoints(
        self,
        *,
        release: Names = DEFAULT_RELEASE,
        no_beliefs: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Bring the index and the checkpoints of this branch up to the end of the log.

        What is damaged of them is made anew.

        :param release: whose schedulers' beliefs are stored as well; several, if they are given.
        :param no_beliefs: none are.
        :param progress: called with (events done, events in all), for one thing after the other.
        :raises UsageError: the release is not known.
        """
        from ...engine.volcano.history import resolve  # noqa: PLC0415 -- only needed here
        from ..moments.stored_belief import build_all  # noqa: PLC0415
        from ..moments.truth import build_index  # noqa: PLC0415

        self.store.mend_derived()
        asked = [] if no_beliefs else [resolve(name) for name in several(release)]
        for cluster in [self.cluster] if self.cluster else self.store.clusters():
            build_index(self.store, branch=self.branch, cluster=cluster, progress=progress)
            build_all(self.store, asked, branch=self.branch, cluster=cluster, progress=progress)

    def drop_checkpoints(self) -> None:
        """Delete the index and all checkpoints; :meth:`build_checkpoints` makes them again."""
        self.store.drop_derived()


def _is_pair(kinds: object) -> TypeGuard[GroupKind]:
    """Say whether something is one (group, kind), and not several names of kinds."""
    return isinstance(kinds, tuple) and len(kinds) == 2 and kinds[1][:1].isupper()
