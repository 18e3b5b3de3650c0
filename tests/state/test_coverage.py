"""What is known completely, by what lists, watches and audit logs tell."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import (
    AuditCovered,
    AuditedKind,
    JoinedList,
    ListObserved,
    ListsJoined,
    Payload,
    ScenarioDeclared,
    WatchFollowed,
)
from plinian.engine.state.coverage_events import CoverageFold, Covering, coverage_of
from plinian.engine.state.log_coverage import (
    Covered,
    KnownGap,
    LogCoverage,
    Shower,
    UnknownCause,
)

POD = ("", "Pod")
SECOND = 1_000_000


def event(
    payload: Payload, *, revision: int | None = None, source: str = "a", line: int = 1
) -> Event:
    return Event(
        kind=str(payload.__struct_config__.tag),
        reference=Reference("", "Pod"),
        payload=canonical_json(payload),
        resource_version="" if revision is None else str(revision),
        revision=revision,
        source=source,
        line=line,
    )


def a_list(
    revision: int, *namespaces: str, exact: bool = True, kind: str = "Pod", **place: Any
) -> Event:
    listing = ListObserved(group="", listed=kind, namespaces=namespaces, uids=(), exact=exact)
    return event(listing, revision=revision, **place)


def a_watch(since: int, until: int, *namespaces: str, begin: str = "marked", **more: Any) -> Event:
    return event(
        WatchFollowed(
            group="",
            listed="Pod",
            namespaces=namespaces,
            since=since,
            until=until,
            begin=begin,
            **more,
        )
    )


def an_audit(since: int, until: int, *, level: str = "RequestResponse", **more: Any) -> Event:
    ends = more.pop("ends", None)
    kind = more.pop("kind", "Pod")
    times = {"first_at": since * SECOND, "last_at": until * SECOND, **more}
    kinds = (AuditedKind(group="", listed=kind, writes=3, level=level, until=ends),)
    return event(AuditCovered(since=since, until=until, kinds=kinds, **times))


def spans(*events: Event, namespace: str | None = None) -> list[tuple[int, int]]:
    return [(span.first, span.last) for span in coverage_of(events).spans(POD, namespace)]


def why(coverage: LogCoverage, revision: int, namespace: str | None = None) -> UnknownCause | None:
    gap = coverage.gap(POD, revision, namespace)
    return gap and gap.why


def test_a_log_without_a_list_never_knows_all() -> None:
    for told in ([], [a_watch(5, 9, begin="changes")], [an_audit(5, 9)]):
        assert why(coverage_of(told), 7) is UnknownCause.NEVER


def test_between_two_lists_only_their_own_revisions_are_known() -> None:
    coverage = coverage_of([a_list(10), a_list(20)])
    assert coverage.gap(POD, 10) is coverage.gap(POD, 20) is None
    assert coverage.gap(POD, 9) == KnownGap(why=UnknownCause.BEFORE, before=10)
    assert coverage.gap(POD, 15) == KnownGap(why=UnknownCause.HOLE, after=10, before=20)
    assert coverage.gap(POD, 21) == KnownGap(why=UnknownCause.AFTER, after=20)


def test_a_watch_is_known_from_the_end_of_its_list_to_the_last_that_it_told() -> None:
    assert spans(a_watch(10, 20)) == [(10, 20)]


def test_a_list_is_carried_on_by_a_watch_that_was_under_way() -> None:
    assert spans(a_list(12), a_watch(10, 20, begin="changes")) == [(12, 20)]
    assert spans(a_list(12), a_watch(13, 20, begin="changes")) == [(12, 20)], "the next revision"
    assert spans(a_list(12), a_watch(14, 20, begin="changes")) == [(12, 12)]


def test_a_watch_that_was_given_a_revision_goes_on_from_the_last_that_was_known() -> None:
    resumed = a_watch(40, 50, begin="resumed")
    assert spans(a_list(12), resumed) == [(12, 50)]
    assert spans(a_watch(5, 12), resumed) == [(5, 50)]
    assert spans(resumed) == []
    assert spans(a_list(12, exact=False), resumed) == [(12, 12)], "nobody had its revision"
    assert spans(a_watch(5, 12, interrupted=True), resumed) == [(5, 12)], "an error is a hole"


def test_after_an_error_there_is_a_hole_until_the_next_list() -> None:
    coverage = coverage_of([a_watch(5, 12, interrupted=True), a_watch(30, 40)])
    assert coverage.gap(POD, 20) == KnownGap(
        why=UnknownCause.HOLE, after=12, before=30, interrupted=True
    )


def test_a_full_audit_log_carries_a_list_on() -> None:
    assert spans(a_list(12), an_audit(10, 30)) == [(12, 30)]
    assert coverage_of([a_list(12), an_audit(10, 30)]).spans(POD)[0].by == (
        Shower.LIST,
        Shower.AUDIT,
    )


def test_an_audit_log_that_left_answers_out_carries_nothing_on() -> None:
    for level in ("Request", "Metadata", "None"):
        assert spans(a_list(12), an_audit(10, 30, level=level)) == [(12, 12)]


def test_an_audit_log_is_full_up_to_a_write_of_unknown_result() -> None:
    assert spans(a_list(12), an_audit(10, 30, ends=20)) == [(12, 20)]
    assert spans(a_list(12), an_audit(10, 30, ends=0)) == [(12, 12)]


def test_an_audit_log_in_several_files_is_one_if_no_pause_between_them_is_longer_than_within() -> (
    None
):
    first = an_audit(10, 30, pause=4 * SECOND)
    assert spans(a_list(12), first, an_audit(33, 50)) == [(12, 50)]
    assert spans(a_list(12), first, an_audit(36, 50)) == [(12, 30)]


def test_events_of_kubernetes_expire_which_no_audit_log_tells() -> None:
    told = [a_list(12, kind="Event"), an_audit(10, 30, kind="Event")]
    assert [s.last for s in coverage_of(told).spans(("", "Event"))] == [12]


def test_kinds_in_one_document_of_kubectl_are_known_up_to_the_greatest_of_its_revisions() -> None:
    def joined(until: int) -> Event:
        pods = JoinedList(group="", listed="Pod", revision=10)
        nodes = JoinedList(group="", listed="Node", revision=until)
        return event(ListsJoined(kinds=(pods, nodes), until=until))

    assert spans(a_list(10, exact=False), joined(30)) == [(10, 30)]
    assert spans(a_list(10, exact=False), joined(30), joined(50)) == [(10, 50)], "nothing changed"


def test_a_log_of_kubectl_lists_alone_may_be_younger_than_their_items() -> None:
    lists = [a_list(10, exact=False), a_list(90, exact=False, kind="Node", source="b")]
    assert why(coverage_of(lists), 90) is None
    proof = event(WatchFollowed(group="", listed="Node", since=20, until=90, begin="marked"))
    assert why(coverage_of([*lists, proof]), 90) is UnknownCause.AFTER


def test_what_is_told_of_a_namespace_is_known_there_alone() -> None:
    coverage = coverage_of([a_watch(10, 20, "ml"), a_list(15)])
    assert why(coverage, 18, "ml") is None
    assert why(coverage, 18, "other") is UnknownCause.AFTER
    assert why(coverage, 15, "other") is None
    assert coverage.namespaces(POD) == ["ml"]


def test_a_scenario_tells_everything() -> None:
    coverage = coverage_of([event(ScenarioDeclared(until=7))])
    assert coverage.gap(("acme.io", "Widget"), 3) is None
    assert coverage.begin_together([POD]) == 0


def test_kinds_are_known_together_where_all_are() -> None:
    node = event(WatchFollowed(group="", listed="Node", since=20, until=90, begin="marked"))
    told = [node, a_list(10), a_watch(30, 40)]
    assert coverage_of(told).begin_together([POD, ("", "Node")]) == 30
    assert coverage_of([node, a_list(10)]).begin_together([POD, ("", "Node")]) == 20


TOLD = st.lists(
    st.builds(
        lambda since, length, begin, interrupted: a_watch(
            since, since + length, begin=begin, interrupted=interrupted
        ),
        st.integers(1, 40),
        st.integers(0, 20),
        st.sampled_from(["marked", "unmarked", "changes", "resumed"]),
        st.booleans(),
    )
    | st.builds(lambda at, exact: a_list(at, exact=exact), st.integers(1, 60), st.booleans())
    | st.builds(
        lambda since, length: an_audit(since, since + length), st.integers(1, 40), st.integers(0, 9)
    ),
    max_size=8,
)


@given(TOLD, st.randoms())
def test_the_order_of_what_is_told_does_not_matter(told: list[Event], random: Any) -> None:
    shuffled = list(told)
    random.shuffle(shuffled)
    assert spans(*told) == spans(*shuffled)


@given(TOLD)
def test_spans_do_not_overlap_and_begin_where_all_was_told(told: list[Event]) -> None:
    found = spans(*told)
    begins = {
        msgspec.json.decode(one.payload)["since"] if one.revision is None else one.revision
        for one in told
        if one.kind == "list.observed" or b"marked" in one.payload
    }
    assert {first for first, _ in found} <= begins
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(found))
    assert all(first <= last for first, last in found)


@given(TOLD, TOLD)
def test_more_evidence_never_makes_less_known(told: list[Event], more: list[Event]) -> None:
    plain = [one for one in told if b"resumed" not in one.payload]
    others = [one for one in more if one.kind != "audit.covered"]
    before, after = coverage_of(plain), coverage_of([*plain, *others])
    for revision in range(70):
        held = any(s.first <= revision <= s.last for s in before.spans(POD))
        still = any(s.first <= revision <= s.last for s in after.spans(POD))
        assert still or not held


def apart(events: list[Event]) -> LogCoverage:
    """Return the coverage by events of which none is joined with another."""
    covered: list[Covered] = []
    for one in events:
        fold = CoverageFold(Covering())
        fold.take(one)
        covered += fold.covering.covered
    return LogCoverage(covered)


SOME = st.integers(0, 12)


@st.composite
def inputs(draw: st.DrawFn) -> Event:
    since = draw(SOME)
    if draw(st.booleans()) and draw(st.booleans()):
        return a_list(since, *draw(NAMESPACES), exact=draw(st.booleans()))
    return a_watch(
        since,
        since + draw(st.integers(0, 4)),
        *draw(NAMESPACES),
        begin=draw(st.sampled_from(["marked", "unmarked", "resumed", "resumed", "changes"])),
        interrupted=draw(st.sampled_from([False, False, True])),
        until_at=draw(st.sampled_from([None, 1, 2, 3])),
    )


NAMESPACES = st.sampled_from([(), (), ("a",), ("b",)])


@given(st.lists(inputs(), max_size=14), st.integers(0, 14))
def test_spans_that_are_joined_say_what_they_say_apart(events: list[Event], cut: int) -> None:
    fold = CoverageFold(Covering())
    for one in events[:cut]:
        fold.take(one)
    stored = msgspec.msgpack.encode(fold.covering)
    fold = CoverageFold(msgspec.msgpack.decode(stored, type=Covering))
    for one in events[cut:]:
        fold.take(one)
    joined, whole = fold.covering.coverage(), apart(events)
    assert joined.proof == whole.proof
    assert [*joined.between(2, 9)] == [*whole.between(2, 9)]
    for namespace in (None, "a", "b"):
        assert joined.spans(POD, namespace) == whole.spans(POD, namespace)
        for revision in range(18):
            asked = POD, revision, namespace
            assert joined.gap(*asked) == whole.gap(*asked)
            assert joined.has_changes(*asked) == whole.has_changes(*asked)


def test_a_recorder_that_never_ends_leaves_one_span() -> None:
    fold = CoverageFold(Covering())
    fold.take(a_watch(1, 2))
    for until in range(3, 100):
        fold.take(a_watch(until - 1, until, begin="resumed", until_at=until))
    (one,) = fold.covering.covered
    assert (one.since, one.until, one.complete, one.at) == (1, 99, True, 99)
