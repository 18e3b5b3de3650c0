"""The command line: generate scenarios, and compare sessions with those of a real scheduler."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from .comparison import Driver, Verdict, compare
from .generator import scenario


def main() -> int:
    """Do what the command line says; 1 if a session differs for no reason of chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("generate", help="write scenarios")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--seeds", default="0:100", help="FIRST:END, without END")
    comparing = commands.add_parser("compare", help="compare sessions with a real scheduler's")
    comparing.add_argument(
        "driver", type=Path, help="prints the result of the scenario it is given"
    )
    comparing.add_argument("cases", nargs="+", type=Path)
    comparing.add_argument("--release", required=True)
    comparing.add_argument(
        "--rolling", type=Path, help="a driver for further runs that walks maps as Go does"
    )
    comparing.add_argument("--again", type=int, default=9, help="further runs where they part")
    comparing.add_argument("--jobs", type=int, default=1)
    comparing.add_argument("--seconds", type=float, default=0, help="stop after so long")
    arguments = parser.parse_args()
    if arguments.command == "generate":
        return generate(arguments.folder, arguments.seeds)
    return run(arguments)


def generate(folder: Path, seeds: str) -> int:
    """Write a scenario for each seed."""
    folder.mkdir(parents=True, exist_ok=True)
    first, _, end = seeds.partition(":")
    for seed in range(int(first), int(end)):
        document = scenario(seed)
        path = folder / f"{document['name']}.case.json"
        path.write_text(json.dumps(document, separators=(",", ":")), "utf-8")
    return 0


def run(arguments: argparse.Namespace) -> int:
    """Compare all scenarios, and tell of those that part."""
    began, counted = time.monotonic(), Counter[str]()
    drivers = (arguments.driver, arguments.rolling or arguments.driver)
    one = partial(
        _one,
        *(driver.resolve() for driver in drivers),
        release=arguments.release,
        again=arguments.again,
    )
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for verdict in pool.map(one, arguments.cases, chunksize=4):
            counted[verdict.kind] += 1
            if verdict.part is not None or verdict.kind == "died":
                _tell(verdict)
            if 0 < arguments.seconds < time.monotonic() - began:
                pool.shutdown(cancel_futures=True)
                break
    told = ", ".join(f"{kind} {number}" for kind, number in sorted(counted.items()))
    sys.stdout.write(f"{arguments.release}: {counted.total()} scenarios: {told}\n")
    return 1 if counted["differs"] else 0


def _one(driver: Path, rolling: Path, case: Path, *, release: str, again: int) -> Verdict:
    return compare(Driver(driver), case, release, rolling=Driver(rolling), again=again)


def _tell(verdict: Verdict) -> None:
    part = verdict.part
    sys.stdout.write(f"{verdict.release} {verdict.case} {verdict.kind} after {verdict.runs} runs")
    if part is not None:
        sys.stdout.write(f": step {part.step}, {', '.join(part.fields)}\n    {part.told[:600]}")
    sys.stdout.write("\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
