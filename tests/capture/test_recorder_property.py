"""Whatever happens to a recorder: the log has each version, or its coverage shows a hole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from api_store import POD, QUEUE, ApiStore, StoredKind
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model_api_server import Fault, ModelApiServer
from recorded_streams import AT_ONCE, recorded_kind

import plinian
from plinian.engine.errors import ConnectionLost
from plinian.engine.log import LogStore, Query, open_log
from plinian.engine.state.coverage_events import coverage_of
from plinian.engine.state.log_coverage import COVERING
from plinian.replay.capture.cluster_access import Unreachable
from plinian.replay.capture.commit_writer import CommitPace, CommitWriter
from plinian.replay.capture.hole_repair import EpochFell
from plinian.replay.capture.outbox import Outbox, Room
from plinian.replay.capture.recording_stream import RecordingStream, StreamPlan
from plinian.replay.capture.resume_points import resumed

KINDS = (POD, QUEUE)
NAMES = "abc"

FAULTS = (
    *(Fault(code=code) for code in (400, 401, 403, 404, 410, 422, 429, 500)),
    *(Fault(cut=cut, stalls=stalls) for cut in (0, 30, 400) for stalls in (True, False)),
    *(Fault(cut=cut, ends=True) for cut in (0, 30, 400)),
)

WRITES = st.tuples(
    st.sampled_from(["create", "change", "change", "delete"]),
    st.sampled_from(KINDS),
    st.sampled_from(NAMES),
)
STEPS = st.lists(
    st.one_of(
        WRITES,
        WRITES,
        WRITES,
        st.tuples(st.just("elsewhere"), st.sampled_from([1, 3, 600])),
        st.tuples(st.just("fault"), st.sampled_from(FAULTS)),
        st.tuples(st.sampled_from(["away", "away, restarted"]), st.sampled_from([1, 4, 12])),
        st.tuples(st.sampled_from(["cut", "restart", "compact", "kill", "stop", "bookmark"])),
        st.tuples(st.sampled_from(["cut", "commit", "commit", "lose commit"])),
    ),
    max_size=40,
)


LIVES = (("create", POD, "a"), ("delete", POD, "z"), ("create", POD, "b"), ("delete", POD, "b"))
AWAY: list[tuple[object, ...]] = [("away, restarted", 4), *LIVES, ("change", POD, "a")]
CHUNKS = (7, 100, 2**16)


class Killed(BaseException):
    """The recorder is gone in the middle of what it does."""


class RecordedModel:
    """A recorder of two kinds that a test interrupts at each step; one kind reads at a time."""

    def __init__(
        self, store: LogStore, steps: Sequence[tuple[object, ...]], chunk: int = 2**16
    ) -> None:
        self._log, self._steps = store, iter(steps)
        self.api = ApiStore()
        for kind in KINDS:
            self.api.create(kind, "z")
        self.server = ModelApiServer(self.api, KINDS, page=2, idle=self._idle)
        self.server.chunk = chunk
        self._ticks = count(1_700_000_000_000_000, 1_000_000)
        self._stream: RecordingStream | None = None
        self._kind = POD
        self._over = False

    def run(self) -> None:
        """Do all steps, with one kind after the other, and record to the end at last."""
        while not self._over:
            for kind in KINDS:
                with suppress(Killed):
                    self._record(kind)
        self.server.faults.clear()
        for kind in KINDS:
            self._record(kind)

    def _record(self, kind: StoredKind) -> None:
        """Run a stream until it is stopped or killed."""
        room = Room(2**30)
        outbox, self._kind = Outbox(room), kind
        plan = resumed(self._log, StreamPlan(recorded_kind(kind)), cluster="default", branch="main")
        self._now = 0.0
        self._told = False
        self._outbox = outbox
        pace = CommitPace(covers=3)
        self._writer = CommitWriter(self._log, "main", room, lambda: self._now, pace)
        self._stream = RecordingStream(
            self.server,
            plan,
            outbox,
            cluster="default",
            now=lambda: next(self._ticks),
            pace=AT_ONCE,
        )
        self._stream.run()
        if self._stream.crash is not None:
            raise self._stream.crash
        if self._stream.fell is not None:
            raise self._stream.fell
        self._writer.collect([outbox])
        self._writer.commit(all_of_it=True)
        assert room.used == 0

    def _idle(self) -> bool:
        """Do the next step; return whether the watch goes on."""
        step = next(self._steps, None)
        assert self._stream is not None
        if step is None and not self._told:
            self._told = True  # A last bookmark; a stream that is stopped does not read it whole.
            return False
        if step is None or step[0] == "stop":
            self._over = step is None
            self._stream.stop()
            return False
        if step[0] == "kill":
            raise Killed
        if step[0] in ("away", "away, restarted"):
            self._miss(step[1])
            if step[0] != "away":
                self.api.elsewhere()
                self.server.restart()
            raise Unreachable("cut")
        self._happen(step)
        return step[0] not in ("restart", "cut", "bookmark")

    def _miss(self, count: Any) -> None:
        """Let the next steps happen while no watch sees them."""
        for step in islice(self._steps, count):
            if step[0] in ("create", "change", "delete", "elsewhere", "compact"):
                self._happen(step)

    def _happen(self, step: Sequence[Any]) -> None:
        """Let something happen to the cluster, the connection, or the log."""
        match step:
            case ("create" | "change" | "delete" as verb, kind, name):
                self._write(verb, kind, name)
            case ("elsewhere", revisions):
                self.api.elsewhere(revisions)
            case ("fault", fault):
                self.server.faults.append(fault)
            case ("cut",):
                self.server.faults.append(Fault(cut=500))
            case ("restart",):
                self.server.restart()
            case ("compact",):
                self.api.compact()
            case ("commit" | "lose commit" as what,):
                self._commit(loses=what == "lose commit")

    def _write(self, verb: str, kind: StoredKind, name: str) -> None:
        exists = self.api.found(kind, name) is not None
        if verb == "create" and not exists:
            self.api.create(kind, name)
        elif verb == "change" and exists:
            self.api.change(kind, name)
        elif verb == "delete" and exists:
            self.api.delete(kind, name)

    def _commit(self, *, loses: bool) -> None:
        self._writer.collect([self._outbox])
        self._now += 2
        if not loses:
            self._writer.commit()
            return
        real = self._log.append
        self._log.append = _away  # type: ignore[method-assign, assignment]
        with suppress(ConnectionLost):
            self._writer.commit()
        self._log.append = real  # type: ignore[method-assign]


def _away(*_: object, **__: object) -> None:
    raise ConnectionLost("away", where="log")


def _versions(log: LogStore, kind: StoredKind) -> Iterator[tuple[str, int, bool]]:
    """Yield what the log has of a kind: uid, revision, and whether it is a deletion."""
    for recorded in log.read(Query()):
        event = recorded.event
        about = (event.reference.group, event.reference.kind) == (kind.group, kind.kind)
        if about and event.revision is not None and event.reference.uid:
            yield event.reference.uid, event.revision, event.kind.endswith(".deleted")


def holds(log: LogStore, api: ApiStore) -> None:
    """Check what the log has, and says that it has, against the store."""
    coverage = coverage_of(recorded.event for recorded in log.read(Query(kinds=COVERING)))
    for kind in KINDS:
        pair = (kind.group, kind.kind)
        have = Counter(_versions(log, kind))
        assert max(have.values()) == 1, have.most_common(3)
        true = {(c.uid, c.revision, c.verb == "DELETED"): c for c in api.after(kind, 0)}
        assert set(have) <= set(true), "a version that never was"
        spans = coverage.spans(pair)
        for key, change in true.items():
            inside = any(span.first < change.revision <= span.last for span in spans)
            assert key in have or not inside, f"{change.verb} {change.revision} of {spans}"
        assert coverage.gap(pair, api.revision) is None, f"{spans} up to {api.revision}"


def ends_equal(place: str, api: ApiStore) -> None:
    """Check that the state at the end is that of the store."""
    with plinian.open(place, read_only=True) as opened:
        for kind in KINDS:
            got = sorted(_metadata(one) for one in opened.get(kind.plural))
            kept = api.at(kind, api.revision).values()
            assert got == sorted(map(_metadata, kept))


def _metadata(document: dict[str, Any]) -> tuple[str, str]:
    metadata = document["metadata"]
    return metadata["uid"], metadata["resourceVersion"]


def checked(steps: Sequence[tuple[object, ...]], chunk: int) -> None:
    """Record a cluster through some steps, and check the log."""
    with TemporaryDirectory() as folder:
        place = str(Path(folder, "log.db"))
        with open_log(place, create=True) as log:
            model = RecordedModel(log, steps, chunk)
            model.run()
            holds(log, model.api)
        ends_equal(place, model.api)


@given(STEPS, st.sampled_from(CHUNKS))
@settings(max_examples=100)
@example(AWAY, 2**16)
@example([("elsewhere", 600), *AWAY], 100)
@example([("away, restarted", 5), ("elsewhere", 600), *LIVES], 7)
@example([("create", POD, "a"), ("commit",), ("kill",), ("restart",), ("delete", POD, "a")], 7)
def test_each_version_is_in_the_log_or_in_a_hole_that_coverage_shows(
    steps: list[tuple[object, ...]], chunk: int
) -> None:
    checked(steps, chunk)


@pytest.mark.slow
@given(STEPS, st.sampled_from(CHUNKS))
@settings(max_examples=400)
def test_so_it_is_in_many_more_cases(steps: list[tuple[object, ...]], chunk: int) -> None:
    checked(steps, chunk)


def test_a_cluster_that_was_restored_is_not_mixed_with_what_was_before(tmp_path: Path) -> None:
    with open_log(str(tmp_path / "log.db"), create=True) as log:
        model = RecordedModel(log, [("elsewhere", 5), ("commit",), ("commit",), ("kill",)])
        model.run()
        before = log.last()
        model.api.revision -= 4
        model.server.restart()
        with pytest.raises(EpochFell):
            model._record(POD)
        assert log.last() == before
