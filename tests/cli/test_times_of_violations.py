"""When violations began and ended, as far as it is known."""

from __future__ import annotations

import json

from click.testing import CliRunner

from plinian.replay.cli.main import app


def test_the_begin_and_the_end_of_a_violation_have_both_bounds(demo_log: str) -> None:
    words = ["check", "--log", demo_log, "--settle", "0s", "-o", "json"]
    found = json.loads(CliRunner().invoke(app, words).stdout)["violations"]
    places = [place for one in found for place in (one["since"], one["until"]) if place]
    assert all(one["earliest"] <= one["time"] <= one["latest"] for one in places)
    assert any(one["earliest"] < one["latest"] for one in places)
    words = ["events", "--log", demo_log, "--kind", "pod.*", "-o", "json"]
    events = json.loads(CliRunner().invoke(app, words).stdout)
    versions = {one["position"]: one for one in events["items"]}
    known = [one for one in places if one["position"] in versions]
    assert known
    for one in known:
        version = versions[one["position"]]
        assert (one["earliest"], one["latest"]) == (version["earliest"], version["latest"])
