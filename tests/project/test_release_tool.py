"""One command makes all files of a release, or says everything that is missing and writes none."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import release
import release_sbom
from pages import text_of
from plinian.engine.version import __version__
from tree import ROOT, files

pytestmark = pytest.mark.slow

NOTES = "### Added\n\n- Everything.\n\n### Fixed\n\n- Nothing."
CHANGELOG = f"# Changelog\n\n## [Unreleased]\n\n## [{__version__}] - 2026-11-29\n\n{NOTES}\n"


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, as somebody."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a release is made of, and commit it with a changelog that is ready."""
    copy = tmp_path_factory.mktemp("project")
    for path in files():
        if not path.startswith(("tests/", "docs/", "benchmarks/")):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy / path)
    (copy / "CHANGELOG.md").write_text(CHANGELOG, "utf-8")
    git(copy, "init", "--quiet")
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--message", "All")
    return copy


def started(project: Path, version: str = __version__) -> subprocess.CompletedProcess[str]:
    """Run the command, without a network."""
    command = [sys.executable, "tools/release.py", version, "--no-isolation"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dist(project: Path) -> Path:
    """Make the release."""
    done = started(project)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "dist"


def test_all_files_of_a_release_are_made(dist: Path) -> None:
    assert sorted(path.name for path in dist.iterdir()) == [
        "SHA256SUMS",
        f"plinian-{__version__}-py3-none-any.whl",
        f"plinian-{__version__}.cdx.json",
        f"plinian-{__version__}.notes.md",
        f"plinian-{__version__}.tar.gz",
    ]


def test_the_wheel_has_what_was_committed(dist: Path, project: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    packed = zipfile.ZipFile(wheel).read("plinian/engine/version.py")
    assert packed == (project / "engine/version.py").read_bytes()


def test_the_source_archive_has_every_skill_for_agents(dist: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    skills = {path for path in files() if path.startswith("skills/")}
    assert len(skills) >= 7
    assert skills - inside == set()


def test_the_sums_are_of_all_other_files(dist: Path) -> None:
    lines = (dist / "SHA256SUMS").read_text("utf-8").splitlines()
    assert [line.split("  ") for line in lines] == [
        [hashlib.sha256(path.read_bytes()).hexdigest(), path.name]
        for path in sorted(dist.iterdir())
        if path.name != "SHA256SUMS"
    ]


def test_the_notes_are_the_section_of_the_changelog(dist: Path) -> None:
    assert (dist / f"plinian-{__version__}.notes.md").read_text("utf-8") == f"{NOTES}\n"


def test_nothing_but_the_files_of_the_release_is_left_in_the_tree(
    dist: Path, project: Path
) -> None:
    assert dist.is_dir()
    command = ["git", "status", "--porcelain", "--ignored"]
    left = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True).stdout
    assert [line for line in left.splitlines() if "__pycache__" not in line] == ["!! dist/"]


def materials(dist: Path) -> dict[str, Any]:
    """Return the bill of materials."""
    loaded: dict[str, Any] = json.loads((dist / f"plinian-{__version__}.cdx.json").read_text())
    return loaded


def test_the_bill_of_materials_names_what_an_installation_brings(dist: Path) -> None:
    found = materials(dist)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    own = found["metadata"]["component"]
    assert own["purl"] == f"pkg:pypi/plinian@{__version__}"
    names = {one["name"] for one in found["components"]}
    # A dependency, one of its extra, one of a dependency, and none of developers or extras.
    assert {"msgspec", "psycopg-binary", "anyio"} <= names
    assert not {"pytest", "matplotlib", "pandas", "plinian"} & names
    references = {own["bom-ref"], *(one["bom-ref"] for one in found["components"])}
    assert {one["ref"] for one in found["dependencies"]} == references
    assert {on for one in found["dependencies"] for on in one["dependsOn"]} <= references


def test_every_component_is_needed_by_another(dist: Path) -> None:
    found = materials(dist)
    needs = {one["ref"]: one["dependsOn"] for one in found["dependencies"]}
    reached, waiting = set[str](), [found["metadata"]["component"]["bom-ref"]]
    while waiting:
        waiting += set(needs[one := waiting.pop()]) - reached
        reached.add(one)
    assert reached == set(needs)


def test_the_same_packages_give_the_same_bill(dist: Path) -> None:
    found = materials(dist)
    table = {"name": "plinian", "license": "Apache-2.0", "dependencies": ["uvicorn", "msgspec"]}
    made = release.datetime.fromisoformat(found["metadata"]["timestamp"])
    other = {**table, "dependencies": ["msgspec", "uvicorn"]}
    first, second = (release_sbom.bill(one, "1.0", made, "3.11") for one in (table, other))
    assert first == second
    assert first != release_sbom.bill(table, "1.1", made, "3.11")


def test_a_package_that_is_missing_or_too_old_stops_a_release() -> None:
    for text, why in (
        ("no-such-package-here", "no-such-package-here is not installed"),
        ("msgspec>=99", "msgspec>=99 is needed, and "),
    ):
        with pytest.raises(release_sbom.NotResolved, match=why):
            release_sbom.resolved([text])
    elsewhere = "no-such-package-here; sys_platform == 'nowhere'"
    assert release_sbom.resolved([elsewhere]) == []
    assert release_sbom.needed(["a; extra == 'b'"], ["b"]) == [Requirement("a; extra == 'b'")]


def test_everything_that_is_missing_is_said_at_once_and_nothing_is_written(
    project: Path, dist: Path
) -> None:
    before = {path: path.read_bytes() for path in dist.iterdir()}
    (project / "engine/log/new.py").write_text("", "utf-8")
    try:
        done = started(project, "9.9.9")
    finally:
        (project / "engine/log/new.py").unlink()
    assert done.returncode == 2
    said = done.stderr.splitlines()
    assert said[0] == "release: not everything is committed: engine/log/new.py"
    assert said[1] == f"release: engine/version.py has version {__version__}, not 9.9.9"
    assert said[2].startswith("release: CHANGELOG.md has no section: write '## [9.9.9] - ")
    assert said[3:] == ["release: dist/ is not empty: remove it"]
    assert {path: path.read_bytes() for path in dist.iterdir()} == before


@pytest.mark.parametrize(
    ("changelog", "fault"),
    [
        (CHANGELOG.replace(" - 2026-11-29", ""), "has no date"),
        (CHANGELOG.replace("2026-11-29", "2026-13-29"), "has no date"),
        (CHANGELOG.replace(NOTES, ""), "is empty"),
        (CHANGELOG.replace("## [Unreleased]\n\n", ""), "has no section '## [Unreleased]'"),
        (CHANGELOG.replace("[Unreleased]", "[Unreleased]\n\n- New."), "move what is under"),
    ],
)
def test_a_changelog_that_is_not_ready_stops_a_release(changelog: str, fault: str) -> None:
    (found,) = release.faults_of_changelog(changelog, __version__)
    assert fault in found
    assert list(release.faults_of_changelog(CHANGELOG, __version__)) == []


def test_the_changelog_of_the_project_has_a_section_of_this_version() -> None:
    lacks = release.faults_of_changelog(text_of("CHANGELOG.md"), __version__)
    assert [fault for fault in lacks if "move what is under" not in fault] == []


def test_sections_end_where_the_next_begins() -> None:
    text = f"{CHANGELOG}\n## [0.0.1] - 2026-01-01\n\n- Old.\n"
    assert release.sections(text) == {
        "Unreleased": ("", ""),
        __version__: ("2026-11-29", NOTES),
        "0.0.1": ("2026-01-01", "- Old."),
    }
