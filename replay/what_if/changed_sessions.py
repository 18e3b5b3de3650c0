"""One session of a moment as it was, and with changes, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from ...engine.cache.cache import SchedulerCache
from ...engine.kubernetes.objects import Pod
from ...engine.kubernetes.resources import GroupKind
from ...engine.model.panic import Panic
from ...engine.session.framework.session_outcome import SessionResult
from ...engine.volcano.session.behaviours import Behaviours
from ...engine.volcano.session.faults import mended
from ...engine.volcano.session.history import resolve
from ..answers.answering_session import JOB, Run, run_of
from ..answers.target import Target
from ..answers.tasks import job_spec
from ..answers.why import closely
from ..belief.stored_belief import CacheBasis, believed
from ..compare.decisions import DifferingDecision, decisions_of, differing
from ..coverage.coverage import SCHEDULING, NotListed, unknown_at
from ..logs.log import Log
from ..logs.logged_confs import ConfText
from ..moments.moment import Moment
from ..moments.unknown import Unknown
from ..sessions.next_sessions import NextSession, next_sessions
from ..sessions.session_answer import (
    SessionAnswer,
    SessionInputs,
    ShortSession,
    scene_at,
    session_in,
)
from ..tabular.column_table import ColumnTable, texts
from ..tabular.documents import shown_as
from ..tabular.tabular import Tabular
from .changed_names import remarks
from .changed_world import Beginning, Document, WrittenSince
from .cluster_changes import WhatIfChange

ORIGINAL = "original"


class Variant(NamedTuple):
    """What is otherwise in one session.

    :param name: of its column. :param conf: a configuration instead of that of the original.
    :param release: another release. :param mended: the behaviours of the release whose faults it
        does not have here.
    """

    name: str
    changes: tuple[WhatIfChange, ...] = ()
    conf: ConfText | None = None
    release: str | None = None
    mended: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is otherwise, in a few words each."""
        conf = () if self.conf is None else (f"configuration {self.conf.source}",)
        release = () if self.release is None else (f"release {self.release}",)
        return (*(change.text for change in self.changes), *conf, *release)


class LaterState(NamedTuple):
    """A state that follows a moment. :param now: the time then, microseconds since 1970."""

    since: tuple[WrittenSince, ...]
    now: int


class SideSession(NamedTuple):
    """A session that was run. :param texts: what is otherwise; empty in the original."""

    name: str
    texts: tuple[str, ...]
    answer: SessionAnswer


class ChangedSession(ShortSession, frozen=True, kw_only=True):
    """A session that was run. :param changes: what is otherwise; none in the original."""

    name: str
    changes: tuple[str, ...]


class WhatIfDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions side by side; the first one is the original.

    :param decisions: those that differ: ``decision``, ``object``, and the value by side.
    :param unread: sentences: changed fields that no session reads, resources that nothing has.
    """

    at: str
    not_known: tuple[Unknown, ...]
    unread: tuple[str, ...]
    sides: list[ChangedSession]
    decisions: list[dict[str, str | None]]


@dataclass(frozen=True, slots=True)
class WhatIf(Tabular):
    """Sessions side by side; the first one is the original.

    :param decisions: those that are not the same on all sides.
    :param unread: sentences: changed fields that no session reads, resources that nothing has.
    """

    sides: tuple[SideSession, ...]
    decisions: tuple[DifferingDecision, ...]
    not_known: tuple[Unknown, ...]
    unread: tuple[str, ...] = ()

    @property
    def document(self) -> WhatIfDocument:
        """What answers show of it."""
        names = [side.name for side in self.sides]
        return shown_as(
            WhatIfDocument,
            self,
            at=self.sides[0].answer.at,
            sides=[
                shown_as(
                    ChangedSession,
                    session.answer.untraced,
                    name=session.name,
                    changes=session.texts,
                )
                for session in self.sides
            ],
            decisions=[
                {
                    "decision": row.kind,
                    "object": row.about,
                    **dict(zip(names, row.values, strict=True)),
                }
                for row in self.decisions
            ],
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the decisions that differ, with a column for each session."""
        heads = ["decision", "object", *(side.name for side in self.sides)]
        return {
            "decisions": texts(
                heads, ((row.kind, row.about, *row.values) for row in self.decisions)
            )
        }


