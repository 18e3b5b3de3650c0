"""What queues are entitled to: the numbers of the session's accounts, and what they lead to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from answer_worlds import CAPACITY, NODES, PROPORTION, Document, listing, log_of
from browsers import browser, chromium, tab
from click.testing import CliRunner
from playwright.sync_api import expect
from serving import ended, serving

import plinian
from plinian.engine.errors import ObjectNotFound
from plinian.engine.kubernetes.units import resource_amount
from plinian.engine.volcano.session.history import resolve
from plinian.replay.answers.answering_session import run_of
from plinian.replay.answers.records import Account, QueuePath
from plinian.replay.answers.why import why_at
from plinian.replay.belief.belief import belief_at
from plinian.replay.cli.main import app
from plinian.replay.logs.log import Log
from plinian.replay.render.blocks import block_lines
from plinian.replay.render.shares import shares_sections
from plinian.replay.render.tables import Style, fitted
from plinian.replay.sessions.session_answer import scene_at, session_at
from plinian.replay.shares import session_shares
from plinian.replay.shares.entitlements import Entitlement, Shares
from plinian.replay.shares.session_shares import SharesTask, shares_at
from sessions import group, node, pod, queue

AT = "2026-11-21T01:53:44Z"
RELEASE = "v1.12.1"
ROOT = (queue("root"), queue("default", parent="root"))
RECLAIMING = CAPACITY.replace("allocate, backfill", "allocate, reclaim, backfill")


def shares_of(log: Log, queue: str = "", at: str = "end", release: str = RELEASE) -> Shares:
    """Return what queues are entitled to."""
    return shares_at(log, SharesTask(moment=log.moment(at), release=release, queue=queue))


def of(shares: Shares, name: str) -> Entitlement:
    """Return the entry of a queue."""
    (entry,) = (entry for entry in shares.queues if entry.queue == name)
    return entry


def account_by_why(log: Log, name: str, at: str = "end", release: str = RELEASE) -> Account:
    """Return the account of a queue that ``why`` prints."""
    why = why_at(log, log.object(f"queue/{name}"), at, release=release)
    return next(
        link.accounts[0]
        for link in why.chain
        if isinstance(link, QueuePath) and link.point == "account"
    )


def held(of: str, cpu: float, on: str = "n1", **rest: Any) -> tuple[Document, ...]:
    """Return a PodGroup that runs with one pod."""
    return group(of, 1, "Running", **rest), pod(f"{of}-0", of, cpu, on)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the log of the demo."""
    found = tmp_path_factory.mktemp("shares") / "demo.db"
    plinian.demo(found).close()
    return str(found)


@pytest.fixture(scope="module")
def demo(place: str) -> Iterator[tuple[plinian.Log, Shares]]:
    """Return the log of the demo, and its shares."""
    with plinian.open(place, read_only=True) as log:
        yield log, shares_of(log, at=AT)


