"""``plinian plot``: in a terminal, with poor logs, and with words that do not go together."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from drawn_cluster import DrawnCluster, busy, node, podgroup, queue
from hypothesis import given, settings
from hypothesis import strategies as st
from kubectl_lists import listed, small_cluster, take, without

import plinian
from plinian import Log
from plinian.engine.log.location import log_name
from plinian.replay.cli.main import app
from plinian.replay.plot.asked import KINDS
from plinian.replay.plot.characters import lines_of_picture
from plinian.replay.plot.picture import (
    COUNT,
    Chart,
    DurationRange,
    NumberLine,
    Picture,
    RangesPanel,
    Role,
)
from plinian.replay.plot.picture_words import amounts_on_axis, duration, times_on_axis
from plinian.replay.series.period import divided


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Open the log of a small cluster."""
    with busy(tmp_path_factory.mktemp("busy") / "busy.db") as opened:
        yield opened


def run(log: Log, *words: str) -> Result:
    """Run ``plinian plot``."""
    return CliRunner().invoke(app, ["plot", *words, "--log", log.place])


def of(what: str) -> list[str]:
    """Return the words for a plot of the small cluster."""
    return ["gang", "podgroup/gang"] if what == "gang" else [what]


@pytest.mark.parametrize("what", KINDS)
def test_without_a_file_a_plot_is_characters(log: Log, what: str) -> None:
    result = run(log, *of(what))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[1].startswith("busy.db, 2025-06-15 15:06:4")
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) > (5 if what != "sessions" else 2)


def test_a_queue_in_characters(log: Log) -> None:
    result = run(log, "queues", "team")
    assert (
        result.stdout
        == """\
Queues: cpu allocated against deserved and capability
busy.db, 2025-06-15 15:06:40 to 15:07:00 UTC

team (with 1 queue below it)   █ allocated  ╌ deserved  ━ capability
                              1
      5 │                     ██████████████████████████████
        │━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
        │                     ██████████████████████████████▅▅▅▅▅▅▅▅▅▅▅▅▅▅
        │╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
        │                  ███████████████████████████████████████████████
        │                  ███████████████████████████████████████████████
      0  ┴────────────────┴─────────────────┴─────────────────┴─────────────────
         15:06:40     15:06:45          15:06:50          15:06:55

1  15:06:46 to 15:06:54  team has more than its capability
each step is the highest value in 100ms
"""
    )


