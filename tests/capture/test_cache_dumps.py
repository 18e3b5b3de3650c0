"""Dumps of the scheduler's cache, taken by a recorder from the scheduler's pod."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from api_store import POD, ApiStore, StoredKind
from model_api_server import ModelApiServer

from plinian.engine.events import Event
from plinian.engine.kubernetes.units import SECOND_US, parse_time
from plinian.replay.capture.cache_dumps import SOURCE, CacheDumps
from plinian.replay.capture.cluster_access import Unreachable
from plinian.replay.capture.dump_commands import DumpCommand, DumpRefused, dump_command
from plinian.replay.capture.outbox import Outbox, Room
from plinian.replay.capture.pod_exec import ExecContainer

DUMP = Path(__file__).parents[2] / "docs/how-to/snapshot-1795226284.json.gz"
LEASE = StoredKind("coordination.k8s.io", "v1", "Lease", "leases")
NOW = parse_time("2026-12-01T12:00:00Z")
LEADS = ["volcano-scheduler-a_0f7c"]


def scheduler(name: str = "a", **changes: Any) -> dict[str, Any]:
    """Return a pod of the scheduler that started an hour ago."""
    container = {"name": "s", "image": "r:5000/volcanosh/vc-scheduler:v1.12.1", "args": ["-v=3"]}
    started = {"name": "s", "state": {"running": {"startedAt": "2026-12-01T11:00:00Z"}}}
    return {
        "metadata": {"name": f"volcano-scheduler-{name}", "namespace": "volcano-system"},
        "spec": {"containers": [{**container, **changes.get("container", {})}]}
        | changes.get("spec", {}),
        "status": {"phase": "Running", "containerStatuses": [started]} | changes.get("status", {}),
    }


def test_the_scheduler_that_leads_is_asked() -> None:
    chosen = dump_command([scheduler("b"), scheduler("a")], LEADS, NOW)
    assert isinstance(chosen, DumpCommand)
    assert chosen.container == ExecContainer("volcano-system", "volcano-scheduler-a", "s")
    assert "/tmp/snapshot-*.json" in chosen.command[-1]


def test_a_scheduler_that_elects_no_leader_leads_and_its_flags_name_the_folder() -> None:
    args = ["--leader-elect=false", "--cache-dump-dir=/dumps of all"]
    chosen = dump_command([scheduler(container={"args": args})], [], NOW)
    assert isinstance(chosen, DumpCommand)
    assert "'/dumps of all'/snapshot-*.json" in chosen.command[-1]


@pytest.mark.parametrize(
    ("pod", "holders", "why"),
    [
        (scheduler(), [], "which pod"),
        (scheduler(), ["volcano-controllers-a_1"], "which pod"),
        (scheduler(container={"image": "nginx:1"}), LEADS, "which pod"),
        (scheduler(status={"phase": "Pending"}), LEADS, "which pod"),
        (scheduler(spec={"shareProcessNamespace": True}), LEADS, "shares"),
        (scheduler(container={"image": "volcanosh/vc-scheduler:v1.8.2"}), LEADS, "v1.8"),
        (scheduler(container={"args": ["--cache-dumper=false"]}), LEADS, "--cache-dumper"),
        (scheduler(status={"containerStatuses": []}), LEADS, "less than a minute"),
    ],
)
def test_no_signal_is_sent_where_it_could_end_a_process(
    pod: dict[str, Any], holders: list[str], why: str
) -> None:
    refused = dump_command([pod], holders, NOW)
    assert isinstance(refused, DumpRefused)
    assert why in refused.why


class Answers:
    """Answers commands with what is given; an error is raised."""

    def __init__(self, *answers: bytes | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[ExecContainer] = []

    def run(self, container: ExecContainer, command: Sequence[str], seconds: float) -> bytes:
        """Return the next answer."""
        del command, seconds
        self.asked.append(container)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def taking(commands: Answers, *, pods: bool = True) -> CacheDumps:
    """Return what takes dumps of a cluster with a scheduler that leads."""
    store = ApiStore()
    if pods:
        store.put("ADDED", POD, {**scheduler(), "kind": "Pod", "apiVersion": "v1"})
    lease = {"name": "vc-scheduler", "namespace": "volcano-system"}
    store.put("ADDED", LEASE, {"metadata": lease, "spec": {"holderIdentity": LEADS[0]}})
    server = ModelApiServer(store, kinds=(POD, LEASE))
    return CacheDumps(
        server,
        commands,
        Outbox(Room(2**30)),
        namespace="volcano-system",
        every=300,
        cluster="default",
        now=lambda: NOW,
    )


def delivered(dumps: CacheDumps) -> Sequence[Event]:
    """Return what was taken so far."""
    taken = dumps.outbox.take()
    return [] if taken is None else taken.events


def printed(second: int) -> bytes:
    """Return what the command prints for a dump."""
    return f"/tmp/snapshot-{second}.json\n".encode() + gzip.decompress(DUMP.read_bytes())


def test_each_dump_is_stored_with_its_second() -> None:
    dumps = taking(Answers(printed(1795226284), printed(1795226584)))
    dumps.take()
    dumps.take()
    events = delivered(dumps)
    assert [event.kind for event in events] == ["cache.dumped"] * 10
    assert {event.source for event in events} == {SOURCE}
    times = [(event.observed_at or 0) // SECOND_US for event in events]
    assert times == [1795226284] * 5 + [1795226584] * 5
    assert len({event.line for event in events}) == 10
    assert (dumps.state.phase, dumps.state.fault) == ("watching", "")


def test_what_goes_wrong_is_said_and_the_next_dump_is_taken() -> None:
    whole = printed(1795226284)
    dumps = taking(Answers(Unreachable("forbidden"), whole[:-50], b"x\n{}\n", whole))
    for word in ("forbidden", "cut off", "no dump"):
        dumps.take()
        assert word in dumps.state.fault
        assert dumps.state.phase == "waiting"
        assert delivered(dumps) == []
    dumps.take()
    assert len(delivered(dumps)) == 5
    assert dumps.state.fault == ""


def test_without_a_scheduler_none_is_asked() -> None:
    commands = Answers()
    dumps = taking(commands, pods=False)
    dumps.take()
    assert "which pod" in dumps.state.fault
    assert commands.asked == []


def test_it_ends_when_it_is_stopped() -> None:
    dumps = taking(Answers(printed(1795226284)))
    dumps.start()
    dumps.stop()
    dumps.join(10)
    assert not dumps.is_alive()
    assert dumps.crash is None
