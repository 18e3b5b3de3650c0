"""Whether manifests would start: the same as when the objects are really there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answer_worlds import API, CAPACITY, NODES, log_of
from click.testing import CliRunner
from serving import serving_here

import plinian
from forecasts import RELEASE, Later, deployment, job, living_log
from plinian.engine.errors import InputError, NotKnown, UsageError
from plinian.replay.answers.why import why_at
from plinian.replay.cli.main import app
from plinian.replay.forecast.forecast_run import ForecastRequest, forecast
from plinian.replay.forecast.recorded_durations import wish_of
from plinian.replay.lint.manifest_reading import read_text
from plinian.replay.logs.log import Log
from plinian.replay.render.tables import Style
from plinian.replay.render.would_start import would_start_lines
from plinian.replay.server.settings import ServerSettings
from plinian.replay.what_if.changed_sessions import Variant, what_if
from plinian.replay.what_if.cluster_changes import Apply
from plinian.replay.would_start.start_records import WouldStart
from plinian.replay.would_start.would_start import TryTask, would_start
from sessions import document, group, node, pod, queue

Document = dict[str, Any]
ROOT = (queue("root"), queue("default", parent="root"))
SMALL = (*ROOT, node("n1", 4), node("n2", 4))
TIME = "2026-11-21T01:53:36Z"


def written(given: Document) -> Document:
    """Return an object as a person writes it: without what an API server fills in."""
    metadata = {
        name: given["metadata"][name]
        for name in ("name", "namespace", "annotations")
        if given["metadata"].get(name)
    }
    own = {name: value for name, value in given.items() if name not in {"metadata", "status"}}
    return {"apiVersion": API.get(given["kind"], "v1"), **own, "metadata": metadata}


def tried(
    log: Log, *documents: Document, lasts: str = "2m", runs: tuple[str, ...] = (), **more: Any
) -> WouldStart:
    """Return whether objects would start at the end of a log."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(map(written, documents))})
    more.setdefault("moment", log.moment())
    task = TryTask(
        written=read_text(text, "manifest.yaml"),
        release=RELEASE,
        wish=wish_of(lasts, runs=runs),
        **more,
    )
    return would_start(log, task)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Log]:
    with living_log(tmp_path, NODES, SMALL) as log:
        yield log


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Log]:
    """Return a log in which another job runs on the only node."""
    with living_log(tmp_path, NODES, (*ROOT, node("n1", 2), job("first"))) as log:
        yield log


