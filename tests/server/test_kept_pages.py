"""Pages that took long are sent again as they were, to whoever asks for the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import Response
from web_pages import pages_of

import plinian
from plinian.replay.server.kept_answers import MOST_BYTES, MOST_OF_ONE, KeptAnswers
from plinian.replay.server.web import answers

WHY = "/@1901/why/job/default/gpu-2"


def _fails(*_: object, **__: object) -> None:
    raise AssertionError("it is made again")


@pytest.mark.slow
def test_a_page_that_took_long_is_made_once(
    demo_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pages_of(demo_log) as client:
        made = {path: client.get(path) for path in (WHY, f"{WHY}.json", f"{WHY}?others=yes")}
        monkeypatch.setattr(answers, "_record", _fails)
        for path, first in made.items():
            again = client.get(path)
            assert (again.status_code, again.text) == (200, first.text)
            assert again.headers == first.headers
            same = {"If-None-Match": first.headers["etag"]}
            assert client.get(path, headers=same).status_code == 304
        for path in ("/@1901/why/job/default/gpu-3", f"{WHY}?release=v1.11.0", "/@1901/jobs"):
            assert client.get(path).status_code == 500


def test_it_is_made_again_after_something_was_appended(demo_log: Path, tmp_path: Path) -> None:
    place, node = tmp_path / "grows.db", tmp_path / "node.json"
    place.write_bytes(demo_log.read_bytes())
    node.write_text(
        '{"apiVersion":"v1","kind":"Node","metadata":{"name":"late","uid":"u-late",'
        '"resourceVersion":"999999"},"status":{}}'
    )
    with pages_of(place) as client:
        first = client.get(f"{WHY}.json").json()
        with plinian.open(place) as log:
            log.ingest([node])
        again = client.get(f"{WHY}.json").json()
    assert again["last"] > first["last"]
    assert again["data"]["asked"] == first["data"]["asked"]


def test_what_is_kept_is_bounded() -> None:
    kept, most = KeptAnswers(), MOST_BYTES // MOST_OF_ONE
    for number in range(2 * most):
        kept.keep(str(number), Response(b"x" * MOST_OF_ONE))
        kept.keep(str(number), Response(b"y" * MOST_OF_ONE))
        assert kept.find("0")
    kept.keep("large", Response(b"x" * (MOST_OF_ONE + 1)))
    assert kept.find("large") is None
    found = [number for number in range(2 * most) if kept.find(str(number))]
    assert found == [0, *range(most + 1, 2 * most)]
