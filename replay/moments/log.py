"""An open log: the object that the public API and the command line work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import msgspec

from ...engine.errors import PointUnknown, UsageError
from ...engine.events import Recorded
from ...engine.kubernetes.expressions.selector_text import parse_selector
from ...engine.kubernetes.expressions.selectors import EVERYTHING, Selector
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.log import MAIN, HeadInfo, LogStore, Query, VerifyReport, open_log
from ...engine.state.clock import Clock
from ...engine.state.truth import Entry, Truth
from .clock import clock_of
from .kinds import ObjectName, kind_named, object_named
from .moment import Moment, remarks_on
from .points import resolve
from .truth import documents, state_digest, truth_at

if TYPE_CHECKING:
    from ...engine.state.coverage import Coverage
    from .diff import Diff
    from .field_selectors import FieldSelector
    from .history import History

_DOCUMENTS_AT_ONCE = 512
_TRUTHS_KEPT = 4

Progress = Callable[[int, int], None]

Point: TypeAlias = str | datetime | Moment
"""A moment: as on the command line, as an aware datetime, or already resolved."""


class Log:
    """An open log of one cluster on one branch; use it in a ``with`` block, or close it.

    :param store: the log underneath.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; may be None if the log holds only one.
    :param remark: called with each remark on a resolved moment: how it was understood, and which
        changes may have happened before or after it.
    """

    def __init__(
        self,
        store: LogStore,
        *,
        branch: str = MAIN,
        cluster: str | None = None,
        remark: Callable[[str], None] | None = None,
    ) -> None:
        self.store = store
        self.branch = branch
        self.cluster = cluster
        self._remark = remark
        self._truths = lru_cache(maxsize=_TRUTHS_KEPT)(self._fold)
        self._coverages = lru_cache(maxsize=_TRUTHS_KEPT)(self._cover)

    def moment(self, at: Point = "end", *, as_known_at: str | None = None) -> Moment:
        """Return the moment that a point names: ``@1042``, ``rv:7``, a time, ``-5m``, ``end``.

        :param at: a string as for ``--at`` of the command line, or a datetime with a time zone. A
            moment is returned unchanged.
        :param as_known_at: ``@POSITION``; ignore events appended later.
        :raises PointUnknown: the point has none of the forms, lies outside the log, or is a
            datetime without a time zone.
        """
        if isinstance(at, Moment):
            if as_known_at is not None:
                raise UsageError(
                    f"the moment {at.label} already has its own as_known_at",
                    now="give as_known_at when you resolve the point",
                )
            return at
        moment = resolve(
            self.store,
            point_text(at),
            branch=self.branch,
            cluster=self.cluster,
            as_known_at=as_known_at,
        )
        if self._remark is not None:
            for line in remarks_on(moment):
                self._remark(line)
        return moment

    def clock(self, at: Point = "end") -> Clock:
        """Return the cluster's clock on the branch of a moment: the time of each revision."""
        moment = self.moment(at)
        return clock_of(self.store, branch=moment.branch, cluster=moment.cluster)

    def truth(self, at: Point = "end") -> Truth:
        """Return all objects at a moment; the last few results are cached."""
        return self._truths(self.moment(at))

    def coverage(self, at: Point = "end") -> Coverage:
        """Return what the log knew completely of the cluster by a moment's position."""
        moment = self.moment(at)
        return self._coverages(moment.branch, moment.cluster, moment.known)

    def kind(self, name: str, at: Point = "end") -> GroupKind:
        """Return the (group, kind) of a name such as ``po``, also of the log's own kinds.

        :raises UsageError: no kind is called so.
        """
        try:
            return kind_named(name)  # Most kinds are known without folding the state.
        except UsageError:
            return kind_named(name, self.truth(at).kinds())

    def object(self, text: str, at: Point = "end") -> ObjectName:
        """Return what ``TYPE/NAME`` or ``TYPE/NAMESPACE/NAME`` names.

        :raises UsageError: the form is wrong, or there is no such kind.
        """
        try:
            return object_named(text)
        except UsageError:
            return object_named(text, self.truth(at).kinds())

    def entries(
        self,
        kind: str | GroupKind,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = EVERYTHING,
        fields: str | FieldSelector = "",
    ) -> list[Entry]:
        """Return the objects of a kind with their facts, by namespace and name.

        :param namespace: only objects in it; None is all. Ignored for kinds without namespaces.
        :param selector: labels, as in ``app=web,tier in (a,b)``.
        :param fields: fields, as in ``spec.nodeName=n1,status.phase!=Running``.
        """
        if isinstance(selector, str):
            selector = parse_selector(selector)
        if isinstance(kind, str):
            kind = self.kind(kind, at)
        found = self.truth(at).of(*kind)
        if namespace is not None and kind not in CLUSTER_SCOPED:
            found = [entry for entry in found if entry.reference.namespace in (namespace, "")]
        if selector.requirements:
            found = [entry for entry in found if selector.matches(entry.fact.labels)]
        if not fields:
            return found
        from .field_selectors import parse_field_selector  # noqa: PLC0415 -- only needed here

        if isinstance(fields, str):
            fields = parse_field_selector(fields)
        branch = self.moment(at).branch
        return fields.select(found, lambda some: self.documents(some, branch=branch))

    def get(
        self,
        kind: str | GroupKind,
        name: str | None = None,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = EVERYTHING,
        fields: str | FieldSelector = "",
    ) -> list[dict[str, Any]]:
        """Return whole objects of a kind as the API server would have answered at a moment.

        :param name: only objects of this name; of a PodGroup, also the name of its job.
        :raises ObjectNotFound: a name was given, and there is none at that moment.
        """
        moment = self.moment(at)
        found = self.entries(kind, at=moment, namespace=namespace, selector=selector, fields=fields)
        if name is not None:
            from .names import name_at, not_found  # noqa: PLC0415 -- only needed here

            pair = self.kind(kind, moment) if isinstance(kind, str) else kind
            full = name_at(self, pair, name, namespace, moment)
            found = [entry for entry in found if entry.reference.name == full]
            if not found:
                raise not_found(self, pair, name, namespace, moment)
        return list(self.documents(found, branch=moment.branch))

    def documents(
        self, entries: Sequence[Entry], *, branch: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield whole objects in the given order, with few of them in memory at a time.

        :param branch: the branch of the entries' moment; None is the log's own.
        """
        for start in range(0, len(entries), _DOCUMENTS_AT_ONCE):
            some = entries[start : start + _DOCUMENTS_AT_ONCE]
            yield from documents(self.store, some, branch or self.branch)

    def events(self, **narrowed: Any) -> Iterator[Recorded]:
        """Yield events by position; takes the fields of ``plinian.engine.log.Query``."""
        narrowed.setdefault("branch", self.branch)
        narrowed.setdefault("cluster", self.cluster)
        return self.store.read(Query(**narrowed))

    def diff(
        self,
        before: Point,
        after: Point = "end",
        *,
        kinds: Sequence[str] = (),
        namespace: str | None = None,
        ignore: Sequence[str] = (),
    ) -> Diff:
        """Return the differences between two moments: objects, fields, used resources.

        A kind that is known only from a later moment on is compared from there.

        :param kinds: only these. :param ignore: fields to leave out, as in ``status.conditions``.
        """
        from .coverage import unknown_at, usual_kinds  # noqa: PLC0415 -- only needed here
        from .diff import Scope  # noqa: PLC0415
        from .first_seen import diff_of_known  # noqa: PLC0415

        sides = [(moment, self.truth(moment)) for moment in map(self.moment, (before, after))]
        known = [kind for _, truth in sides for kind in truth.kinds()]
        scope = Scope(
            kinds=tuple(kind_named(kind, known) for kind in kinds),
            namespace=namespace,
            ignore=tuple(ignore),
        )
        asked = scope.kinds or usual_kinds(self, sides[-1][0])
        found = diff_of_known(self, sides[0], sides[1], scope, asked)
        unknown = (unknown_at(self, moment, asked, namespace) for moment, _ in sides)
        gaps = tuple(dict.fromkeys(one for some in unknown for one in some))
        return msgspec.structs.replace(found, not_known=gaps)

    def history(
        self,
        named: str | ObjectName,
        *,
        namespace: str = "default",
        at: Point = "end",
        ignore: Sequence[str] = (),
    ) -> History:
        """Return everything the log knows of an object such as ``pod/train-0``, up to a moment.

        :param namespace: ignored for kinds without namespaces.
        """
        from .coverage import unknown_of_history  # noqa: PLC0415 -- only needed here
        from .history import history  # noqa: PLC0415

        moment = self.moment(at)
        if isinstance(named, str):
            named = self.object(named)
        namespace = named.namespace or namespace
        if (named.group, named.kind) in CLUSTER_SCOPED:
            namespace = ""
        found = history(self.store, named, namespace=namespace, moment=moment, ignore=ignore)
        unknown = unknown_of_history(self, found, moment)
        return msgspec.structs.replace(found, not_known=tuple(unknown))

    def forget(self) -> None:
        """Drop cached states: after an append they may be outdated."""
        self._truths.cache_clear()
        self._coverages.cache_clear()

    def digest(self, at: Point = "end") -> str:
        """Return the digest of the state at a moment; equal states have equal digests anywhere."""
        moment = self.moment(at)
        return state_digest(self.store, self.truth(moment), moment.branch)

    def verify(
        self, *, heads: Sequence[str] = (), progress: Progress | None = None
    ) -> VerifyReport:
        """Recompute every hash of the log.

        :param heads: earlier results of :meth:`heads` that were kept in another place; the log must
        contain each of them.
        :raises LogCorrupt: naming the first position that cannot be trusted.
        :raises HeadMissing: the log does not hold one of the hashes.
        """
        return self.store.verify(heads=heads, progress=progress)

    def heads(self) -> list[HeadInfo]:
        """Return the end of each branch, with the hash that covers all of it."""
        return list(self.store.heads())

    def close(self) -> None:
        """Release the log."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _fault: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def _fold(self, moment: Moment) -> Truth:
        return truth_at(self.store, moment)

    def _cover(self, branch: str, cluster: str, known: int) -> Coverage:
        from .coverage import read_coverage  # noqa: PLC0415 -- only needed here

        return read_coverage(self.store, branch=branch, cluster=cluster, known=known)


def opened(
    place: str | Path,
    *,
    create: bool = False,
    read_only: bool = False,
    branch: str = MAIN,
    cluster: str | None = None,
    remark: Callable[[str], None] | None = None,
) -> Log:
    """Open the log at a path or URL.

    :param create: create a log if there is none. :param read_only: write nothing.
    :param remark: as for :class:`Log`.
    :raises LogNotFound: there is none.
    """
    store = open_log(place, create=create, read_only=read_only, remark=remark)
    return Log(store, branch=branch, cluster=cluster, remark=remark)


def point_text(at: object) -> str:
    """Return a point as text; that of a datetime is in UTC.

    :raises PointUnknown: it is a datetime without a time zone, or of another type.
    """
    if isinstance(at, str):
        return at
    if not isinstance(at, datetime):
        raise PointUnknown(
            f"{at!r} is not a moment",
            now="give a string as for --at, a datetime with a time zone, or a Moment",
        )
    if at.utcoffset() is None:
        raise PointUnknown(
            f"{at.isoformat()} has no time zone",
            now="write datetime(..., tzinfo=UTC); for a local time, use at.astimezone()",
        )
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