class TestAJob:
    def test_a_job_that_fits_starts_now(self, small: Log) -> None:
        found = tried(small, job("new", replicas=2))
        (each,) = found.objects
        assert (found.starts, each.starts, each.needs) == ("now", "now", 2)
        assert [row.node for row in each.placements] == ["n1", "n2"]
        assert each.why is None

    def test_a_job_that_waits_for_another_starts_later(self, full: Log) -> None:
        found = tried(full, job("second"), runs=("job/ns/first=30s",))
        (each,) = found.objects
        assert (found.starts, each.starts) == ("later", "later")
        assert each.after is not None
        assert each.after > 30_000_000
        assert each.why is not None
        assert "lacks" in each.why.sentence or "lack" in each.why.sentence

    def test_a_job_without_room_does_not_start_and_the_sentence_says_why(self, small: Log) -> None:
        found = tried(small, job("huge", cpu=9))
        (each,) = found.objects
        assert found.starts == each.starts == "no"
        assert each.why is not None
        assert each.why.sentence in found.sentence
        assert each.waiting == ("ns/huge-w-0",)

    def test_more_pods_than_it_needs_may_wait(self, small: Log) -> None:
        (each,) = tried(small, job("wide", cpu=3, replicas=3, minAvailable=2)).objects
        assert (each.starts, each.needs, each.pods, len(each.waiting)) == ("now", 2, 3, 1)

    def test_limits_are_requests_as_an_api_server_fills_them_in(self, small: Log) -> None:
        new = job("limited")
        container = new["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
        container["resources"] = {"limits": {"cpu": "9"}}
        assert tried(small, new).starts == "no"

    def test_a_job_that_names_no_scheduler_and_no_minimum_is_filled_in(self, small: Log) -> None:
        new = job("bare", replicas=2)
        for field in ("schedulerName", "minAvailable", "queue", "maxRetry"):
            del new["spec"][field]
        (each,) = tried(small, new).objects
        assert (each.starts, each.needs, each.queue) == ("now", 2, "default")


class TestTheSameAsIfItWereThere:
    def test_as_a_forecast_with_the_object_applied(self, full: Log) -> None:
        new = written(job("second"))
        wish = wish_of("2m", runs=("job/ns/first=30s",))
        variant = Variant("changed", (Apply({**new}),))
        request = ForecastRequest(full.moment(), (variant,), wish, RELEASE)
        work = forecast(full, request).courses[-1].works["job ns/second"]
        found = tried(full, job("second"), runs=("job/ns/first=30s",))
        begin = forecast(full, request).begin
        assert found.objects[0].after == work.starts - begin

    def test_as_what_if_with_the_podgroup_and_pods_made_by_hand(self, small: Log) -> None:
        made = (group("pg", 2), pod("a", "pg", 3), pod("b", "pg", 3))
        changes = tuple(Apply({"apiVersion": API.get(one["kind"], "v1"), **one}) for one in made)
        moment = small.moment()
        side = what_if(small, moment, [Variant("changed", changes)], release=RELEASE).sides[1]
        found = tried(small, *made)
        placed = {row.pod: row.node for row in found.objects[0].placements}
        assert placed == dict(side.answer.result.binds) != {}

    def test_why_says_the_same_of_the_object_in_a_log(self, small: Log, tmp_path: Path) -> None:
        found = tried(small, job("huge", cpu=9))
        (tmp_path / "other").mkdir()
        real = {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "name": "huge",
            "uid": "u-huge",
            "controller": True,
        }
        there = (job("huge", cpu=9), group("pg", 1), pod("huge-w-0", "pg", 9))
        for one in there[1:]:
            one["metadata"]["ownerReferences"] = [real]
        there[0]["metadata"]["uid"] = "u-huge"
        with living_log(tmp_path / "other", NODES, (*SMALL, *there)) as log:
            why = why_at(log, log.object("job/ns/huge"), release=RELEASE)
        assert found.objects[0].why is not None
        assert found.objects[0].why.sentence == why.sentence

    def test_twice_the_same(self, small: Log) -> None:
        new = (job("huge", cpu=9), deployment("web", 3))
        assert tried(small, *new) == tried(small, *new)

    def test_nothing_is_written(self, small: Log) -> None:
        before = small.store.last(), small.store.branches()
        tried(small, job("new"))
        assert (small.store.last(), small.store.branches()) == before


class TestOtherKinds:
    def test_a_deployment_has_pods_of_its_controllers(self, small: Log) -> None:
        (each,) = tried(small, deployment("web", 3)).objects
        assert (each.object, each.starts, each.pods) == ("deployment ns/web", "now", 3)

    def test_a_pod_alone_gets_a_podgroup(self, small: Log) -> None:
        lone = pod("lone", "", 1)
        lone["metadata"].pop("annotations", None)
        (each,) = tried(small, lone).objects
        assert (each.object, each.starts, each.needs) == ("pod ns/lone", "now", 1)

    def test_a_podgroup_and_its_pods_are_one(self, small: Log) -> None:
        found = tried(small, group("pg", 2, "Pending"), pod("a", "pg"), pod("b", "pg"))
        (each,) = found.objects
        assert (each.object, each.needs, each.pods) == ("podgroup ns/pg", 2, 2)

    def test_a_queue_is_created_before_its_job(self, tmp_path: Path) -> None:
        with living_log(tmp_path, CAPACITY, SMALL) as log:
            new = queue("fresh", parent="root", capability={"cpu": "1"})
            found = tried(log, new, job("new", queue="fresh"))
        assert found.beside == ("queue fresh",)
        assert found.starts == "no"
        assert "fresh" in found.sentence

    def test_what_nothing_reads_is_named(self, small: Log) -> None:
        settings = document("ConfigMap", "settings", "ns", apiVersion="v1")
        assert tried(small, settings, job("new")).left_out == ("configmap ns/settings",)


class TestRefused:
    def test_a_missing_queue(self, small: Log) -> None:
        found = tried(small, job("new", queue="nowhere"))
        assert (found.starts, found.objects) == ("refused", ())
        assert "nowhere" in found.sentence

    def test_a_closed_queue(self, tmp_path: Path) -> None:
        with living_log(tmp_path, NODES, (*SMALL, queue("shut", state="Closed"))) as log:
            assert tried(log, job("new", queue="shut")).starts == "refused"

    def test_a_priority_class_that_does_not_exist(self, tmp_path: Path) -> None:
        web = deployment("web", 1)
        web["spec"]["template"]["spec"]["priorityClassName"] = "urgent"
        with living_log(tmp_path, NODES, SMALL, also=["PriorityClass"]) as log:
            found = tried(log, web)
        assert found.starts == "refused"
        assert "'urgent' does not exist" in found.sentence


def of(kind: str, version: str) -> Document:
    return document(kind, "x", "ns", apiVersion=version, spec={"template": {"spec": {}}})


class TestErrors:
    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda: job("first"), "job ns/first exists at"),
            (lambda: of("Job", "batch/v1"), "no controller here makes the pods of a Job"),
            (lambda: of("DaemonSet", "apps/v1"), "no controller here makes the pods"),
            (lambda: of("ConfigMap", "v1"), "nothing to try"),
            (lambda: of("StatefulSet", "apps/v1"), "for the scheduler default-scheduler"),
        ],
    )
    def test_what_cannot_be_tried(self, full: Log, make: Callable[[], Document], says: str) -> None:
        with pytest.raises(UsageError, match=says):
            tried(full, make())

    def test_the_same_object_twice(self, small: Log) -> None:
        with pytest.raises(UsageError, match="given twice"):
            tried(small, job("new"), job("new"))

    def test_a_template_is_to_be_rendered_first(self, small: Log) -> None:
        web = deployment("web", 1)
        web["spec"]["template"]["spec"]["containers"][0]["image"] = "{{ .Values.image }}"
        with pytest.raises(InputError, match="is a template's") as raised:
            tried(small, web)
        assert "helm template" in raised.value.now

    def test_a_bound_pod_and_one_with_an_owner_are_not_new(self, small: Log) -> None:
        with pytest.raises(InputError, match="names its node"):
            tried(small, pod("a", "pg", on="n1"))

    def test_a_log_that_lacks_lists(self, tmp_path: Path) -> None:
        lacks = pytest.raises(NotKnown, match="what happens next cannot be run")
        with log_of(tmp_path, NODES, queue("default"), node("n1")) as log, lacks:
            tried(log, job("new"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("try") / "demo.db"
    plinian.demo(found).close()
    return found


@pytest.fixture(scope="module")
def manifest(place: Path) -> Path:
    new = written(job("new", 0.5, replicas=2, queue="bronze"))
    file = place.parent / "job.json"
    file.write_text(json.dumps(new))
    return file


def run(*words: str, given: str | None = None) -> Any:
    return CliRunner().invoke(app, words, input=given)


class TestAtTheDoors:
    def test_all_doors_say_the_same(self, place: Path, manifest: Path) -> None:
        words = ["try", "--log", str(place), "--at", TIME, "--for", "30s", "-o", "json", "-f"]
        printed = json.loads(run(*words, str(manifest)).stdout)
        typed = json.loads(run(*words, "-", given=manifest.read_text()).stdout)
        with plinian.open(place, read_only=True) as log:
            python = log.would_start(files=manifest, at=TIME, lasts="30s")
        query = {"at": TIME, "for": "30s"}
        with serving_here(ServerSettings(str(place))) as server:
            url = "/plinian/v1/would-start"
            posted = server.client.post(url, params=query, content=manifest.read_bytes())
            bad = server.client.post(url, params=query, content=b"\xff")
            none = server.client.get(url, params=query)
            long = server.client.get(url, params={**query, "manifest": "#" * 10_001})
        assert posted.status_code == 200, posted.text
        assert printed == typed == posted.json()["result"]
        assert printed["sentence"] == python.sentence
        assert (bad.status_code, none.status_code) == (400, 400)
        assert "UTF-8" in bad.text
        assert long.status_code == 400
        assert "send it as the body of a POST" in long.text

    def test_exit_codes(self, place: Path, manifest: Path, tmp_path: Path) -> None:
        huge = tmp_path / "huge.json"
        huge.write_text(json.dumps(written(job("huge", cpu=90))))
        words = ["try", "--log", str(place), "--at", TIME, "--for", "10s", "-f"]
        assert run(*words, str(manifest), "--exit-code").exit_code == 0
        assert run(*words, str(huge)).exit_code == 0
        assert run(*words, str(huge), "--exit-code").exit_code == 1
        assert run(*words[:-1]).exit_code == 2

    def test_a_recorded_job_starts_as_it_did(self, place: Path) -> None:
        with plinian.open(place, read_only=True) as log:
            (gone,) = log.get("vcjob", "batch-2", at=TIME)
            (first,) = log.events(objects=["job/batch-2"], kinds=["job.created"], limit=1)
            before = first.position - 1
            text = json.dumps(gone)
            found = log.would_start(manifest=text, at=f"@{before}", lasts="2m")
            pods = log.get(
                "pods", at="2026-11-21T01:53:50Z", selector="volcano.sh/job-name=batch-2"
            )
        (each,) = found.objects
        assert each.starts != "no"
        assert each.pods == len(pods)

    @pytest.mark.parametrize("width", [60, 80, 120, 200])
    def test_lines_fit_a_terminal(self, full: Log, width: int) -> None:
        found = tried(full, job("second"), deployment("web", 2), runs=("job/ns/first=30s",))
        lines = list(would_start_lines(found, style=Style(colour=False, width=width)))
        text = "".join(lines)
        assert max(map(len, text.splitlines())) <= width
        assert "job ns/second" in text


class TestWhatWouldHelp:
    def test_a_change_is_found_for_an_object_that_does_not_exist(self, full: Log) -> None:
        found = tried(full, job("second"), helps=lambda: True, lasts="20s")
        helps = found.objects[0].would_help
        assert any(remedy.kind == "node" for remedy in helps.found)  # type: ignore[union-attr]


def test_what_users_wrote_later_comes_at_its_time(tmp_path: Path) -> None:
    later = [Later(20, "created", node("n2", 4))]
    with living_log(tmp_path, NODES, (*ROOT, node("n1", 1)), later) as log:
        found = tried(log, job("new", cpu=3), moment=log.moment("rv:1000"), lasts="1m")
    (each,) = found.objects
    assert each.starts == "later"
    assert each.placements[0].node == "n2"
