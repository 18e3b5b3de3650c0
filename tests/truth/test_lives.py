"""The life of an object is what the truth says of it, at every position, in every order."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from doors import objects_of
from hypothesis import given, settings
from hypothesis import strategies as st
from life_checks import compare, life_of, truth_of
from msgspec.structs import replace
from pods import START, bound, listing, pod

import plinian
from plinian.engine.events import Event, Reference


def test_lives_of_a_recording_are_what_the_truth_says(tmp_path: Path) -> None:
    with plinian.demo(tmp_path / "demo.db") as log:
        for some in objects_of(log).values():
            for one in islice(some, 0, None, max(len(some), 1)):
                places = [each.position for each in life_of(log, one).history.happenings]
                near = {at + more for at in places[:: len(places) // 2 + 1] for more in (-1, 0)}
                compare(log, one, sorted(at for at in near if 0 < at <= log.store.last()))


WEB = Reference("", "Pod", "shop", "web-0")

_EVENTS = st.one_of(
    st.builds(pod, st.integers(1, 30), verb=st.sampled_from(["created", "updated", "deleted"])),
    st.builds(lambda at, node: bound("web-0", node, at=at), st.integers(1, 30), st.just("n1")),
    st.builds(
        lambda revision, names, exact: listing(revision, *names, exact=exact),
        st.integers(1, 30),
        st.lists(st.sampled_from(["web-0", "web-1"]), max_size=2, unique=True),
        st.booleans(),
    ),
)


def successor(revision: int, verb: str) -> Event:
    """Return a version of the next pod of the name, which comes after all of the other."""
    one = pod(30 + revision, verb=verb)
    return replace(one, reference=replace(one.reference, uid="uid-of-next"))


_TWO = st.one_of(
    _EVENTS,
    st.builds(successor, st.integers(1, 30), st.sampled_from(["created", "updated", "deleted"])),
    st.builds(
        lambda revision, exact: listing(30 + revision, "next", exact=exact),
        st.integers(1, 30),
        st.booleans(),
    ),
    st.builds(lambda at: replace(deleted(), earliest=at, latest=at), st.integers(START, 2 * START)),
)


def deleted() -> Event:
    """Return the deletion of the older one, as an audit log has it: without a revision."""
    return replace(pod(0, verb="deleted"), revision=None, resource_version="")


@settings(max_examples=15)
@given(st.lists(_TWO, min_size=2, max_size=6, unique_by=lambda one: (one.kind, one.revision)))
def test_a_history_of_two_objects_ends_as_the_truth_does(some: list[Event]) -> None:
    with TemporaryDirectory() as folder, plinian.open(Path(folder) / "a.db", create=True) as log:
        for one in (pod(0, verb="created"), *some):
            log.store.append([one])
        for at in range(1, log.store.last() + 1):
            lines = life_of(log, WEB).by(at).happenings
            uids = [one.uid for one in lines if one.changed]
            assert uids == sorted(uids, key=["uid-of-web-0", "uid-of-next"].index), at
            lasting = [not one.ends for one in lines if one.shows_version or one.ends]
            assert lasting[-1] == truth_of(log, WEB, at).exists, at


@settings(max_examples=15)
@given(st.lists(_EVENTS, min_size=1, max_size=8, unique_by=lambda one: (one.kind, one.revision)))
def test_a_life_follows_the_truth_in_any_order_of_learning(some: list[Event]) -> None:
    with TemporaryDirectory() as folder, plinian.open(Path(folder) / "a.db", create=True) as log:
        for one in some:
            log.store.append([one])
        if any(one.reference.name == "web-0" for one in some):
            compare(log, WEB, list(range(1, log.store.last() + 1)))


def test_a_deletion_that_is_learned_late_changes_nothing_that_was_known_before(
    tmp_path: Path,
) -> None:
    with plinian.open(tmp_path / "late.db", create=True) as log:
        for one in (listing(8), pod(3), pod(6, verb="deleted"), pod(7), pod(12)):
            log.store.append([one])
        compare(log, WEB, [1, 2, 3, 4, 5])
        assert [life_of(log, WEB).state(at).exists for at in (2, 3, 5)] == [False, False, True]
