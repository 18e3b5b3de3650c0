"""What a stranger installs is whole, and runs without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path

import pytest

from plinian.engine.version import __version__
from tree import ROOT, SHIPPED, files

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, timeout: float = 600) -> str:
    """Run a command outside the checkout and return what it prints; fail with all it said."""
    hidden = {"PYTHONPATH", "PLINIAN_LOG", "PLINIAN_TEST_POSTGRES_URL"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the tree, so that nothing lands in the checkout."""
    copy = tmp_path_factory.mktemp("source")
    for path in files():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy / path)
    built = tmp_path_factory.mktemp("dist")
    # With a fitting setuptools at hand no network is needed; else pip fetches one.
    offline = ["--no-build-isolation"] if int(version("setuptools").split(".")[0]) >= 77 else []
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    run(*pip, *offline, "--wheel-dir", built, copy, cwd=built)
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def plinian(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, and return its command.

    The dependencies are those of the environment that runs the tests.
    """
    home = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
    run(*pip, scripts / "python", "install", "--no-deps", "--no-index", wheel, cwd=home)
    site = run(
        scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home
    )
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site.strip()) / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return scripts / "plinian"


def installed_path(path: str) -> str:
    """Return where a file of the tree lies in the wheel."""
    api = "replay/api/"
    return f"plinian/{path.removeprefix(api)}" if path.startswith(api) else f"plinian/{path}"


def test_every_shipped_file_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    """A package missing from the list in pyproject.toml would be missing here."""
    expected = {installed_path(path) for path in files() if path.split("/")[0] in SHIPPED}
    found = set(zipfile.ZipFile(wheel).namelist())
    metadata = {name for name in found if name.split("/")[0].endswith(".dist-info")}
    assert found - metadata == expected


@pytest.mark.parametrize(
    ("folder", "ending"),
    [
        ("plinian/", "py.typed"),
        ("plinian/engine/log/", ".zdict.zst"),
        ("plinian/engine/log/", ".sql"),
        ("plinian/replay/recordings/", ""),
        ("plinian/replay/pages/templates/", ".html"),
        ("plinian/replay/pages/templates/", ".css"),
        ("plinian/migrations/versions/", ".py"),
        ("plinian/migrations/", ".mako"),
    ],
)
def test_the_wheel_brings_what_code_reads_at_run_time(
    wheel: Path, folder: str, ending: str
) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.startswith(folder) and name.endswith(ending)]


def test_the_wheel_says_what_it_is_and_needs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (place,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(archive.read(place).decode())
    assert metadata["Name"] == "plinian"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "plinian demo" in metadata.get_payload()
    assert f"{place.partition('/')[0]}/licenses/LICENSE" in archive.namelist()


def test_the_installed_command_tells_its_version(plinian: Path, tmp_path: Path) -> None:
    assert __version__ in run(plinian, "version", cwd=tmp_path)


def test_the_installed_demo_runs_in_an_empty_folder(plinian: Path, tmp_path: Path) -> None:
    """The README's main job, on the recording that the wheel brings along."""
    shown = run(plinian, "demo", cwd=tmp_path, timeout=240)
    assert "queue" in shown
    assert "podgroup" in shown
