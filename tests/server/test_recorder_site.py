"""What a recorder answers over HTTP: metrics and probes, beside its work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from plinian.replay.capture.commit_writer import Committed
from plinian.replay.capture.recorder import Recording
from plinian.replay.capture.stream_state import StreamPhase, StreamState
from plinian.replay.server.recorder_metrics import LOG_NAMES, STREAM_NAMES
from plinian.replay.server.recorder_site import recorder_application, recorder_routes
from plinian.replay.server.settings import ServerSettings
from tree import ROOT

NOW = 1_800_000_000_000_000
WATCHED = StreamPhase.WATCHING
PODS = {"resource": "pods", "phase": WATCHED, "heard_at": NOW - 2_000_000, "revision": 20}


def _recording() -> Recording:
    streams = [
        StreamState(**PODS, namespace="a", events=5, bytes=100, holes=1),
        StreamState(**{**PODS, "revision": 12}, namespace="b", events=7, expired=2, repaired=1),
        StreamState(resource="queues", phase=StreamPhase.ABSENT),
    ]
    return Recording(streams, Committed(3, 11, 4, 15, 1.0, 0.7), 6, 900, None, 1.5)


class _Recorder:
    def __init__(self) -> None:
        self.found = _recording()

    def recording(self) -> Recording:
        return self.found


@pytest.fixture
def recorder() -> _Recorder:
    return _Recorder()


@pytest.fixture
def client(recorder: _Recorder) -> Iterator[TestClient]:
    routes = recorder_routes(recorder.recording, now=lambda: NOW)
    application = recorder_application(ServerSettings(place="log.db"), routes)
    with TestClient(application, base_url="http://127.0.0.1:8001") as made:
        yield made


def _samples(client: TestClient) -> dict[tuple[str, str], float]:
    text = client.get("/metrics").text
    return {
        (sample.name.removeprefix("plinian_record_"), sample.labels.get("stream", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_of_a_kind_are_those_of_all_its_namespaces(client: TestClient) -> None:
    samples = _samples(client)
    of_pods = {name: value for (name, stream), value in samples.items() if stream == "pods"}
    assert of_pods == {
        "stream_events_total": 12,
        "stream_received_bytes_total": 100,
        "stream_silent_seconds": 2,
        "stream_revision": 12,
        "stream_watched": 1,
        "stream_holes_total": 1,
        "stream_repaired_holes_total": 1,
        "stream_reconnects_total": 0,
        "stream_expired_total": 2,
        "stream_malformed_total": 0,
    }
    assert samples["stream_watched", "queues"] == 0
    assert ("stream_revision", "queues") not in samples


def test_metrics_say_how_far_the_log_is_behind(client: TestClient) -> None:
    samples = {name: value for (name, stream), value in _samples(client).items() if not stream}
    own = {name: value for name, value in samples.items() if not name.startswith("process_")}
    assert own == {
        "commits_total": 3,
        "appended_events_total": 11,
        "known_events_total": 4,
        "position": 15,
        "lag_seconds": pytest.approx(0.7),
        "waiting_events": 6,
        "waiting_bytes": 900,
        "waiting_seconds": 1.5,
        "log_unwritable": 0,
    }


def test_no_label_has_a_number_of_values_without_a_bound(client: TestClient) -> None:
    families = text_string_to_metric_families(client.get("/metrics").text)
    labels = {name for family in families for one in family.samples for name in one.labels}
    assert labels == {"stream"}


def test_the_how_to_lists_all_metrics() -> None:
    text = (ROOT / "docs/how-to/record.md").read_text("utf-8")
    names = {*STREAM_NAMES.values(), *LOG_NAMES.values()}
    assert sorted(name for name in names if f"`{name}" not in text.replace("_total`", "`")) == []


def test_probes(client: TestClient, recorder: Any) -> None:
    assert [client.get(path).status_code for path in ("/livez", "/readyz")] == [200, 200]
    recorder.found.streams[0].heard_at = NOW - 200_000_000
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (503, "a/pods: nothing was heard for 200 s\n")
    assert client.get("/livez").status_code == 200


def test_a_page_of_another_site_may_not_ask(client: TestClient) -> None:
    assert client.get("/metrics", headers={"Host": "evil.example"}).status_code == 421
