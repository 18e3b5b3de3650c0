"""One stream of a recorder, on answers that are given: lists, watches, and all that ends them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace

import pytest
from api_store import POD, QUEUE, ApiStore, StoredKind
from model_api_server import Fault, ModelApiServer, bookmark, line, status, written
from recorded_streams import (
    POD_RESOURCES,
    Piece,
    ScriptedAccess,
    StreamRun,
    recorded_kind,
    stream_of,
    streamed,
)

from clusters import pod
from plinian.replay.capture import watched_lines
from plinian.replay.capture.cluster_access import Body, ServerRefusal, Stalled, Unreachable
from plinian.replay.capture.stream_state import StreamPhase, StreamState
from plinian.replay.capture.watched_lines import Pace

PODS = recorded_kind(POD)
PAIR = ("", "Pod")
LIST: list[Piece] = [
    line("ADDED", pod("a", 5)),
    line("ADDED", pod("b", 9)),
    bookmark(POD, 10, ends_list=True),
]
EXPIRED = line("ERROR", status(410, "Expired", "too old resource version: 10 (40)"))
LISTED = [("pod.observed", "a", 5), ("pod.observed", "b", 9)]


class Waits(threading.Event):
    """An event that notes how long somebody would wait, and lets nobody wait."""

    waited: list[float]

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0)
        return self.is_set()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return how long a stream waited, which takes no time."""
    waited: list[float] = []
    kind = type("Waits", (Waits,), {"waited": waited})
    monkeypatch.setattr(watched_lines, "threading", SimpleNamespace(Event=kind))
    return waited


def refusal(code: int, after: float | None = None) -> ServerRefusal:
    return ServerRefusal(code, "injected", retry_after=after)


def page(*names: str, revision: int = 10, more: str = "") -> bytes:
    """Return a page of pods, without what a list of a built-in kind leaves out."""
    items = [
        {k: v for k, v in pod(name, 5).items() if k[:3] not in ("kin", "api")} for name in names
    ]
    metadata = {"resourceVersion": str(revision), **({"continue": more} if more else {})}
    return written({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})


def ran(*answers: list[Piece] | Exception, since: int | None = None) -> tuple[StreamRun, list[str]]:
    """Run a stream of pods, and return from where it asked each time."""
    access = ScriptedAccess(*answers)
    run = streamed(access, PODS, since=since)
    return run, [asked.query.get("resourceVersion", "-") for asked in access.asked]


def covered(run: StreamRun) -> list[tuple[int, int]]:
    return [(span.first, span.last) for span in run.coverage.spans(PAIR)]


def test_it_lists_by_a_watch_and_follows_it() -> None:
    access = ScriptedAccess([*LIST, line("MODIFIED", pod("a", 12))])
    run = streamed(access, PODS)
    assert run.versions == [*LISTED, ("pod.updated", "a", 12)]
    assert run.kinds[2] == "list.observed"
    assert covered(run) == [(10, 12)]
    first, second = access.asked
    assert (first.path, first.query["sendInitialEvents"]) == ("/api/v1/pods", "true")
    assert second.query["resourceVersion"] == "12"
    assert access.bodies[0].closed


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_that_streams_no_lists_is_asked_for_pages(code: int) -> None:
    pages: list[list[Piece]] = [[page("a", more="token")], [page("b")]]
    access = ScriptedAccess(refusal(code), *pages, [line("ADDED", pod("c", 12))])
    run = streamed(access, PODS)
    assert [name for _, name, _ in run.versions] == ["a", "b", "c"]
    assert run.kinds == ["pod.observed", "pod.observed", "list.observed", "pod.created"]
    assert covered(run) == [(10, 12)]
    assert [asked.query.get("continue") for asked in access.asked[:4]] == [
        None,
        None,
        "token",
        None,
    ]
    assert b'"apiVersion":"v1"' in run.delivery.events[0].payload


