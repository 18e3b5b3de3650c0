"""The documents say what the code does: complete, fresh, and with links that lead somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import in_terminals
import loaded_plinian
import pytest
import yaml
from command_lines import commands, misnamed, options_of
from in_terminals import shown_in
from terminal_words import faults

import behaviours
import matrix
import reference
import tour
import translations
from decisions import decided
from pages import DOCUMENTS, FENCE, slug, text_of
from plinian.engine import errors
from plinian.engine.cache.projector import WATCHED
from plinian.engine.events import KINDS
from plinian.engine.ingest.format_registry import FORMATS
from plinian.engine.kubernetes.resources import KINDS_BY_RESOURCE
from plinian.engine.log.schema import metadata
from tree import ROOT, files

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<(?:img|a)[^>]+(?:src|href)=\"([^\"]+)\"")


# -- the reference is made from the code, and complete ------------------------------------------


@pytest.mark.slow
def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "reference.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, f"{told}\nrun: python tools/reference.py"


def test_a_stale_reference_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "PAGES", tmp_path)
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check", "errors.md"])
    assert reference.main() == 1
    monkeypatch.setattr(sys, "argv", ["reference.py", "errors.md"])
    assert reference.main() == 0
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check", "errors.md"])
    assert reference.main() == 0


def test_the_page_of_behaviours_is_what_the_history_says() -> None:
    assert text_of("docs/behaviours.md") == behaviours.page(), "run: python tools/behaviours.py"


def test_a_stale_page_of_behaviours_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behaviours, "PAGE", tmp_path / "behaviours.md")
    for arguments, status in ((["--check"], 1), ([], 0), (["--check"], 0)):
        monkeypatch.setattr(sys, "argv", ["behaviours.py", *arguments])
        assert behaviours.main() == status


def test_every_event_kind_is_in_the_reference() -> None:
    page = text_of("docs/reference/events.md")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []


def test_every_error_is_in_the_reference_with_its_exit_code() -> None:
    page = text_of("docs/reference/errors.md")
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, errors.PlinianError):
            assert f"## {name}\n\nExit code {thing.exit_code}" in page, name


def test_every_format_is_in_the_reference_and_has_its_how_to() -> None:
    page = text_of("docs/reference/formats.md")
    told = "".join(text_of(path) for path in DOCUMENTS if path.startswith("docs/how-to/"))
    for one in FORMATS:
        assert f"## {one.name}\n" in page
        assert f"`{one.name}`" in told, f"no page of docs/how-to names the format {one.name}"


def test_every_column_of_the_log_is_in_the_reference() -> None:
    page = text_of("docs/reference/tables.md")
    for name, table in metadata.tables.items():
        _, found, rest = page.partition(f"## {name}\n")
        assert found, name
        section = rest.partition("\n## ")[0]
        assert [c.name for c in table.columns if f"`{c.name}`" not in section] == [], name


def test_every_command_and_option_is_in_the_reference() -> None:
    page = text_of("docs/reference/commands.md")
    for name, command in commands().items():
        _, found, rest = page.partition(f"## plinian {name}\n")
        assert found, name
        section = rest.partition("\n## ")[0]
        hidden = {"--help"} | {
            written
            for item in command.params
            if getattr(item, "hidden", False)
            for written in item.opts
        }
        assert [o for o in options_of(command) - hidden if f"`{o}`" not in section] == [], name


# -- what the documents name exists -------------------------------------------------------------


def dead_links(path: str, text: str) -> Iterator[str]:
    """Yield the links of a document into the project that lead nowhere."""
    for match in LINK.finditer(FENCE.sub("", text)):
        link = match[1] or match[2]
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        place = ((ROOT / path).parent / target).resolve() if target else ROOT / path
        if not place.exists():
            yield f"{path}: {link}"
        elif anchor and place.suffix == ".md":
            headings = re.findall(
                r"^#+ (.+)$", FENCE.sub("", place.read_text("utf-8")), re.MULTILINE
            )
            if anchor not in map(slug, headings):
                yield f"{path}: {link}: no such heading"


@pytest.mark.parametrize("path", DOCUMENTS)
def test_links_lead_somewhere(path: str) -> None:
    assert list(dead_links(path, text_of(path))) == []


def test_a_dead_link_is_noticed() -> None:
    text = '[a](nowhere.md) [b](README.md#no-such-heading) [c](README.md) <img src="no.svg">'
    assert list(dead_links("x.md", text)) == [
        "x.md: nowhere.md",
        "x.md: README.md#no-such-heading: no such heading",
        "x.md: no.svg",
    ]


@pytest.mark.parametrize("path", [path for path in files() if path.endswith(".svg")])
def test_pictures_can_be_drawn_and_tell_what_they_show(path: str) -> None:
    picture = ET.fromstring(text_of(path))
    parts = {part.tag.rpartition("}")[2] for part in picture}
    assert {"title", "desc"} <= parts


def commands_in(text: str) -> Iterator[str]:
    """Yield the ``plinian`` command lines of a document's fenced blocks and of ``code``."""
    for block in FENCE.finditer(text):
        joined = block[3].replace("\\\n", " ")
        for line in joined.splitlines() if block[2] in {"console", "sh", "bash"} else ():
            for piece in re.split(r"\s(?:\|\||&&|[|;])\s", line.removeprefix("$ ")):
                if re.match(r"(\S*/)?plinian\s", piece):
                    yield piece
    yield from re.findall(r"(?<!`)`(plinian [^`\n]+)`", FENCE.sub("", text))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_commands_in_documents_exist_with_their_options(path: str) -> None:
    found = [fault for line in commands_in(text_of(path)) for fault in misnamed(line)]
    assert found == []


