"""Events reach the cache as its informers would let them, and drift is found where they do."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
import pytest
from happenings import Happening, event_of, events_of, happenings
from happenings import version_of as event
from hypothesis import given, settings
from hypothesis import strategies as st

from plinian.engine.cache.drift.drift import CacheComparison
from plinian.engine.cache.drift.drift_since import DriftHistory
from plinian.engine.cache.projector import Projector, options_of
from plinian.engine.cache.scheduler_flags import CacheOptions
from plinian.engine.events import Event, Reference
from plinian.engine.events.payloads import ControlMarked, ListObserved, PodBound, ProcessStarted
from plinian.engine.model.task_status import TaskStatus
from plinian.engine.volcano.session.history import resolve
from sessions import RELEASE, Document, document, group, node, pod, queue


def projected(*events: Event) -> Projector:
    """Return a projector that has seen these."""
    made = Projector(resolve(RELEASE))
    for one in events:
        made.apply(one)
    return made


def seen(*documents: Document) -> list[Event]:
    """Return the creations of objects, one after the other."""
    return [event("created", each, number) for number, each in enumerate(documents, start=1)]


@pytest.mark.parametrize("release", ["v1.8.2", "v1.12.1", "v1.15.1", "hardened"])
@given(story=happenings)
@settings(max_examples=60)
def test_rounds_of_cleanup_that_are_only_counted_come_to_the_same(
    release: str, story: list[Happening]
) -> None:
    counted, looked = Projector(resolve(release)), Projector(resolve(release))
    for each in events_of(story):
        counted.apply(each)
        looked.cache.job_cache.deleted_jobs.due()  # It has to look at every item again.
        looked.apply(each)
    assert list(map(str, counted.crashes)) == list(map(str, looked.crashes))
    one, other = (made.cache.job_cache.deleted_jobs.waiting() for made in (counted, looked))
    key = attrgetter("key")
    assert one.of(key) == other.of(key)
    assert list(counted.cache.jobs) == list(looked.cache.jobs)


BEGIN = (queue("default"), node("n1"), group("g"))


def test_a_pod_is_followed_from_creation_to_deletion() -> None:
    one, bound = pod("a", "g"), pod("a", "g", on="n1")
    made = projected(*seen(*BEGIN, one), event("updated", bound, 9))
    assert made.cache.jobs["ns/g"].tasks["uid-a"].status == TaskStatus.RUNNING
    assert made.cache.nodes["n1"].used.cpu == 1000
    made.apply(event("deleted", bound, 10))
    assert (made.cache.jobs["ns/g"].tasks, made.cache.nodes["n1"].used.cpu) == ({}, 0)


def test_a_deletion_without_a_payload_takes_the_version_that_was_held() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g", on="n1")))
    gone = event("deleted", pod("a", "g"), 10)
    made.apply(msgspec.structs.replace(gone, payload=b"{}"))
    assert made.cache.nodes["n1"].used.cpu == 0


def test_a_deletion_of_an_older_namesake_is_passed_over() -> None:
    younger = pod("a", "g", on="n1")
    younger["metadata"]["uid"] = "uid-younger"
    made = projected(*seen(*BEGIN, younger), event("deleted", pod("a", "g", on="n1"), 10))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-younger"]


def test_a_binding_that_no_version_shows_gives_the_pod_its_node() -> None:
    about = Reference("", "Pod", "ns", "a", "uid-a")
    made = projected(
        *seen(*BEGIN, pod("a", "g")), event_of("pod.bound", PodBound(node="n1"), about)
    )
    task = made.cache.jobs["ns/g"].tasks["uid-a"]
    assert (task.status, task.node_name) == (TaskStatus.BOUND, "n1")
    made.apply(event_of("pod.bound", PodBound(node="n2"), about))
    assert made.cache.jobs["ns/g"].tasks["uid-a"].node_name == "n1"


def listing(*uids: str, exact: bool = True, namespaces: tuple[str, ...] = ()) -> Event:
    """Return a list of pods."""
    listed = ListObserved(
        group="", listed="Pod", uids=tuple(sorted(uids)), exact=exact, namespaces=namespaces
    )
    return event_of("list.observed", listed)


def test_what_a_complete_list_lacks_is_gone() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g"), pod("b", "g")), listing("uid-b"))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-b"]
    made.apply(listing(namespaces=("other",)))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-b"]


def test_an_excerpt_is_compared_with_the_one_before_it() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g"), pod("b", "g")), listing("uid-b", exact=False))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-a", "uid-b"]
    made.apply(listing(exact=False))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-a"]


def test_what_lives_on_goes_after_its_last_version() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g")), listing("uid-a", exact=False))
    made.apply(listing(exact=False), lives_on=lambda reference: reference.uid == "uid-a")
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-a"]
    made.apply(event("updated", pod("a", "g", on="n1"), 9))
    assert made.cache.jobs["ns/g"].tasks == {}


def test_an_exact_list_says_nothing_of_what_has_a_later_version() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g"), pod("b", "g")))
    made.apply(listing(), lives_on=lambda reference: reference.uid == "uid-a")
    made.apply(event("updated", pod("a", "g", on="n1"), 9))
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-a"]


def test_what_a_list_lacks_is_told_from_another_kind_with_its_uid() -> None:
    made = projected(*seen(*BEGIN, node("n2"), pod("a", "g")), listing("uid-a", exact=False))
    made.apply(listing(exact=False), lives_on=lambda reference: reference.kind == "Pod")
    unlike = node("n2")
    unlike["metadata"]["uid"] = "uid-a"
    made.apply(event("updated", unlike, 9))
    assert "n2" in made.cache.nodes
    assert list(made.cache.jobs["ns/g"].tasks) == ["uid-a"]


def test_a_start_of_the_process_makes_the_cache_anew_with_its_flags() -> None:
    made = projected(*seen(*BEGIN, node("n2"), pod("a", "g", on="n1")))
    made.apply(event("deleted", node("n1"), 10))
    made.apply(event("created", node("n1"), 11))
    assert made.cache.nodes["n1"].used.cpu == 0
    flags = {"default-queue": "batch", "scheduler-name": "[volcano,mine]"}
    made.apply(event_of("process.started", ProcessStarted(component="controllers")))
    assert made.cache.nodes["n1"].used.cpu == 0
    made.apply(event_of("process.started", ProcessStarted(component="scheduler", flags=flags)))
    assert made.cache.nodes["n1"].used.cpu == 1000
    assert made.cache.options.default_queue == "batch"


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ({}, CacheOptions()),
        ({"scheduler-name": "[volcano,mine]"}, CacheOptions(scheduler_names=("volcano", "mine"))),
        ({"node-selector": "[pool:gpu]"}, CacheOptions(node_selectors=frozenset({"pool:gpu"}))),
        ({"priority-class": "false"}, CacheOptions(priority_classes=False)),
        (
            {"ignored-provisioners": "[a.io b.io]"},
            CacheOptions(ignored_provisioners=frozenset({"a.io", "b.io"})),
        ),
    ],
)
def test_flags_are_read_as_they_are_logged(flags: dict[str, str], options: CacheOptions) -> None:
    assert options_of(flags) == options


def test_what_go_could_not_decode_is_noted_and_passed_over() -> None:
    odd = node("n2")
    odd["status"]["allocatable"]["cpu"] = "many"
    made = projected(*seen(*BEGIN, odd), *seen(node("n3")))
    ((kind, key), found) = next(iter(made.cache.stores.undecoded.items()))
    assert (kind, key) == ("Node", "n2")
    assert found.fault == 'status.allocatable.cpu is "many", not a quantity'
    assert "n3" in made.cache.nodes


def test_a_crash_makes_the_cache_anew() -> None:
    made = projected(*seen(*BEGIN, pod("a", "g", on="n1")))
    made.cache.nodes["n1"].used.cpu = 0.0
    made.apply(event("deleted", pod("a", "g", on="n1"), 9))
    assert [crash.place[-1] for crash in made.crashes] == ["api.(*NodeInfo).RemoveTask"]
    assert (made.cache.nodes["n1"].used.cpu, made.cache.nodes["n1"].tasks) == (0, {})


def test_the_next_event_of_a_pod_heals_its_node() -> None:
    made = Projector(resolve(RELEASE))
    drift = DriftHistory(made)
    running = pod("a", "g", on="n1")
    events = [
        *seen(*BEGIN, running),
        event("deleted", node("n1"), 10),
        event("created", node("n1"), 11),
        event("updated", running, 12),
    ]
    found = []
    for position, one in enumerate(events, start=1):
        made.apply(one)
        drift.after(one, position)
        found.append({(place.field, since) for place, since in drift.differences()})
    lacking = {("pods[ns/a]", 6), ("used.cpu", 6), ("used.pods", 6)}
    assert found == [*[set()] * 5, lacking, set()]


names = st.sampled_from(("x1", "x2"))
documents = st.one_of(
    st.builds(node, names, st.integers(1, 4)),
    st.builds(
        lambda name, of, on, phase: pod(name, of, on=on, status={"phase": phase}),
        st.sampled_from(("p1", "p2", "p3")),
        st.sampled_from(("x1", "x2", "")),
        st.sampled_from(("", "x1", "x2")),
        st.sampled_from(("Pending", "Running", "Succeeded")),
    ),
    st.builds(group, names, st.integers(0, 2)),
    st.builds(queue, names),
    st.builds(
        lambda name, value, default: document(
            "PriorityClass", name, value=value, globalDefault=default
        ),
        names,
        st.integers(0, 3),
        st.booleans(),
    ),
)
happenings = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("updated", "updated", "deleted")), documents),
        st.tuples(st.just("list"), st.lists(st.sampled_from(("uid-p1", "uid-p2", "uid-p3")))),
        st.tuples(st.just("control"), st.sampled_from(("RESTART", "CLEANUP_HOLD", "CLEANUP_RUN"))),
    ),
    max_size=30,
)


@settings(max_examples=150)
@given(happenings)
def test_comparing_what_an_event_reaches_finds_all(history: list[tuple[str, Any]]) -> None:
    made = Projector(resolve(RELEASE))
    drift = DriftHistory(made)
    for position, (what, about) in enumerate(history, start=1):
        if what == "list":
            one = listing(*set(about))
        elif what == "control":
            one = event_of("control.marked", ControlMarked(control=about, step=1))
        else:
            one = event(what, about, position)
        made.apply(one)
        drift.after(one, position)
    found = [difference for difference, _ in drift.differences()]
    assert found == CacheComparison(made.cache, made.cache.stores).all()
