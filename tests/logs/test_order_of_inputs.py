"""The order in which inputs are ingested changes no answer, together or one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from random import Random

import msgspec
import pytest
from click.testing import CliRunner
from web_pages import pages_of

import plinian
from plinian import Log
from plinian.engine.events import Event, Reference, canonical_json
from plinian.replay.cli.main import app
from plinian.replay.recorded.recorded_sessions import recorded_sessions
from plinian.replay.series.period import observed_from

RECORDING = Path(str(files("plinian.replay"))) / "recordings" / "quickstart"
NAMES = sorted(one.name for one in RECORDING.iterdir() if one.suffix == ".xz")
TOLD = ("version.timed", "version.attributed")
"""Kinds of events that say more of a version; they differ, and what they lead to does not."""

Orders = dict[str, Sequence[Sequence[str]]]

DATA = sorted(
    str(one)
    for pattern in ("list-*", "watch-*", "audit-*")
    for one in (Path(__file__).parents[1] / "data").glob(pattern)
)
COMMANDS = (
    "status",
    "session list",
    "session",
    "fidelity session:6",
    "check",
    *(f"get {kind} -A -o json" for kind in ("pods", "podgroups", "jobs")),
    *(f"get {kind} -o json" for kind in ("nodes", "queues")),
    "diff -30s end -o json",
)
OF_LOG = re.compile(
    r"@\d+|^events .*|^INPUT(.|\n)*?\n\n"
    r'|"(position|known|source|line|recorded_at|attributed_at)": [^,\n]*|\b\S+\.db\b',
    re.MULTILINE,
)
"""What an answer says of the log itself: positions, inputs, how many events it holds."""


def drawn(names: Sequence[str]) -> Sequence[str]:
    return Random(len(names)).sample(names, len(names))


ORDERS: Orders = {
    "together": [NAMES],
    "one after the other": [[name] for name in NAMES],
    "the last first": [[name] for name in NAMES[::-1]],
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Log]]:
    with ExitStack() as stack:
        found = []
        for name, calls in ORDERS.items():
            place = tmp_path_factory.mktemp("orders") / f"{name.replace(' ', '-')}.db"
            log = stack.enter_context(plinian.open(place, create=True))
            for some in calls:
                log.ingest([str(RECORDING / one) for one in some], no_checkpoint=True, year=2026)
            found.append(log)
        yield found


LISTED, WATCHED = "list", "watch"


def version(verb: str, revision: int, source: str, actor: str = "") -> Event:
    """Return a version of a node, as a list, a watch or an audit log has it."""
    document = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "at": revision}
    time = 1_750_000_000_000_000 + revision * 1_000_000
    return Event(
        kind=f"node.{verb}",
        reference=Reference("", "Node", "", "n", "uid-of-n"),
        payload=canonical_json(document),
        resource_version=str(revision),
        revision=revision,
        earliest=None if verb == "observed" else time,
        latest=time,
        actor=actor,
        source=source,
        line=revision,
    )


@pytest.mark.parametrize("actor", ["", "alice"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_version_is_called_by_what_happened_also_if_a_list_came_first(
    tmp_path: Path, actor: str, order: int
) -> None:
    lists = [version("observed", 3, LISTED), version("observed", 5, LISTED)]
    writes = [version("created", 3, WATCHED, actor), version("updated", 5, WATCHED, actor)]
    place = str(tmp_path / "a.db")
    with plinian.open(place, create=True) as log:
        for some in (lists, writes)[::order]:
            log.store.append(some)
        kinds = [one.kind for one in log.history("node/n").happenings]
        assert kinds == ["node.created", "node.updated"]
        before = [one.kind for one in log.history("node/n", at="@2").happenings]
        assert before == (["node.observed"] * 2 if order == 1 else kinds), "as known then"
        versions = [one for one in log.events() if one.event.kind.startswith("node.")]
        assert [one.event.kind for one in versions] == kinds
        for kind, revision in (("node.created", 3), ("node.updated", 5)):
            assert [one.event.revision for one in log.events(kinds=kind)] == [revision]
        assert [one.event.revision for one in log.events(kinds="node.*")] == [3, 5]
        assert list(log.events(kinds="node.observed")) == [], "no version is only seen"
        last = log.events(kinds=("node.created", "node.updated"), newest_first=True, limit=1)
        assert [one.event.revision for one in last] == [5]
        exported = tmp_path / "events.ndjson"
        log.export(exported)
        lines = [json.loads(line)["kind"] for line in exported.read_text("utf-8").splitlines()]
        assert [kind for kind in lines if kind.startswith("node.")] == kinds
        assert observed_from(log, log.moment()) == 1_750_000_003_000_000
    shown = CliRunner().invoke(app, ["events", "--kind", "node.created", "--log", place])
    assert [line.split()[1] for line in shown.stdout.splitlines()[1:]] == ["node.created"]
    with pages_of(tmp_path / "a.db") as client:
        rows = client.get("/@1.json", params={"q": "node.created"}).json()["data"]["events"]
        assert [one["kind"] for one in rows["rows"]] == ["node.created"]
        answer = client.get("/plinian/v1/events", params={"kind": "node.created"}).json()
        assert [one["kind"] for one in answer["result"]] == ["node.created"]


def test_a_version_that_is_only_timed_later_is_no_change(tmp_path: Path) -> None:
    """A watch that begins with an old object says when it saw it, and nothing that happened."""
    old = version("observed", 3, LISTED)
    seen = msgspec.structs.replace(old, source=WATCHED, latest=(old.latest or 0) - 1_000_000)
    changed = version("updated", 90, WATCHED)
    found = []
    for number, some in enumerate(([old, seen, changed], [seen, changed, old])):
        with plinian.open(tmp_path / f"{number}.db", create=True) as log:
            for one in some:
                log.store.append([one])
            found.append(observed_from(log, log.moment()))
    assert found == [changed.earliest] * 2


def answers(log: Log, place: str) -> dict[str, str]:
    """Return what commands print of a cluster, without what they say of the log itself."""
    found = {}
    names = [
        f"{kind} {word}/{one.reference.namespace}/{one.reference.name}"
        for kind in ("history -o json", "why")
        for word, resource in (("pod", "pods"), ("podgroup", "podgroups"))
        for one in list(log.entries(resource))[:2]
    ]
    names += [f"history node/{one.reference.name} -o json" for one in log.entries("nodes")[:2]]
    for command in (*COMMANDS, *names):
        result = CliRunner().invoke(app, [*command.split(), "--log", place])
        assert result.exit_code in {0, 1, 2}, result.output
        text = OF_LOG.sub("_", result.stdout + result.stderr)
        found[command] = re.sub(r"(\n +\d+,?)+|[ ─]+", " ", text)
    return found


def ingested(place: Path, calls: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return what is answered after ingests with their index; ``logs`` has logs without any."""
    with plinian.open(place, create=True) as log:
        for some in calls:
            log.ingest(some, year=2026)
        return answers(log, str(place))