def test_the_commands_of_the_compose_file_exist() -> None:
    text = text_of("docker-compose.yml")
    run = re.findall(r"command: (\[.+\])", text)
    shown = re.findall(r"run --rm (plinian .+)", text)
    assert len(run) >= 2
    assert shown
    lines = [*(f"plinian {' '.join(json.loads(words))}" for words in run), *shown]
    assert [fault for line in lines for fault in misnamed(line)] == []


def test_a_misnamed_command_is_noticed() -> None:
    text = "`plinian fetch x`\n```sh\nplinian ingest --quick x | cat\n.venv/bin/plinian verify\n```"
    assert [fault for line in commands_in(text) for fault in misnamed(line)] == [
        "no option --quick: plinian ingest --quick x",
        "no command fetch: plinian fetch x",
    ]


def test_the_readme_names_the_two_commands_that_do_everything() -> None:
    readme = text_of("README.md")
    assert "plinian demo" in readme
    assert "\nbash .ci/run\n" in readme
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


# -- examples show what is printed today --------------------------------------------------------

ARTICLES = {path for path in DOCUMENTS if re.fullmatch(r"docs/articles/\d.*", path)}
WITH_EXAMPLES = tuple(
    path
    for path in DOCUMENTS
    if "\n<!-- run -->\n" in text_of(path) and path not in translations.PAIRS
)
"""Translations have the examples of their English pages (tests/project/test_chinese.py)."""


def test_the_readme_and_the_tutorial_have_examples_that_run() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(WITH_EXAMPLES)
    assert set(WITH_EXAMPLES) >= ARTICLES


