"""The Chinese pages are in step with the English ones, complete, and set as Chinese is set."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import pytest
from command_lines import commands

import translations
from pages import DOCUMENTS, FENCE, text_of
from translations import OVERVIEWS, PAIRS

CHINESE = {**PAIRS, **OVERVIEWS}
PAGES = {path: text_of(path) for pair in PAIRS.items() for path in pair}


@pytest.mark.parametrize("path", PAIRS)
def test_a_translated_page_has_the_code_figures_names_and_links_of_the_english_page(
    path: str,
) -> None:
    assert translations.differences(path, PAGES) == []


def test_every_chinese_page_belongs_to_an_english_page() -> None:
    chinese = {path for path in DOCUMENTS if path.startswith("docs/zh/") or ".zh-CN" in path}
    assert chinese == set(CHINESE)


@pytest.mark.parametrize("path", CHINESE)
def test_a_page_and_its_translation_lead_to_each_other_in_their_first_lines(path: str) -> None:
    english = CHINESE[path]
    there = posixpath.relpath(english, posixpath.dirname(path) or ".")
    back = posixpath.relpath(path, posixpath.dirname(english) or ".")
    assert re.search(rf"\n\n\[English\]\({re.escape(there)}\) \| 简体中文\b", text_of(path)[:200])
    assert f"\n\nEnglish | [简体中文]({back})\n\n" in text_of(english)[:200]


# -- what differs is noticed, whichever page is changed ------------------------------------------


def changed(block: translations.Block) -> Iterator[translations.Block]:
    """Yield a block with each of its figures changed, without its names, and with other links."""
    text = block.text
    if block.kind == "code":
        yield block._replace(text=text.replace("\n", "\n ", 2))
        return
    plain = re.sub(r"\]\([^)]*\)", lambda link: "#" * len(link[0]), text)
    start = re.match(r"\s*\d+\.|#*", plain)
    for digit in re.finditer(r"\d", plain):
        if start is None or digit.start() >= start.end():
            other = str((int(digit[0]) + 1) % 10)
            yield block._replace(text=text[: digit.start()] + other + text[digit.end() :])
    if "`" in text:
        yield block._replace(text=text.replace("`", ""))
    if "](" in text:
        yield block._replace(text=text.replace("](", "](x", 1))


@pytest.mark.parametrize("path", PAIRS)
def test_a_change_of_one_page_alone_is_noticed(path: str) -> None:
    english = PAIRS[path]
    kinds = set()
    for our, their in zip(
        translations.blocks(PAGES[path]), translations.blocks(PAGES[english]), strict=True
    ):
        if our.kind == "languages":
            continue
        pairs = [(one, their) for one in changed(our)] + [(our, one) for one in changed(their)]
        for ours, theirs in pairs:
            kinds.add(our.kind)
            found = translations.block_differences((path, ours), (english, theirs), PAGES)
            assert list(found) != [], f"{ours.text}\n{theirs.text}"
    assert {"code", "paragraph"} <= kinds


@pytest.mark.parametrize(
    ("english", "chinese", "found"),
    [
        ("It takes 5 ms.", "只要 5 毫秒。", []),
        ("It takes 5 ms.", "只要 5 秒。", ["figure '5 s'", "figure '5 ms'"]),
        ("From v1.9.0 on.", "从 v1.9.1 起。", ["figure 'v1.9.1'", "figure 'v1.9.0'"]),
        ("At 01:53:37 it ends.", "它在 01:53:37 结束。", []),
        ("Use `get`.", "用 `gets`。", ["name 'gets'", "name 'get'"]),
        ("![5 GPUs](a.svg)", "![5 个 GPU](../a.svg)", []),
        ("![GPUs](a.svg)", "![GPU](../b.svg)", ["link 'docs/b.svg'", "link 'docs/a.svg'"]),
        ("[Next](volcano.md)", "[下一页](volcano.md)", []),
        ("[Next](volcano.md)", "[下一页](../volcano.md)", ["link '../volcano.md' leads to"]),
        ("| a | b |", "| 甲 |", ["a row of 1 is a row of 2"]),
        ("- a", "甲", ["a paragraph is a item"]),
    ],
)
def test_what_differs_between_two_blocks_is_named(
    english: str, chinese: str, found: list[str]
) -> None:
    (our,), (their,) = translations.blocks(chinese), translations.blocks(english)
    said = translations.block_differences(
        ("docs/zh/tutorial.md", our), ("docs/tutorial.md", their), PAGES
    )
    assert [line[: len(begin)] for line, begin in zip(said, found, strict=True)] == found


def test_a_paragraph_that_one_page_lacks_is_noticed() -> None:
    path, english = "docs/zh/volcano.md", "docs/volcano.md"
    for one in (path, english):
        more = {**PAGES, one: f"{PAGES[one]}\nMore.\n"}
        assert translations.differences(path, more) != []


def test_new_output_is_copied_into_the_translation() -> None:
    code = "text\n\n<!-- run -->\n```console\n$ plinian version\n{}\n```\n"
    assert translations.with_code(code.format(1), code.format(2)) == code.format(2)
    assert translations.with_code("none", code.format(2)) == "none"


# -- the overview of commands, and the terms -----------------------------------------------------


def test_the_overview_has_every_command_once_with_one_chinese_sentence() -> None:
    rows = re.findall(
        r"^\| \[`([^`]+)`\]\(\.\./reference/commands\.md#plinian-([\w-]+)\) \| (.+) \|$",
        text_of("docs/zh/commands.md"),
        re.MULTILINE,
    )
    assert sorted(name for name, _, _ in rows) == sorted(commands())
    assert [name for name, anchor, _ in rows if anchor != name.replace(" ", "-")] == []
    assert [
        said for _, _, said in rows if not re.fullmatch(r"[^。]*[\u4e00-\u9fff][^。]*。", said)
    ] == []


def test_every_term_of_the_table_of_terms_is_used_in_a_chinese_page() -> None:
    used = "".join(FENCE.sub("", text_of(path)) for path in CHINESE if "glossary" not in path)
    terms = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", text_of("docs/zh/glossary.md"), re.MULTILINE
    )
    assert len(terms) > 30
    alone = [word for term in terms[1:] for word in term.split("、") if word.strip("`") not in used]
    assert [word for word in alone if word != "---"] == []


# -- Chinese as it is set ------------------------------------------------------------------------

HAN = r"[\u4e00-\u9fff]"
MARK = "，。；：、？！（）“”…"
MISSET = (
    (rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}", "a space between Chinese and Latin letters"),
    (rf"{HAN}[,;:?!()]|[,;?!]{HAN}|{HAN}\.(?=\s|$)", "Chinese punctuation beside Chinese"),
    (rf"{HAN} {HAN}|[{MARK}] | [{MARK}]", "no space beside Chinese marks"),
)
START = r"[|#!]|\s*(?:[-*]|\d+\.) |\n|$"
"""How a line begins that does not go on with the paragraph above it."""


def misset(page: str) -> list[str]:
    """Return the places of a Chinese page that are not set as Chinese is set."""
    text = re.sub(r"<!--.*?-->|(?<=\])\([^)]*\)", "", FENCE.sub("", page))
    plain = _plain(text)
    found = [
        f"{what}: …{plain[max(0, hit.start() - 12) : hit.end() + 12]}…"
        for pattern, what in MISSET
        for hit in re.finditer(pattern, plain, re.MULTILINE)
    ]
    found += [
        f"no renderer ends this emphasis: {hit[0]}"
        for hit in re.finditer(rf"\*\*[^*\n]+[{MARK}]\*\*[^\s{MARK}|]", text)
    ]
    broken = re.findall(rf"^(?!{START}).+\n(?!{START}).+", text, re.MULTILINE)
    return found + [f"a paragraph is one line: {line}" for line in broken]


def _plain(text: str) -> str:
    """Return a text without emphasis and links, a cell a line, with a letter for what is quoted."""
    quoted = re.sub(r"`[^`\n]*`", "x", text)
    return re.sub(r" *\| *", "\n", re.sub(r"[*\[\]!]", "", quoted))


@pytest.mark.parametrize("path", CHINESE)
def test_a_chinese_page_is_set_as_chinese_is_set(path: str) -> None:
    assert misset(text_of(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "调度Pod",
        "调度 Pod,然后",
        "用`get`看",
        "没有, 有",
        "调度 器",
        "没有， 有",
        "**注意：**中文",
        "甲\n乙\n",
    ],
)
def test_what_is_not_set_as_chinese_is_noticed(text: str) -> None:
    assert misset(text) != []


def test_chinese_that_is_set_well_is_let_through() -> None:
    text = "调度 [Pod](a.md)，见 `get`（v1.9 起）。\n\n**注意**：中文\n\n- 甲\n- 乙\n\n| 甲 |\n| --- |\n"
    assert misset(text) == []
