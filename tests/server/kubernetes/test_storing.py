"""One write as a value: the versions that it makes, also of objects that others would change."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest

from plinian.engine.kubernetes.api_errors import Conflict
from plinian.replay.server.kubernetes.write.storing import DeletionOptions, Storage, owners_of

Document = dict[str, Any]
NOW = 1_795_226_000_000_000


def thing(name: str, kind: str = "ConfigMap", *owners: str, **rest: Any) -> Document:
    """Return an object, and who owns it."""
    references = [{"apiVersion": "v1", "kind": "X", "name": one, "uid": one} for one in owners]
    metadata: Document = {"name": name, "namespace": "ml", "uid": name, "resourceVersion": "5"}
    if references:
        metadata["ownerReferences"] = references
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {**metadata, **rest.pop("also", {})},
        **rest,
    }


class Cluster:
    """Objects that a write may concern."""

    def __init__(self, *things: Document) -> None:
        self._things = things

    def owned_by(self, uid: str) -> Iterable[Document]:
        """Return the objects that name an owner."""
        return [one for one in self._things if uid in owners_of(one)]

    def inside(self, namespace: str) -> Iterable[Document]:
        """Return the objects in a namespace."""
        return [one for one in self._things if one["metadata"]["namespace"] == namespace]

    def has(self, uid: str) -> bool:
        """Return whether there is an object with a uid."""
        return any(one["metadata"]["uid"] == uid for one in self._things)

    def is_gone(self, owner: Document) -> bool:
        """Return whether the object of an owner reference is known not to exist."""
        return not self.has(owner["uid"]) and owner["uid"] != "unknown"


def storage(*things: Document) -> Storage:
    """Return what carries out one write."""
    numbers = count(1)
    return Storage(Cluster(*things), NOW, lambda: f"uid-{next(numbers)}")


def written(made: Storage) -> list[str]:
    """Return what was written, in short."""
    return [f"{one.verb} {one.document['metadata']['name']}" for one in made.versions]


def test_what_a_client_must_not_choose_is_given_by_the_server() -> None:
    made = storage()
    made.create(thing("a", also={"creationTimestamp": "1999-01-01T00:00:00Z", "generation": 9}))
    (version,) = made.versions
    metadata = version.document["metadata"]
    assert version.verb == "created"
    assert (metadata["uid"], metadata["creationTimestamp"]) == ("uid-1", "2026-11-21T01:53:20Z")
    assert "generation" not in metadata


def test_a_binding_keeps_other_conditions_and_says_which_node() -> None:
    ready = {"type": "Ready", "status": "False"}
    old = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pod = thing("p", "Pod", spec={}, status={"conditions": [ready, old]})
    made = storage(pod)
    made.bind(pod, "n1", "p", {"a": "b"})
    (version,) = made.versions
    assert version.bound == version.document["spec"]["nodeName"] == "n1"
    assert version.document["metadata"]["annotations"] == {"a": "b"}
    assert version.document["status"]["conditions"] == [
        ready,
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-21T01:53:20Z"},
    ]
    with pytest.raises(Conflict):
        storage(pod).bind(pod, "n1", "another", {})


def test_only_what_nothing_else_owns_goes_with_an_owner() -> None:
    owner, other = thing("owner"), thing("other")
    alone, shared = (
        thing("alone", "ConfigMap", "owner"),
        thing("shared", "ConfigMap", "owner", "other"),
    )
    below = thing("below", "ConfigMap", "alone")
    made = storage(owner, other, alone, shared, below)
    made.delete(owner, DeletionOptions())
    assert written(made) == [
        "deleted owner",
        "deleted alone",
        "updated shared",
        "deleted below",
    ]
    assert list(owners_of(made.versions[2].document)) == ["other"]


def test_what_comes_after_its_owner_is_gone_is_deleted() -> None:
    made = storage()
    made.create(thing("late", "ConfigMap", "owner"))
    assert written(made) == ["created late", "deleted late"]


def test_what_still_has_an_owner_loses_the_others() -> None:
    made = storage(thing("other"))
    made.create(thing("late", "ConfigMap", "owner", "other"))
    assert written(made) == ["created late", "updated late"]
    assert list(owners_of(made.versions[1].document)) == ["other"]


def test_an_owner_that_may_exist_stays() -> None:
    made = storage()
    made.create(thing("late", "ConfigMap", "unknown"))
    assert written(made) == ["created late"]


def test_what_gets_an_owner_that_is_gone_is_deleted() -> None:
    held = thing("held")
    made = storage(held)
    made.update(held, thing("held", "ConfigMap", "owner"))
    assert written(made) == ["updated held", "deleted held"]
    again = storage(thing("held", "ConfigMap", "owner"))
    again.update(
        thing("held", "ConfigMap", "owner"), thing("held", "ConfigMap", "owner", data={"a": "b"})
    )
    assert written(again) == ["updated held"], "only new owners are looked for"


def test_owners_in_a_circle_come_to_an_end() -> None:
    one, two = thing("one", "ConfigMap", "two"), thing("two", "ConfigMap", "one")
    made = storage(one, two)
    made.delete(one, DeletionOptions())
    assert written(made) == ["deleted one", "deleted two"]


def test_in_the_foreground_an_owner_goes_last() -> None:
    owner, owned = thing("owner"), thing("owned", "ConfigMap", "owner")
    made = storage(owner, owned)
    made.delete(owner, DeletionOptions(propagation="Foreground"))
    assert written(made) == ["deleted owned", "deleted owner"]


def test_orphans_lose_their_owner_and_stay() -> None:
    owner, owned = thing("owner"), thing("owned", "ConfigMap", "owner")
    made = storage(owner, owned)
    made.delete(owner, DeletionOptions(propagation="Orphan"))
    assert sorted(written(made)) == ["deleted owner", "updated owned"]


def test_a_pod_with_a_finalizer_ends_when_it_is_removed() -> None:
    pod = thing("p", "Pod", spec={"nodeName": "n1"}, also={"finalizers": ["x/y"]})
    made = storage(pod)
    made.delete(pod, DeletionOptions(grace=5))
    assert written(made) == ["updated p"]
    ending = {**made.versions[0].document}
    ending["metadata"] = {**ending["metadata"], "resourceVersion": "6"}
    assert ending["metadata"]["deletionGracePeriodSeconds"] == 5
    free = {**ending, "metadata": {**ending["metadata"], "finalizers": []}}
    after = storage(ending)
    after.update(ending, free)
    assert written(after) == ["updated p", "deleted p"]


def test_a_pod_that_was_already_ending_can_be_ended() -> None:
    pod = thing(
        "p", "Pod", spec={"nodeName": "n1"}, also={"deletionTimestamp": "2026-11-21T01:00:00Z"}
    )
    made = storage(pod)
    made.delete(pod, DeletionOptions())
    assert written(made) == ["deleted p"]


def test_nulls_make_no_difference() -> None:
    held = thing("a", spec={"template": {"metadata": {"creationTimestamp": None}}})
    made = storage(held)
    made.update(held, {**held, "spec": {"template": {"metadata": {}}}})
    assert made.versions == []
