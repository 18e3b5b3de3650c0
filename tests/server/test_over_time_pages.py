"""The pages over time: their window is that of the timeline, and jobs have their phases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from web_pages import data_at, links_of, page_at, pages_of

import plinian

AT = "/@1901"
PATHS = ("queues/over-time", "nodes/over-time", "jobs/over-time")
WINDOW = "from=@1500&to=@3000"


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_the_window_of_the_query_is_shown(client: httpx.Client, path: str) -> None:
    whole = data_at(client, f"{AT}/{path}")["axis"]
    axis = data_at(client, f"{AT}/{path}?{WINDOW}")["axis"]
    assert whole["begin"] < axis["begin"] < axis["end"] < whole["end"]
    times = [data_at(client, f"/@{at}/find?q=@{at}")["moment"]["time"] for at in (1500, 3000)]
    assert [axis["begin"][:19], axis["end"][:19]] == [text[:19] for text in times]


@pytest.mark.parametrize("path", PATHS)
def test_only_an_end_begins_with_the_log(client: httpx.Client, path: str) -> None:
    whole = data_at(client, f"{AT}/{path}")["axis"]
    axis = data_at(client, f"{AT}/{path}?to=@3000")["axis"]
    assert axis["begin"] == whole["begin"]
    assert axis["end"] < whole["end"]


@pytest.mark.parametrize("path", PATHS)
def test_a_window_leads_back_to_the_whole_log(client: httpx.Client, path: str) -> None:
    assert f"{AT}/{path}" in links_of(page_at(client, f"{AT}/{path}?{WINDOW}"))
    assert "The whole log" not in page_at(client, f"{AT}/{path}").text


@pytest.mark.parametrize("query", ["from=@3000&to=@3000", "from=@3000&to=@1500"])
def test_an_empty_window_is_said_and_the_whole_log_is_shown(
    client: httpx.Client, query: str
) -> None:
    whole = data_at(client, f"{AT}/nodes/over-time")["axis"]
    axis = data_at(client, f"{AT}/nodes/over-time?{query}")["axis"]
    assert (axis["begin"], axis["end"]) == (whole["begin"], whole["end"])
    assert "the whole log is shown" in page_at(client, f"{AT}/nodes/over-time?{query}").text


def test_a_window_outside_of_the_moment_has_no_line_for_it(client: httpx.Client) -> None:
    assert data_at(client, f"/@1000/nodes/over-time?{WINDOW}")["axis"]["now"] is None
    assert data_at(client, f"/@1901/nodes/over-time?{WINDOW}")["axis"]["now"] is not None


def test_links_of_the_timeline_keep_its_window(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/queues?{WINDOW}")
    assert f"{AT}/queues/over-time?{WINDOW}" in links_of(page)


def test_a_job_has_the_phases_of_its_podgroup(client: httpx.Client, demo_log: Path) -> None:
    found = data_at(client, f"{AT}/jobs/over-time")
    row = next(one for one in found["rows"] if one["name"] == "default/big-gang")
    shown = list(dict.fromkeys(one["phase"] for one in row["pieces"]))
    with plinian.open(demo_log) as log:
        past = log.history(row["podgroup"])
    phases = [
        change.new
        for one in past.happenings
        for change in one.changes
        if change.path == "status.phase" and isinstance(change.new, str)
    ]
    assert shown == list(dict.fromkeys(phases))
    assert all(0 <= one["x"] <= one["x"] + one["width"] <= 100.01 for one in row["pieces"])


def test_a_job_that_is_not_there_in_the_window_has_no_row(client: httpx.Client) -> None:
    names = {one["name"] for one in data_at(client, f"{AT}/jobs/over-time?to=@100")["rows"]}
    assert "default/big-gang" not in names


@pytest.mark.parametrize("path", PATHS)
def test_ticks_are_round_times_and_lead_there(client: httpx.Client, path: str) -> None:
    ticks = data_at(client, f"{AT}/{path}")["axis"]["ticks"]
    times = [tick["time"] for tick in ticks]
    assert times == ["01:53:00", "01:53:30", "01:54:00", "01:54:30", "01:55:00"]
    links = links_of(page_at(client, f"{AT}/{path}"))
    assert f"/@t:{ticks[0]['exact']}/{path}" in links
    assert client.get(f"/@t:{ticks[0]['exact']}/{path}").status_code == 302


def test_a_chart_has_round_amounts_at_its_left_and_each_amount_it_held(
    client: httpx.Client,
) -> None:
    charts = {one["queue"]: one for one in data_at(client, f"{AT}/queues/over-time")["charts"]}
    gold = charts["gold"]
    assert [tick["text"] for tick in gold["ticks"]] == ["0", "10"]
    heights = [tick["y"] for tick in gold["ticks"]]
    assert heights == sorted(heights, reverse=True)
    assert max(float(run["text"].split()[0]) for run in gold["runs"]) == 17
    assert all(run["y"] > 0 for run in gold["runs"]), "no amount runs along the upper edge"
    memory = data_at(client, f"{AT}/queues/over-time?resource=memory")["charts"][0]["ticks"]
    assert [tick["text"] for tick in memory][:2] == ["0", "64Gi"]


def test_amounts_of_charts_are_in_whole_ones(client: httpx.Client) -> None:
    text = client.get("/@1901/queues/over-time?resource=cpu").text
    assert "<b>39.5</b> allocated" in text
    assert not re.search(r"[0-9]00m\b", text)
