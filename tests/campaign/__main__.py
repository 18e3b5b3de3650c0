"""Attack Plinian for as long as one likes: ``python -m tests.campaign [ATTACK…]``.

Attacks: kills, bitflips, inputs, types, kinds, secrets, terminals, requests. The time is shared
among them. Prints what each found, and exits with 1 if any found a fault. Run it from the root of a
checkout, with the package installed with its extra ``dev``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS / "support")]  # as pytest does: tests share modules

from campaign import (  # noqa: E402
    bitflips,
    inputs,
    kills,
    kinds,
    requests,
    secrets,
    terminals,
    types,
)

_UNBOUNDED = 10**9


class Outcome(NamedTuple):
    """What an attack found: a line of figures, and a line for each fault."""

    figures: str
    faults: Sequence[str]


def _kills(seed: int, seconds: float) -> Outcome:
    found = kills.run(seed, _UNBOUNDED, seconds)
    return Outcome(f"{found.runs} ingests died {_counts(found.by_attack)}", found.failures)


def _bitflips(seed: int, seconds: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="plinian-campaign-") as name:
        folder = Path(name)
        found = bitflips.flip_bits(
            bitflips.recorded_log(folder),
            folder,
            bitflips.QUESTIONS,
            seed=seed,
            count=_UNBOUNDED,
            seconds=seconds,
        )
    return Outcome(found.text, [*found.wrong, *found.fallen])


def _inputs(seed: int, seconds: float) -> Outcome:
    found = inputs.run(seed=seed, count=_UNBOUNDED, seconds=seconds)
    faults = [*found.tracebacks, *found.hangs]
    if found.peak_mb >= inputs.MOST_MB:
        faults.append(f"{found.peak_mb} MB of memory, {inputs.MOST_MB} allowed")
    return Outcome(str(found), faults)


def _types(seed: int, seconds: float) -> Outcome:
    found = types.run(seed, _UNBOUNDED, seconds)
    return Outcome(f"{found.runs} runs on fields of wrong types", found.failures)


def _kinds(seed: int, seconds: float) -> Outcome:
    found = kinds.run(seed, _UNBOUNDED, seconds)
    return Outcome(
        f"{found.tried} objects with one wrong field, of {found.kinds} kinds", found.faults
    )


def _secrets(seed: int, seconds: float) -> Outcome:
    found = secrets.run(seed, _UNBOUNDED, seconds)
    return Outcome(f"{found.cases} inputs with marked secrets", found.failures)


def _terminals(seed: int, seconds: float) -> Outcome:
    found = terminals.run(seed, _UNBOUNDED, seconds)
    return Outcome(f"{found.runs} commands on hostile names", found.failures)


def _requests(seed: int, seconds: float) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="plinian-campaign-") as name:
        found = requests.run(seed=seed, count=_UNBOUNDED, seconds=seconds, folder=Path(name))
    return Outcome(str(found), found.faults)


ATTACKS: Mapping[str, Callable[[int, float], Outcome]] = MappingProxyType(
    {
        "kills": _kills,
        "bitflips": _bitflips,
        "inputs": _inputs,
        "types": _types,
        "kinds": _kinds,
        "secrets": _secrets,
        "terminals": _terminals,
        "requests": _requests,
    }
)


def _counts(numbers: Mapping[str, int]) -> str:
    return "(" + ", ".join(f"{name} {count}" for name, count in numbers.items()) + ")"


def main() -> int:
    """Run what was asked for and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.campaign")
    parser.add_argument("attack", nargs="*", choices=[[], *ATTACKS], default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all of them together")
    arguments = parser.parse_args()
    asked = arguments.attack or list(ATTACKS)
    sound = True
    for name in asked:
        found = ATTACKS[name](arguments.seed, arguments.seconds / len(asked))
        print(f"{'FAULT' if found.faults else 'ok':6}{name:10} {found.figures}", flush=True)
        for fault in found.faults[:20]:
            print(f"      {fault}", flush=True)
        sound = sound and not found.faults
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