class TestTheDemo:
    def test_amounts_are_those_of_the_account_that_why_prints(self, demo: Any) -> None:
        log, shares = demo
        for name in ("gold", "silver", "bronze"):
            account, entry = account_by_why(log, name, AT), of(shares, name)
            assert account.compared == "deserved"
            for mine, theirs in (
                (entry.deserved, account.deserved),
                (entry.deserved, account.limit),
                (entry.guarantee, account.guarantee),
                (entry.after, account.allocated),
            ):
                assert without_zeros(mine) == without_zeros(theirs)

    def test_deserved_and_held_are_the_metrics_that_session_prints(self, demo: Any) -> None:
        log, shares = demo
        metrics = log.session(at=AT, release=RELEASE).document.metrics
        for name in ("gold", "silver", "bronze"):
            entry, gauges = of(shares, name), metrics[name]
            assert milli(entry.deserved) == gauges["deserved_milli_cpu"]
            assert milli(entry.requests) == gauges["request_milli_cpu"]
            assert milli(entry.after) == gauges["allocated_milli_cpu"]

    def test_the_rounds_of_the_division_add_up_for_each_queue(self, demo: Any) -> None:
        _, shares = demo
        for entry in shares.queues:
            before = 0.0
            for entitled in entry.rounds:
                steps = {step.step: milli(step.amounts) for step in entitled.steps}
                remains = milli(shares.remaining[entitled.number - 1])
                assert milli(entitled.remaining) == remains
                part = remains * entitled.weight / entitled.weights
                assert milli(entitled.part) == pytest.approx(part, abs=1)
                assert steps["part"] == pytest.approx(before + part, abs=1)
                assert steps["request"] <= milli(entry.requests)
                before = steps["guarantee"]
            if entry.rounds:
                assert before == milli(entry.deserved)
                assert [found.ended for found in entry.rounds[:-1]] == [""] * (
                    len(entry.rounds) - 1
                )
        assert [len(of(shares, name).rounds) for name in ("gold", "silver")] == [2, 1]

    def test_what_each_round_gives_is_what_the_next_one_has_less(self, demo: Any) -> None:
        _, shares = demo
        total = milli(shares.remaining[0])
        assert shares.remaining[0]["cpu"] == shares.resources[0].total
        given = sum(milli(entry.deserved) for entry in shares.queues)
        assert total - given == milli(shares.remaining[-1])

    def test_what_a_queue_lacks_is_deserved_requested_and_not_held(self, demo: Any) -> None:
        _, shares = demo
        assert of(shares, "gold").lacks == {"cpu": "6", "memory": "20Gi", "nvidia.com/gpu": "4"}
        assert "queue gold lacks 6 cpu, 20Gi memory and 4 nvidia.com/gpu" in shares.sentence
        (gpu,) = (entry for entry in shares.resources if entry.resource == "nvidia.com/gpu")
        assert [(part.queue, part.amount) for part in gpu.lacks] == [("gold", "4")]
        assert (gpu.total, gpu.free) == ("8", "4")

    def test_a_configuration_without_reclaim_says_so(self, demo: Any) -> None:
        _, shares = demo
        assert shares.rules[0].startswith("nothing is reclaimed: the configuration has no action")
        assert not shares.reclaiming

    def test_every_door_says_the_same(self, demo: Any, place: str) -> None:
        log, shares = demo
        ask = ["shares", "--log", place, "--at", AT, "--release", RELEASE, "-o", "json"]
        by_command = json.loads(CliRunner().invoke(app, ask).stdout)
        expected = json.loads(msgspec.json.encode(shares))
        assert by_command["queues"] == expected["queues"]
        assert log.shares(at=AT, release=RELEASE).queues == shares.queues
        running = serving(Path(place))
        try:
            answer = running.client.get(f"/plinian/v1/shares?at={AT}&release={RELEASE}")
            twin = running.client.get(f"/@{AT}/shares.json", follow_redirects=True)
            one = running.client.get(f"/@{AT}/shares.json?queue=gold", follow_redirects=True)
        finally:
            ended(running)
        for reply in (answer, twin):
            assert reply.status_code == 200, reply.text
            data = reply.json()
            assert (data.get("data") or data["result"])["queues"] == expected["queues"]
        (gold,) = one.json()["data"]["queues"]
        assert gold["queue"] == "gold"

    def test_one_queue_is_shown_step_by_step(self, place: str) -> None:
        ask = ["shares", "gold", "--log", place, "--at", AT, "--release", RELEASE]
        text = CliRunner().invoke(app, ask).stdout
        assert "HOW IT CAME TO WHAT IT DESERVES" in text
        assert "its request 20" in text
        assert "2 rounds in all" in text

    def test_a_queue_that_does_not_exist_is_an_error(self, demo: Any) -> None:
        with pytest.raises(ObjectNotFound, match="no queue 'platinum'"):
            shares_of(demo[0], "platinum", AT)


def without_zeros(amounts: dict[str, str]) -> dict[str, str]:
    """Return the amounts that are not 0."""
    return {name: amount for name, amount in amounts.items() if amount != "0"}


def milli(amounts: dict[str, str]) -> float:
    """Return cpu in thousandths."""
    return resource_amount("cpu", amounts.get("cpu", "0"))


BORROWED = (
    node("n1", 10),
    *ROOT,
    queue("a", parent="root", deserved={"cpu": "4"}),
    queue("b", parent="root", deserved={"cpu": "6"}),
    *(document for number in range(4) for document in held(f"a{number}", 2, queue="a")),
    *held("b0", 2, queue="b"),
    group("b1", 1, queue="b"),
    pod("b1-0", "b1", 3),
)


