"""The pages beside the timeline: what they say, their links, and their twins as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from answer_worlds import CAPACITY, NODES
from answer_worlds import log_of as made_log
from web_pages import PATHS, data_at, finished_page, links_of, page_at, pages_of, shown

import plinian
from plinian.replay.facade.log import Log
from plinian.replay.server.web import waiting_reasons
from plinian.replay.server.web.files import _page_of
from plinian.replay.server.web.look import COMMON, SHARED
from plinian.replay.server.web.sorting import Sorting, sorted_rows
from sessions import group, node, pod, queue

AT = "/@1901"
GANG = "job/default/big-gang"
OBJECTS = (GANG, "queue/gold", "node/node-1", "pod/default/gpu-2-gpu-0")
ASKED = (
    *(f"why/{name}" for name in OBJECTS),
    "blame/queue/gold?number=allocated.cpu",
    "compare?vs_release=v1.11.2",
    "compare?vs_conf=built-in",
    "compare?vs=@1500&with=moments",
    "diff?vs=@1500",
    "check?over=moment",
    "behaviours?vs_release=v1.11.2",
    "what-if?add_node=node-3&count=2",
    "session?action=allocate&about=gpu-2",
)
EVERY = (*PATHS, *OBJECTS, *ASKED)


@pytest.fixture(scope="module")
def client(demo_log: Path) -> Iterator[httpx.Client]:
    with pages_of(demo_log) as found:
        yield found


@pytest.fixture(scope="module")
def log(demo_log: Path) -> Iterator[Log]:
    with plinian.open(demo_log) as found:
        yield found


# -- every page ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY)
def test_a_page_is_well_formed_and_has_one_title(client: httpx.Client, path: str) -> None:
    page = page_at(client, f"{AT}/{path}")
    tags = [tag for tag, _ in page.elements]
    assert tags.count("h1") == 1 == tags.count("main")
    ids = [made["id"] for _, made in page.elements if "id" in made]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("path", EVERY)
def test_nothing_in_a_page_needs_an_inline_style_or_script(client: httpx.Client, path: str) -> None:
    page = page_at(client, f"{AT}/{path}")
    for tag, made in page.elements:
        assert tag != "style"
        assert not {name for name in made if name == "style" or name.startswith("on")}
        assert tag != "script" or made.get("src")


@pytest.mark.parametrize("path", EVERY)
def test_every_page_has_a_twin(client: httpx.Client, path: str) -> None:
    assert data_at(client, f"{AT}/{path}") != []


@pytest.mark.parametrize("path", PATHS)
def test_every_page_says_something_at_the_begin_of_a_log(client: httpx.Client, path: str) -> None:
    page_at(client, f"/@0/{path}")
    page_at(client, f"/@1/{path}")


@pytest.mark.slow
def test_links_of_pages_lead_to_pages(client: httpx.Client) -> None:
    last = client.get("/plinian/v1/about").json()["last"]
    links = {
        link.partition("#")[0]
        for path in ("jobs", "queues", "nodes", f"why/{GANG}", GANG, "blame/queue/gold")
        for link in links_of(page_at(client, f"{AT}/{path}"))
        if link.startswith("/@") and not link.startswith(f"/@{last}")  # what is gone by the end
    }
    assert len(links) > 60
    broken = {link: client.get(link).status_code for link in sorted(links)}
    assert {link: status for link, status in broken.items() if status != 200} == {}


# -- the same as the commands ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "ask"),
    [
        (f"why/{GANG}", lambda log: log.why(GANG, at="@1901")),
        ("session", lambda log: log.session(at="@1901", trace=True)),
        ("diff?vs=@1500", lambda log: log.diff("@1500", "@1901")),
        ("check?over=moment", lambda log: log.check(at="@1901")),
        (
            "compare?vs_release=v1.11.2",
            lambda log: log.compare(at="@1901", releases=["v1.11.2", "v1.12.1"]),
        ),
        (
            "blame/queue/gold?number=allocated.cpu",
            lambda log: log.blame("queue/gold", "allocated.cpu", at="@1901"),
        ),
        (
            "what-if?add_node=node-3&cordon=node-0",
            lambda log: log.what_if(at="@1901", add_nodes=["node-3"], cordon=["node-0"]),
        ),
    ],
)
def test_a_twin_is_the_document_of_the_command(
    client: httpx.Client, log: Log, path: str, ask: Any
) -> None:
    assert data_at(client, f"{AT}/{path}") == shown(ask(log))


def test_drift_and_history_are_documents_of_their_commands(client: httpx.Client, log: Log) -> None:
    assert data_at(client, f"{AT}/nodes")["drift"] == shown(log.drift(at="@1901"))
    assert data_at(client, f"{AT}/{GANG}")["history"] == shown(log.history(GANG))


# -- what they say --------------------------------------------------------------------------------


def test_jobs_that_wait_come_first_and_link_to_why(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/jobs")
    assert f"{AT}/why/{GANG}" in links_of(page)
    rows = data_at(client, f"{AT}/jobs")["lines"]["rows"]
    waits = [row["waits"] for row in rows]
    assert waits == sorted(waits, reverse=True)
    assert any(waits)
    assert not all(waits)


def test_jobs_print_the_reasons_of_one_session_in_the_words_of_why(
    client: httpx.Client, log: Log
) -> None:
    rows = data_at(client, f"{AT}/jobs")["lines"]["rows"]
    reasons = {row["job"]: row["why"] for row in rows if row["why"]}
    assert reasons == {name: _why(log, name) for name in reasons}
    assert GANG in reasons
    page = page_at(client, f"{AT}/jobs").text
    assert reasons[GANG].partition(" waits because ")[2] in page
    assert "why does it wait?" not in page


def _why(log: Log, name: str) -> str:
    return str(log.why(name, at="@1901", release="v1.12.1").sentence)


def test_in_a_large_cluster_a_person_asks_for_the_reasons(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_reasons, "MOST_ASKED", 10)
    page = page_at(client, f"{AT}/jobs?q=gang")
    assert "why does it wait?" in page.text
    assert "It takes a session of 40 nodes and pods." in page.text
    (link,) = (link for link in links_of(page) if "reasons=yes" in link)
    assert link == f"{AT}/jobs?q=gang&reasons=yes"
    assert "it wants 20 cpu" in page_at(client, link).text


def test_jobs_are_listed_where_no_session_runs(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/jobs?release=v0.1.0")
    assert "Why each job waits is not shown: v0.1.0 is older than" in page.text
    assert "why does it wait?" in page.text


def test_facets_choose_rows_and_count_them(client: httpx.Client) -> None:
    found = data_at(client, f"{AT}/jobs?queue=gold&phase=Pending")
    assert [row["name"] for row in found["lines"]["rows"]] == ["big-gang"]
    phases = next(one for one in found["facets"] if one["name"] == "phase")
    counts = {one["value"]: one["count"] for one in phases["choices"]}
    for phase, count in counts.items():
        rows = data_at(client, f"{AT}/jobs?queue=gold&phase={phase}")["lines"]["rows"]
        assert len(rows) == count
    nothing = page_at(client, f"{AT}/jobs?queue=nowhere")
    assert "Nothing has all that is chosen." in nothing.text


def test_ages_are_those_of_the_moment(client: httpx.Client) -> None:
    rows = data_at(client, f"{AT}/jobs?q=big-gang")["lines"]["rows"]
    assert [row["age"] for row in rows] == ["24s"]


def test_why_says_the_sentence_and_its_numbers(client: httpx.Client, log: Log) -> None:
    page = page_at(client, f"{AT}/why/{GANG}")
    assert log.why(GANG, at="@1901").sentence in page.text
    assert "This keeps it waiting." in page.text
    assert "Try changes that may help" in page.text


@pytest.mark.slow
def test_what_would_help_and_other_releases_come_on_demand(client: httpx.Client) -> None:
    path = f"{AT}/why/{GANG}?help=yes&others=yes"
    found = data_at(client, path)
    assert found["would_help"]["tried"] > 0
    assert [one["releases"] for one in found["other_releases"]] == ["v1.8.0..v1.15.1"]
    assert "v1.8.0..v1.15.1" in page_at(client, path).text


def test_a_field_names_the_event_that_set_it(client: httpx.Client, log: Log) -> None:
    fields = {one["path"]: one["set_at"] for one in data_at(client, f"{AT}/{GANG}")["fields"]}
    changes = log.history(GANG, at="@1901").happenings
    last = {change.path: one.position for one in changes for change in one.changes}
    assert fields["spec.queue"] == changes[0].position
    assert fields["status.state.phase"] == last["status.state.phase"] > changes[0].position


def test_versions_after_the_moment_are_marked(client: httpx.Client, log: Log) -> None:
    page = page_at(client, f"{AT}/{GANG}")
    classes = [made.get("class") for tag, made in page.elements if tag == "li"]
    later = [one for one in log.history(GANG).happenings if one.position > 1901]
    assert later
    assert classes.count("later") == len(later)
    assert classes.count("now") == 1


def test_the_page_of_an_object_begins_with_its_life(client: httpx.Client) -> None:
    text = client.get(f"{AT}/pod/default/train-b-worker-3").text
    strip = text.partition('<ol class="life"')[2].partition("</ol>")[0]
    turns = re.findall(r'<span class="phase (\w+)">([^<]*)<', strip)
    assert turns[:6] == [
        ("pending", "created by volcano-controllers"),
        ("waiting", "bound to node-1"),
        ("waiting", "ContainerCreating"),
        ("running", "Running"),
        ("failed", "evicted by kubernetes-admin"),
        ("done", "gone by kwok-controller"),
    ]
    assert strip.count('<li class="to-come">') == 7
    assert re.search(r"01:52:5\d\.\d+</time> <small>@503", strip)
    gang = client.get(f"{AT}/podgroup/default/gpu-2").text
    assert '<span class="phase waiting">enqueued</span>' in gang


def test_an_object_that_is_gone_says_where_it_was(client: httpx.Client) -> None:
    page = page_at(client, f"/@100/{GANG}")
    assert "It does not exist at this moment" in page.text


def test_two_releases_begin_at_the_first_difference(client: httpx.Client) -> None:
    path = f"{AT}/compare?vs_release=v1.11.2"
    page = page_at(client, path)
    assert [made for _, made in page.elements if made.get("id") == "difference"]
    assert "job_requeue (if ready → always)" in " ".join(page.text.split())
    only = page_at(client, f"{path}&only=differences")
    assert "the same" not in [row[-1] for row in only.tables[""]]


def test_a_changed_field_that_no_session_reads_is_named(client: httpx.Client) -> None:
    text = "no session reads spec.extendClusters of a Queue, so it changes nothing"
    for more in ("", "&for=5s"):
        path = f"{AT}/what-if?set=queue/gold.spec.extendClusters=[]{more}"
        assert text in finished_page(client, path).text
        assert text in data_at(client, path)["unread"][0]


def test_a_field_that_does_not_exist_is_an_error_of_the_page(client: httpx.Client) -> None:
    path = f"{AT}/what-if?set=queue/gold.spec.wieght=2"
    assert "did you mean spec.weight?" in finished_page(client, path).text
    assert data_at(client, path)["error"]["what"] == "a Queue has no field spec.wieght"


def test_a_change_that_cannot_be_made_says_why(client: httpx.Client) -> None:
    page = page_at(client, f"{AT}/what-if?add_node=nowhere")
    assert "nowhere" in page.text
    assert "What it decides" not in page.text
    fault = data_at(client, f"{AT}/what-if?add_node=nowhere")["error"]
    assert "nowhere" in fault["what"]


def test_no_page_reads_a_file_that_a_query_names(client: httpx.Client, tmp_path: Path) -> None:
    secret = tmp_path / "secret.conf"
    secret.write_text("actions: xyzzy-4711")
    for path in ("session?conf=", "compare?vs_conf=", "what-if?conf=", "races?token="):
        answer = client.get(f"{AT}/{path}{secret}")
        assert "xyzzy-4711" not in answer.text


def test_a_search_for_races_is_bounded_and_says_what_it_assumes(client: httpx.Client) -> None:
    found = finished_page(client, f"{AT}/races?run=yes&budget=5s&objects=job/default/late-1")
    assert "Assumed:" in found.text
    assert "states and" in found.text
    asked = page_at(client, f"{AT}/races?budget=9h")
    chosen = [made.get("selected") for tag, made in asked.elements if tag == "option"]
    assert chosen
    assert "9h" not in asked.text
    wrong = page_at(client, f"{AT}/races?token=plinian1.damaged")
    assert "token" in wrong.text


@pytest.mark.parametrize("path", ["", *EVERY])
def test_a_page_knows_all_that_links_and_forms_give_it(client: httpx.Client, path: str) -> None:
    page = page_at(client, f"{AT}/{path}".rstrip("/"))
    assert "This page knows no" not in page.text
    for link in links_of(page):
        place, _, query = link.partition("?")
        if not link.startswith("/@") or "/step/" in place:
            continue
        rest = place.partition("/@")[2].partition("/")[2].removesuffix("/")
        known = {*SHARED, *COMMON, *_page_of(rest)[0].takes}
        given = {part.partition("=")[0] for part in query.partition("#")[0].split("&") if part}
        assert given <= known, link


def test_a_parameter_that_a_page_does_not_know_is_said(client: httpx.Client) -> None:
    text = page_at(client, f"{AT}/jobs?quue=gold&phase=Pending").text
    assert "This page knows no quue, so it is ignored." in text
    assert "no phase" not in text


# -- what does not exist ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/@1901/pod/default/nobody", 404),
        ("/@1901/why/job/default/nobody", 404),
        ("/@1901/blame/queue/nobody", 404),
        ("/@99999/jobs", 404),
        ("/@1901/diff?vs=@99999", 404),
        ("/@1901?vs=99999", 404),
        ("/@1901/nokind/x", 400),
        ("/@1901/blame/queue/gold?number=nothing", 400),
        ("/@1901/session?release=v0.1.0", 400),
        ("/@1901/nodes?resource=nothing", 400),
        ("/@1901/behaviours?subject=nothing", 400),
        ("/@1901/check?invariant=nothing", 400),
    ],
)
def test_what_does_not_exist_is_said_on_a_page(
    client: httpx.Client, path: str, status: int
) -> None:
    page_at(client, path, status=status)
    place, mark, query = path.partition("?")
    assert client.get(f"{place}.json{mark}{query}").status_code == status


# -- hostile names, long lists, trees --------------------------------------------------------------

EVIL = "<script>alert(1)<script>"
QUOTED = "\"'><img src=x onerror=alert(1)>{{ 7*7 }}"
ESCAPE = "\x1b[2J\u202ered"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("hostile")
    tainted = node(EVIL, 1, labels={"zone": QUOTED})
    waiting = group(QUOTED, 1, "Inqueue", queue=ESCAPE)
    waiting["status"]["conditions"] = [
        {"type": "Unschedulable", "status": "True", "message": f"{EVIL}{ESCAPE}", "reason": EVIL}
    ]
    world = (tainted, queue(QUOTED), queue(EVIL, parent=QUOTED), queue(ESCAPE), waiting)
    with made_log(folder, NODES, *world, pod(EVIL, QUOTED, 4), pod(ESCAPE, QUOTED, 1)):
        pass
    with pages_of(folder / "log.db") as found:
        yield found


@pytest.mark.parametrize("path", [path for path in PATHS if "over-time" not in path])
def test_names_are_never_markup(hostile: httpx.Client, path: str) -> None:
    answer = hostile.get(f"/@end/{path}?vs=@1", follow_redirects=True)
    assert answer.status_code == 200
    _check_harmless(answer)


def _check_harmless(answer: httpx.Response) -> None:
    assert "<img" not in answer.text
    assert "<script>" not in answer.text
    assert "\x1b" not in answer.text
    assert "\u202e" not in answer.text
    assert "49" not in [part.strip() for part in answer.text.split(">")]


def test_objects_with_hostile_names_have_pages(hostile: httpx.Client) -> None:
    seen = set()
    for path in ("jobs", "queues", "nodes", "session"):
        page = page_at(hostile, hostile.get(f"/@end/{path}").headers["location"])
        for link in links_of(page):
            if link.startswith("/@") and link not in seen and not link.endswith(".json"):
                seen.add(link)
                answer = hostile.get(link)
                assert answer.status_code == 200, link
                _check_harmless(answer)
    assert any("why/" in link for link in seen)
    assert any("%3Cscript%3E" in link for link in seen)


def test_hostile_queries_are_harmless(client: httpx.Client) -> None:
    for path in ("jobs?q=", "jobs?phase=", "session?about=", "races?objects=", "what-if?set="):
        for text in (EVIL, QUOTED, ESCAPE):
            name = path.partition("=")[0].partition("?")[2]
            answer = client.get(f"{AT}/{path.partition('?')[0]}", params={name: text})
            assert answer.status_code == 200
            _check_harmless(answer)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("large")
    world = [node(f"n{number:03}", 1) for number in range(250)]
    world += [queue("default"), *(queue(f"q{number:03}") for number in range(220))]
    for number in range(230):
        world += [group(f"g{number:03}", 1, "Inqueue"), pod(f"p{number:03}", f"g{number:03}", 4)]
    with made_log(folder, NODES, *world):
        pass
    with pages_of(folder / "log.db") as found:
        yield found


@pytest.mark.parametrize(
    ("path", "what", "total"),
    [
        ("jobs", "jobs", 230),
        ("queues", "lines", 221),
        ("nodes", "nodes", 250),
        ("session", "steps", None),
        ("diff?vs=@1", "objects", None),
    ],
)
def test_at_most_200_rows_are_drawn_with_the_next_ones_in_a_link(
    large: httpx.Client, path: str, what: str, total: int | None
) -> None:
    place = large.get(f"/@end/{path}").headers["location"]
    first = page_at(large, place)
    assert sum(tag == "tr" for tag, _ in first.elements) <= 2 * 200 + 30
    following = [made for tag, made in first.elements if made.get("rel") == "next"]
    assert following, f"no next {what}"
    assert f"1 to 200 of {total or ''}" in first.text
    second = page_at(large, str(following[0]["href"]))
    assert [made for _, made in second.elements if made.get("rel") == "prev"]
    assert f"201 to {total or ''}" in second.text


def test_a_heat_map_has_a_square_for_each_node(large: httpx.Client) -> None:
    page = page_at(large, large.get("/@end/nodes").headers["location"])
    squares = [made for tag, made in page.elements if tag == "rect" and made.get("width") == "12"]
    assert len(squares) == 250


def test_a_queue_above_its_parent_and_a_full_one_are_marked(tmp_path: Path) -> None:
    world = (
        node("n1", 30),
        queue("root"),
        queue("small", parent="root", capability={"cpu": "2"}),
        queue("big", parent="small", capability={"cpu": "20"}),
        queue("lost", parent="nowhere"),
        group("running", 1, "Running", queue="small"),
        pod("p", "running", 2, on="n1"),
        queue("waits", parent="root", capability={"cpu": "4"}),
        group("enqueued", 1, "Inqueue", queue="waits", minResources={"cpu": "5"}),
    )
    with made_log(tmp_path, CAPACITY, *world):
        pass
    with pages_of(tmp_path / "log.db") as client:
        place = client.get("/@end/queues").headers["location"]
        rows = data_at(client, place)["lines"]["rows"]
        page = page_at(client, place)
    by_name = {row["queue"]: row for row in rows}
    assert by_name["small"]["full"]
    assert not by_name["small"]["reserved"]
    assert not by_name["big"]["full"]
    waits = by_name["waits"]  # Nothing is allocated there, so pods are placed.
    assert (waits["full"], waits["reserved"]) == (False, True)
    assert "⚠ no room to enqueue" in page.text
    assert "sessions compute a limit from the nodes and the other queues" in page.text
    assert by_name["big"]["above"] == [{"what": "capability", "parent": "small", "amount": "2"}]
    assert by_name["big"]["depth"] == by_name["small"]["depth"] + 1
    assert "⚠ more capability than small (2)" in page.text
    assert "⚠ no parent nowhere" in page.text
    assert "FULL" in page.text
    assert by_name["root"]["amounts"]["allocated"] == "2"


def test_a_log_of_nothing_says_so_on_every_page(tmp_path: Path) -> None:
    with plinian.open(tmp_path / "log.db", create=True):
        pass
    with pages_of(tmp_path / "log.db") as client:
        for path in PATHS:
            answer = client.get(f"/@0/{path}")
            if path.endswith("over-time"):
                assert answer.status_code == 400
                assert "no times" in answer.text
            else:
                assert answer.status_code == 200, path
        assert "There is no queue: the log is empty." in client.get("/@0/queues").text
        assert "There is no node: the log is empty." in client.get("/@0/nodes").text
        assert "There is no job" in client.get("/@0/jobs").text
        assert "The log records no session." in client.get("/@0/sessions").text


def test_any_form_of_a_point_is_a_moment_to_compare_with(client: httpx.Client) -> None:
    for text in ("2026-11-21T01:53:02Z", "01:53:02", "-1m", "rv:400", "@1500", "1500"):
        path = f"{AT}/diff?vs={text}"
        page = page_at(client, path).text
        assert "is ignored" not in page, text
    assert "vs=then is not a moment of the log" in page_at(client, f"{AT}/diff?vs=then").text


def test_a_page_that_does_not_exist_has_the_navigation(client: httpx.Client) -> None:
    for path in (f"{AT}/none", "/@x/jobs"):
        links = links_of(page_at(client, path, status=404))
        assert any(link.endswith("/queues") for link in links), path
    assert f"{AT}/queues" in links_of(page_at(client, f"{AT}/none", status=404))


def test_an_object_that_does_not_exist_yet_is_not_shown_as_owned(client: httpx.Client) -> None:
    page = page_at(client, "/@503/job/default/train-b").text
    owned, _, later = page.partition("Owned by it, not at this moment")
    assert "train-b-worker-3" in owned
    assert "train-b-worker-3" not in later.partition("Versions, newest first")[0]
    before = page_at(client, "/@480/job/default/train-b").text
    assert "train-b-worker-3" in before.partition("Owned by it, not at this moment")[2]


def test_a_pod_that_runs_is_not_asked_why_it_waits(client: httpx.Client) -> None:
    assert "Why does it wait?" not in page_at(client, f"{AT}/pod/default/train-b-worker-3").text
    assert "Why does it wait?" in page_at(client, f"{AT}/pod/default/gpu-2-gpu-0").text


def test_bars_are_in_percent_of_the_limit_that_holds(tmp_path: Path) -> None:
    world = (
        node("n1", 30),
        queue("root"),
        queue("small", parent="root", capability={"cpu": "4"}),
        queue("big", parent="small", capability={"cpu": "20"}),
        queue("free", parent="root", deserved={"cpu": "6"}),
        group("a", 1, "Running", queue="big"),
        pod("p", "a", 2, on="n1"),
        group("b", 1, "Running", queue="free"),
        pod("q", "b", 3, on="n1"),
    )
    with made_log(tmp_path, CAPACITY, *world):
        pass
    with pages_of(tmp_path / "log.db") as client:
        place = client.get("/@end/queues").headers["location"]
        rows = {row["queue"]: row for row in data_at(client, place)["lines"]["rows"]}
        text = client.get(place).text
    assert (rows["big"]["limit"], rows["big"]["shares"]["allocated"]) == ("that of small 4 cpu", 50)
    assert (rows["small"]["limit"], rows["small"]["limited"]) == ("its capability 4 cpu", True)
    free = rows["free"]
    assert (free["limit"], free["limited"]) == ("all nodes have 30 cpu", False)
    assert (free["shares"]["allocated"], free["shares"]["deserved"]) == (10, 20)
    assert text.count('class="use hollow"') == 2
    assert {"▾ deserved", "▴ guarantee"} <= set(re.findall("[▾▴] [a-z]+", text))


def test_a_queue_without_any_limit_has_no_bar(tmp_path: Path) -> None:
    place = tmp_path / "free.db"
    with plinian.open(place, create=True) as log:
        log.ingest([Path(__file__).parents[1] / "data/list-queues.raw.json.gz"])
    with pages_of(place) as pages:
        lines = data_at(pages, f"/@{_last(place)}/queues")["lines"]["rows"]
    assert any("capability" not in one["amounts"] for one in lines)
    for one in lines:
        # The log holds no node, so there is nothing to compare with.
        assert bool(one["shares"]) is one["limited"], one


def _last(place: Path) -> int:
    with plinian.open(place, read_only=True) as log:
        return log.store.last()


def test_the_panel_finds_a_podgroup_that_a_log_line_names_by_its_job(client: httpx.Client) -> None:
    pane = data_at(client, "/@2034?sel=podgroup/default/train-b&pane=state")["pane"]
    assert pane["exists"]
    assert pane["phase"] == "Unknown"


# -- sorted by the server ------------------------------------------------------------------------


def test_a_table_with_further_pages_is_sorted_as_a_whole(large: httpx.Client) -> None:
    place = large.get("/@end/jobs").headers["location"]
    first = page_at(large, place)
    (link,) = (link for link in links_of(first) if link.endswith("sort=NAME"))
    (back,) = (link for link in links_of(page_at(large, link)) if link.endswith("sort=-NAME"))
    rows = data_at(large, back)["lines"]["rows"]
    assert [row["name"] for row in rows[:2]] == ["g229", "g228"]
    page = page_at(large, back)
    (head,) = (made for tag, made in page.elements if tag == "th" and "aria-sort" in made)
    assert head["aria-sort"] == "descending"
    (following,) = (made for tag, made in page.elements if made.get("rel") == "next")
    rows = data_at(large, str(following["href"]))["lines"]["rows"]
    assert rows[-1]["name"] == "g000"


@pytest.mark.parametrize("path", ["jobs", "nodes", "session", "sessions", "behaviours"])
def test_a_column_that_does_not_exist_is_said(large: httpx.Client, path: str) -> None:
    name = "sort_pods" if path == "session" else "sort"
    place = large.get(f"/@end/{path}?{name}=COLOUR").headers["location"]
    page = page_at(large, place)
    if path != "sessions":  # The log has none, so there is no table.
        assert "There is no column COLOUR to sort by; there is " in page.text
    assert "This page knows no" not in page.text


@pytest.mark.parametrize(
    ("cells", "column", "expected"),
    [
        (["n10", "n2", ""], "NODE", ["n2", "n10", ""]),
        (["6.5", "500m", "8", "<none>"], "CPU", ["500m", "6.5", "8", "<none>"]),
        (["2Gi", "900Mi", "1Ti"], "MEMORY", ["900Mi", "2Gi", "1Ti"]),
        (["5m", "90s", ">2d3h", "2m-5m"], "AGE", ["90s", "2m-5m", "5m", ">2d3h"]),
        (["@10", "@9"], "SHOWN BY", ["@9", "@10"]),
        (["b", "A"], "QUEUE", ["A", "b"]),
    ],
)
def test_cells_are_compared_as_a_browser_does(
    cells: list[str], column: str, expected: list[str]
) -> None:
    def ordered(*, down: bool) -> list[str]:
        return list(sorted_rows(cells, {column: str}, Sorting("sort", column, down)))

    assert ordered(down=False) == expected
    filled = [cell for cell in expected if cell not in {"", "<none>"}]
    assert ordered(down=True)[: len(filled)] == filled[::-1]


# -- chosen by a chip, and empty tables ------------------------------------------------------------


def test_nodes_are_chosen_by_their_state(client: httpx.Client) -> None:
    found = data_at(client, "/@2600/nodes")
    states = [node["truth"]["state"] for node in found["nodes"]]
    cordoned = [state for state in states if "SchedulingDisabled" in state]
    assert len(states) > len(cordoned) > 0
    page = page_at(client, "/@2600/nodes")
    assert f"all {len(states)}" in page.text
    (link,) = (link for link in links_of(page) if f"state={cordoned[0]}" in link)
    rows = data_at(client, link)["nodes"]
    assert [row["truth"]["state"] for row in rows] == cordoned
    nowhere = page_at(client, "/@2600/nodes?state=Nowhere&q=x").text
    assert "No node fits the name “x” and the state Nowhere." in nowhere
    assert "Nowhere 0" in nowhere


def test_an_empty_table_says_what_to_do_at_the_end_of_a_log_too(tmp_path: Path) -> None:
    with made_log(tmp_path, NODES, queue("default")):
        pass
    with pages_of(tmp_path / "log.db") as client:
        page = page_at(client, client.get("/@end/nodes").headers["location"])
    assert "There is no node at this moment. Look at what was removed" in page.text
    assert any("/diff?vs=@1" in link for link in links_of(page))


def test_a_time_with_one_bound_is_said_once_with_its_day(large: httpx.Client) -> None:
    page = page_at(large, large.get("/@end/jobs").headers["location"])
    text = " ".join(page.text.split())
    assert "Jobs after 13:00:00 @" in text
    assert "after 13:00:00 2025-11-21 UTC" in text
