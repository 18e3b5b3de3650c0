"""Python has all of it: every command has a twin that says the same as ``-o json``."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from asked_both_ways import ASKED, MOMENT, NEW, OLD, TIME
from click.testing import CliRunner
from shared_parent import CONF, scenario

import plinian
import reference
from plinian.engine import errors
from plinian.replay.cli.main import app
from plinian.replay.questions.table import QUESTIONS, question_named

Log = plinian.Log

SECOND = "default/second"

NEEDS_NONE = {
    "completion": "it is about a shell",
    "mcp": "it is a process of its own, for agents; each tool is a method of Log",
    "record": "it is a process of its own, which records until it is stopped",
    "serve": "it is a process of its own, for other programs",
    "kubeconfig": "a file for clients of plinian serve",
    "play": "it steers a running plinian serve",
    "version": "plinian.__version__",
    "db": "a group of commands",
    "db upgrade": "done once, by whoever keeps the log",
    "db downgrade": "done once, by whoever keeps the log",
    "release": "a group of commands",
    "checkpoint": "a group of commands",
    "branch": "a group of commands",
}
"""Commands that have no twin in Python, with the reason."""

TWINS: dict[str, tuple[Callable[..., Any], ...]] = {
    "explore": (plinian.explore, plinian.explore_log, plinian.replay_token, plinian.windows),
    "branch create": (Log.create_branch,),
    "branch list": (Log.branches,),
    "checkpoint build": (Log.build_checkpoints,),
    "checkpoint drop": (Log.drop_checkpoints,),
    "checkpoint list": (Log.checkpoints,),
    "db info": (Log.info,),
    "demo": (plinian.demo, plinian.demo_files),
    "head": (Log.heads,),
    "ingest": (Log.ingest, plinian.explain),
    "lint": (Log.lint, plinian.lint, plinian.lint_rules),
    "open": (plinian.open_pack,),
    "plot": (Log.plot, plinian.Plot.save),
    "report": (Log.report, plinian.web_page),
    "release unproven": (plinian.unproven,),
    "simulate": (plinian.simulate, plinian.simulate_all),
}
"""Twins that have another name than the command, or that are several."""

OF_THE_TERMINAL = {
    *("--help", "--output", "--no-headers", "--exit-code", "--no-color", "--payload", "--rules"),
    *("--list", "--plot", "--tz", "--verbose"),
    *(
        "--show",
        "--out",
        "--yes",
        "--show-labels",
        "--sort-by",
        "--summary",
        "--who",
        "lint --strict",
    ),
    *("--label-columns", "--ignore-not-found", "--watch-only", "--output-watch-events"),
    *("describe --selector", "events --strict", "--linear", "--all"),
    *("--watch", "--field-selector", "--all-namespaces", "--log", "--cluster", "--branch"),
    *("--as-known-at", "simulate --step", "demo --files", "demo --serve", "--linear", "--all"),
    *("explore --replay", "explore --model", "explore --windows"),
    *("ingest --explain", "ingest --follow"),
    *("explore --evidence", "explore --pytest", "explore --scenario"),
}
"""Options about printing or exit codes, and those that ``open`` and ``Log.moment`` take once."""

UNLIKE = {"--from": "from_"}


def commands() -> dict[str, Any]:
    """Return every command of the command line by its full name."""
    return dict(reference.walk(reference.command_tree()))


def twins(name: str) -> tuple[Callable[..., Any], ...]:
    """Return what in Python does what a command does; nothing if there is nothing."""
    if name in TWINS:
        return TWINS[name]
    asked = [one for one in map(question_named, QUESTIONS) if one.command == name]
    if asked:
        places = [(Log if one.needs_log else plinian, one.name or name) for one in asked]
        return tuple(getattr(place, word.replace("-", "_")) for place, word in places)
    plain = name.replace("-", "_").replace(" ", "_")
    found = getattr(Log, plain, None) or getattr(plinian, plain, None)
    return () if found is None else (found,)


def test_every_command_has_a_twin_or_a_reason_to_have_none() -> None:
    lacking = [name for name in commands() if name not in NEEDS_NONE and not twins(name)]
    assert lacking == [], "write a method of Log, or say in NEEDS_NONE why there is none"
    assert [name for name in NEEDS_NONE if name not in commands()] == []


def test_a_command_without_a_twin_is_noticed() -> None:
    assert twins("no-such-command") == ()
    assert twins("upgrade-check") == (Log.upgrade_check,)


DECLARED = {question_named(name).command for name in QUESTIONS}
"""Commands whose options are the parameters in Python, as both are made from one declaration."""


@pytest.mark.parametrize(
    "name", [name for name in commands() if name not in {*NEEDS_NONE, *DECLARED}]
)
def test_options_have_the_names_of_the_command_line(name: str) -> None:
    known = {word for twin in twins(name) for word in inspect.signature(twin).parameters}
    if name == "ingest":
        known |= set(plinian.IngestOptions.__struct_fields__)
    if name == "events":
        known |= {"namespace", "source", "limit", "newest_first"}
    for item in commands()[name].params:
        option = max(item.opts, key=len)
        if item.param_type_name != "option" or {option, f"{name} {option}"} & OF_THE_TERMINAL:
            continue
        plain = UNLIKE.get(option, option.removeprefix("--").replace("-", "_"))
        assert {plain, f"{plain}s", f"{plain}es"} & known, f"{name} {option}"


# -- the same content ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a scenario in which releases part."""
    path = tmp_path_factory.mktemp("shared") / "shared.case.json"
    path.write_text(json.dumps(scenario()), "utf-8")
    return path


