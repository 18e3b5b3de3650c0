"""Images of a log: equal bytes anywhere, readable in both themes, safe with any name."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_cluster import DrawnCluster, busy, node, pod, podgroup, queue

import plinian
from plinian import Log
from plinian.engine.errors import UsageError
from plinian.replay.plot.asked import KINDS
from plinian.replay.plot.picture import LEVELS, Role
from plinian.replay.plot.plot_run import Plot, form_of
from plinian.replay.plot.themes import AUTO, COLOURS, DARK, LIGHT, pairs

PNG = b"\x89PNG\r\n"
COLOUR = re.compile(r"(?:fill|stroke): (#[0-9a-f]{6})")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Open the log of a small cluster."""
    with busy(tmp_path_factory.mktemp("busy") / "busy.db") as opened:
        yield opened


def drawn(log: Log, what: str) -> Plot:
    """Return a plot of the small cluster."""
    return log.plot(what, "podgroup/gang" if what == "gang" else ())


@pytest.mark.parametrize("what", KINDS)
def test_each_plot_is_an_image_that_names_its_log_and_period(log: Log, what: str) -> None:
    plot = drawn(log, what)
    assert plot.data("png").startswith(PNG)
    text = plot.data("svg").decode()
    root = ET.fromstring(text)
    words = " ".join(root.itertext())
    assert "busy.db, 2025-06-15 15:06:4" in words
    assert words.count("UTC") >= 1
    assert plot.picture.title in words
    for note in plot.picture.notes:
        assert note.split(";")[0][:40] in words


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("form", ["png", "svg", "html"])
def test_equal_logs_have_equal_bytes(log: Log, what: str, form: str) -> None:
    assert drawn(log, what).data(form) == drawn(log, what).data(form)


