"""Pages of logs without lists of some kinds: what is computed from these is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from answer_worlds import log_of as made_log
from web_pages import data_at, page_at, pages_of

import plinian
from sessions import group, node, pod, queue

PAGES = ("queues", "jobs", "nodes")


@pytest.mark.parametrize("listed", [False, True])
def test_pages_say_that_what_is_computed_from_a_kind_without_a_list_is_not_known(
    tmp_path: Path, *, listed: bool
) -> None:
    held = (queue("gold"), queue("silver", capability={"cpu": "4"}), group("train", queue="gold"))
    pods = (pod("other", "train", 1),) if listed else ()
    with made_log(tmp_path, "", *held, node("n1"), *pods):
        pass
    with pages_of(tmp_path / "log.db") as client:
        places = [client.get(f"/@end/{one}").headers["location"] for one in PAGES]
        texts = [page_at(client, place).text for place in places]
        queues, jobs = (data_at(client, place)["lines"]["rows"] for place in places[:2])
        nodes = data_at(client, places[2])["nodes"]
    amounts = {"<unknown>"} if not listed else {None, "0"}
    assert {one["amounts"].get("allocated") for one in queues} == amounts
    assert {one["pods_unknown"] for one in [*queues, *jobs]} == {not listed}
    assert {one[side]["unknown"] for one in nodes for side in ("truth", "belief")} == {not listed}
    ages = (0, len(jobs), 0)  # The times of creation are not known either.
    for text, others in zip(texts, ages, strict=True):
        assert (text.count("<unknown>") > others) is not listed


def test_what_the_log_lacks_keeps_nothing_waiting(tmp_path: Path) -> None:
    with made_log(tmp_path, "", queue("gold"), node("n1"), pod("alone", "train", 1)):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        report = log.report(why=["pod/ns/alone"])
    with pages_of(tmp_path / "log.db") as client:
        place = client.get("/@end/queues").headers["location"].removesuffix("queues")
        page = page_at(client, f"{place}why/pod/ns/alone").text
    for text in (report, page):
        assert "This is why it is not known." in text
        assert "This keeps it waiting." not in text


def test_why_does_not_say_that_a_queue_holds_nothing_without_a_list_of_pods(
    tmp_path: Path,
) -> None:
    held = (queue("gold", capability={"cpu": "4"}), group("train", queue="gold"), node("n1"))
    with made_log(tmp_path, "", *held):
        pass
    with plinian.open(tmp_path / "log.db") as log:
        (account,) = (one.text for one in log.why("queue/gold").chain if "account of" in one.text)
    assert account.endswith("account of queue gold: an amount that is not known")
