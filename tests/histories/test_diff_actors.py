"""Who may have made a difference that only two lists show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubectl_lists import Document, audited, small_cluster, take, take_audit

import plinian
from plinian import Log
from plinian.replay.histories.diff_actors import Maker
from plinian.replay.render.diff_views import maker_text

FIRST, AT, LATER = "2026-05-04T10:00:00Z", "2026-05-04T10:01:00Z", "2026-05-04T10:10:00Z"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with plinian.open(tmp_path / "a.db", create=True) as opened:
        items = small_cluster()
        take(opened, tmp_path / "first.json", items, FIRST)
        node = {**items[0], "metadata": {**items[0]["metadata"], "resourceVersion": "60"}}
        changed = [{**node, "spec": {"unschedulable": True}}, *items[1:]]
        take(opened, tmp_path / "later.json", changed, LATER)
        yield opened


def maker(log: Log) -> Maker:
    ((one,),) = log.who_made(log.diff(FIRST), FIRST).fields.values()
    return one


def patch(at: str = AT, **more: str) -> Document:
    return audited(more.pop("verb", "patch"), "nodes", "n1", at, namespace="", **more)


def test_the_only_request_in_the_time_of_the_change_is_perhaps_its_cause(
    log: Log, tmp_path: Path
) -> None:
    take_audit(log, tmp_path / "audit.log", [patch(user="bob"), patch("2026-05-04T09:00:00Z")])
    found = maker(log)
    assert (found.actor, found.perhaps) == ("", "bob")
    text = maker_text(found)
    assert text.startswith(f"by an unknown actor, perhaps bob (@{found.asked})  @{found.position}")


@pytest.mark.parametrize(
    "lines",
    [
        [patch("2026-05-04T09:00:00Z")],
        [patch("2026-05-04T10:20:00Z")],
        [patch(user="bob"), patch("2026-05-04T10:02:00Z")],
        [patch(verb="delete")],
    ],
)
def test_of_none_or_several_requests_nobody_is_named(
    log: Log, tmp_path: Path, lines: list[Document]
) -> None:
    take_audit(log, tmp_path / "audit.log", lines)
    assert maker(log).perhaps == ""


@pytest.mark.parametrize(
    ("more", "actor"),
    [([], "bob"), (["patch"], ""), (["deletecollection"], "")],
    ids=["one", "another of the object", "one of the kind"],
)
def test_who_wrote_with_an_unknown_result_is_named_if_it_can_only_be_that_request(
    tmp_path: Path, more: list[str], actor: str
) -> None:
    deletion = audited("delete", "nodes", "n1", AT, namespace="", user="bob")
    others = [
        audited(verb, "nodes", "n1" if verb == "patch" else "", LATER, namespace="", user="eve")
        for verb in more
    ]
    with plinian.open(tmp_path / "a.db", create=True) as log:
        take(log, tmp_path / "first.json", small_cluster(), FIRST)
        take_audit(log, tmp_path / "audit.log", [deletion, *others])
        difference = log.diff(FIRST)
        (stale,) = [one for one in difference.changed if one.object.name == "n1"]
        assert not stale.changes
        assert log.who_made(difference, FIRST).objects[stale.object].actor == actor
