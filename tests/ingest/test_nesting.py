"""How deep an object may be nested: the same in every format, and never more than can be read."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.conftest import run
from clusters import compact, listed, pod, watched
from plinian.engine.errors import EventMalformed
from plinian.engine.events import Event
from plinian.engine.ingest.audit import audit_log
from plinian.engine.ingest.components import cache_dump
from plinian.engine.ingest.lists import json_objects, yaml_objects
from plinian.engine.ingest.objects import scheduler_conf
from plinian.engine.ingest.reading.formats import Context, Format
from plinian.engine.ingest.scenario import scenario
from plinian.engine.ingest.scenario import scenario_inputs as external_inputs
from plinian.engine.ingest.watch import stream as watch_stream
from plinian.engine.nesting import MAX_DEPTH, NestedTooDeep, hold_depth

__all__ = ["run"]

Nest = Callable[[int], Any]


def lists(levels: int) -> Any:
    """Return so many lists in one another."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def objects(levels: int) -> Any:
    """Return so many objects in one another."""
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def widget(levels: int, nest: Nest) -> dict[str, Any]:
    """Return an object of so many levels altogether, in a field that nobody looks at."""
    return {**pod("w", 3), "apiVersion": "acme.io/v1", "kind": "Widget", "x": nest(levels - 1)}


def pods(levels: int, nest: Nest) -> dict[str, Any]:
    """Return the same as a pod, in its status, its spec and its labels' place in turn."""
    document = pod("p", 4)
    document["status"] = {"phase": "Pending", "x": nest(levels - 2)}
    return document


def specs(levels: int, nest: Nest) -> dict[str, Any]:
    return {**pod("p", 4), "spec": {"x": nest(levels - 2)}}


def in_watch(document: Any) -> bytes:
    return watched(("ADDED", pod("a", 1)), ("ADDED", document))


def in_indented_watch(document: Any) -> bytes:
    return json.dumps({"type": "ADDED", "object": document}, indent=0).encode()


def in_list(document: Any) -> bytes:
    return compact(listed(document))


def alone(document: Any) -> bytes:
    return compact(document)


def in_yaml(document: Any) -> bytes:
    return f"apiVersion: v1\nitems:\n- {json.dumps(document)}\nkind: List\n".encode()


def alone_in_yaml(document: Any) -> bytes:
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items()).encode()


def by_aliases(levels: int) -> bytes:
    """Return YAML that nests by naming: each anchor holds the one before it."""
    lines = [f"- &n{n} [{f'*n{n - 1}' if n else '1'}]\n" for n in range(levels)]
    return alone_in_yaml(pod("p", 4)) + b"x:\n" + "".join(lines).encode()


def in_audit(document: Any) -> bytes:
    record = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": "a",
        "stage": "ResponseComplete",
        "level": "RequestResponse",
        "verb": "create",
        "user": {"username": "admin"},
        "objectRef": {"resource": "widgets", "apiGroup": "acme.io", "name": "w"},
        "responseStatus": {"code": 201},
        "responseObject": document,
        "stageTimestamp": "2026-01-01T00:00:00Z",
    }
    return compact(record) + b"\n"


def asked_in_audit(document: Any) -> bytes:
    record = json.loads(in_audit(document))
    record["requestObject"] = record.pop("responseObject")
    return compact({**record, "level": "Request"}) + b"\n"


def in_scenario(document: Any) -> bytes:
    return compact({"steps": [{"events": [{"type": "ADDED", "object": document}]}]})


WAYS: dict[str, tuple[Format, Callable[[Any], bytes]]] = {
    "watch": (watch_stream.FORMAT, in_watch),
    "indented watch": (watch_stream.FORMAT, in_indented_watch),
    "list": (json_objects.FORMAT, in_list),
    "object": (json_objects.FORMAT, alone),
    "yaml list": (yaml_objects.FORMAT, in_yaml),
    "yaml object": (yaml_objects.FORMAT, alone_in_yaml),
    "audit answer": (audit_log.FORMAT, in_audit),
    "audit request": (audit_log.FORMAT, asked_in_audit),
    "scenario": (scenario.FORMAT, in_scenario),
}


def read(one: Format, data: bytes) -> list[Event]:
    context = Context(source="x")
    return list(one.events(io.BytesIO(data), context))