@pytest.fixture(scope="module")
def shared(case: Path) -> Iterator[Log]:
    """Give a log of the scenario."""
    with plinian.open(case.with_name("shared.db"), create=True) as log:
        log.ingest(case)
        yield log


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Log]:
    """Give the log of the demonstration."""
    with plinian.demo(tmp_path_factory.mktemp("demo") / "demo.db") as log:
        yield log


def printed(*arguments: str | Path, log: Log | None = None) -> Any:
    """Return what a command prints as JSON, whatever its exit code."""
    place = [] if log is None else ["--log", log.place]
    words = list(map(str, [*arguments, *place, "-o", "json"]))
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code in {0, 1}, ran.output
    return json.loads(ran.stdout)


def told(result: Any, **more: Any) -> Any:
    """Return a result of Python as the command prints it, through JSON and back."""
    return json.loads(json.dumps(plinian.document(result, **more)))


@pytest.mark.parametrize(("ask", "command"), ASKED, ids=[words for _, words in ASKED])
def test_python_says_what_the_command_prints(
    demo: Log, ask: Callable[[Log], Any], command: str
) -> None:
    of_log = not command.startswith("release") and not {"--rules", "--list"} & {*command.split()}
    assert told(ask(demo)) == printed(*command.split(), log=demo if of_log else None)


def test_objects_and_events_are_those_that_are_printed(demo: Log) -> None:
    items = printed("get", "pods", "-A", "--at", TIME, log=demo)["items"]
    assert demo.get("pods", at=MOMENT) == items
    some = {"kinds": "pod.bound", "objects": "pods", "since": MOMENT, "limit": 3}
    found = demo.events(**some)
    words = f"events --kind pod.bound --object pods --since {TIME} --limit 3 --payload".split()
    assert told(list(found), payload=True) == printed(*words, log=demo)["items"]
    assert demo.digest(MOMENT) == printed("digest", "--at", TIME, log=demo)["digest"]
    ran = CliRunner().invoke(app, ["describe", "node/node-1", "--at", TIME, "--log", demo.place])
    assert demo.describe("node/node-1", at=MOMENT) == ran.stdout


def test_comparisons_of_configurations_are_those_that_are_printed(
    shared: Log, tmp_path: Path
) -> None:
    flat = tmp_path / "flat.conf"
    flat.write_text(CONF.replace("enableHierarchy: true", "enableHierarchy: false"), "utf-8")
    found = shared.compare(releases=[OLD, NEW], confs=[None, flat], trace=True)
    one = shared.compare(releases=NEW, confs=plinian.ConfText(flat.read_text("utf-8"), flat.name))
    words = ["session", "--release", NEW, "--conf", flat]
    assert told(one)["sides"][0] | {"label": ""} == (
        {k: v for k, v in printed(*words, log=shared).items() if k not in {"trace", "node_scores"}}
        | {"label": ""}
    )
    assert [side.label for side in found.sides][1].startswith(f"{OLD} ")
    assert "trace" in told(found, trace=True)["sides"][0]
    assert "trace" not in told(found)["sides"][0]


def test_bisections_over_releases_are_those_that_are_printed(shared: Log, case: Path) -> None:
    span = f"{OLD}..v1.12.0"
    words = ["bisect", "--enqueued", SECOND, "--releases", span]
    of_log = shared.bisect(enqueued=SECOND, releases=span)
    assert told(of_log) == printed(*words, log=shared)
    assert of_log.flip is not None
    assert of_log.flip.after.probe.at == "v1.12.0"
    assert told(plinian.bisect(case, enqueued=SECOND, releases=span)) == printed(*words, case)
    along = plinian.bisect(json.loads(case.read_text("utf-8")), enqueued=SECOND, release=OLD)
    assert told(along) == printed("bisect", case, "--enqueued", SECOND, "--release", OLD)