class ChangedSessions:
    """Runs sessions at a moment with changes; releases with the same cache behaviour share one.

    :param later: the state after it that sessions run on instead.
    """

    def __init__(
        self,
        log: Log,
        moment: Moment,
        release: str,
        conf: ConfText | None,
        later: LaterState | None = None,
    ) -> None:
        self.log, self.moment, self.release = log, moment, release
        self._scene = scene_at(log, moment, conf)
        self._since: tuple[WrittenSince, ...] = ()
        if later is not None:
            self._since = later.since
            self._scene = msgspec.structs.replace(self._scene, now=later.now)
        self._beginnings: dict[CacheBasis, Beginning] = {}

    @property
    def cache(self) -> SchedulerCache:
        """The scheduler's cache of the original, which callers must not change."""
        return self._beginning(resolve(self.release)).cache

    def _beginning(self, behaviours: Behaviours) -> Beginning:
        basis = believed(behaviours)
        if basis not in self._beginnings:
            self._beginnings[basis] = Beginning(self.log, self.moment, behaviours, self._since)
        return self._beginnings[basis]

    def find(self, pair: GroupKind, namespace: str, name: str) -> Document | None:
        """Return an object as it is without changes; None if there is none."""
        return self._beginning(resolve(self.release)).find((pair, namespace, name))

    def original(self) -> SessionAnswer:
        """Run the session of the moment as it was."""
        return self.run(Variant(ORIGINAL))

    def run(self, variant: Variant) -> SessionAnswer:
        """Run the session with changes.

        :raises ObjectNotFound: a change is of an object that does not exist.
        :raises UsageError: a change has no effect on sessions, or its result is no valid object.
        """
        behaviours = mended(variant.release or self.release, variant.mended)
        begin, scene = self._beginning(behaviours), self._scene_of(variant)
        if not variant.changes:
            # A dry run leaves the cache as it is, so all sessions without changes share it.
            return session_in(scene, behaviours, begin.cache)
        world = begin.world()
        try:
            for change in variant.changes:
                change.apply(world)
        # A handler of the scheduler's cache panics on the change, so no session begins.
        except Panic as panic:
            answer = session_in(scene, behaviours, begin.cache)
            return replace(answer, result=SessionResult(panic=panic))
        return session_in(scene, behaviours, world.cache)

    def next_after(
        self, variant: Variant, answer: SessionAnswer, created: Sequence[Pod] = ()
    ) -> Iterator[NextSession]:
        """Yield the next sessions after one that was run; see :func:`.next_sessions`."""
        behaviours = mended(variant.release or self.release, variant.mended)
        scene = self._scene_of(variant)
        return next_sessions(scene, behaviours, answer.cache, answer.result, created)

    def followed(self, variant: Variant, target: Target, *, goes_on: bool = False) -> Run:
        """Run the session with changes, and follow what an object needs, as ``why`` does.

        :param goes_on: an answer may run the next sessions.
        :raises PlinianError: as of :meth:`run`.
        """
        behaviours = mended(variant.release or self.release, variant.mended)
        world = self._beginning(behaviours).world()
        for change in variant.changes:
            change.apply(world)
        names, fully = closely(world.cache, target), {target.podgroup} - {""}
        scene = self._scene_of(variant)
        return run_of(
            scene,
            behaviours,
            world.cache,
            names,
            # Only an answer that people read says what the log lacks.
            NotListed(self.log, self.moment) if goes_on else None,
            fully=fully,
            goes_on=goes_on,
            job_specs=self._job_spec,
        )

    def _job_spec(self, key: str) -> Mapping[str, Any]:
        """Return the spec of a job of Volcano, ``ns/name``; empty if there is none."""
        # Of a state after the moment the log says nothing: the cluster that lived on wrote it.
        if not self._since:
            return job_spec(self.log, self.moment, key)
        namespace, _, name = key.partition("/")
        job = self.find(JOB, namespace, name) or {}
        return job.get("spec") or {}

    @property
    def confs(self) -> Sequence[ConfText]:
        """The scheduler's configurations up to the moment, newest first."""
        return self._scene.confs

    def _scene_of(self, variant: Variant) -> SessionInputs:
        return (
            self._scene
            if variant.conf is None
            else msgspec.structs.replace(self._scene, confs=(variant.conf,))
        )


def what_if(
    log: Log,
    at: str | Moment,
    variants: Sequence[Variant],
    *,
    release: str,
    conf: ConfText | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WhatIf:
    """Run the session at a moment as it was and with each variant, and compare the decisions.

    Changes reach the scheduler's cache before the session begins. What controllers would do because
    of them does not happen.

    :param release: of the original. :param conf: instead of that in the log at the moment.
    :param progress: called with (sessions run, all).
    :raises ObjectNotFound: a change is of an object that does not exist then.
    :raises UsageError: a release is not known; a change is of an object that sessions do not see,
        or makes it invalid; it names a resource that sessions do not count.
    """
    moment = log.moment(at) if isinstance(at, str) else at
    sessions = ChangedSessions(log, moment, release, conf)
    sides = [SideSession(ORIGINAL, (), sessions.original())]
    for number, variant in enumerate(variants, start=1):
        sides.append(SideSession(variant.name, variant.texts, sessions.run(variant)))
        if progress is not None:
            progress(number, len(variants))
    return WhatIf(
        tuple(sides),
        tuple(differing([decisions_of(side.answer) for side in sides])),
        tuple(unknown_at(log, moment, SCHEDULING)),
        remarks(log, moment, (change for variant in variants for change in variant.changes)),
    )
