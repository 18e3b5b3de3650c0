"""The Jobs that exist, as complete lists show them."""

from __future__ import annotations

from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.events.payloads import ListObserved
from plinian.engine.invariants.owner_invariants import GROUP, KIND, Owners


def version(name: str, revision: int) -> Event:
    """Return a version of a Job."""
    return Event(
        kind="job.updated",
        reference=Reference(GROUP, KIND, "ns", name, f"uid-of-{name}"),
        payload=b"{}",
        resource_version=str(revision),
        revision=revision,
    )


def listing(revision: int, *names: str, exact: bool) -> Event:
    """Return a complete list of Jobs."""
    uids = tuple(sorted(f"uid-of-{name}" for name in names))
    return Event(
        kind="list.observed",
        reference=Reference(GROUP, KIND),
        payload=canonical_json(ListObserved(group=GROUP, listed=KIND, uids=uids, exact=exact)),
        resource_version=str(revision),
        revision=revision,
    )


def left(*events: Event) -> list[str]:
    """Return the names of the Jobs that are left after some events."""
    owners = Owners()
    for number, event in enumerate(events):
        later = {one.reference for one in events[number + 1 :]}
        owners.take(event, later.__contains__)
    return sorted(one.reference.name for one in owners.jobs.values())


def test_what_an_exact_list_lacks_is_gone_unless_a_later_version_shows_it() -> None:
    begin = (version("a", 1), version("b", 2), listing(5, exact=True))
    assert left(*begin) == []
    assert left(*begin, version("a", 6)) == ["a"]


def test_what_a_list_of_unknown_revision_lacks_goes_after_its_last_version() -> None:
    whole = listing(2, "a", "b", exact=False)
    begin = (version("a", 1), version("b", 2), whole, listing(3, "b", exact=False))
    assert left(*begin) == ["b"]
    assert left(*begin, version("a", 6)) == ["b"]
    assert left(*begin, version("a", 6), version("a", 7)) == ["b"]