class TestReclaim:
    def test_what_could_be_reclaimed_is_what_the_session_then_reclaims(
        self, tmp_path: Path
    ) -> None:
        with log_of(tmp_path, RECLAIMING, *BORROWED) as log:
            shares = shares_of(log)
            session = session_at(log, release=RELEASE)
        (reclaiming,) = shares.reclaiming
        assert (reclaiming.queue, reclaiming.pod, reclaiming.gate) == ("b", "ns/b1-0", "")
        (part,) = reclaiming.queues
        # Over its 4 cpu by 4: two pods of 2 cpu.
        assert (part.queue, part.candidates, part.by_plugin["capacity"]) == ("a", 4, 2)
        assert part.pods == len(session.result.evictions) == 2
        assert of(shares, "a").over == {"cpu": "4"}
        assert of(shares, "b").lacks == {"cpu": "3"}

    def test_a_queue_from_which_nothing_is_reclaimed_says_so(self, tmp_path: Path) -> None:
        kept = tuple(
            {**each, "spec": {**each["spec"], "reclaimable": False}}
            if (each["kind"], each["metadata"]["name"]) == ("Queue", "a")
            else each
            for each in BORROWED
        )
        with log_of(tmp_path, RECLAIMING, *kept) as log:
            shares = shares_of(log)
        assert not of(shares, "a").reclaimable
        assert "nothing is reclaimed from a (reclaimable: false)" in shares.rules
        (reclaiming,) = shares.reclaiming
        assert not [part for part in reclaiming.queues if part.queue == "a"]

    def test_a_plugin_whose_flag_is_off_has_no_say(self, tmp_path: Path) -> None:
        conf = RECLAIMING.replace(
            "    enableHierarchy: true\n",
            "    enableHierarchy: true\n    enableReclaimable: false\n",
        )
        with log_of(tmp_path, conf, *BORROWED) as log:
            shares = shares_of(log)
        assert "enableReclaimable: false" in shares.rules[0]
        (reclaiming,) = shares.reclaiming
        assert all("capacity" not in part.by_plugin for part in reclaiming.queues)

    def test_a_queue_that_may_not_reclaim_says_why(self, tmp_path: Path) -> None:
        more = (group("b2", 1, queue="b"), pod("b2-0", "b2", 7))
        documents = [each for each in BORROWED if each["metadata"]["name"] not in {"b1", "b1-0"}]
        with log_of(tmp_path, RECLAIMING, *documents, *more) as log:
            shares = shares_of(log)
        (reclaiming,) = shares.reclaiming
        assert reclaiming.gate == "may-not-reclaim"
        assert "its queue b deserves 6 cpu and holds 2" in reclaiming.because

    @pytest.mark.parametrize(
        ("release", "rule"),
        [
            ("v1.12.1", "while it holds more of any resource than it deserves"),
            ("v1.15.1", "of a resource that the pod holds"),
        ],
    )
    def test_the_rule_is_that_of_the_release(self, tmp_path: Path, release: str, rule: str) -> None:
        with log_of(tmp_path, RECLAIMING, *BORROWED) as log:
            shares = shares_of(log, release=release)
        assert any(rule in text for text in shares.rules)

    def test_nothing_that_the_session_decides_depends_on_the_question(self, tmp_path: Path) -> None:
        with log_of(tmp_path, RECLAIMING, *BORROWED) as log:
            moment, how = log.moment("end"), resolve(RELEASE)
            runs = []
            for names in ((), ("a", "b", "root")):
                cache = belief_at(log.store, moment, how, recent=log.recent_beliefs)
                run = run_of(scene_at(log, moment), how, cache, names, fully=names)
                runs.append(run)
        plain, followed = (run.answer.untraced for run in runs)
        assert followed == plain
        steps = [[step.what for step in run.trace.steps] for run in runs]
        assert steps[0] == steps[1]
        assert not [what for _, what, _ in runs[0].trace.details if "opened" in what]