@pytest.mark.slow
def test_a_users_settings_and_hashes_change_no_byte(log: Log, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 21\nlines.linewidth: 9\n")
    code = "import sys, plinian\nwith plinian.open(sys.argv[1], read_only=True) as log:\n"
    code += "    sys.stdout.buffer.write(log.plot('queues').data(sys.argv[2]))"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    for form in ("svg", "png"):
        done = subprocess.run(
            [sys.executable, "-c", code, log.place, form],
            capture_output=True,
            check=True,
            cwd=tmp_path,  # matplotlib reads a matplotlibrc of the current folder
            env=environment,
        )
        assert done.stdout == drawn(log, "queues").data(form)


@pytest.mark.parametrize("what", KINDS)
def test_every_colour_of_an_svg_has_a_dark_one(log: Log, what: str) -> None:
    text = drawn(log, what).data("svg").decode()
    head, _, body = text.partition("</style>")
    used = set(COLOUR.findall(body))
    assert used
    for colour in used:
        assert f": {colour}" in head, colour
        assert pairs()[colour] in head


def test_a_theme_that_is_chosen_does_not_follow_the_reader(log: Log) -> None:
    light, dark = (drawn(log, "nodes").data("svg", theme).decode() for theme in (LIGHT, DARK))
    assert "prefers-color-scheme" not in light + dark
    assert COLOURS[LIGHT].paper in light
    assert COLOURS[DARK].paper in dark
    assert COLOURS[LIGHT].paper not in dark
    assert drawn(log, "nodes").data("png", DARK) != drawn(log, "nodes").data("png")


@pytest.mark.parametrize("form", ["svg", "html"])
def test_a_file_needs_no_network_and_has_no_date_of_its_making(log: Log, form: str) -> None:
    for what in KINDS:
        text = drawn(log, what).data(form).decode()
        places = set(re.findall(r"https?://[^\s\"'<>]+", text))
        assert places <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
        assert "<metadata" not in text
        assert not re.search(r"<(script|link|img|iframe)\b|@import|url\((?!#)", text)


def test_a_page_follows_the_reader_and_has_the_picture_in_characters(log: Log) -> None:
    text = drawn(log, "queues").data("html").decode()
    assert 'content="light dark"' in text
    assert text.count("prefers-color-scheme:dark") == 2
    assert "team has more than its capability" in text.partition("<pre>")[2]


def test_names_are_text_whatever_they_are(tmp_path: Path) -> None:
    name = "</svg><script>alert(1)</script>$x^2$\x07&\u202e"
    cluster = DrawnCluster()
    cluster.saw(0, node(name), queue(name, capability="1"))
    cluster.saw(1, podgroup("g", queue=name, least=1, phase="Inqueue"))
    cluster.saw(2, pod("p", group="g", on=name, cpu="2"))
    cluster.saw(3, pod("q", 3, group="g"))
    cluster.saw(5, pod("q", 3, group="g", on=name), verb="updated")
    with cluster.log(tmp_path / "a&b.db") as log:
        for what in ("queues", "nodes", "waits"):
            plot = log.plot(what)
            root = ET.fromstring(plot.data("svg"))
            assert not [one for one in root.iter() if one.tag.endswith("script")]
            assert "$x^2$\\u0007&" in " ".join(root.itertext())
            page = plot.data("html").decode()
            assert "<script" not in page
            assert plot.data("png").startswith(PNG)
            assert "\x07" not in plot.text() + page


def test_a_file_has_the_form_of_its_suffix(log: Log, tmp_path: Path) -> None:
    plot = drawn(log, "waits")
    for name, begin in (("a.png", PNG), ("a.svg", b"<svg "), ("a.HTML", b"<!doctype html>")):
        plot.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    for name, theme, said in (
        ("a.pdf", None, "the suffix .pdf is of no picture"),
        ("a", None, "is of no picture"),
        ("a.png", AUTO, "cannot follow"),
        ("a.svg", "pink", "no theme 'pink'"),
    ):
        with pytest.raises(UsageError, match=said):
            form_of(name, theme)


def test_without_matplotlib_a_message_says_what_to_install(
    log: Log, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plot = drawn(log, "queues")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="needs matplotlib") as caught:
        plot.save(tmp_path / "queues.svg")
    assert "pip install 'plinian[plot]'" in caught.value.now
    assert list(tmp_path.iterdir()) == []
    assert "team" in plot.text()
    assert plot._repr_svg_() is None
    assert plot._repr_html_().startswith("<figure><pre>Queues: cpu")


def test_a_notebook_shows_a_plot(log: Log) -> None:
    plot = drawn(log, "nodes")
    assert ET.fromstring(plot._repr_svg_() or "").tag.endswith("svg")
    assert plot._repr_html_().startswith("<figure><svg ")
    assert str(plot) == plot.text()
    with pytest.raises(UsageError, match="a Plot has no document"):
        plinian.document(plot)


# -- colours ------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Return how bright a colour is (WCAG 2.2, relative luminance)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_words_and_lines_can_be_read_on_their_paper(theme: str) -> None:
    colours = COLOURS[theme]
    for words in (colours.ink, colours.soft, colours.mark):
        assert contrast(words, colours.paper) >= 4.5
    for role, line in colours.lines.items():
        assert contrast(line, colours.paper) >= 3, role
    for one, other in itertools.pairwise(("pending", "bound", "running", "finished")):
        both = (colours.surfaces[Role(one)], colours.surfaces[Role(other)])
        assert contrast(*both) >= 1.2, "neighbours differ in brightness, not only in hue"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_more_used_is_further_from_the_paper(theme: str) -> None:
    colours = COLOURS[theme]
    assert len(colours.levels) == len(LEVELS)
    distances = [contrast(level, colours.paper) for level in colours.levels[:-1]]
    assert distances == sorted(distances)
    assert all(high / low > 1.08 for low, high in itertools.pairwise(distances))


def test_no_two_colours_of_a_theme_are_equal() -> None:
    light, dark = list(pairs()), list(pairs().values())
    assert len(light) == len(set(light)) == len(dark)
    assert set(COLOURS[LIGHT].lines) == set(COLOURS[DARK].lines)