def test_items_that_say_their_kind_keep_it_and_kinds_of_volcano_are_found() -> None:
    store = ApiStore()
    store.create(QUEUE, "q")
    server = ModelApiServer(store, streams_lists=False)
    stream = stream_of(server, recorded_kind(QUEUE))
    server.idle = lambda: bool(stream.stop())
    stream.run()
    delivery = stream.outbox.take()
    assert delivery is not None
    event = delivery.events[0]
    assert event.reference.group == QUEUE.group
    assert event.payload.count(b'"kind"') == 1


def test_a_token_that_expires_begins_the_list_again_and_never_mixes_two() -> None:
    run, _ = ran(
        refusal(422),
        *([page("gone", revision=10, more="token")], refusal(410)),
        *([page("a", revision=20, more="token")], [page("b", revision=20)]),
        [bookmark(POD, 30)],
    )
    assert covered(run) == [(20, 30)]
    listed = next(e for e in run.delivery.events if e.kind == "list.observed")
    assert b"uid-gone" not in listed.payload
    assert b'"count":2' in listed.payload or b"uid-a" in listed.payload
    assert "watch.interrupted" in run.kinds


@pytest.mark.parametrize("cut", [0, 1, 40, 700])
@pytest.mark.parametrize("stalls", [True, False], ids=["stalls", "breaks"])
def test_a_list_that_is_cut_begins_again_in_pages(cut: int, *, stalls: bool) -> None:
    store = ApiStore()
    for name in "abcd":
        store.create(POD, name)
    server = ModelApiServer(store, page=2)
    server.faults.extend([None, Fault(cut=cut, stalls=stalls)])
    stream = stream_of(server, PODS)
    server.idle = lambda: bool(stream.stop())
    stream.run()
    delivery = stream.outbox.take()
    assert delivery is not None
    kinds = [event.kind for event in delivery.events]
    assert kinds.count("list.observed") == 1
    assert kinds[-5:] == ["pod.observed"] * 4 + ["list.observed"]
    assert stream.state.revision == store.revision


def test_a_list_by_a_watch_that_never_ends_is_asked_for_in_pages() -> None:
    """A server that does not know the option sends objects, and no end of a list."""
    run, _ = ran(LIST[:2], [page("a", "b")], [bookmark(POD, 30)])
    assert covered(run) == [(10, 30)]


@pytest.mark.parametrize("end", [[], [b'{"type":"MODI'], [Unreachable("cut")], [Stalled("quiet")]])
def test_a_watch_that_is_cut_goes_on_without_a_trace(end: list[Piece]) -> None:
    run, asked = ran(
        [*LIST, line("MODIFIED", pod("a", 12)), *end],
        [line("MODIFIED", pod("a", 15)), bookmark(POD, 20)],
    )
    assert asked == ["-", "12", "20"]
    assert run.versions == [*LISTED, ("pod.updated", "a", 12), ("pod.updated", "a", 15)]
    assert covered(run) == [(10, 20)]
    assert "watch.interrupted" not in run.kinds


