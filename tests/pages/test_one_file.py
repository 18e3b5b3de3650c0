"""Pages as one file: what needs a server is left out, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from html_pages import Page

from plinian.replay.pages.one_file import one_file

HEAD = '<html><head><link rel="stylesheet" href="/static/0/a.css"></head><body>'
SHEET = "p { color: red }"


def _body(text: str) -> str:
    found = one_file(f"{HEAD}{text}</body></html>", lambda name: SHEET if name == "a.css" else "")
    Page(found)
    return found.partition("<body>")[2].partition("</body>")[0]


@pytest.mark.parametrize(
    "text",
    [
        "<p>a &amp; b &lt;script&gt; &#39;</p>",
        '<a href="#there">there</a>',
        '<svg viewBox="0 0 1 1"><rect x="1"/></svg>',
        '<table><tr><td title="&quot;">1</td></tr></table>',
    ],
)
def test_what_needs_no_server_stays_as_it_is(text: str) -> None:
    assert _body(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('<a class="ref" href="/@7/queue/a">a</a>', "<a>a</a>"),
        ('<a href="javascript:alert(1)">a</a>', "<a>a</a>"),
        (
            '<form action="/@go"><label>At <input name="x"></label>of @7<button>Go</button></form>',
            "<div>of @7</div>",
        ),
        ('a<script src="x.js"></script>b', "ab"),
        ("<p data-live>a <b>b<br></b></p>c", "c"),
        ("<dialog><ul><li>a</li></ul></dialog>", ""),
        ("<noscript><p>a</p></noscript>", ""),
    ],
)
def test_what_needs_a_server_or_a_script_is_left_out(text: str, left: str) -> None:
    assert _body(text) == left


def test_style_sheets_are_in_it_and_nothing_else_may_be_loaded() -> None:
    found = one_file(f"{HEAD}</body></html>", lambda _name: SHEET)
    digest = base64.b64encode(hashlib.sha256(SHEET.encode()).digest()).decode()
    (policy,) = re.findall(r'content="(default-src[^"]*)"', found)
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert f"<style>{SHEET}</style>" in found
    assert "a.css" not in found
