"""The states of an open log: its clock, its truth, its coverage and its objects at any moment."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine.errors import UsageError
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind
from ...engine.log import MAIN, LogStore
from ...engine.log.store import Query
from ...engine.state.clock import Clock
from ...engine.state.truth_fold import Entry, Truth
from ..belief.recent_beliefs import RecentBeliefs
from ..moments.log_clock import clock_of
from ..moments.moment import Moment, remarks_on
from ..moments.read_coverage import read_coverage
from ..moments.zones import UTC_ZONE, Zone
from ..objects.kind_names import ObjectName, kind_named, object_named
from .points import Point, point_text, resolve
from .settled_writes import MAY_DELETE
from .truth import documents, truth_at

if TYPE_CHECKING:
    from ...engine.kubernetes.expressions.selectors import Selector
    from ...engine.state.log_coverage import LogCoverage
    from ..objects.field_selectors import FieldSelector

MOST_TRUTHS = 4
MOST_OBJECTS = 50_000
"""Objects in all truths that are kept, about; a truth of 40,000 takes some 60 MB."""

LARGE = 10_000
"""A truth of so many objects is dropped before a scheduler's cache is read, which takes more."""

Make = Callable[[Moment, Truth | None], Truth]
"""Makes the truth of a moment; from what it has in common with another one, if that is given."""


class KeptTruths:
    """Truths by moment, the last used last; threads may share it.

    :param make: makes those that are not kept.
    """

    def __init__(self, make: Make) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._kept: OrderedDict[Moment, Truth] = OrderedDict()

    def has(self, moment: Moment) -> bool:
        """Return whether the truth of a moment is kept."""
        with self._lock:
            return moment in self._kept

    def of(self, moment: Moment) -> Truth:
        """Return the truth of a moment."""
        with self._lock:
            truth = self._kept.get(moment)
            if truth is not None:
                self._kept.move_to_end(moment)
                return truth
            before = self._last_on(moment.branch)
        # Without the lock, as it takes long: at worst two threads make the same truth.
        new = self._make(moment, before)
        with self._lock:
            self._kept[moment] = new
            while self._is_too_much():
                self._kept.popitem(last=False)
        return new

    def forget(self) -> None:
        """Keep none."""
        with self._lock:
            self._kept.clear()

    def forget_large(self) -> None:
        """Keep none that is large; one that is in use lives on until that ends."""
        with self._lock:
            for moment in [moment for moment, truth in self._kept.items() if len(truth) >= LARGE]:
                del self._kept[moment]

    def _last_on(self, branch: str) -> Truth | None:
        truths = (
            truth for moment, truth in reversed(self._kept.items()) if moment.branch == branch
        )
        return next(truths, None)

    # A single one stays however large: else each question about its moment would fold it again.
    def _is_too_much(self) -> bool:
        if len(self._kept) < 2:
            return False
        return len(self._kept) > MOST_TRUTHS or sum(map(len, self._kept.values())) > MOST_OBJECTS


T = TypeVar("T")

_DOCUMENTS_AT_ONCE = 512
_COVERAGES_KEPT = 4
_REQUESTS_KEPT = 16
_FOUND_KEPT = 8


