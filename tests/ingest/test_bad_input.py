"""Bad input: told what, where and what now; nothing half-stored; counted if that is asked for."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusters import compact, initial_end, listed, pod, recorded, watched
from plinian.engine.errors import (
    EventMalformed,
    FormatUnknown,
    InputError,
    InputTruncated,
    PlinianError,
)
from plinian.engine.ingest.reading.formats import Context
from plinian.engine.ingest.reading.json_text import json_documents
from plinian.engine.log import LogStore, Query, open_log
from plinian.replay.ingest.ingest_run import IngestOptions, IngestSummary, ingest

GOOD = watched(("ADDED", pod("a", 1)), ("MODIFIED", pod("a", 2)))
SURROGATE = watched(("ADDED", pod("a", 1, annotations={"by": "half"}))).replace(b"half", rb"\ud83d")
REPEATED = b"""\
apiVersion: v1
kind: List
items:
- &a {apiVersion: v1, kind: Pod, metadata: {name: a, uid: u, resourceVersion: '5', labels: {x: %s}}}
""" % (b"x" * 100_000)
DEEP = b'{"type":"ADDED","object":' + b'{"spec":' * 100_000

BAD = {
    "json that is cut off": (recorded("list-all.json.gz")[:-30], InputTruncated),
    "yaml that is cut off": (recorded("list-all.managed.yaml.gz")[:-40], InputTruncated),
    "gzip that is cut off": (gzip.compress(recorded("list-all.json.gz"))[:-30], InputTruncated),
    "gzip that is damaged": (gzip.compress(GOOD)[:40] + b"\0" * 60, InputError),
    "latin-1": (
        watched(("ADDED", pod("a", 1, annotations={"by": "José"}))).decode().encode("latin-1"),
        EventMalformed,
    ),
    "NUL bytes": (GOOD.replace(b'"Pending"', b'"Pen\0ding"'), EventMalformed),
    "NUL bytes only": (b"\0" * 4096, FormatUnknown),
    "deep nesting": (GOOD + DEEP + b"\n" + GOOD, EventMalformed),
    "metadata of a wrong type": (compact(listed({**pod(), "metadata": "x"})), EventMalformed),
    "spec of a wrong type": (
        compact(listed({**pod(), "spec": []}, {**pod(), "spec": 3})),
        EventMalformed,
    ),
    "status of a wrong type": (compact(listed({**pod(), "status": "ok"})), EventMalformed),
    "items of a wrong type": (compact({**listed(), "items": {"a": 1}}), EventMalformed),
    "an item that is no object": (
        b'{"kind":"PodList","apiVersion":"v1","items":[7]}',
        EventMalformed,
    ),
    "a uid of a wrong type": (compact(listed(pod(uid=7))), EventMalformed),
    "no name": (compact(listed(pod(name=None))), EventMalformed),  # type: ignore[arg-type]
    "a resourceVersion that is no number": (compact(listed(pod(revision="v1-77"))), EventMalformed),
    "a negative resourceVersion": (compact(listed(pod(revision="-3"))), EventMalformed),
    "a huge resourceVersion": (compact(listed(pod(revision="9" * 19))), EventMalformed),
    "a key that occurs twice": (
        compact(listed(pod())).replace(b'"kind":"Pod",', b'"kind":"Pod","kind":"Pod",'),
        EventMalformed,
    ),
    "json that is broken in the middle": (GOOD + b'{"type":"ADDED",,}\n' + GOOD, EventMalformed),
    "a lone surrogate": (SURROGATE, EventMalformed),
    "a lone surrogate among others": (GOOD + SURROGATE + GOOD, EventMalformed),
    "aliases that repeat an object": (REPEATED + b"- *a\n" * 1000, EventMalformed),
    "a manifest": (b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n", FormatUnknown),
    "a table for people": (b"NAME    READY   STATUS\nweb-0   1/1     Running\n", FormatUnknown),
    "a Table": (b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}', FormatUnknown),
    "prose": (b"Dear engineer on call,\n", FormatUnknown),
    "nothing": (b"", FormatUnknown),
}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogStore]:
    with open_log(tmp_path / "plinian.db", create=True) as store:
        yield store


def put(tmp_path: Path, **files: bytes) -> list[str]:
    """Write files; their names may have a dot as ``__``."""
    paths = []
    for name, data in files.items():
        path = tmp_path / "inputs" / name.replace("__", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        paths.append(str(path))
    return paths


@pytest.mark.parametrize("case", BAD)
def test_a_bad_input_is_explained_and_stores_nothing(
    case: str, log: LogStore, tmp_path: Path
) -> None:
    data, error = BAD[case]
    good, bad = put(tmp_path, good=GOOD, zz_bad=data)
    paths = [bad] if case == "nothing" else [good, bad]
    with pytest.raises(error) as fault:
        ingest(log, paths)
    assert fault.value.what
    assert fault.value.where.startswith(bad)
    assert fault.value.now
    assert fault.value.exit_code == 2
    assert log.last() == 0


@pytest.mark.parametrize(
    "case", [case for case, (_, error) in BAD.items() if error in (EventMalformed, InputTruncated)]
)
def test_a_bad_input_is_counted_if_that_is_asked_for(
    case: str, log: LogStore, tmp_path: Path
) -> None:
    paths = put(tmp_path, good=GOOD, zz_bad=BAD[case][0])
    summary = ingest(log, paths, IngestOptions(skip_malformed=True))
    assert summary.skipped["malformed"] >= 1
    assert summary.malformed
    assert paths[1] in summary.malformed[0]
    assert summary.first_skipped["malformed"].startswith(paths[1])
    assert log.last() >= 2, "what is good is stored"


def test_an_empty_file_among_others_is_noted_and_no_error(log: LogStore, tmp_path: Path) -> None:
    summary = ingest(log, put(tmp_path, good=GOOD, nothing=b""))
    assert summary.kinds == {"pod.observed": 1, "pod.updated": 1, "watch.followed": 1}
    assert [(Path(s.source).name, s.reason) for s in summary.skipped_files] == [
        ("nothing", "it is empty")
    ]


def test_a_folder_of_unrelated_files_is_refused_with_reasons(log: LogStore, tmp_path: Path) -> None:
    put(
        tmp_path,
        a__md=b"# Notes\n",
        b__bin=b"\x00\x01" * 99,
        c__prom=b"# HELP up x\n# TYPE up gauge\n",
    )
    with pytest.raises(FormatUnknown) as fault:
        ingest(log, [str(tmp_path / "inputs")])
    for part in ("a.md: no format", "b.bin: it is binary", "c.prom: it is a page of metrics"):
        assert part in fault.value.what


def test_files_of_a_folder_that_are_of_no_format_are_listed(log: LogStore, tmp_path: Path) -> None:
    put(tmp_path, watch=GOOD, notes=b"hello\n", deploy__yaml=BAD["a manifest"][0])
    summary = ingest(log, [str(tmp_path / "inputs")])
    assert summary.formats == {"watch-stream": 1}
    reasons = {Path(s.source).name: s.reason for s in summary.skipped_files}
    assert set(reasons) == {"notes", "deploy.yaml"}
    assert "manifest" in reasons["deploy.yaml"]


def test_an_empty_folder_is_refused(log: LogStore, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatUnknown, match="no files"):
        ingest(log, [str(tmp_path / "empty")])


def test_giving_the_same_again_appends_nothing(log: LogStore, tmp_path: Path) -> None:
    paths = put(tmp_path, good=GOOD, list=compact(listed(pod("a", 2), pod("b", 3))))
    first = ingest(log, paths)
    again = ingest(log, paths[::-1])
    assert (first.appended, first.known) == (5, 1)
    assert (again.appended, again.known, again.last_position) == (0, 6, first.last_position)


def test_the_summary_says_what_was_in_the_inputs(log: LogStore, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    (tmp_path / "q.gz").write_bytes(gzip.compress(recorded("watch-queues.jsonl.gz")))
    summary = ingest(log, [str(tmp_path / "q.gz")], progress=lambda *told: seen.append(told))
    assert summary == IngestSummary(
        appended=12,
        kinds={"list.observed": 1, "queue.observed": 2, "queue.updated": 8, "watch.followed": 1},
        formats={"watch-stream": 1},
        skipped={"bookmark": 2},
        first_skipped={"bookmark": f"{tmp_path / 'q.gz'}:5"},
        first_revision=8978,
        last_revision=9253,
        first_observed="2026-11-21T02:25:00Z",
        last_observed="2026-11-21T02:25:04Z",
        last_position=12,
    )
    assert seen[-1] == ("append", 12, 12)
    assert {phase for phase, _, _ in seen} == {"read", "append"}


def test_standard_input_is_read(log: LogStore) -> None:
    summary = ingest(log, ["-"], stdin=io.BytesIO(gzip.compress(GOOD)))
    assert summary.appended == 3
    assert {found.event.source for found in log.read(Query())} == {"standard input"}


def test_the_last_page_of_a_list_is_not_taken_for_the_whole(log: LogStore, tmp_path: Path) -> None:
    first = compact(listed(pod("a", 1), **{"continue": "abc"}))
    summary = ingest(log, put(tmp_path, page1=first, page2=compact(listed(pod("b", 2)))))
    assert "list.observed" not in summary.kinds
    assert summary.appended == 2
    assert summary.skipped == {"completeness of a list: it is a page of a larger one": 2}


def test_a_log_without_years_takes_its_year_from_the_other_inputs(
    log: LogStore, tmp_path: Path
) -> None:
    klog = b"".join(
        line
        for line in recorded("vc-scheduler-v1.12.1.log.gz").splitlines(keepends=True)
        if not line.startswith(b"20")
    )
    (alone,) = put(tmp_path, a_scheduler__log=klog)
    with pytest.raises(InputError) as fault:
        ingest(log, [alone])
    assert "--year" in fault.value.now
    assert log.last() == 0
    watch = watched(
        ("ADDED", pod("a", 1, managedFields=[{"time": "2031-11-21T01:00:00Z"}])), initial_end(2)
    )
    paths = put(tmp_path, a_scheduler__log=klog, watch=watch)
    summary = ingest(log, paths)
    assert summary.formats == {"klog": 1, "watch-stream": 1}
    assert (summary.last_observed or "").startswith("2031-")
    assert any("year" in note for note in summary.notes)
    assert ingest(log, [alone]).appended == 0, "now the log tells the year"


def test_a_document_that_is_too_long_is_passed_over_with_bounded_memory() -> None:
    text = b'{"kind":"' + b"x" * 5_000_000 + b'"}\n' + compact(pod("a", 1))
    with pytest.raises(EventMalformed, match="more than 1 MiB"):
        list(json_documents(io.BytesIO(text), Context(source="x"), limit=2**20))
    context = Context(source="x", skip_malformed=True)
    found = list(json_documents(io.BytesIO(text), context, limit=2**20))
    assert [(line, bytes(document)) for line, document in found] == [(2, compact(pod("a", 1)))]


@pytest.mark.slow
def test_a_list_of_200_mb_on_one_line_is_read_in_less_than_600_mb(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    item = compact(pod("NAME", 12345, annotations={"pad": "x" * 3000})).split(b"NAME")
    with path.open("wb") as out:
        out.write(
            b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"99999"},"items":['
        )
        for number in range(200_000_000 // 3300):
            out.write((b"," if number else b"") + (b"p%d" % number).join(item))
        out.write(b"]}")
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from plinian.engine.log import open_log\n"
        "from plinian.replay.ingest.ingest_run import ingest\n"
        "with open_log(sys.argv[2], create=True) as store:\n"
        "    print(ingest(store, [sys.argv[1]]).appended)\n"
        # The peak of this program alone: Linux' ru_maxrss counts what its parent held, too.
        "status = Path('/proc/self/status')\n"
        "if status.exists():\n"
        "    (peak,) = (one for one in status.read_text().splitlines() if 'VmHWM' in one)\n"
        "    print(peak.split()[1])\n"
        "else:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(path), str(tmp_path / "log.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    appended, peak_kib = map(int, run.stdout.split())
    assert appended == 200_000_000 // 3300 + 1
    assert peak_kib < 600 * 1024


def test_every_error_of_an_input_exits_with_2() -> None:
    assert {error.exit_code for _, error in BAD.values() if issubclass(error, PlinianError)} == {2}


@pytest.mark.parametrize(
    "after", [b"", b"}", b',"more":"xxxxxxxxxxxxxxxxxxxxxxxx"', b',"b":"\\u0041"']
)
@pytest.mark.parametrize("begin", [b"", GOOD])
def test_a_lone_surrogate_is_named_wherever_it_is(
    begin: bytes, after: bytes, log: LogStore, tmp_path: Path
) -> None:
    line = b'{"type":"ADDED","object":{"a":"\\ud83d"' + after + b"}}\n"
    line = line.replace(b'"}}}', b'"}}')
    with pytest.raises(EventMalformed, match="a lone surrogate"):
        ingest(log, put(tmp_path, watch__jsonl=begin + line))
    assert log.last() == 0


@pytest.mark.parametrize("size", [60_000, 70_000, 900_000])
@pytest.mark.parametrize("write", [lambda one: json.dumps(one, indent=2), yaml.safe_dump])
def test_an_object_is_known_however_large_what_comes_before_its_metadata(
    write: Callable[[Any], str], size: int, log: LogStore, tmp_path: Path
) -> None:
    about = {"name": "a", "namespace": "d", "uid": "u", "resourceVersion": "5"}
    one = {"apiVersion": "v1", "data": {"x": "y z " * (size // 4)}, "kind": "ConfigMap"}
    ingest(log, put(tmp_path, it__txt=write({**one, "metadata": about}).encode()))
    assert [each.event.reference.kind for each in log.read(Query())] == ["ConfigMap"]


def test_what_is_no_object_is_refused_however_far_one_looks(log: LogStore, tmp_path: Path) -> None:
    manifest = b"apiVersion: v1\nkind: ConfigMap\ndata:\n  x: " + b"y" * 5_000_000 + b"\n"
    with pytest.raises(FormatUnknown, match="a manifest"):
        ingest(log, put(tmp_path, it__yaml=manifest))
