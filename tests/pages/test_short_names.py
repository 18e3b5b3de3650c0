"""Names with uids are short where a link has the whole, and whole where nothing else has it."""

from __future__ import annotations

from plinian.replay.pages.blocks import blocks_html
from plinian.replay.render.blocks import Section, Sentence, object_ref
from plinian.replay.server.web.look import Look

NAME = "podgroup/default/train-09629e74-7499-407b-919d-48e2f6f7cdba"


def test_a_link_is_short_and_has_the_whole_name() -> None:
    sections = [Section([Sentence(object_ref(NAME))])]
    linked = str(blocks_html(sections, Look(5, 9)))
    assert f'title="{NAME}">podgroup/default/train-09629e74…</a>' in linked


def test_a_page_without_links_has_whole_names() -> None:
    sections = [Section([Sentence(object_ref(NAME))])]
    assert f">{NAME}</p>" in str(blocks_html(sections))