class TestTrees:
    def test_steps_of_capacity_end_with_what_why_prints(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 10),
            *ROOT,
            queue("a", parent="root", deserved={"cpu": "20"}, capability={"cpu": "8"}),
            queue("b", parent="root", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "3"}}),
            queue("a1", parent="a", deserved={"cpu": "2"}),
            *held("one", 2, queue="a1"),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            shares = shares_of(log)
            accounts = {name: account_by_why(log, name) for name in ("root", "a", "a1", "b")}
        for name, account in accounts.items():
            entry = of(shares, name)
            assert without_zeros(entry.deserved) == without_zeros(account.deserved)
            assert without_zeros(entry.limit) == without_zeros(account.limit)
            assert entry.steps[-1].amounts == entry.deserved
        upper = of(shares, "a")
        assert [(step.step, step.amounts["cpu"]) for step in upper.steps] == [
            ("written", "20"),
            ("limit", "7"),
            ("guarantee", "7"),
        ]
        source = upper.limit_source
        assert source is not None
        assert (source.above, source.total["cpu"]) == ("root", "10")
        assert source.guaranteed == {"cpu": "3"}
        assert (of(shares, "a1").depth, of(shares, "a1").parent) == (2, "a")
        assert upper.holds == of(shares, "a1").holds
        assert of(shares, "b").idle_guarantee == {"cpu": "3"}
        (cpu,) = (entry for entry in shares.resources if entry.resource == "cpu")
        assert [part.queue for part in cpu.idle_guarantee] == ["b"]

    @pytest.mark.parametrize("release", ["v1.11.0", "v1.12.1", "v1.13.1", "v1.14.2", "v1.15.1"])
    def test_each_release_ends_its_steps_with_what_it_deserves(
        self, tmp_path: Path, release: str
    ) -> None:
        with log_of(tmp_path, RECLAIMING, *BORROWED) as log:
            shares = shares_of(log, release=release)
            for name in ("root", "a", "b"):
                account, entry = account_by_why(log, name, release=release), of(shares, name)
                assert without_zeros(entry.deserved) == without_zeros(account.deserved)
                assert entry.steps[-1].amounts == entry.deserved, name

    def test_an_invalid_tree_has_no_shares(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 4),
            *ROOT,
            queue("a", parent="root"),
            queue("a1", parent="a"),
            *held("one", 1, queue="a"),
        )
        with log_of(tmp_path, CAPACITY, *documents) as log:
            shares = shares_of(log)
        assert shares.sentence.startswith("queues have no shares: the tree of queues is invalid")
        assert shares.queues == ()

    def test_queues_above_themselves_have_no_shares_but_an_answer(self, tmp_path: Path) -> None:
        documents = (
            node("n1", 8),
            *ROOT,
            queue("a", parent="b"),
            queue("b", parent="a"),
            group("pg", 1, queue="a"),
            pod("pg-0", "pg", 1),
        )
        for release in ("v1.11.0", "v1.12.1", "v1.13.1", "v1.15.1"):
            folder = tmp_path / release
            folder.mkdir()
            with log_of(folder, CAPACITY, *documents) as log:
                shares = shares_of(log, release=release)
                names = [entry.queue for entry in shares.queues]
            assert len(names) == len(set(names))
            assert shares.sentence


class TestFlat:
    @pytest.mark.parametrize("release", ["v1.9.0", "v1.12.1", "v1.15.1"])
    def test_flat_capacity_takes_the_spec(self, tmp_path: Path, release: str) -> None:
        documents = (
            node("n1", 10, more={"nvidia.com/gpu": "4"}),
            queue("default"),
            queue("a", deserved={"cpu": "4", "nvidia.com/gpu": "3"}),
            queue("b", state="Closed", guarantee={"resource": {"cpu": "2"}}),
            group("one", 1, "Running", queue="a"),
            pod("one-0", "one", 1, "n1", requests={"nvidia.com/gpu": "1"}),
            *held("two", 1, queue="b"),
        )
        conf = CAPACITY.replace("    enableHierarchy: true\n", "")
        with log_of(tmp_path, conf, *documents) as log:
            shares = shares_of(log, release=release)
            account = account_by_why(log, "a", release=release)
        entry = of(shares, "a")
        assert without_zeros(entry.deserved) == without_zeros(account.deserved)
        assert entry.limit["cpu"] == account.limit["cpu"] == "8"
        assert entry.holds["nvidia.com/gpu"] == "1"
        assert of(shares, "b").state == "Closed"
        idle = {} if release == "v1.9.0" else {"cpu": "3", "nvidia.com/gpu": "2"}
        assert entry.idle == idle
        assert of(shares, "default").plugin == ""