def test_lines_may_arrive_in_any_pieces() -> None:
    whole = b"".join(piece for piece in LIST if isinstance(piece, bytes))
    for size in (1, 7, len(whole) // 2):
        run, _ = ran([whole[at : at + size] for at in range(0, len(whole), size)])
        assert run.versions == LISTED
        assert covered(run) == [(10, 10)]


def test_it_resumes_from_what_a_log_covers() -> None:
    run, asked = ran([line("ADDED", pod("c", 25)), bookmark(POD, 30)], since=20)
    assert asked == ["20", "30"]
    assert run.kinds == ["pod.created"]
    assert [(span.begin, span.since, span.until) for span in run.spans] == [("resumed", 20, 30)]


EXPIRIES = [[EXPIRED], refusal(410)]


@pytest.mark.parametrize("expiry", EXPIRIES, ids=["line", "status"])
def test_after_a_410_the_watch_is_tried_once_more(expiry: list[Piece] | Exception) -> None:
    run, asked = ran(LIST, expiry, [line("MODIFIED", pod("a", 12))])
    assert asked[:3] == ["-", "10", "10"]
    assert run.versions[2:] == [("pod.updated", "a", 12)]
    assert run.state.expired == 1
    assert covered(run) == [(10, 12)]


@pytest.mark.parametrize("expiry", EXPIRIES, ids=["line", "status"])
def test_after_a_second_410_the_hole_is_looked_at(expiry: list[Piece] | Exception) -> None:
    run, _ = ran(LIST, expiry, expiry, [page("a", "b", revision=10)], [bookmark(POD, 12)])
    assert run.state.repaired == 1
    assert covered(run) == [(10, 12)]


def test_a_stall_at_a_revision_that_the_server_does_not_know_is_an_expiry() -> None:
    quiet: list[Piece] = [Stalled("quiet")]
    access = ScriptedAccess(quiet, quiet, [page(revision=7)])
    stream = stream_of(access, PODS, since=20)
    stream.run()
    assert stream.fell is not None
    assert (stream.fell.before, stream.fell.now) == (20, 7)
    assert stream.state.phase is StreamPhase.STOPPED


@pytest.mark.parametrize("code", [401, 403])
def test_what_was_watched_is_tried_again_soon_if_a_server_that_starts_refuses(
    waits: list[float], code: int
) -> None:
    """Until it has read its roles, an API server answers 403 to all; half a minute is long then."""
    access = ScriptedAccess(LIST, refusal(code), refusal(code), [line("ADDED", pod("c", 12))])
    stream = stream_of(access, PODS, pace=Pace())
    access.over = stream.stop
    stream.run()
    assert waits[:2] == [0.5, 1.0]
    assert stream.state.revision == 12


@pytest.mark.parametrize(
    ("fault", "wait"),
    [
        *((refusal(429, 7), 7.0), (refusal(429, 600), 30.0), (refusal(500), 0.5)),
        *((refusal(401), 30.0), (refusal(403), 30.0), (Unreachable("refused"), 0.5)),
    ],
)
def test_it_waits_as_long_as_the_server_asks(
    waits: list[float], fault: Exception, wait: float
) -> None:
    access = ScriptedAccess(fault, LIST)
    stream = stream_of(access, PODS, pace=Pace())
    access.over = stream.stop
    stream.run()
    assert waits[0] == wait
    assert stream.state.revision == 10
    assert stream.crash is None


def test_waits_grow_while_nothing_comes_and_shrink_once_something_does(waits: list[float]) -> None:
    down = Unreachable("refused")
    access = ScriptedAccess(down, down, down, LIST, down)
    stream = stream_of(access, PODS, pace=Pace())
    access.over = stream.stop
    stream.run()
    assert waits[:4] == [0.5, 1.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("answers", "since"),
    [
        ([[]] * 9, 10),
        ([[EXPIRED]] * 9, None),
        ([refusal(410)] * 9, None),
        ([LIST, *[[]] * 9], None),
    ],
    ids=["silent", "no list", "no list by status", "list, then silent"],
)
def test_a_server_that_ends_each_watch_at_once_is_not_asked_all_the_time(
    waits: list[float], answers: list[list[Piece] | Exception], since: int | None
) -> None:
    access = ScriptedAccess(*answers)
    stream = stream_of(access, PODS, since=since, pace=Pace())
    access.over = stream.stop
    stream.run()
    assert len(waits) >= 8
    assert max(waits) == 30.0


def test_a_server_that_forgets_each_revision_is_not_asked_all_the_time(waits: list[float]) -> None:
    store = ApiStore()
    server = ModelApiServer(store)
    stream = stream_of(server, PODS, pace=Pace())

    def idle() -> bool:
        store.elsewhere(3)
        server.restart()
        store.elsewhere()
        if len(server.asked) > 100:
            stream.stop()
        return False

    server.idle = idle
    server.faults.extend([None, None])
    stream.run()
    assert len(waits) > 10


def test_a_kind_that_appears_later_is_found(waits: list[float]) -> None:
    store = ApiStore()
    server = ModelApiServer(store, kinds=(POD,))
    stream = stream_of(server, recorded_kind(QUEUE), pace=Pace())
    phases: list[StreamPhase] = []

    def wait(self: Waits, timeout: float | None = None) -> bool:
        waits.append(timeout or 0)
        phases.append(stream.state.phase)
        if len(waits) == 3:
            store.create(QUEUE, "q")
            server.kinds.append(QUEUE)
        return self.is_set()

    type(stream._lines._stop).wait = wait  # type: ignore[method-assign] -- a class of this test
    server.idle = lambda: bool(stream.stop())
    stream.run()
    assert waits[:3] == [60.0] * 3
    assert phases[:3] == [StreamPhase.ABSENT] * 3
    assert stream.state.revision == store.revision


def test_a_kind_that_goes_is_looked_for_again(waits: list[float]) -> None:
    gone = refusal(404)
    run, asked = ran(LIST, gone, [line("MODIFIED", pod("a", 12))])
    assert asked == ["-", "10", "10", "12"]
    assert 30.0 not in waits
    assert covered(run) == [(10, 12)]


BAD: dict[str, bytes] = {
    "no JSON": b"not json\n",
    "half an object": b'{"type":"ADDED","object":\n',
    "no object": b'{"type":"ADDED","object":null}\n',
    "no name": written({"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1"}}),
    "no type": b'{"type":"WHAT","object":{}}\n',
    "no text": b"\xff\n",
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_record_that_cannot_be_read_is_a_gap_that_ends_with_the_next_list(bad: bytes) -> None:
    run, asked = ran(
        [*LIST, line("MODIFIED", pod("a", 12)), bad],
        [
            line("ADDED", pod("a", 12)),
            line("ADDED", pod("b", 9)),
            bookmark(POD, 20, ends_list=True),
        ],
        [bookmark(POD, 30)],
    )
    assert asked == ["-", "-", "20", "30"]
    assert covered(run) == [(10, 12), (20, 30)]
    assert run.crash is None
    assert run.state.malformed == 1


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_list_with_such_a_record_is_read_again(bad: bytes) -> None:
    run, _ = ran([bad, *LIST], LIST, [bookmark(POD, 30)])
    assert run.kinds.count("list.observed") == 1
    assert covered(run) == [(10, 30)]
    assert {name for _, name, _ in run.versions} == {"a", "b"}


def test_a_record_that_stays_bad_lets_the_rest_be_recorded() -> None:
    run, asked = ran(
        [BAD["no name"], *LIST], [BAD["no name"], *LIST], [line("ADDED", pod("c", 12))]
    )
    assert asked == ["-", "-", "10", "12"]
    assert covered(run) == []
    assert run.versions[-1] == ("pod.created", "c", 12)


@pytest.mark.parametrize(
    ("lists", "lost"),
    [([1, 0], 1), ([1, 1, 1, 0], 1), ([1, 2, 2, 0], 2), ([2, 1, 1, 0], 2), ([2, 1, 2, 0], 3)],
)
def test_a_record_that_another_list_shows_again_counts_as_repeated(
    lists: list[int], lost: int
) -> None:
    access = ScriptedAccess(*([BAD["no name"]] * bad + LIST for bad in lists))
    stream = stream_of(access, PODS, pace=Pace(first_wait=0, longest_wait=0, absent=0, again=0))
    access.over = stream.stop
    stream.run()
    assert stream.crash is None
    told = stream.state.malformed - stream.state.repeated
    read = [asked for asked in access.asked if "sendInitialEvents" in asked.query]
    assert (told, len(read)) == (lost, len(lists)), [asked.query for asked in access.asked]


@pytest.mark.parametrize("item", [b"null", b"3", b'"x"', b"{}", b'{"kind":7}', b'{"metadata":[]}'])
def test_an_item_of_a_list_that_is_no_object_is_left_out(item: bytes) -> None:
    bad = b'{"metadata":{"resourceVersion":"10"},"items":[' + item + b"]}"
    run, _ = ran(refusal(422), [bad], [page("a")], [bookmark(POD, 20)])
    assert run.crash is None
    assert run.state.malformed == 1
    assert covered(run) == [(10, 20)]


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b"[" * 5000, b'{"metadata":"\xff"}'])
def test_an_answer_of_no_api_server_is_tried_again(answer: bytes) -> None:
    run, _ = ran(refusal(422), [answer], [page("a")], [bookmark(POD, 20)])
    assert run.crash is None
    assert covered(run) == [(10, 20)]


