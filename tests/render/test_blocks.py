"""Blocks: the same sections as lines of a terminal, and as HTML with links and without."""

from __future__ import annotations

import pytest
from html_pages import Page

from plinian.replay.pages.blocks import blocks_html
from plinian.replay.render.blocks import (
    CommandLine,
    Folded,
    ItemList,
    ListedItem,
    Marked,
    Section,
    Sentence,
    Words,
    block_lines,
    here_ref,
    moment_ref,
    number_ref,
    object_ref,
)
from plinian.replay.render.tables import NONE, TextColumn, table_of
from plinian.replay.server.web.look import Look

EVIL = "<img src=x>\x1b"
ROWS = [("a", "7"), ("b", "")]
COLUMNS = (
    TextColumn[tuple[str, str]]("POD", lambda row: object_ref(f"pod/ns/{row[0]}", row[0])),
    TextColumn[tuple[str, str]]("CPU", lambda row: row[1] or NONE),
)
TABLE = table_of(COLUMNS, ROWS, "Pods")
SECTIONS = (
    Section([Sentence("It waits.", "sentence")]),
    Section(
        [
            Sentence(Words("since ", moment_ref(7), ", by ", Marked("nobody", "bad"))),
            ItemList([ListedItem("no room", "This keeps it waiting.", [TABLE])], "chain"),
            CommandLine("plinian why pod/a"),
        ],
        "Since when",
        "since",
    ),
    Section([Folded("More", [Sentence(here_ref("all", kind="pod"))])]),
)


def test_a_terminal_shows_all_words_and_a_blank_line_between_sections() -> None:
    assert "".join(block_lines(SECTIONS)).splitlines() == [
        "It waits.",
        "",
        "since @7, by nobody",
        "=> no room",
        "",
        "   POD   CPU",
        "   a     7",
        "   b     <none>",
        "",
        "  plinian why pod/a",
        "",
        "all",
    ]


def test_a_page_links_what_a_terminal_only_names() -> None:
    look = Look(position=9, last=20, path="why/pod/ns/a", query=(("q", "x"),))
    page = Page(str(blocks_html(SECTIONS, look)))
    links = [str(made["href"]) for tag, made in page.elements if tag == "a"]
    assert links == ["/@7", "/@9/pod/ns/a", "/@9/pod/ns/b", "/@9/why/pod/ns/a?q=x&kind=pod"]
    assert page.tables["Pods"] == [["POD", "CPU"], ["a", "7"], ["b", NONE]]
    assert [made["id"] for _, made in page.elements if made.get("id")] == ["since"]


def test_a_page_that_stands_alone_has_no_links_and_the_first_rows() -> None:
    page = Page(str(blocks_html(SECTIONS, most=1)))
    assert "a" not in [tag for tag, _ in page.elements]
    assert page.tables["Pods 1 of 2 rows"] == [["POD", "CPU"], ["a", "7"]]


@pytest.mark.parametrize("make", [str, object_ref, Marked, Words])
def test_words_are_never_markup(make: type[str]) -> None:
    words = make(EVIL)
    cells = [TextColumn[str]("A", lambda _: words)]
    text = str(blocks_html([Section([Sentence(words), table_of(cells, [""], words)], words)], None))
    assert "<img" not in text
    assert "\x1b" not in text


def test_a_number_leads_to_the_events_that_make_it() -> None:
    look = Look(position=9, last=20)
    number = number_ref("queue/q", "allocated.cpu", "4")
    assert number == "4"
    assert f'href="{look.link("blame/queue/q", number="allocated.cpu")}"' in str(
        blocks_html([Section([Sentence(number)])], look)
    )
