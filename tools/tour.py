"""Run the examples of the documents again, and compare or rewrite what they show.

The line above a fenced block says what becomes of it:

``<!-- run -->``
    Of ``console``, lines that begin with ``$`` are commands, and what follows each is its standard
    output. The lines of ``sh`` are commands whose output is not shown.
``<!-- file: NAME -->``
    The block is what is in the file NAME, for the commands after it.
``<!-- not run: REASON -->``
    It cannot be run here, and why.

A line ``<!-- before: COMMAND -->`` runs a command and shows nothing. What a document runs is run in
order, in one folder and one environment (``export``), where ``python`` is this Python and
``plinian`` the Plinian that it would import. The folder has nothing but copies of what stands
beside the document for its commands: scenarios, scheduler configurations and packed files; and of
scenarios and recordings that it names by their paths from the root of the project, below ``docs/``.

``python tools/tour.py README.md …`` rewrites; ``--check`` prints what differs and exits 1.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = re.compile(
    r"^<!-- before: (?P<before>.+?) -->$"
    r"|^<!-- file: (?P<file>\S+) -->\n```\w+\n(?P<text>.*?)^```$"
    r"|^<!-- run -->\n```(?P<language>console|sh)\n(?P<block>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>run|file|not run|before)(?:: (?P<why>[^\n]+?))? -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<block>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = frozenset({"console", "sh", "bash", "shell", "python"})
# How long something took is true only once; the documents keep what they say.
PASSING = re.compile(r"\d+(\.\d+)? (m?s|seconds)\b|[\d,]+ events/s")


BROUGHT = (".case.json", ".conf", ".gz")
"""How files beside a document end that its commands may read."""

NAMED = re.compile(r"\bdocs/[\w/.-]+\.(?:case\.json|tar\.gz)\b")
"""A scenario or recording in another folder that a document's commands read."""

ROOT = Path(__file__).resolve().parent.parent

EXPORT = re.compile(r"export (\w+)=(\S+)")


class ExampleFailed(Exception):
    """A command of a document exits with something else than 0 or 1 (a difference)."""


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment that a document's commands begin with."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("PLINIAN_")}
    found |= {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
    found["PATH"] = f"{folder / '.bin'}{os.pathsep}{found['PATH']}"
    return found


def shell(command: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a command line as a reader would, and return its standard output.

    ``export NAME=VALUE`` by itself holds for the commands after it.
    """
    exported = EXPORT.fullmatch(command)
    if exported:
        environment[exported[1]] = exported[2]
        return ""
    done = subprocess.run(  # noqa: S603 -- commands of this project's documents
        ["bash", "-o", "pipefail", "-c", command],  # noqa: S607
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    # 141: "| head" closed the pipe early.
    if done.returncode not in {0, 1, 141} or "Traceback" in done.stderr:
        raise ExampleFailed(f"$ {command}\n{done.stdout}{done.stderr}exit {done.returncode}")
    return done.stdout


def unmarked(text: str) -> list[str]:
    """Return the first lines of blocks that could be run and do not say what becomes of them."""
    return [
        found["block"].partition("\n")[0]
        for found in BLOCK.finditer(text)
        if found["language"] in RUNNABLE
        and (
            found["mark"] not in {"run", "file", "not run"}
            or (found["mark"] == "not run") > bool(found["why"])
        )
    ]


def rerun(
    text: str,
    *,
    beside: Path | None = None,
    keep_passing: bool = True,
    program: Path | None = None,
) -> str:
    """Return a document with the output of its examples as it is now.

    :param beside: the document's folder; its scenarios and configurations are there for commands.
    :param keep_passing: leave the old output where only durations differ.
    :param program: what ``plinian`` runs; None is the Plinian that this Python would import.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _put_commands(folder / ".bin", program)
        for path in beside.iterdir() if beside is not None else ():
            if path.name.endswith(BROUGHT):
                shutil.copy(path, folder)
        for named in dict.fromkeys(NAMED.findall(text)) if beside is not None else ():
            if (ROOT / named).is_file():
                (folder / named).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / named, folder / named)
        environment = surroundings(folder)

        def fresh(match: re.Match[str]) -> str:
            if match["before"]:
                shell(match["before"], folder, environment)
            elif match["file"]:
                (folder / match["file"]).write_text(match["text"], "utf-8")
            elif match["language"] == "console":
                return _shown(match["block"], folder, environment, keep_passing=keep_passing)
            else:
                for command in match["block"].replace("\\\n", " ").splitlines():
                    shell(command, folder, environment)
            return match.group()

        return EXAMPLE.sub(fresh, text)


def _shown(block: str, folder: Path, environment: dict[str, str], *, keep_passing: bool) -> str:
    """Run the commands of a block, and return the block as it is now."""
    lines: list[str] = []
    for command, old in _commands(block):
        shown = shell(command.replace("\\\n", " "), folder, environment)
        new = "\n".join(line.rstrip() for line in shown.splitlines())
        same = keep_passing and PASSING.sub("", new) == PASSING.sub("", old)
        lines += [f"$ {command}", *(old if same else new).splitlines()]
        lines += [""] if new else []
    return "\n".join(("<!-- run -->", "```console", *"\n".join(lines).rstrip().split("\n"), "```"))


def _put_commands(folder: Path, program: Path | None) -> None:
    """Make the commands that documents run: Plinian as this Python has it, and this Python."""
    folder.mkdir()
    start = "import sys; from plinian.replay.cli.main import main; sys.exit(main())"
    begin = f" -c '{start}'" if program is None else f" '{program}'"
    for name, arguments in (("plinian", begin), ("python", ""), ("python3", "")):
        command = folder / name
        command.write_text(f"#!/bin/sh\nexec '{sys.executable}'{arguments} \"$@\"\n")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)


def _commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output that the block shows of it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif found and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(output).rstrip("\n")) for command, output in found]


def main() -> int:
    """Rewrite the documents, or with ``--check`` compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    parser.add_argument("documents", nargs="+", type=Path)
    options = parser.parse_args()
    stale = False
    for path in options.documents:
        old = path.read_text("utf-8")
        new = rerun(old, beside=path.parent)
        if new == old:
            continue
        stale = True
        print(
            *difflib.unified_diff(
                old.splitlines(),
                new.splitlines(),
                f"{path}: printed there",
                f"{path}: printed now",
                lineterm="",
            ),
            sep="\n",
        )
        if not options.check:
            path.write_text(new, "utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