@pytest.mark.parametrize("revision", ["", "x", "1.5"])
def test_a_list_without_a_revision_in_a_repair_is_tried_again(revision: str) -> None:
    bad = written({"metadata": {"resourceVersion": revision}, "items": []})
    run, _ = ran(
        LIST,
        *([EXPIRED], [EXPIRED], [bad]),
        *([EXPIRED], [page("a", "b")], [bookmark(POD, 12)]),
    )
    assert run.crash is None
    assert covered(run) == [(10, 12)]


@pytest.mark.parametrize("verb", ["ADDED", "MODIFIED", "DELETED"])
def test_a_line_that_comes_twice_changes_nothing_that_is_covered(verb: str) -> None:
    twice = line(verb, pod("c" if verb == "ADDED" else "a", 12))
    run, _ = ran([*LIST, twice, twice], [twice, line("ADDED", pod("d", 15)), bookmark(POD, 20)])
    assert covered(run) == [(10, 20)]
    verbs = {"ADDED": "pod.created", "MODIFIED": "pod.updated", "DELETED": "pod.deleted"}
    assert {kind for kind, _, revision in run.versions if revision == 12} == {verbs[verb]}
    assert run.versions[-1] == ("pod.created", "d", 15)


def test_other_errors_within_a_watch_are_tried_again() -> None:
    for code in (500, 504, 403):
        error = line("ERROR", status(code, "InternalError", "etcd is away"))
        run, asked = ran([*LIST, error], [bookmark(POD, 12)])
        assert asked == ["-", "10", "12"]
        assert covered(run) == [(10, 12)]