def test_simulations_are_the_files_that_are_written(case: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    patch = 'queue/shared={"spec":{"capability":{"cpu":"4"}}}'
    words = ["simulate", case, "--release", OLD, "--release", NEW, "--patch", patch, "--out", out]
    assert CliRunner().invoke(app, [*map(str, words)]).exit_code == 0
    files = [json.loads((out / f"shared.{name}.json").read_text("utf-8")) for name in (OLD, NEW)]
    results = list(plinian.simulate_all(case, releases=[OLD, NEW], patches=patch))
    assert told(results) == files
    assert told(plinian.simulate(case, release=NEW, patches=patch)) == files[1]
    assert (
        told(plinian.simulate(scenario(), release=NEW, patches=patch))["steps"]
        == (files[1]["steps"])
    )
    assert results[1].steps[0].podgroups[SECOND].phase


def test_a_simulated_crash_is_told_like_in_the_files(tmp_path: Path) -> None:
    articles = Path(__file__).parents[2] / "docs" / "articles"
    path = articles / "000-allocatable-shrinks.case.json"
    CliRunner().invoke(app, ["simulate", str(path), "--release", "v1.8.2", "--out", str(tmp_path)])
    written = json.loads((tmp_path / "000-allocatable-shrinks.v1.8.2.json").read_text("utf-8"))
    assert any("panic_at" in step for step in written["steps"])
    assert told(plinian.simulate(path, release="v1.8.2")) == written


def test_files_are_checked_as_the_command_checks_them(tmp_path: Path) -> None:
    queue = tmp_path / "queue.yaml"
    queue.write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
        'spec: {parent: none, capability: {cpu: "1"}, deserved: {cpu: "2"}}\n'
    )
    conf = tmp_path / "volcano-scheduler.conf"
    conf.write_text(CONF, "utf-8")
    found = plinian.lint(queue, conf=conf, releases=NEW)
    assert told(found) == printed("lint", queue, "--conf", conf, "--release", NEW)
    assert {finding.severity.value for finding in found.findings} >= {"error"}
    # A finding alone keeps the path that was given; the report knows all files, and shortens.
    alone = [{**one, "file": Path(one["file"]).name} for one in told(found.findings)]
    assert alone == told(found)["findings"]


def test_ingest_says_what_the_command_prints(case: Path, tmp_path: Path) -> None:
    with plinian.open(tmp_path / "one.db", create=True, cluster="east") as log:
        summary = log.ingest([case], partial_lists=True)
        assert log.store.clusters() == ("east",) or list(log.store.clusters()) == ["east"]
    words = ["ingest", case, "--log", tmp_path / "two.db", "--cluster", "east", "--partial-lists"]
    assert told(summary) == printed(*words)


def test_exports_and_branches_are_made_like_those_of_the_commands(
    shared: Log, tmp_path: Path
) -> None:
    one, other = tmp_path / "one.ndjson", tmp_path / "other.ndjson"
    count = shared.export(one)
    assert CliRunner().invoke(app, ["export", str(other), "--log", shared.place]).exit_code == 0
    assert one.read_bytes() == other.read_bytes()
    assert len(one.read_text("utf-8").splitlines()) == count
    with pytest.raises(plinian.UsageError, match="is of no known format"):
        shared.export(tmp_path / "out.xlsx")
    with plinian.open(tmp_path / "branched.db", create=True) as log:
        log.ingest(json_case(tmp_path))
        made = log.create_branch("what-if", at="@3")
        assert (made.parent, made.fork) == ("main", 3)
        assert [branch.name for branch in log.branches()] == ["main", "what-if"]
        log.create_branch("other", at="rv:3")
        with plinian.open(tmp_path / "branched.db", branch="other") as other:
            assert other.digest() == log.digest(at="rv:3")
        log.build_checkpoints()
        log.drop_checkpoints()
        assert log.checkpoints() == []


def test_the_files_of_the_demonstration_can_be_had(tmp_path: Path) -> None:
    paths = plinian.demo_files(tmp_path / "files")
    ran = CliRunner().invoke(app, ["demo", "--files", str(tmp_path / "files")])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines() == paths
    assert {"audit.log.xz", "volcano-scheduler.conf"} <= {Path(path).name for path in paths}
    assert list(tmp_path.iterdir()) == [tmp_path / "files"]
    Path(paths[0]).write_text("mine", "utf-8")
    with pytest.raises(plinian.UsageError, match="already exists here"):
        plinian.demo_files(tmp_path / "files")


