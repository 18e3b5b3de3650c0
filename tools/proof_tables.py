"""The modules that list proofs, as their tools write them: after a head that a person wrote."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from plinian.engine.volcano.proofs import Proof
from plinian.engine.volcano.releases import parse_release

VOLCANO = Path(__file__).resolve().parent.parent / "engine" / "volcano"

Key = tuple[str, str]
"""What a row is known by."""

WIDTH = 100


def proof_table(
    module: Path,
    recorded: Iterable[str],
    proofs: Iterable[tuple[Key, Proof]],
    *,
    recorded_is: str,
    proofs_are: str,
) -> str:
    """Return the text of a module, with its head as it is.

    :param recorded: releases, in any order; ``recorded_is`` is their docstring.
    :param proofs: in the order in which they are listed; ``proofs_are`` is their docstring.
    """
    head, _, _ = module.read_text("utf-8").partition("RECORDED: ")
    releases = "".join(f'    "{name}",\n' for name in sorted(recorded, key=parse_release))
    rows = "".join(_entry(key, proof) for key, proof in proofs)
    return (
        f"{head}RECORDED: tuple[str, ...] = (\n{releases})\n"
        f'"""{recorded_is}"""\n\n'
        "PROOFS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(\n"
        f"    {{\n{rows}    }}\n)\n"
        f'"""{proofs_are}"""\n'
    )


def _entry(key: Key, proof: Proof) -> str:
    """Return a proof as the formatter writes it."""
    line = f'        ("{key[0]}", "{key[1]}"): ("{proof.case}", "{proof.release}"),'
    if len(line) > WIDTH:
        parts = f'            "{proof.case}",\n            "{proof.release}",\n'
        line = f'        ("{key[0]}", "{key[1]}"): (\n{parts}        ),'
    return f"{line}\n"