@pytest.mark.parametrize("what", KINDS)
def test_a_terminal_without_utf_8_gets_ascii(log: Log, what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plinian", "plot", *of(what), "--log", log.place],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.stdout.isascii()
    assert b"\\u" not in done.stdout
    assert done.stdout.count(b"\n") > 2


@given(
    st.lists(st.lists(st.none() | st.integers(0, 10**7), min_size=9, max_size=9), max_size=4),
    st.integers(20, 200),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_any_chart_fits_any_width(rows: list[list[int | None]], width: int, plain: Any) -> None:
    lines = [
        NumberLine(role, role.value, tuple(row)) for role, row in zip(Role, rows, strict=False)
    ]
    period = divided(10**15, 10**15 + 9_000_000)
    period = type(period)(begin=period.begin, end=period.end, step=1_000_000)
    filled = tuple(NumberLine(Role.RUNNING, "running", line.values) for line in lines[:2])
    chart = Chart(
        "chart", COUNT, filled or (NumberLine(Role.RUNNING, "r", (None,) * 9),), tuple(lines)
    )
    picture = Picture("title", "log", period, (chart,), ("a note",))
    drawn = lines_of_picture(picture, width=width, ascii_only=plain)
    body = drawn[4:-1]
    assert all(len(line.rstrip("\n")) <= max(width, 40) for line in body)
    assert not plain or all(line.isascii() for line in drawn)


# -- poor logs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80])
def test_what_is_said_of_a_row_is_never_cut(width: int) -> None:
    names = ("research gangs", "a-queue-with-quite-a-long-name of the team pods")
    rows = tuple(DurationRange(name, "0 bound, 12 waiting", None, (60_000_000,)) for name in names)
    panel = RangesPanel("time from creation to binding", rows)
    picture = Picture("Waits", "a.db", divided(0, 100_000_000), (panel,), ())
    lines = lines_of_picture(picture, width=width)
    assert all(len(line.rstrip("\n")) <= width for line in lines)
    assert sum("0 bound, 12 waiting" in line for line in lines) == len(rows)
    assert any(line.startswith("research gangs") for line in lines)


def test_a_log_with_one_event_is_drawn(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(1, node("n1"))
    with cluster.log(tmp_path / "log.db") as log:
        drawn = {what: run(log, what) for what in ("queues", "nodes", "sessions", "waits")}
        assert all(one.exit_code == 0 for one in drawn.values()), drawn
        assert "the log has no queue in this period" in drawn["queues"].stdout
        assert "1 node " in drawn["nodes"].stdout
        assert "the log has no session in this period" in drawn["sessions"].stdout
        assert "nothing that the scheduler places was created" in drawn["waits"].stdout
        assert run(log, "gang", "job/x").exit_code == 1
        for what in ("queues", "nodes", "sessions", "waits"):
            assert log.plot(what).data("svg").startswith(b"<svg ")


def test_a_quiet_log_has_flat_lines(tmp_path: Path) -> None:
    cluster = DrawnCluster()
    cluster.saw(0, node("n1"), queue("q"), podgroup("g", queue="q", least=3, phase="Pending"))
    cluster.saw(60, node("n1"), verb="updated")
    with cluster.log(tmp_path / "log.db") as log:
        queues = log.plot("queues")
        (panel,) = queues.picture.panels
        assert isinstance(panel, Chart)
        assert set(panel.filled[0].values) == {0}
        assert queues.data("png")
        gang = log.plot("gang", "podgroup/g").text()
        assert "minMember" in gang
        assert "g is Pending" in gang


def test_a_log_without_times_says_so(tmp_path: Path) -> None:
    plinian.open(tmp_path / "log.db", create=True).close()
    result = CliRunner().invoke(app, ["plot", "queues", "--log", str(tmp_path / "log.db")])
    assert result.exit_code != 0
    assert "Traceback" not in result.output
    assert result.stderr.startswith("plinian: ")


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["clouds"], 2, "no plot 'clouds'"),
        (["queues", "--from", "2030-01-01T00:00:00Z"], 2, "the period is empty"),
        (["queues", "--to", "2001-01-01T00:00:00Z"], 2, "is before the log begins"),
        (["queues", "--from", "@1", "--to", "@1"], 2, "the period is empty"),
        (["queues", "--resource", "gpu"], 2, "no queue, node or pod has 'gpu'"),
        (["nodes", "--resource", "gpu"], 2, "no node has 'gpu'"),
        (["waits", "--resource", "cpu"], 2, "--resource does not go with waits"),
        (["queues", "-n", "ml"], 2, "-n does not go with queues"),
        (["gang"], 2, "gang draws one job or PodGroup"),
        (["gang", "job/none"], 1, "no pod or PodGroup of job 'none'"),
        (["queues", "none"], 1, "no queue 'none' in this period"),
        (["nodes", "none"], 1, "no node 'none' in the log"),
        (["waits", "none"], 1, "nothing was created in queue 'none'"),
        (["gang", "queue/team"], 2, "a Queue is no gang"),
        (["sessions", "team"], 2, "sessions has no 'team'"),
        (["queues", "--theme", "dark"], 2, "--theme is of a file"),
        (["queues", "-o", "queues.gif"], 2, "the suffix .gif is of no picture"),
        (["queues", "-o", "queues.png", "--theme", "auto"], 2, "cannot follow"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_drawn_is_refused(log: Log, words: list[str], code: int, said: str) -> None:
    result = run(log, *words)
    assert said in result.stderr
    assert result.exit_code == code
    assert not [word for word in words if Path(word).exists()]


def test_a_period_is_part_of_the_log(log: Log) -> None:
    whole, part = (
        run(log, "queues", "team", *more).stdout
        for more in ([], ["--from", "15:06:50", "--to", "15:06:55"])
    )
    assert "busy.db, 2025-06-15 15:06:50 to 15:06:55 UTC" in part
    assert part != whole


def test_a_file_is_written_and_named(log: Log, tmp_path: Path) -> None:
    place = tmp_path / "queues.svg"
    result = run(log, "queues", "-o", str(place), "--resource", "memory")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"queues written to {place}\n"
    assert place.read_bytes() == log.plot("queues", resource="memory").data("svg")


def test_characters_do_not_load_matplotlib(log: Log) -> None:
    code = "import sys\nfrom plinian.__main__ import main\nsys.argv = ['plinian', *sys.argv[1:]]\n"
    code += "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "plot", "queues", "--log", log.place],
        capture_output=True,
        check=True,
        text=True,
    )
    assert "plinian.replay.plot.plot_run" in done.stderr.split()
    assert "matplotlib" not in done.stderr.split()


# -- texts of axes ------------------------------------------------------------------------------


@given(st.integers(1, 10**15), st.integers(1, 30))
def test_times_on_an_axis_are_in_the_period_and_few(length: int, most: int) -> None:
    period = divided(10**15, 10**15 + length)
    marks = times_on_axis(period, most)
    assert len(marks) <= most + 1
    assert all(period.begin <= at <= period.end for at, _ in marks)


@given(st.sampled_from(["cpu", "memory", COUNT, "duration", "x/gpu"]), st.integers(1, 10**14))
def test_amounts_on_an_axis_rise_to_the_highest(unit: str, highest: int) -> None:
    ticks = amounts_on_axis(unit, highest)
    amounts = [amount for amount, _ in ticks]
    assert amounts == sorted(set(amounts))
    assert amounts[0] == 0
    assert amounts[-1] <= highest
    assert len(ticks) <= 4
    assert len({text for _, text in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "0"),
        (700, "700µs"),
        (250_000, "250ms"),
        (1_000_000, "1s"),
        (1_570_000, "1.5s"),
        (42_900_000, "42s"),
        (90_000_000, "1m30s"),
        (3_600_000_000, "1h"),
        (90_061_000_000, "1d1h"),
    ],
)
def test_durations_are_short(micros: int, text: str) -> None:
    assert duration(micros) == text


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("cluster.db", "cluster.db"),
        ("/home/me/cluster.db", "cluster.db"),
        ("postgresql://me:secret@host:5432/plinian?options=x", "plinian"),
        ("postgresql://me:secret@host", "log"),
    ],
)
def test_a_title_has_no_password(place: str, name: str) -> None:
    assert log_name(place) == name


