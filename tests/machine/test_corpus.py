"""The corpus of bugs: each scenario goes wrong where it is said to, and not where it is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import corpus
from corpus import BREAKS, HOLDS, OTHERWISE, PAGES, Entry, Expected, Fact
from pages import text_of
from plinian.engine.machine.checks import checked_ids
from plinian.engine.machine.machine_layout import WAIT, MachineStep
from plinian.engine.volcano.releases import RELEASES
from plinian.replay.explore.explored_scenario import MODE, lacking, read_machine_case
from plinian.replay.render.simulation import spans

ENTRIES = corpus.entries()
NAMES = [entry.name for entry in ENTRIES]
OF_SESSIONS = [entry for entry in ENTRIES if entry.mode != MODE]
OF_MACHINES = [entry for entry in ENTRIES if entry.mode == MODE]
NEWEST = str(next(one for one in reversed(RELEASES) if not one.ours))
README = text_of("docs/corpus/README.md")
MACHINES = [path for path in sorted(PAGES.glob("*.case.json")) if MODE in path.read_text("utf-8")]


def row_of(entry: Entry) -> str:
    """Return the row of the README about a scenario: its page may have several."""
    expected = entry.expected
    begin = f"| [{expected.bug}]({entry.page}) | {expected.title} | "
    (found,) = (line for line in README.splitlines(keepends=True) if line.startswith(begin))
    return found


def test_there_are_enough_bugs_in_it() -> None:
    assert len({entry.expected.bug for entry in ENTRIES}) >= 20


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.name)
def test_a_machine_of_the_corpus_can_be_explored_as_it_is(path: Path) -> None:
    case = read_machine_case(path)
    assert case.name == path.name.removesuffix(".case.json")
    assert not [*lacking(case)]


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_a_scenario_goes_wrong_and_right_where_it_is_said_to(entry: Entry) -> None:
    order = corpus.order_of(entry) if entry.expected.same_order else ()
    assert corpus.outcome(entry, entry.expected.breaks, order) == BREAKS
    if entry.expected.holds:
        assert corpus.outcome(entry, entry.expected.holds, order) == HOLDS
    else:
        assert entry.expected.breaks == NEWEST, "it says that it is not cured yet"


@pytest.mark.parametrize("entry", OF_SESSIONS, ids=lambda entry: entry.name)
def test_the_row_of_a_scenario_with_sessions_is_what_all_releases_do(entry: Entry) -> None:
    row = corpus.row(entry, corpus.outcomes(entry))
    assert row_of(entry) == row, "run: python tools/corpus.py"


@pytest.mark.parametrize("entry", OF_MACHINES, ids=lambda entry: entry.name)
def test_the_row_of_a_search_names_the_releases_that_are_tested(entry: Entry) -> None:
    wrong, right = row_of(entry).split(" | ")[3:5]
    assert entry.expected.breaks in named(wrong)
    assert not entry.expected.holds or entry.expected.holds in named(right)


def named(text: str) -> set[str]:
    """Return the releases in a cell of the table."""
    found = set()
    names = [str(one) for one in RELEASES]
    for part in text.split(", "):
        first, _, last = part.partition("..")
        if first in names:
            found |= {*names[names.index(first) : names.index(last or first) + 1]}
    return found


def test_cells_are_read_as_they_are_written() -> None:
    names = ["v1.8.0", "v1.8.1", "v1.10.0", "hardened"]
    assert named(spans(names).replace(",", ", ")) == {*names}
    assert named("–") == set()


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_a_scenario_has_a_page_that_names_what_was_reported(entry: Entry) -> None:
    expected, page = entry.expected, text_of(f"docs/corpus/{entry.page}")
    assert entry.name.startswith(f"{expected.bug.lower()}-")
    assert msgspec.json.decode(entry.data)["name"] == entry.name
    assert page.startswith(f"# {expected.bug}: ")
    assert f"({entry.name}.case.json)" in page
    assert all(f"/issues/{number})" in page for number in expected.issues)
    assert f"\n{corpus.command(entry)}\n" in page or f"$ {corpus.command(entry)}\n" in page


def test_every_page_is_in_a_table_and_says_where_the_real_code_was_compared() -> None:
    others = "".join(corpus.pages_alone(ENTRIES))
    assert others in README, "run: python tools/corpus.py"
    for path in sorted(PAGES.glob("[a-z]*.md")):
        (line, *_) = re.findall(rf"^\| .*\({path.name}\).*$", README, re.MULTILINE)
        assert line.endswith(f"| {', '.join(corpus.checked(path.name)) or '–'} |")
    assert corpus.checked("l4-shared-ancestors.md") == ["v1.15.1"]
    assert corpus.checked("b04-node-flaps.md") == ["v1.12.1", "v1.15.1"]
    assert corpus.checked("b01-job-deleted-and-created-again.md") == []


@pytest.mark.parametrize("entry", OF_MACHINES, ids=lambda entry: entry.name)
def test_a_search_is_for_an_invariant_that_machines_check(entry: Entry) -> None:
    assert entry.expected.invariant in checked_ids()


# -- the tool --------------------------------------------------------------------------------------


def fact(**given: Any) -> Fact:
    """Return a fact about the first session."""
    return msgspec.convert({"session": 1, **given}, Fact)


RESULT: list[dict[str, Any]] = [
    {"panic": None, "binds": [["a", "n1"]], "podgroups": {"g": {"phase": "Running"}}}
]


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        (fact(at=["podgroups", "g", "phase"], **{"is": "Running"}), True),
        (fact(at=["podgroups", "g", "phase"], **{"is": "Pending"}), False),
        (fact(at=["podgroups", "absent", "phase"], **{"is": None}), True),
        (fact(at=["panic"], **{"is": None}), True),
        (fact(at=["panic"], has=""), False),
        (fact(at=["binds"], has=["a", "n1"]), True),
        (fact(at=["binds"], lacks=["a", "n1"]), False),
        (fact(at=["binds"], lacks=["b", "n1"]), True),
        (fact(session=2, at=["panic"], **{"is": None}), False),
    ],
)
def test_a_fact_is_compared_with_a_result(given: Fact, *, holds: bool) -> None:
    assert given.holds(RESULT) is holds


def test_a_result_that_has_facts_of_neither_end_ends_otherwise() -> None:
    entry = next(one for one in OF_SESSIONS if one.expected.bug == "B06")
    assert corpus.outcome(entry, "v1.8.0") == OTHERWISE


def test_a_search_looks_for_what_the_scenario_is_to_show_and_for_nothing_else() -> None:
    entry = next(one for one in OF_MACHINES if one.expected.bug == "B04")
    other: Expected = msgspec.structs.replace(entry.expected, says="no sentence has this")
    assert corpus.outcome(entry._replace(expected=other), "v1.15.1") == HOLDS


def test_an_order_that_is_known_is_tried_before_a_search() -> None:
    entry = next(one for one in OF_MACHINES if one.expected.bug == "B04")
    order = corpus.found_order(entry, "v1.15.1")
    assert order
    none: Expected = msgspec.structs.replace(entry.expected, walks=0)
    assert corpus.outcome(entry._replace(expected=none), "v1.12.1", order) == BREAKS
    assert corpus.outcome(entry._replace(expected=none), "v1.12.1") == HOLDS


def test_an_order_that_is_given_in_words_is_made_of_steps() -> None:
    words = ["user acts", "scheduler sees Pod", "kubelets end default/a", "wait"]
    steps = [corpus.step_in(each) for each in words]
    assert steps == [
        MachineStep("user", name="acts"),
        MachineStep("scheduler", kind="Pod"),
        MachineStep("kubelets", name="end default/a"),
        WAIT,
    ]
    assert [str(step) for step in steps] == words


def test_a_given_order_is_needed_to_its_last_step() -> None:
    entry = next(one for one in OF_MACHINES if one.name == "l1-refused-eviction")
    cut: Expected = msgspec.structs.replace(entry.expected, order=entry.expected.order[:-1])
    assert corpus.outcome(entry._replace(expected=cut), entry.expected.breaks) == HOLDS