@pytest.mark.slow
@pytest.mark.parametrize("names", [[str(RECORDING / one) for one in NAMES], DATA])
def test_every_answer_is_the_same_in_any_order(tmp_path: Path, names: list[str]) -> None:
    first = ingested(tmp_path / "first.db", [names])
    assert any("created" in text for text in first.values())
    orders = {
        "together, the last first": [names[::-1]],
        "one after the other": [[one] for one in names],
        "drawn": [[one] for one in drawn(names)],
    }
    for number, (order, calls) in enumerate(orders.items()):
        other = ingested(tmp_path / f"{number}.db", calls)
        for command, text in first.items():
            assert other[command] == text, (order, command)


def told(log: Log) -> set[tuple[object, ...]]:
    """Return what a log says of each version and request: between which times, and by whom."""
    return {
        (event.event.reference, event.event.resource_version, event.span, event.actor)
        for event in log.events()
        if event.event.kind not in TOLD
    }


def test_times_and_actors_are_the_same(logs: list[Log]) -> None:
    first, *others = [told(log) for log in logs]
    for other in others:
        assert not first ^ other


def test_sessions_and_what_they_did_are_the_same(logs: list[Log]) -> None:
    first, *others = [
        [
            (one.opened, one.closed, list(one.binds.items()), one.groups, one.wrote)
            for one in recorded_sessions(log.store, log.moment())
        ]
        for log in logs
    ]
    assert first
    for other in others:
        assert first == other


@pytest.mark.parametrize("at", ["end", "-30s", "-90s", "session:6", "session:79"])
def test_the_state_is_the_same_at_every_moment(logs: list[Log], at: str) -> None:
    assert len({(log.digest(at), log.moment(at).revision) for log in logs}) == 1


def test_histories_and_gaps_are_the_same(logs: list[Log]) -> None:
    pods = [one.reference for one in logs[0].entries("pods", at="-60s")][:5]
    for log in logs[1:]:
        for pod in pods:
            name = f"pod/{pod.namespace}/{pod.name}"
            one, other = (
                [(line.revision, line.span, line.actor, line.note) for line in some.happenings]
                for some in (logs[0].history(name), log.history(name))
            )
            assert one == other
        known = [some.not_known(at="-60s") for some in (logs[0], log)]
        assert known[0] == known[1]
