"""SARIF and JUnit XML: what a command found, at its line, with the exit code of any other form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

import plinian
from plinian.replay.cli.main import app
from plinian.replay.review.junit import junit_text
from plinian.replay.review.review_records import FileRegion, Level, Review, ReviewRule, Skipped
from plinian.replay.review.review_records import Result as Found
from plinian.replay.review.sarif import sarif_document

TIME = "2026-11-21T01:53:36Z"
QUEUES = """apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  capability: {cpu: "8", nvidia.com/gpu: "8"}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: List
items:
- kind: Queue
  apiVersion: scheduling.volcano.sh/v1beta1
  metadata: {name: training}
  spec:
    parent: research
    capability:
      cpu: "8"
      nvidia.com/gpu: "16"
"""
CONF = """actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: capacity
    enableHierarchy: true
  - name: binpack
    arguments:
      binpack.wieght: 10
"""


def run(*words: str | Path) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [*map(str, words)])


def sarif(*words: str | Path) -> dict[str, Any]:
    """Return the one run of what a command prints as SARIF, which must have the form's shape."""
    document = json.loads(run(*words, "-o", "sarif").stdout)
    assert_sarif(document)
    found: dict[str, Any] = document["runs"][0]
    return found


def assert_sarif(document: dict[str, Any]) -> None:
    """Assert what the schema of SARIF 2.1.0 demands, and what consumers rely on."""
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run_,) = document["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) == {"id", "shortDescription", "fullDescription", "help"}
        assert rule["shortDescription"]["text"]
        assert {"text", "markdown"} == set(rule["help"])
    fingerprints = []
    for result in run_["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        fingerprints.append(result["partialFingerprints"]["plinianResult/v1"])
        for location in result.get("locations", ()):
            assert set(location) <= {"physicalLocation", "logicalLocations"}
            physical = location.get("physicalLocation")
            if physical is not None:
                assert re.fullmatch(r"[A-Za-z0-9%._~/:-]+", physical["artifactLocation"]["uri"])
                assert physical["region"]["startLine"] >= 1
                assert physical["region"].get("startColumn", 1) >= 1
    assert len(set(fingerprints)) == len(fingerprints)


def junit(*words: str | Path) -> ET.Element:
    """Return what a command prints as JUnit XML, which must have Surefire's shape."""
    suite = ET.fromstring(run(*words, "-o", "junit").stdout)
    assert_junit(suite)
    return suite


def assert_junit(suite: ET.Element) -> None:
    """Assert what Surefire's schema demands: attributes, the order of elements, the counts."""
    assert suite.tag == "testsuite"
    assert set(suite.attrib) == {"name", "time", "tests", "errors", "skipped", "failures"}
    assert [child.tag for child in suite][:1] == ["properties"]
    cases = suite.findall("testcase")
    assert len(suite) == 1 + len(cases)
    assert int(suite.attrib["tests"]) == len(cases)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
    for case in cases:
        assert set(case.attrib) == {"classname", "name", "time"}
        assert [child.tag for child in case] in (
            [],
            ["failure"],
            ["error"],
            ["skipped"],
            ["system-out"],
        )
    names = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
    assert len(set(names)) == len(names)


def failing(suite: ET.Element) -> list[str]:
    """Return the rules of the test cases that fail."""
    cases = suite.findall("testcase")
    return [
        case.attrib["classname"].rpartition(".")[2]
        for case in cases
        if case.find("failure") is not None
    ]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a tree of queues and a configuration, and go to their folder."""
    (tmp_path / "queues.yaml").write_text(QUEUES, "utf-8")
    (tmp_path / "volcano-scheduler.conf").write_text(CONF, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the place of the log of the demonstration."""
    place = str(tmp_path_factory.mktemp("demo") / "demo.db")
    plinian.demo(place).close()
    return place


def ask_once(patch: pytest.MonkeyPatch, where: str, key: Callable[..., object]) -> None:
    """Let a function work once for each question: what differs then is the form of its answer."""
    module, _, name = where.rpartition(".")
    known: dict[object, Any] = {}
    asked = getattr(import_module(module), name)

    def once(*given: Any, **how: Any) -> Any:
        question = key(*given)
        if question not in known:
            known[question] = asked(*given, **how)
        return known[question]

    patch.setattr(where, once)


LINT = ("lint", "queues.yaml", "volcano-scheduler.conf", "--release", "v1.12.1")


@pytest.mark.usefixtures("files")
def test_a_finding_is_at_the_line_and_the_column_of_its_key() -> None:
    results = {one["ruleId"]: one for one in sarif(*LINT)["results"]}
    place = results["queue-exceeds-parent"]["locations"][0]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "queues.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 18, "startColumn": 7},
    }
    assert place["logicalLocations"] == [
        {"kind": "Queue", "name": "training", "fullyQualifiedName": "training"}
    ]
    (conf,) = results["argument-unknown"]["locations"]
    assert conf["physicalLocation"]["region"]["startLine"] == 10
    shown = run(*LINT, "-o", "github").stdout
    assert "file=queues.yaml,line=18,title=queue-exceeds-parent" in shown


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ("kind: Queue\nspec:\n  capability:\n    cpu: 1\n", "spec.capability.cpu", 4),
        ("kind: Queue\nspec:\n  capability: {}\n", "spec.capability.cpu", 3),
        ("kind: Queue\n", "spec.capability.cpu", 1),
        (
            "spec:\n  tasks:\n  - name: a\n  - name: b\n    replicas: 1\n",
            "spec.tasks[1].replicas",
            5,
        ),
        ("metadata:\n  annotations:\n    a/b.c: x\n", "metadata.annotations[a/b.c]", 3),
        (
            '{"spec":\n {"capability":\n  {"nvidia.com/gpu": 1}}}',
            "spec.capability.nvidia.com/gpu",
            3,
        ),
    ],
)
def test_the_line_of_a_field_is_that_of_its_key_or_of_what_is_around_it(
    tmp_path: Path, text: str, field: str, line: int
) -> None:
    from plinian.replay.lint.findings import FilePlace  # noqa: PLC0415
    from plinian.replay.lint.regions import Regions  # noqa: PLC0415

    file = tmp_path / "a.yaml"
    file.write_text(text, "utf-8")
    assert Regions().of(FilePlace(str(file), 1, 1), field).line == line