@pytest.fixture(scope="module")
def loaded_at() -> Iterator[str]:
    """Return the address of a server that has loaded Plinian."""
    program = [sys.executable, loaded_plinian.__file__, "--serve"]
    with tempfile.TemporaryDirectory() as folder:  # Addresses have to be short.
        address, environment = f"{folder}/at", tour.surroundings(Path(folder))
        with subprocess.Popen([*program, address], stdout=subprocess.PIPE, env=environment) as run:
            assert run.stdout is not None
            assert run.stdout.readline() == b"ready\n"
            yield address
            run.kill()


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_EXAMPLES)
def test_examples_show_what_plinian_prints_today_and_fit_a_terminal(
    path: str, tmp_path: Path, loaded_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test for both, as the same run shows both."""
    monkeypatch.setenv(in_terminals.PLACE, str(tmp_path))
    monkeypatch.setenv(loaded_plinian.ADDRESS, loaded_at)
    text = text_of(path)
    program = Path(loaded_plinian.__file__)
    fresh = tour.rerun(text, beside=(ROOT / path).parent, program=program)
    assert fresh == text, f"run: python tools/tour.py {path}"
    assert [fault for shown in shown_in(tmp_path) for fault in faults(shown)] == []


def test_the_commands_of_documents_are_seen_in_terminals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(in_terminals.PLACE, str(tmp_path))
    text = "<!-- run -->\n```console\n$ plinian release list 2>&1 | tail -1\nx\n```\n"
    tour.rerun(text, program=Path(in_terminals.__file__))
    (shown,) = shown_in(tmp_path)
    assert shown.words == ["release", "list"]
    assert set(shown.by_width) == set(in_terminals.WIDTHS)
    assert all(text.endswith("\r\n") for text in shown.by_width.values())
    assert "\x1b[1mRELEASE" in shown.by_width[80]
    assert shown.piped.startswith("RELEASE ")
    assert faults(shown) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("pod.evicte d by\r\n", "broken: pod.evicte"),
        ("pod.evicted\\u000aby\r\n", "an escape: \\u000a"),
        ("pod.evicted \x1b]0;x\x07 by\r\n", "control character '\\x1b'"),
        ("pod.evicted\r\n", "lost: by"),
        (f"{'pod.evicted by ' * 6}\r\n", f"90 columns: {'pod.evicted by ' * 6}"),
    ],
)
def test_what_a_person_would_not_want_to_see_is_noticed(text: str, fault: str) -> None:
    shown = in_terminals.Shown(["events"], "pod.evicted by\n", {80: text}, fitted=True)
    assert f"events [80]: {fault}" in faults(shown)
    assert faults(shown._replace(by_width={80: "\x1b[1mpod.evicted\x1b[0m\r\n  by\r\n"})) == []


def test_commands_of_a_document_find_the_scenarios_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.case.json").write_text("{}\n", "utf-8")
    text = "<!-- run -->\n```console\n$ cat a.case.json\n{}\n```\n"
    assert tour.rerun(text, beside=tmp_path) == text


def test_commands_of_a_document_find_what_it_names_from_the_root(tmp_path: Path) -> None:
    named = "docs/corpus/b10-node-shrinks.case.json docs/articles/000-recording.tar.gz"
    text = f"<!-- run -->\n```console\n$ ls {named} | wc -l\n2\n```\n"
    assert tour.rerun(text, beside=tmp_path) == text


CASES = tuple(path for path in files() if re.fullmatch(r"docs/articles/.*\.case\.json", path))
SCENARIOS = tuple(path for path in CASES if json.loads(text_of(path)).get("mode") != "machine")
"""Scenarios with sessions at fixed places; the others say only what users write."""


@pytest.mark.parametrize("path", SCENARIOS)
def test_a_scenario_of_a_page_is_one_that_real_schedulers_were_given(path: str) -> None:
    case = json.loads(text_of(path))
    assert path == f"docs/articles/{case['name']}.case.json"
    recorded = decided()[case["name"]]["case"]
    assert {**case, "about": ""} == {**recorded, "about": ""}


def test_every_recorded_way_into_a_fault_of_a_page_is_shipped_and_in_the_matrix() -> None:
    pages = {path[14:18] for path in ARTICLES}
    recorded = {name for name in decided() if name[:4] in pages}
    assert recorded == {Path(path).name.removesuffix(".case.json") for path in SCENARIOS}
    assert recorded == {each.scenario for fault in matrix.FAULTS for each in fault.variants}


@pytest.mark.parametrize("path", sorted(ARTICLES))
def test_a_page_hides_no_command_from_its_reader(path: str) -> None:
    assert "<!-- before:" not in text_of(path)
    ran = "".join(match["block"] or "" for match in tour.EXAMPLE.finditer(text_of(path)))
    assert set(re.findall(r"^\$ .*", text_of(path), re.MULTILINE)) == set(
        re.findall(r"^\$ .*", ran, re.MULTILINE)
    )


@pytest.mark.slow
def test_the_matrix_of_the_pages_is_what_releases_decide_today() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "matrix.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun: python tools/matrix.py"


@pytest.mark.slow
def test_the_plots_of_the_documents_are_what_logs_show_today() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "plots.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun: python tools/plots.py"


def to_be_marked(path: str) -> bool:
    """Say whether a document is one whose commands readers type; the reference is made of code."""
    return path == "README.md" or (path.startswith("docs/") and "/reference/" not in path)


@pytest.mark.parametrize("path", [*filter(to_be_marked, DOCUMENTS)])
def test_every_block_of_commands_is_run_or_says_why_not(path: str) -> None:
    assert tour.unmarked(text_of(path)) == [], "write <!-- run --> or <!-- not run: why --> above"


def test_a_block_that_nobody_runs_is_noticed() -> None:
    fence = "```"
    run = f"<!-- run -->\n{fence}console\n$ a\n{fence}\n"
    assert tour.unmarked(f"{run}<!-- not run: slow -->\n{fence}sh\nb\n{fence}\n") == []
    assert (
        tour.unmarked(f"{fence}text\nnothing to run\n{fence}\n{fence}yaml\na: 1\n{fence}\n") == []
    )
    assert tour.unmarked(f"text\n{fence}sh\nc\n{fence}\n") == ["c"]
    assert tour.unmarked(f"<!-- not run -->\n{fence}sh\nd\n{fence}\n") == ["d"]
    assert tour.unmarked(f"<!-- before: x -->\n{fence}console\n$ e\n{fence}\n") == ["$ e"]
    assert tour.unmarked(f"- in a list:\n\n  {fence}sh\n  f\n  {fence}\n") == ["  f"]


def test_files_that_a_document_shows_are_there_for_its_commands() -> None:
    shown = "<!-- file: a.yaml -->\n```yaml\na: 1\n```\n"
    commands = "$ cat \\\n  a.yaml\na: 1\n\n$ python -c 'print(7)'\n7\n"
    text = f"{shown}<!-- run -->\n```console\n{commands}```\n"
    assert tour.rerun(text) == text
    silent = f"{shown}<!-- run -->\n```sh\ncp a.yaml b.yaml\n```\n"
    assert tour.rerun(silent) == silent
    with pytest.raises(tour.ExampleFailed):
        tour.rerun("<!-- run -->\n```sh\ncat there-is-no-such-file; exit 2\n```\n")


def test_how_tos_name_no_file_that_nobody_has() -> None:
    """What is not run may name files of the reader's cluster; what is run finds what it names."""
    ran = {path for path in DOCUMENTS if path.startswith("docs/how-to/")} - {
        "docs/how-to/README.md"
    }
    assert ran <= set(WITH_EXAMPLES)


def recorded_by_the_policy() -> dict[str, list[str]]:
    """Return, by API group, the resources of the audit policy that the page shows; none is all."""
    (text,) = re.findall(
        r"^```yaml\n(.*?)^```$", text_of("docs/how-to/audit-logs.md"), re.MULTILINE | re.DOTALL
    )
    (rule, *_) = yaml.safe_load(text)["rules"]
    assert {"create", "update", "patch", "delete", "deletecollection", "list"} == {*rule["verbs"]}
    return {of["group"]: of.get("resources", []) for of in rule["resources"]}


@pytest.mark.parametrize(("group", "kind"), WATCHED)
def test_the_audit_policy_of_the_page_records_what_the_scheduler_watches(
    group: str, kind: str
) -> None:
    plurals = {(of, name): plural for (of, plural), name in KINDS_BY_RESOURCE.items()}
    recorded = recorded_by_the_policy()
    assert group in recorded
    assert not recorded[group] or plurals[group, kind] in recorded[group]


def test_the_audit_policy_of_the_page_records_all_objects_of_volcano() -> None:
    recorded = recorded_by_the_policy()
    groups = {group for group, _ in KINDS_BY_RESOURCE if group.endswith(".volcano.sh")}
    assert {group for group in groups if recorded.get(group) == []} == groups


def test_an_example_that_has_become_untrue_is_noticed() -> None:
    text = "<!-- before: echo 7 > n -->\n<!-- run -->\n```console\n$ cat n\n{}\n```\n"
    assert tour.rerun(text.format(6)) == text.format(7)
    timed = "<!-- run -->\n```console\n$ echo took 2.5 s\ntook 3.1 s\n```\n"
    assert tour.rerun(timed) == timed
