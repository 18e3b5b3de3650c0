"""An open log: the object that the public API and the command line work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ...engine.events import Recorded
from ...engine.kubernetes.resources import GroupKind
from ...engine.log import MAIN, HeadInfo, Query, VerifyReport, open_log
from ..moments.zones import UTC_ZONE, Zone
from ..truth.log_states import LogStates
from ..truth.points import Point
from ..truth.truth import state_digest

if TYPE_CHECKING:
    from ...engine.kubernetes.expressions.selectors import Selector
    from ...engine.state.truth_fold import Entry
    from ..moments.moment import Moment
    from ..objects.field_selectors import FieldSelector

Progress = Callable[[int, int], None]


class Log(LogStates):
    """An open log of one cluster on one branch; use it in a ``with`` block, or close it."""

    def on_branch_of(self, moment: Moment) -> Log:
        """Return this log with points read as on the branch of a moment."""
        if moment.branch == self.branch:
            return self
        return Log(
            self.store,
            branch=moment.branch,
            cluster=moment.cluster,
            place=self.place,
            as_known_at=self.as_known_at,
            recent_beliefs=self.recent_beliefs,
            zone=self.zone,
        )

    def get(
        self,
        kind: str | GroupKind,
        name: str | None = None,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = "",
        fields: str | FieldSelector = "",
    ) -> list[dict[str, Any]]:
        """Return whole objects of a kind as the API server would have answered at a moment.

        :param name: only objects of this name; of a PodGroup, also the name of its job.
        :raises ObjectNotFound: a name was given, and there is none at that moment.
        """
        moment = self.moment(at)
        entries = self.found(
            kind, name, at=moment, namespace=namespace, selector=selector, fields=fields
        )
        return list(self.documents(entries, branch=moment.branch))

    def found(
        self,
        kind: str | GroupKind,
        name: str | None = None,
        *,
        at: Point = "end",
        namespace: str | None = None,
        selector: str | Selector = "",
        fields: str | FieldSelector = "",
    ) -> list[Entry]:
        """Return the objects of a kind, or of one name, with their facts; as :meth:`get`."""
        moment = self.moment(at)
        entries = self.entries(
            kind, at=moment, namespace=namespace, selector=selector, fields=fields
        )
        if name is not None:
            from .given_names import name_at, not_found  # noqa: PLC0415 -- only needed here

            pair = self.kind(kind, moment) if isinstance(kind, str) else kind
            full = name_at(self, pair, name, namespace, moment)
            entries = [entry for entry in entries if entry.reference.name == full]
            if not entries:
                raise not_found(self, pair, name, namespace, moment)
        return entries

    def events(self, **narrowed: Any) -> Iterator[Recorded]:
        """Yield events by position; takes the fields of ``plinian.engine.log.Query``."""
        narrowed.setdefault("branch", self.branch)
        narrowed.setdefault("cluster", self.cluster)
        return self.store.read(Query(**narrowed))

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


def opened(
    place: str | Path,
    *,
    create: bool = False,
    read_only: bool = False,
    branch: str = MAIN,
    cluster: str | None = None,
    as_known_at: str | None = None,
    remark: Callable[[str], None] | None = None,
    zone: Zone = UTC_ZONE,
) -> Log:
    """Open the log at a path or URL.

    :param create: create a log if there is none. :param read_only: write nothing.
    :param as_known_at: and ``remark`` and ``zone``: as for :class:`Log`.
    :raises LogNotFound: there is none.
    """
    store = open_log(place, create=create, read_only=read_only, remark=remark)
    return Log(
        store,
        branch=branch,
        cluster=cluster,
        place=str(place),
        as_known_at=as_known_at,
        remark=remark,
        zone=zone,
    )
