"""Certificates for servers and clients of tests."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

_SELF_SIGNED = "openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2"


class Pair(NamedTuple):
    """A certificate, which signed itself, and its key."""

    certificate: Path
    key: Path


def pair_in(folder: Path, name: str) -> Pair:
    """Make a certificate of 127.0.0.1, and its key, in a folder."""
    pair = Pair(folder / f"{name}.crt", folder / f"{name}.key")
    words = [
        *_SELF_SIGNED.split(),
        "-subj",
        f"/CN={name}",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
    ]
    subprocess.run(
        [*words, "-keyout", str(pair.key), "-out", str(pair.certificate)],
        check=True,
        capture_output=True,
    )
    return pair