class LogStates:
    """What an open log of one cluster holds at any moment on one branch.

    :param store: the log underneath.
    :param branch: the branch of points that do not name one.
    :param cluster: the cluster; may be None if the log holds only one.
    :param place: the log's path or URL, for processes that open it themselves.
    :param as_known_at: ``@POSITION``; points are read as if nothing had been appended later.
    :param remark: called with each remark on a resolved moment: how it was understood, and which
        changes may have happened before or after it.
    :param recent_beliefs: to share them with other logs; by default they are this log's own.
    :param zone: of points that are times without one.
    """

    def __init__(
        self,
        store: LogStore,
        *,
        branch: str = MAIN,
        cluster: str | None = None,
        place: str = "",
        as_known_at: str | None = None,
        remark: Callable[[str], None] | None = None,
        recent_beliefs: RecentBeliefs | None = None,
        zone: Zone = UTC_ZONE,
    ) -> None:
        self.store = store
        self.branch = branch
        self.cluster = cluster
        self.place = place
        self.as_known_at = as_known_at
        self._remark = remark
        self.zone = zone
        self.recent_beliefs = recent_beliefs or RecentBeliefs()
        self._truths = KeptTruths(self._fold)
        self._coverages = lru_cache(maxsize=_COVERAGES_KEPT)(self._cover)
        self._requests = lru_cache(maxsize=_REQUESTS_KEPT)(self._has_requests)
        self._kept = lru_cache(maxsize=_FOUND_KEPT)(self._find)

    def moment(self, at: Point = "end", *, as_known_at: str | None = None) -> Moment:
        """Return the moment that a point names: ``@1042``, ``rv:7``, a time, ``-5m``, ``end``.

        :param at: a string as for ``--at`` of the command line, or a datetime with a time zone. A
            moment is returned unchanged.
        :param as_known_at: ``@POSITION``; ignore events appended later; None is that of the log.
        :raises PointUnknown: the point has none of the forms, is outside the log, or is a
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
            as_known_at=as_known_at or self.as_known_at,
            zone=self.zone,
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
        return self._truths.of(self.moment(at))

    def coverage(self, at: Point = "end") -> LogCoverage:
        """Return what the log knew completely of the cluster by a moment's position."""
        moment = self.moment(at)
        return self._coverages(moment.branch, moment.cluster, moment.known)

    def kept(self, find: Callable[..., T], moment: Moment, *about: Hashable) -> T:
        """Return what a function finds in this log at a moment; the last few results are kept.

        A command asks what the log lacks for its warning, and again for its answer.
        """
        result: T = self._kept(find, moment, about, self.store.last(moment.branch))
        return result

    def may_delete(self, kinds: Collection[GroupKind], at: Point = "end") -> bool:
        """Return whether a request known by a moment's position may delete objects of some kinds.

        Most logs hold none for most kinds; then no state needs to be folded to know which are open.
        Where it is folded already, the answer is yes: the state itself says which.
        """
        moment = self.moment(at)
        return self._truths.has(moment) or self._requests(
            moment.branch, moment.cluster, moment.known, frozenset(kinds)
        )

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
        selector: str | Selector = "",
        fields: str | FieldSelector = "",
    ) -> list[Entry]:
        """Return the objects of a kind with their facts, by namespace and name.

        :param namespace: only objects in it; None is all. Ignored for kinds without namespaces.
        :param selector: labels, as in ``app=web,tier in (a,b)``.
        :param fields: fields, as in ``spec.nodeName=n1,status.phase!=Running``.
        """
        if isinstance(selector, str) and selector:
            from ...engine.kubernetes.expressions import selector_text  # noqa: PLC0415

            selector = selector_text.parse_selector(selector)
        if isinstance(kind, str):
            kind = self.kind(kind, at)
        entries = self.truth(at).of(*kind)
        if namespace is not None and kind not in CLUSTER_SCOPED:
            entries = [entry for entry in entries if entry.reference.namespace in (namespace, "")]
        if isinstance(selector, tuple):
            entries = [entry for entry in entries if selector.matches(entry.fact.labels)]
        if not fields:
            return entries
        from ..objects.field_selectors import parse_field_selector  # noqa: PLC0415 -- seldom needed

        if isinstance(fields, str):
            fields = parse_field_selector(fields)
        branch = self.moment(at).branch
        return fields.select(entries, lambda block: self.documents(block, branch=branch))

    def documents(
        self, entries: Sequence[Entry], *, branch: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield whole objects in the given order, with few of them in memory at a time.

        :param branch: the branch of the entries' moment; None is the log's own.
        """
        for start in range(0, len(entries), _DOCUMENTS_AT_ONCE):
            block = entries[start : start + _DOCUMENTS_AT_ONCE]
            yield from documents(self.store, block, branch or self.branch)

    def forget(self) -> None:
        """Drop cached states: after an append they may be outdated."""
        self._truths.forget()
        self._coverages.cache_clear()
        self._requests.cache_clear()
        self._kept.cache_clear()

    def make_room(self) -> None:
        """Drop large cached states and what refers to itself, to have memory for a large answer."""
        self._truths.forget_large()
        gc.collect()

    def _fold(self, moment: Moment, like: Truth | None) -> Truth:
        return truth_at(self.store, moment, like=like)

    def _cover(self, branch: str, cluster: str, known: int) -> LogCoverage:
        return read_coverage(self.store, branch=branch, cluster=cluster, known=known)

    def _find(
        self,
        find: Callable[..., Any],
        moment: Moment,
        about: tuple[Hashable, ...],
        _last: int,  # Times come from the clock, which what is appended may change.
    ) -> Any:
        return find(self, moment, *about)

    def _has_requests(
        self, branch: str, cluster: str, known: int, kinds: frozenset[GroupKind]
    ) -> bool:
        query = Query(
            branch=branch,
            cluster=cluster,
            until=known,
            kinds=MAY_DELETE,
            objects=tuple(sorted(kinds)),
            limit=1,
        )
        return any(True for _ in self.store.read(query))