# -- lists --------------------------------------------------------------------------------------


@pytest.fixture
def lists(tmp_path: Path) -> Iterator[Log]:
    """Open a log of two lists, ten minutes after each other; a gang waits, and a node goes."""
    status = {"phase": "Inqueue"}
    group = listed("PodGroup", "w", 50, spec={"queue": "q", "minMember": 1}, status=status)
    waits = listed("Pod", "w-0", 55, spec={"schedulerName": "volcano"}, status={"phase": "Pending"})
    waits["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "w"}
    items = [*small_cluster(), group, waits]
    with plinian.open(tmp_path / "lists.db", create=True) as opened:
        take(opened, tmp_path / "1.json", items, "2026-05-04T10:00:00Z", "60")
        later = [*without(items, "n2"), listed("Node", "n3", 70)]
        take(opened, tmp_path / "2.json", later, "2026-05-04T10:10:00Z", "80")
        yield opened


@pytest.mark.parametrize("words", [("nodes",), ("queues",), ("gang", "podgroup/w", "-n", "ml")])
def test_a_picture_of_lists_is_of_the_time_from_the_first_to_the_last(
    lists: Log, words: tuple[str, ...]
) -> None:
    drawn = run(lists, *words).stdout
    assert drawn.splitlines()[1] == "lists.db, 2026-05-04 10:00:00 to 10:10:00 UTC"
    assert "w is Inqueue" not in drawn
    assert "drawn in the middle: between 10:00:00 and 10:10:00" in " ".join(drawn.split())


def test_without_gaps_no_note_says_how_their_changes_are_drawn(log: Log) -> None:
    assert "gap" not in run(log, "queues").stdout


def test_what_waits_since_before_the_first_list_is_drawn(lists: Log) -> None:
    assert "q pods  0 bound, 1 waiting" in run(lists, "waits").stdout