@pytest.mark.parametrize("nest", [lists, objects])
@pytest.mark.parametrize("make", [widget, pods, specs])
@pytest.mark.parametrize("way", sorted(WAYS))
def test_the_limit_is_the_same_in_every_format(
    way: str, make: Callable[[int, Nest], Any], nest: Nest
) -> None:
    one, written = WAYS[way]
    assert read(one, written(make(MAX_DEPTH, nest)))
    for deeper in (MAX_DEPTH + 1, 450, 700):
        with pytest.raises(EventMalformed, match="nested too deep"):
            read(one, written(make(deeper, nest)))


@pytest.mark.parametrize("deeper", [1, 100, 5000])
def test_aliases_nest_as_well(deeper: int) -> None:
    way = yaml_objects.FORMAT
    # They stand in a list, which is a level more.
    assert read(way, by_aliases(MAX_DEPTH - 2))
    with pytest.raises(EventMalformed, match="nested too deep"):
        read(way, by_aliases(MAX_DEPTH - 2 + deeper))


def test_other_inputs_have_the_limit_too() -> None:
    answer = {"type": "extender.answered", "verb": "v", "answer": objects(MAX_DEPTH - 1)}
    assert read(external_inputs.FORMAT, compact(answer))
    with pytest.raises(EventMalformed, match="nested too deep"):
        read(external_inputs.FORMAT, compact({**answer, "answer": objects(MAX_DEPTH)}))
    node = {"n": {"Name": "n", "x": objects(MAX_DEPTH - 2)}}
    assert read(cache_dump.FORMAT, compact(node) + b"\n")
    with pytest.raises(EventMalformed, match="nested too deep"):
        read(cache_dump.FORMAT, compact({"n": {"x": objects(MAX_DEPTH - 1)}}) + b"\n")
    conf = 'actions: "a"\ntiers:\n- %s\n'
    assert read(scheduler_conf.FORMAT, (conf % json.dumps(lists(MAX_DEPTH - 2))).encode())
    with pytest.raises(EventMalformed, match="nested too deep"):
        read(scheduler_conf.FORMAT, (conf % json.dumps(lists(MAX_DEPTH - 1))).encode())


def test_depth_counts_objects_and_lists() -> None:
    hold_depth(lists(MAX_DEPTH))
    hold_depth(1)
    hold_depth([lists(3), objects(MAX_DEPTH - 1)])
    for deeper in (lists(MAX_DEPTH + 1), [1, objects(MAX_DEPTH)]):
        with pytest.raises(NestedTooDeep):
            hold_depth(deeper)


COMMANDS = (
    *(("get", "pod/p", "-o", "json"), ("get", "pod/p", "-o", "yaml"), ("describe", "pod/p")),
    *(("get", "widgets.acme.io", "-o", "jsonpath={..a}"), ("history", "pod/p"), ("digest",)),
    *(("history", "widget/w", "-o", "json"), ("diff", "rv:5", "end"), ("events", "-o", "json")),
    *(("diff", "rv:5", "end", "-o", "json"), ("diff", "rv:5", "end", "--who"), ("verify",)),
    *(("belief",), ("export", "e.jsonl"), ("status",), ("session",)),
)


@pytest.mark.parametrize("nest", [lists, objects])
def test_what_is_as_deep_as_may_be_can_be_read_everywhere(
    nest: Nest, run: Callable[..., Result], tmp_path: Path
) -> None:
    events = []
    for make in (widget, specs, pods):
        for revision, levels in ((5, MAX_DEPTH - 1), (9, MAX_DEPTH)):
            document = make(levels, nest)
            document["metadata"]["resourceVersion"] = str(revision)
            events.append(("ADDED" if revision == 5 else "MODIFIED", document))
    for number, (_, document) in enumerate(events):
        base = int(document["metadata"]["resourceVersion"])
        document["metadata"]["resourceVersion"] = str(base * 10 + number)
    (tmp_path / "w.jsonl").write_bytes(b"".join(watched(one) for one in events))
    result = run("ingest", "w.jsonl", "--log", "l.db")
    assert result.exit_code == 0, result.stderr
    for command in COMMANDS:
        text = [word.replace("rv:5", "rv:55") for word in command]
        result = run(*text, "--log", "l.db")
        assert "nested too deep" not in result.stderr, (command, result.stderr)
        assert "internal error of Plinian" not in result.stderr, (command, result.stderr)
        assert result.exit_code == 0 or command == ("session",), (command, result.stderr)
