"""Train the zstd dictionary that new logs start with, from recorded watch streams.

    python tools/train_dictionary.py RECORDINGS engine/log/kubernetes.zdict.zst

RECORDINGS is a folder of folders with ``watch-*.jsonl`` or ``watch-*.jsonl.gz`` files, one watch
event per line. The objects go through the same door as in ingest, so that the dictionary learns
the bytes that the log will really store. The result is deterministic for the same input.

A log keeps its own copy: a new dictionary is used by new logs only.
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
import zstandard

from plinian.engine.errors import EventMalformed
from plinian.engine.ingest.objects.version_events import version_event

DICTIONARY_BYTES = 64 * 1024
LEVEL = 3
PER_KIND = 400
"""Samples of one kind from one recording: no kind and no recording may drown the others."""


def recorded_payloads(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (recording/kind, canonical payload) of every object in the folder's watch streams."""
    for path in sorted(folder.glob("*/watch-*.jsonl*")):
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    document = msgspec.json.decode(line)["object"]
                    event = version_event(document, verb="observed", source=path.name, line=number)
                except (EventMalformed, msgspec.DecodeError, KeyError, TypeError):
                    continue
                yield f"{path.parent.name}/{event.reference.kind}", event.payload


def train(folder: Path) -> bytes:
    """Return a trained dictionary of at most 64 KiB."""
    groups: dict[str, list[bytes]] = defaultdict(list)
    for group, payload in recorded_payloads(folder):
        groups[group].append(payload)
    chooser = random.Random(0)  # noqa: S311 -- a fixed choice of samples, no secret
    samples: list[bytes] = []
    for group in sorted(groups):
        found = groups[group]
        samples += chooser.sample(found, min(PER_KIND, len(found)))
    return zstandard.train_dictionary(DICTIONARY_BYTES, samples, level=LEVEL).as_bytes()


def main() -> None:
    """Train from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("recordings", type=Path)
    parser.add_argument("dictionary", type=Path)
    arguments = parser.parse_args()
    packed = zstandard.ZstdCompressor(level=19, write_checksum=True)
    arguments.dictionary.write_bytes(packed.compress(train(arguments.recordings)))


if __name__ == "__main__":
    main()