class TestPoorInputs:
    def test_without_a_deciding_plugin_there_are_no_shares(self, tmp_path: Path) -> None:
        with log_of(tmp_path, NODES, *BORROWED) as log:
            shares = shares_of(log)
        assert shares.sentence == (
            "queues have no shares: the configuration has neither proportion nor capacity, so it "
            "ignores that queues have deserved amounts"
        )
        assert (shares.plugins, shares.queues) == ((), ())

    def test_without_lists_of_pods_nothing_is_said_to_be_idle(self, tmp_path: Path) -> None:
        documents = [each for each in BORROWED if each["kind"] in {"Node", "Queue"}]
        with log_of(tmp_path, RECLAIMING, *documents) as log:
            shares = shares_of(log)
        assert shares.unsure.startswith("the log holds no list of pods and podgroups")
        assert all(not entry.idle for entry in shares.queues)
        assert "is known to hold more" in shares.sentence

    def test_an_empty_log_has_an_answer(self, tmp_path: Path) -> None:
        place = str(tmp_path / "empty.db")
        plinian.open(place, create=True).close()
        done = CliRunner().invoke(app, ["shares", "--log", place])
        assert "Traceback" not in done.output

    def test_proportion_of_a_cluster_without_jobs_says_so(self, tmp_path: Path) -> None:
        with log_of(tmp_path, PROPORTION, node("n1"), queue("default")) as log:
            shares = shares_of(log)
        assert all(not entry.plugin for entry in shares.queues)
        text = shares_of_text(tmp_path, PROPORTION)
        assert "Without jobs, queues have no account" in text


def shares_of_text(tmp_path: Path, conf: str) -> str:
    """Return what the command prints of the files of a folder."""
    (tmp_path / "again.json").write_bytes(listing([node("n1"), queue("default")]))
    (tmp_path / "again.conf").write_text(conf)
    ask = ["shares", "-i", str(tmp_path / "again.json"), "--conf", str(tmp_path / "again.conf")]
    return CliRunner().invoke(app, ask).output


class TestShown:
    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    @pytest.mark.parametrize("name", ["", "gold"])
    def test_lines_fit_terminals(self, demo: Any, width: int, name: str) -> None:
        shares = shares_of(demo[0], name, AT)
        lines = block_lines(shares_sections(shares), style=Style(width=width))
        text = "".join(fitted(lines, Style(width=width)))
        assert max(map(len, text.splitlines())) <= width
        assert "nvidia.com/gpu" in text
        assert "LACKS" in text

    @pytest.mark.skipif(chromium() is None, reason="this machine has no Chromium")
    def test_the_page_leads_from_queues_to_one_queue(self, place: str) -> None:
        running = serving(Path(place))
        try:
            with browser() as started:
                page, wrong = tab(started, str(running.client.base_url))
                page.goto(f"/@{AT}/queues")
                page.get_by_role("link", name="What each is entitled to").click()
                expect(page.get_by_role("heading", name="Shares of queues")).to_be_visible()
                page.get_by_role("link", name="gold", exact=True).first.click()
                expect(page.get_by_text("How it came to what it deserves")).to_be_visible()
                expect(page.get_by_text("2 rounds in all")).to_be_visible()
            assert wrong == []
        finally:
            ended(running)


def test_queues_that_were_not_asked_what_they_could_reclaim_are_counted(
    demo: tuple[plinian.Log, Shares], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_shares, "FULLY", 2)
    log, all_asked = demo
    many, one = shares_of(log, at=AT), shares_of(log, "gold", at=AT)
    unasked = [shares.reclaiming_unasked for shares in (all_asked, many, one)]
    assert unasked == [0, 3, 0]
    text = "".join(block_lines(shares_sections(many)))
    assert "3 queues were not asked what they could reclaim, as there are many" in text
    assert "were not asked" not in "".join(block_lines(shares_sections(one)))