def test_a_file_that_cannot_be_read_again_leaves_the_line_of_the_object(tmp_path: Path) -> None:
    from plinian.replay.lint.findings import FilePlace  # noqa: PLC0415
    from plinian.replay.lint.regions import Regions  # noqa: PLC0415

    assert Regions().of(FilePlace("-", 7, 1), "spec") == (7, None)
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [", "utf-8")
    assert Regions().of(FilePlace(str(broken), 3, 1), "spec") == (3, None)


@pytest.mark.usefixtures("files")
def test_the_form_does_not_change_the_exit_code() -> None:
    for more in ((), ("--strict",), ("--ignore", "queue-exceeds-parent")):
        codes = {run(*LINT, *more, "-o", form).exit_code for form in ("table", "sarif", "junit")}
        assert len(codes) == 1
    only_warnings = (*LINT, "--ignore", "queue-exceeds-parent")
    assert (run(*only_warnings).exit_code, run(*only_warnings, "--strict").exit_code) == (0, 1)


@pytest.mark.usefixtures("files")
def test_test_cases_fail_exactly_if_the_command_does() -> None:
    assert failing(junit(*LINT)) == ["queue-exceeds-parent"]
    assert failing(junit(*LINT, "--strict")) == ["queue-exceeds-parent", "argument-unknown"]
    passed = junit(*LINT, "--ignore", "queue-exceeds-parent")
    assert failing(passed) == []
    assert int(passed.attrib["tests"]) > 50


@pytest.mark.usefixtures("files")
def test_a_result_keeps_its_fingerprint_when_lines_move() -> None:
    def fingerprints() -> list[str]:
        found = sarif(*LINT)["results"]
        return [one["partialFingerprints"]["plinianResult/v1"] for one in found]

    before = fingerprints()
    Path("queues.yaml").write_text(f"# a comment\n\n{QUEUES}", "utf-8")
    assert fingerprints() == before
    Path("queues.yaml").write_text(QUEUES.replace("training", "trains"), "utf-8")
    assert fingerprints() != before


def test_names_of_files_are_uris(tmp_path: Path) -> None:
    odd = tmp_path / "a queue [1] ü.yaml"
    odd.write_text(QUEUES, "utf-8")
    found = sarif("lint", odd, "--release", "v1.12.1")["results"]
    artifact = found[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == "a%20queue%20%5B1%5D%20%C3%BC.yaml"


def test_rules_point_to_headings_of_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/lint.md").read_text("utf-8")
    headings = set(re.findall(r"^### (\S+)$", page, re.MULTILINE))
    document = plinian.sarif(plinian.lint([], conf=_conf()))
    rules = document["runs"][0]["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} == headings
    assert all(f"docs/reference/lint.md#{rule['id']}" in rule["help"]["text"] for rule in rules)


def _conf() -> str:
    return str(Path(__file__).parents[2] / "docs/articles/004-capacity-first.conf")


@pytest.mark.slow
def test_check_has_a_rule_for_each_invariant_and_skips_those_that_were_not_checked(
    demo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "plinian.replay.invariants.check_task.check"
    ask_once(monkeypatch, where, lambda _log, task, _progress: repr(task))
    words = ("check", "--log", demo, "--settle", "0s")
    found = sarif(*words)
    plain = json.loads(run(*words, "-o", "json").stdout)
    assert len(found["results"]) == len(plain["violations"]) > 0
    assert [one["ruleId"] for one in found["results"]] == [
        one["invariant"] for one in plain["violations"]
    ]
    assert len(found["tool"]["driver"]["rules"]) == len(plain["checked"])
    one = junit(*words, "--at", TIME)
    known = json.loads(run(*words, "--at", TIME, "-o", "json").stdout)
    assert int(one.attrib["skipped"]) == len(known["not_checked"]) > 0
    codes = {run(*words, "--exit-code", "-o", form).exit_code for form in ("table", "junit")}
    assert codes == {1}
    assert run(*words, "-o", "sarif").exit_code == 0


@pytest.mark.slow
def test_an_upgrade_has_a_result_for_each_cause(demo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "plinian.replay.compare.upgrade.upgrade_check"
    ask_once(monkeypatch, where, lambda places, question: repr((places, question)))
    words = ("upgrade-check", "--log", demo, "--from", "v1.12.1", "--to", "v1.15.1", "-j", "1")
    words = (*words, "--at", TIME)
    plain = json.loads(run(*words, "-o", "json").stdout)
    found = sarif(*words)["results"]
    assert [one["ruleId"] for one in found] == [
        "-or-".join("-and-".join(cause) for cause in group["causes"]) for group in plain["groups"]
    ]
    assert [one["properties"]["sessions"] for one in found] == [
        group["sessions"] for group in plain["groups"]
    ]
    assert failing(junit(*words)) == ["running_when"]
    assert run(*words, "--exit-code", "-o", "junit").exit_code == 1
    same = ("upgrade-check", "--log", demo, "--from", "v1.12.1", "--to", "v1.12.2", "-j", "1")
    suite = junit(*same, "--at", TIME)
    assert failing(suite) == []
    assert suite[-1].attrib["classname"].endswith(".sessions-decide-the-same")


def test_an_upgrade_that_cannot_be_judged_is_an_error(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    plinian.open(empty, create=True).close()
    queue = tmp_path / "queue.json"
    queue.write_text(
        json.dumps(
            {
                "apiVersion": "scheduling.volcano.sh/v1beta1",
                "kind": "Queue",
                "metadata": {"name": "q", "uid": "u", "resourceVersion": "7"},
            }
        )
    )
    assert run("ingest", queue, "--log", empty).exit_code == 0
    words = ("upgrade-check", "--log", empty, "--from", "v1.12.1", "--to", "v1.15.1", "-j", "1")
    assert run(*words, "-o", "junit").exit_code == 2
    suite = junit(*words)
    assert suite.attrib["errors"] == "1"
    invocation = sarif(*words)["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert "not known" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_fidelity_fails_for_what_is_not_explained_alone(demo: str) -> None:
    words = ("fidelity", "--log", demo, "--since", "rv:370", "--until", "rv:500", "-j", "1")
    plain = json.loads(run(*words, "-o", "json").stdout)
    ties = plain["causes"]["tie"]
    assert ties > 0
    assert sarif(*words)["results"] == []
    everything = sarif(*words, "--all")["results"]
    assert [one["ruleId"] for one in everything].count("tie") == ties
    assert {one["level"] for one in everything} == {"note"}
    assert failing(junit(*words, "--all")) == []


def test_python_has_what_commands_print(files: Path, demo: str) -> None:
    found = plinian.lint("queues.yaml", conf="volcano-scheduler.conf", releases="v1.12.1")
    words = ("lint", "queues.yaml", "--conf", "volcano-scheduler.conf", "--release", "v1.12.1")
    assert plinian.sarif(found) == json.loads(run(*words, "-o", "sarif").stdout)
    assert plinian.junit(found, strict=True) == run(*words, "--strict", "-o", "junit").stdout
    with plinian.open(demo, read_only=True) as log:
        report = log.check(settle="0s")
    assert (
        plinian.junit(report) == run("check", "--log", demo, "--settle", "0s", "-o", "junit").stdout
    )
    with pytest.raises(plinian.UsageError, match="no review"):
        plinian.junit([])  # type: ignore[arg-type]
    assert files.is_dir()


HOSTILE = Review(
    "lint",
    "\x00 ]]>",
    (ReviewRule("a", "<about> ``x``", "", "docs/a.md"), ReviewRule("b", "b", "", "docs/b.md")),
    (
        Found(
            "a",
            Level.ERROR,
            "key\x1b",
            "Pod",
            "<script>/x\ny",
            'message "\x08" & \ud800 ]]>',
            region=FileRegion("a%.yaml", 3),
        ),
    ),
    (Skipped("b", "\x01why"),),
    "\x02unknown",
)


def test_what_is_no_xml_is_written_as_text() -> None:
    suite = ET.fromstring(junit_text(HOSTILE))
    assert_junit(suite)
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib["message"] == 'message "\\u0008" & \\ud800 ]]>'
    assert "Pod <script>/x\ny" in (failure.text or "")
    assert suite.find("testcase/error") is not None
    assert suite.find("testcase/skipped") is not None


def test_sarif_can_be_written_as_utf_8_whatever_a_name_is() -> None:
    assert_sarif(sarif_document(HOSTILE))
    text = json.dumps(sarif_document(HOSTILE))
    assert "a%25.yaml" in text
