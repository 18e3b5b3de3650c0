"""The same object at the same position, as every door of Plinian shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from click.testing import CliRunner
from web_pages import pages_of

import plinian
from plinian.engine.events import KINDS, Reference
from plinian.engine.kubernetes.resources import plural_of
from plinian.replay.cli.main import app
from plinian.replay.histories.related_objects import known_objects
from plinian.replay.objects.kind_names import ObjectName, resource_name
from plinian.replay.render.events import object_text

_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


class Shown(NamedTuple):
    """What a door shows of an object. What a door does not show is None.

    :param changed: the position of the last event that changed it, and its kind.
    """

    exists: bool
    status: str | None = None
    node: str | None = None
    changed: tuple[int, str] | None = None
    actor: str | None = None


class Doors(NamedTuple):
    """All doors to one log."""

    log: plinian.Log
    client: httpx.Client
    place: str

    def all(self, one: Reference, at: int, *, commands: bool = True) -> dict[str, Shown]:
        """Return what each door shows. :param commands: also those of the command line."""
        found = {
            **self.timeline(one, at),
            "object page": self.page(one, at),
            "JSON API": self.api(one, at),
            "Kubernetes API": self.kubernetes(one, at),
            "Python": self.python(one, at),
        }
        if commands:
            found |= {"get": self.get(one, at), "describe": self.describe(one, at)}
            found["history"] = self.history(one, at)
        return found

    def timeline(self, one: Reference, at: int) -> dict[str, Shown]:
        """Return what the panel, the lane and its drawing show."""
        query = {"sel": object_text(one), "pane": "state", "lanes": object_text(one)}
        answer = self.client.get(f"/@{at}.json", params=query)
        assert answer.status_code == 200, answer.text
        pane, drawing = answer.json()["data"]["pane"], answer.json()["data"]["drawing"]
        (lane,) = drawing["lanes"]
        changed = (pane["changed"], pane["kind"]) if pane["changed"] else None
        begun = [each for each in lane["stretches"] if each["begin"] <= at]
        drawn = Shown(exists=False)
        if lane["exists"]:  # A stretch ends where nothing begins.
            drawn = Shown(bool(begun), begun[-1]["phase"], begun[-1]["node"])
        return {
            "panel": Shown(pane["exists"], pane["phase"], pane["node"], changed, pane["actor"]),
            "lane": Shown(lane["exists"], lane["phase"], lane["node"]),
            "drawing of the lane": drawn,
        }

    def page(self, one: Reference, at: int) -> Shown:
        answer = self.client.get(f"/@{at}/{object_text(one)}.json")
        assert answer.status_code == 200, answer.text
        data = answer.json()["data"]
        last = data["changed"] or {"position": 0, "kind": "", "actor": ""}
        changed = (last["position"], last["kind"]) if last["position"] else None
        return Shown(data["exists"], data["status"], data["node"], changed, last["actor"])

    def api(self, one: Reference, at: int) -> Shown:
        place = {"namespace": one.namespace} if one.namespace else {}
        kind = resource_name(one.group, one.kind)
        objects = self.client.get(
            f"/plinian/v1/objects/{kind}/{one.name}", params={"at": f"@{at}", **place}
        )
        assert objects.status_code in {200, 404}, objects.text
        found = objects.json()["result"] if objects.status_code == 200 else []
        node = None if one.kind != "Pod" or not found else found[0]["spec"].get("nodeName", "")
        answer = self.client.get(
            "/plinian/v1/history",
            params={"object": object_text(one), "at": f"@{at}", "limit": 1000},
        )
        if answer.status_code == 404:
            return Shown(bool(found), node=node)
        past = answer.json()["result"]["happenings"]
        return Shown(bool(found), None, node, *_last(past))

    def kubernetes(self, one: Reference, at: int) -> Shown:
        version = next(
            (
                document["apiVersion"]
                for each in self.log.events(
                    objects=((one.group, one.kind),), namespace=one.namespace, name=one.name
                )
                if (document := json.loads(each.event.payload)).get("apiVersion")
            ),
            None,
        )
        if version is None:
            return Shown(exists=False)
        root = f"apis/{version}" if "/" in version else f"api/{version}"
        place = f"/namespaces/{one.namespace}" if one.namespace else ""
        plural = plural_of(one.group, one.kind)
        path = f"/at/@{at}/{root}{place}/{plural}/{one.name}"
        answer = self.client.get(path)
        assert answer.status_code in {200, 404}, answer.text
        if answer.status_code == 404:
            return Shown(exists=False)
        node = answer.json()["spec"].get("nodeName", "") if one.kind == "Pod" else None
        status = None
        if one.kind in {"Pod", "Node"} and not one.group:
            table = self.client.get(path, headers={"Accept": _TABLE}).json()
            heads = [each["name"] for each in table["columnDefinitions"]]
            status = table["rows"][0]["cells"][heads.index("Status")]
        return Shown(exists=True, status=status, node=node)

    def python(self, one: Reference, at: int) -> Shown:
        pair = (one.group, one.kind)
        named = ObjectName(one.group, one.kind, one.name, one.namespace)
        try:
            found = self.log.get(pair, one.name, at=f"@{at}", namespace=one.namespace or None)
        except plinian.ObjectNotFound:
            found = []  # type: ignore[assignment]
        node = None
        if one.kind == "Pod" and found:
            node = found[0]["spec"].get("nodeName", "")
        try:
            past = self.log.history(named, at=f"@{at}")
        except plinian.ObjectNotFound:
            return Shown(bool(found), node=node)
        last = past.changed
        if last is None:
            return Shown(bool(found), node=node)
        return Shown(bool(found), None, node, (last.position, last.kind), last.actor)

    def _run(self, *words: str) -> str:
        result = CliRunner().invoke(app, [*words, "--log", self.place])
        assert result.exit_code in {0, 1}, result.output
        return result.stdout if result.exit_code == 0 else ""

    def get(self, one: Reference, at: int) -> Shown:
        place = ("-n", one.namespace) if one.namespace else ()
        kind = resource_name(one.group, one.kind)
        text = self._run("get", kind, one.name, "--at", f"@{at}", "-o", "wide", *place)
        if not text:
            return Shown(exists=False)
        heads, row = (re.split(r" {2,}", line.strip()) for line in text.splitlines()[:2])
        cells = dict(zip(heads, row, strict=True))
        status = cells.get("STATUS", cells.get("STATE"))
        node = cells.get("NODE") if one.kind == "Pod" else None
        return Shown(True, _empty(status), _empty(node))

    def describe(self, one: Reference, at: int) -> Shown:
        place = ("-n", one.namespace) if one.namespace else ()
        kind = resource_name(one.group, one.kind)
        text = self._run("describe", kind, one.name, "--at", f"@{at}", *place)
        if not text:
            return Shown(exists=False)
        fields = dict(re.findall(r"^(Status|State|Node): +(.*?)(?:  .*)?$", text, re.MULTILINE))
        status = fields.get("Status", fields.get("State"))
        return Shown(True, _empty(status), _empty(fields.get("Node")))

    def history(self, one: Reference, at: int) -> Shown:
        text = self._run("history", object_text(one), "--at", f"@{at}", "-o", "json")
        past = json.loads(text)["happenings"] if text else []
        changed, actor = _last(past)
        ends = changed is None or changed[1].endswith((".deleted", "list.observed"))
        known = any(KINDS[each["kind"]].effect == 1 or each["revision"] for each in past)
        return Shown(not ends and known, None, None, changed, actor)


def _empty(cell: str | None) -> str | None:
    return "" if cell == "<none>" else cell


def _last(past: list[dict[str, Any]]) -> tuple[tuple[int, str] | None, str | None]:
    """Return the last event of a history that changed the object, and its actor."""
    found = next((each for each in reversed(past) if KINDS[each["kind"]].effect), None)
    return (None, None) if found is None else ((found["position"], found["kind"]), found["actor"])


def differences(shown: dict[str, Shown]) -> list[str]:
    """Return in what doors differ, in words."""
    found = []
    for field in Shown._fields:
        said = {
            door: value for door, one in shown.items() if (value := getattr(one, field)) is not None
        }
        if field in {"status", "node"}:
            said = {door: value for door, value in said.items() if shown[door].exists}
        if len(set(said.values())) > 1:
            found.append(f"{field}: {said}")
    return found


def objects_of(log: plinian.Log) -> dict[tuple[str, str], list[Reference]]:
    """Return all objects of a log that it holds a version of, by kind, without uids."""
    found: dict[tuple[str, str], dict[Reference, None]] = {}
    for one in known_objects(log.store, log.moment()):
        bare = Reference(one.group, one.kind, one.namespace, one.name)
        if one.uid:
            found.setdefault((one.group, one.kind), {})[bare] = None
    return {pair: list(some) for pair, some in sorted(found.items())}


def positions_of(log: plinian.Log, one: Reference, few: int) -> list[int]:
    """Return positions to look at an object: before it, at its events, and after each."""
    named = ObjectName(one.group, one.kind, one.name, one.namespace)
    past = [each.position for each in log.history(named).happenings]
    step = max(len(past) // few, 1)
    some = {past[0] - 1, past[-1], log.store.last(), *islice(past, 0, None, step)}
    return sorted(at for at in some if at > 0)


@contextmanager
def doors_of(place: Path) -> Iterator[Doors]:
    """Open all doors to a log."""
    with plinian.open(place, read_only=True) as log, pages_of(place) as client:
        yield Doors(log, client, str(place))
