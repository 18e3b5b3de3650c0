"""Numbers of which a part is known only from a binding: no version of the pod shows its node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pods import START, bound, pod

import plinian
from plinian.engine.events import Event, Reference
from plinian.engine.events.codec import canonical_json
from plinian.engine.kubernetes.units import resource_amount
from plinian.replay.answers import blame_sums
from plinian.replay.answers.answering_session import NODE, QUEUE
from plinian.replay.answers.blame import blame_at
from plinian.replay.logs.log import Log, opened
from plinian.replay.objects.kind_names import ObjectName, plain_name
from plinian.replay.overview.held_since import held_since

SAMPLED = (900, 1830, 2440, 2600, 3300, 4450)
"""Positions of the demo's log. At 2600 bindings are known whose versions come later."""

RESOURCES = ("cpu", "memory", "nvidia.com/gpu")
SUMS = {
    QUEUE: ("pods", *(f"{what}.{name}" for what in ("allocated", "inqueue") for name in RESOURCES)),
    NODE: (
        "pods",
        *(f"{what}.{name}" for what in ("used", "idle", "releasing") for name in RESOURCES),
    ),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    found = tmp_path_factory.mktemp("bindings") / "demo.db"
    plinian.demo(found).close()
    with opened(str(found)) as log:
        yield log


@pytest.mark.parametrize("at", SAMPLED)
def test_parts_add_up_to_the_number(demo: Log, at: int) -> None:
    for pair, numbers in SUMS.items():
        for entry in demo.truth(f"@{at}").of(*pair):
            for number in numbers:
                named = ObjectName(*pair, entry.reference.name)
                found = blame_at(demo, named, number, f"@{at}")
                resource = number.partition(".")[2] or "pods"
                total = sum(resource_amount(resource, part.amount) for part in found.parts)
                assert total == resource_amount(resource, found.value), (
                    f"{plain_name(*pair)}/{named.name} {number}"
                )


def test_since_when_a_queue_holds_so_much_counts_bindings(demo: Log) -> None:
    named, at = ObjectName(*QUEUE, "bronze"), demo.moment("@2600")
    with pytest.MonkeyPatch.context() as patch:
        # What took something away is not looked for: that takes much longer than all else.
        patch.delattr(blame_sums, "last_loss")
        held = held_since(demo, at, named, "allocated.cpu", 9.5)
    assert held.estimate is not None


def version(revision: int, name: str, verb: str, **spec: str) -> Event:
    """Return a version of a pod that requests 2 cpu, seen a second after the one before."""
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "resourceVersion": str(revision)},
        "spec": {"containers": [{"resources": {"requests": {"cpu": "2"}}}], **spec},
        "status": {"phase": "Pending"},
    }
    made = pod(revision, name, verb=verb)
    return msgspec.structs.replace(made, payload=canonical_json(document))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with opened(tmp_path / "log.db", create=True) as made:
        made.store.append(
            [
                Event(
                    kind="node.created",
                    reference=Reference("", "Node", "", "n1", "uid-of-n1"),
                    payload=b'{"kind":"Node","metadata":{"name":"n1","uid":"uid-of-n1"},'
                    b'"status":{"allocatable":{"cpu":"8"}}}',
                    resource_version="1",
                    revision=1,
                    earliest=START,
                    latest=START,
                ),
                version(2, "early", "created"),
                version(3, "stays", "created", nodeName="n1"),
                bound("early", "n1", at=4),
                version(5, "early", "deleted"),
                version(6, "late", "created"),
                version(7, "other", "created"),
                bound("late", "n1", at=8),
                version(9, "other", "deleted"),
            ]
        )
        yield made


def used(log: Log, at: str) -> tuple[str, list[tuple[str, str]], str]:
    """Return a number, the kinds and objects of its parts, and how it changed last."""
    found = blame_at(log, ObjectName("", "Node", "n1"), "used.cpu", at)
    assert found.last is not None
    parts = [(part.event.kind, part.about) for part in found.parts]
    return found.value, parts, f"{found.last.kind} {found.last.about} {found.changed}"


STAYS = ("pod.created", "pod/shop/stays")


def test_a_pod_counts_since_its_binding_in_the_order_of_happening(log: Log) -> None:
    bindings = [("pod.bound", "pod/shop/late")]
    assert used(log, "end") == ("4", [STAYS, *bindings], "pod.bound pod/shop/late +2")
    assert used(log, "@4")[1:] == (
        [STAYS, ("pod.bound", "pod/shop/early")],
        "pod.bound pod/shop/early +2",
    )


def test_a_pod_that_only_a_binding_placed_takes_its_amount_away(log: Log) -> None:
    assert used(log, "rv:6") == ("2", [STAYS], "pod.deleted pod/shop/early -2")
