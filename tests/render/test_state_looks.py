"""One palette of states: a status looks the same on every page and in every picture."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from plinian.replay.pages.templates import style_sheets
from plinian.replay.plot.picture import Role
from plinian.replay.plot.themes import COLOURS, DARK, LIGHT
from plinian.replay.render.state_looks import STATES, look_of

ROOT = Path(__file__).parents[2]
PAPERS = (("light", "#ffffff", "#f6f7f9"), ("dark", "#0f1419", "#171d24"))


@pytest.mark.parametrize(
    ("status", "node", "look"),
    [
        ("Pending", "", "pending"),
        ("Pending", "n1", "waiting"),
        ("Inqueue", "", "waiting"),
        ("Running", "", "running"),
        ("Completed", "", "done"),
        ("Succeeded", "", "done"),
        ("Evicted", "", "failed"),
        ("CrashLoopBackOff", "", "failed"),
        ("Terminating", "n1", "releasing"),
        ("NotReady", "", "failed"),
        ("Ready,SchedulingDisabled", "", "waiting"),
        ("SomethingNew", "", "unknown"),
    ],
)
def test_a_status_has_a_look(status: str, node: str, look: str) -> None:
    assert look_of(status, node) == look


def test_pictures_have_the_colours_of_pages() -> None:
    for theme, side in ((LIGHT, "light"), (DARK, "dark")):
        surfaces = COLOURS[theme].surfaces
        assert surfaces[Role.PENDING] == getattr(STATES["pending"], side)
        assert surfaces[Role.RUNNING] == getattr(STATES["running"], side)
        assert surfaces[Role.FINISHED] == getattr(STATES["done"], side)


def test_no_style_sheet_declares_a_state_again() -> None:
    sheets = {**style_sheets()}
    for path in (ROOT / "replay/server/web/static").glob("*.css"):
        sheets[path.name] = path.read_text("utf-8")
    names = "|".join(STATES)
    declared = re.compile(rf"\.(?:{names})\b[^{{}}]*\{{[^}}]*--state:")
    counts = {name: len(declared.findall(text)) for name, text in sheets.items()}
    assert counts.pop("tokens.css") == len(STATES)
    assert not any(counts.values()), counts


@pytest.mark.parametrize(("side", "paper", "raised"), PAPERS)
def test_words_in_the_colour_of_a_state_can_be_read(side: str, paper: str, raised: str) -> None:
    for name, look in STATES.items():
        for ground in (paper, raised):
            assert _contrast(getattr(look, side), ground) >= 4.5, name
    course = [getattr(STATES[name], side) for name in ("pending", "waiting", "running", "done")]
    assert all(_contrast(*both) >= 1.2 for both in itertools.pairwise(course))
    assert len({look.sign for look in STATES.values()}) == len(STATES)


def _contrast(one: str, other: str) -> float:
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Return how bright a colour is (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