def test_a_stream_that_is_stopped_while_it_asks_does_not_wait_for_an_answer() -> None:
    class Stopping(ScriptedAccess):
        def open(self, *words: object, **options: object) -> object:  # type: ignore[override]
            body = super().open(*words, **options)  # type: ignore[arg-type]
            if self.bodies:
                stream.stop()
            return body

    never: list[Piece] = [*LIST, AssertionError("it was read further")]
    access = Stopping(never)
    stream = stream_of(access, PODS)
    stream.run()
    assert access.bodies[0].closed
    assert stream.crash is None


def test_only_a_namespace_is_asked_for() -> None:
    access = ScriptedAccess(LIST)
    stream = stream_of(access, PODS, namespace="default")
    access.over = stream.stop
    stream.run()
    assert access.asked[0].path == "/api/v1/namespaces/default/pods"
    delivery = stream.outbox.take()
    assert delivery is not None
    assert b'"namespaces":["default"]' in delivery.placed[0][1].payload


def test_kinds_are_told_apart_by_what_a_server_offers() -> None:
    assert b"pods" in POD_RESOURCES
    renamed = StoredKind("scheduling.volcano.sh", "v2", "Queue", "queues", namespaced=False)
    server = ModelApiServer(ApiStore(), kinds=(renamed,))
    stream = stream_of(server, recorded_kind(QUEUE))
    server.idle = lambda: bool(stream.stop())
    stream.run()
    assert server.asked[-1].path == "/apis/scheduling.volcano.sh/v2/queues"


def test_a_first_answer_is_waited_for_shortly_and_then_for_long() -> None:
    asked: list[float] = []
    state = StreamState(resource="pods")

    class Silent:
        """Never answers."""

        def open(
            self, path: str, query: Mapping[str, str], *, quiet: float, accept: str = ""
        ) -> Body:
            """Note for how long somebody would wait."""
            asked.append(quiet)
            if len(asked) > 2:
                lines.stop()
            raise Unreachable(f"no answer to {path}{query}{accept}")

    def nothing(*, pauses: bool) -> int | None:
        assert pauses in {True, False}
        return None

    hearing = watched_lines.Hearing(nothing, lambda _repair: None, lambda: 0)
    pace = Pace(first_wait=0.0, longest_wait=0.0)
    lines = watched_lines.WatchedLines(Silent(), PODS, state, hearing, pace=pace)
    assert not list(lines.lines())
    assert asked == [10.0, 60.0, 60.0]