def json_case(folder: Path) -> Path:
    """Write the scenario into a folder."""
    path = folder / "again.case.json"
    path.write_text(json.dumps(scenario()), "utf-8")
    return path


# -- moments, errors, the package itself --------------------------------------------------------


def test_moments_are_strings_datetimes_and_moments_everywhere(demo: Log) -> None:
    east = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    moment = demo.moment(MOMENT)
    assert demo.moment(east) == moment == demo.moment(TIME)
    assert demo.moment(moment) is moment
    digests = {demo.digest(at) for at in (TIME, MOMENT, east, moment)}
    assert len(digests) == 1
    sharp = MOMENT.replace(microsecond=123456)
    assert demo.moment(sharp) == demo.moment("2026-11-21T01:53:36.123456Z")


def test_a_naive_datetime_is_an_error_that_says_what_to_do(demo: Log) -> None:
    naive = MOMENT.replace(tzinfo=None)
    asks: list[Callable[[], object]] = [
        lambda: demo.get("pods", at=naive),
        lambda: demo.diff(naive),
        lambda: demo.session(at=naive),
        lambda: demo.bisect(panic=True, from_=naive),
        lambda: demo.events(since=naive),
        lambda: plinian.simulate(scenario(), release=NEW, now=naive),
    ]
    for ask in asks:
        with pytest.raises(plinian.PointUnknown, match="has no time zone") as caught:
            ask()
        assert "tzinfo=UTC" in caught.value.now
    with pytest.raises(plinian.PointUnknown, match="is not a moment"):
        demo.get("pods", at=1042)  # type: ignore[arg-type]
    with pytest.raises(plinian.UsageError, match="already has its own as_known_at"):
        demo.moment(demo.moment(), as_known_at="@3")


def test_options_that_would_do_nothing_are_refused(demo: Log, case: Path) -> None:
    for options_given in (
        {"panic": True, "releases": f"{OLD}..{NEW}", "from_": "rv:300"},
        {"panic": True, "releases": f"{OLD}..{NEW}", "halve": True},
        {"panic": True, "at": "end"},
    ):
        with pytest.raises(plinian.UsageError, match="has no effect"):
            demo.bisect(**options_given)  # type: ignore[arg-type]
    with pytest.raises(plinian.UsageError, match="choose exactly one of"):
        demo.bisect()
    with pytest.raises(plinian.UsageError, match=r"expected R1\.\.R2"):
        plinian.bisect(case, panic=True, releases=OLD)
    with pytest.raises(plinian.UsageError, match="no option 'yaer'"):
        demo.ingest(case, yaer=2025)
    with pytest.raises(plinian.UsageError, match="nothing to check"):
        plinian.lint()
    with pytest.raises(plinian.UsageError, match="no part"):
        plinian.behaviours(NEW, parts="kubelet")
    with pytest.raises(plinian.UsageError, match="has no end"):
        demo.events(follow=True, until="end")
    with pytest.raises(plinian.UsageError, match="no document"):
        plinian.document(object())


def test_an_unknown_release_is_an_error_or_the_nearest(demo: Log) -> None:
    with pytest.raises(plinian.UsageError, match=r"v1\.15\.7"):
        demo.session(release="v1.15.7")
    assert demo.session(at=MOMENT, release="v1.15.7", assume=True).release == "v1.15.1"


def test_a_rejected_configuration_is_an_error_or_the_built_in_one(shared: Log) -> None:
    wrong = plinian.ConfText("actions: [", "mine")
    with pytest.raises(plinian.UsageError, match="rejects the configuration"):
        shared.session(conf=wrong)
    assert shared.session(conf=wrong, assume=True).conf == f"built into {NEW}"


def test_all_errors_are_exported() -> None:
    kinds = {
        name
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, errors.PlinianError)
    }
    assert kinds <= set(plinian.__all__)
    assert all(getattr(plinian, name) is getattr(errors, name) for name in kinds)


def test_everything_that_is_listed_is_there_and_documented() -> None:
    assert plinian.__all__ == sorted(plinian.__all__)
    for name in plinian.__all__:
        thing = getattr(plinian, name)
        assert isinstance(thing, str) or inspect.getdoc(thing), name
        assert name in dir(plinian)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = plinian.nothing  # type: ignore[attr-defined]
    assert plinian.__version__ == printed("version")["plinian"]


def test_importing_plinian_loads_next_to_nothing() -> None:
    heavy = ("numpy", "click", "sqlalchemy", "yaml", "importlib.metadata", "msgspec")
    code = f"import sys, plinian; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
