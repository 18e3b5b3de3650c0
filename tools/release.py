"""Make all files of a release, and upload nothing.

``python tools/release.py VERSION``
    checks that all is committed, that the package has this version and that CHANGELOG.md has its
    section with a date; then writes into ``dist/`` the source archive, the wheel, the bill of
    materials, the release notes and ``SHA256SUMS``. Exits with 2 if anything is not as it has to
    be, and writes nothing then.
    ``--no-isolation`` builds with the setuptools of this environment, without a network.

``docs/releasing.md`` says what to do before and after.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from release_sbom import NotResolved, bill

ROOT = Path(__file__).resolve().parent.parent

_HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?$", re.MULTILINE)
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class NotReady(Exception):
    """The tree cannot be released; each argument is one reason."""


def ran(*command: str, **environment: str) -> str:
    """Run a program at the root and return what it prints.

    :raises NotReady: it fails.
    """
    done = subprocess.run(  # noqa: S603 -- git and this Python, with arguments of this file
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise NotReady(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def sections(changelog: str) -> dict[str, tuple[str, str]]:
    """Return the date and the text of each section of a changelog, by version."""
    heads = list(_HEADING.finditer(changelog))
    ends = [*(head.start() for head in heads[1:]), len(changelog)]
    return {
        head[1]: (head[2] or "", changelog[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    }


def is_date(text: str) -> bool:
    """Say whether a text is a date, as in 2026-11-29."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def faults_of_changelog(changelog: str, version: str) -> Iterator[str]:
    """Yield what the changelog lacks for a release."""
    found = sections(changelog)
    if version not in found:
        yield f"CHANGELOG.md has no section: write '## [{version}] - {datetime.now(UTC):%Y-%m-%d}'"
        return
    dated, text = found[version]
    if not is_date(dated):
        yield f"CHANGELOG.md: the section [{version}] has no date: write '## [{version}] - DATE'"
    if not text:
        yield f"CHANGELOG.md: the section [{version}] is empty"
    if "Unreleased" not in found:
        yield "CHANGELOG.md has no section '## [Unreleased]' for what comes next"
    elif found["Unreleased"][1]:
        yield f"CHANGELOG.md: move what is under [Unreleased] into [{version}]"


def faults(version: str, dist: Path) -> Iterator[str]:
    """Yield why the tree cannot be released as a version."""
    changed = ran("git", "status", "--porcelain").splitlines()
    if changed:
        yield f"not everything is committed: {', '.join(line[3:] for line in changed[:5])}"
    (has,) = _VERSION.findall((ROOT / "engine/version.py").read_text("utf-8"))
    if has != version:
        yield f"engine/version.py has version {has}, not {version}"
    yield from faults_of_changelog((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    if dist.exists() and any(dist.iterdir()):
        yield f"{dist.name}/ is not empty: remove it"


def build(into: Path, seconds: int, options: list[str]) -> None:
    """Build the source archive, and the wheel from it, of what is committed."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "source.tar")
        ran("git", "archive", "--format=tar", f"--output={archive}", "HEAD")
        source = Path(folder, "source")
        with tarfile.open(archive) as packed:
            packed.extractall(source, filter="data")
        command = [sys.executable, "-m", "build", "--outdir", str(into), *options, str(source)]
        ran(*command, SOURCE_DATE_EPOCH=str(seconds))


def sums(folder: Path) -> str:
    """Return the SHA-256 of every file of a folder, as ``sha256sum -c`` reads them."""
    return "".join(
        f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    )


def make(version: str, folder: Path, options: list[str]) -> None:
    """Write all files of a release into a folder."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    seconds = int(ran("git", "log", "-1", "--format=%ct"))
    made = datetime.fromtimestamp(seconds, UTC)
    materials = bill(project, version, made, platform.python_version())
    _, notes = sections((ROOT / "CHANGELOG.md").read_text("utf-8"))[version]
    build(folder, seconds, options)
    (folder / f"plinian-{version}.cdx.json").write_text(materials, "utf-8")
    (folder / f"plinian-{version}.notes.md").write_text(f"{notes}\n", "utf-8")
    (folder / "SHA256SUMS").write_text(sums(folder), "utf-8")


def release(version: str, dist: Path, options: list[str]) -> None:
    """Check the tree, and write all files of a release, or none.

    :raises NotReady: the tree cannot be released.
    :raises NotResolved: a package that Plinian needs is missing here.
    """
    found = list(faults(version, dist))
    if found:
        raise NotReady(*found)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "dist")
        made.mkdir()
        make(version, made, options)
        shutil.copytree(made, dist, dirs_exist_ok=True)


def main() -> int:
    """Run from the command line."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("version", metavar="VERSION", help="as in 0.1.0")
    parser.add_argument("--no-isolation", action="store_true", help="build without a network")
    asked = parser.parse_args()
    dist = ROOT / "dist"
    try:
        release(asked.version, dist, ["--no-isolation"] if asked.no_isolation else [])
    except (NotReady, NotResolved) as fault:
        print(*(f"release: {reason}" for reason in fault.args), sep="\n", file=sys.stderr)
        return 2
    print(*(f"dist/{path.name}" for path in sorted(dist.iterdir())), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
