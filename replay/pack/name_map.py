"""The map of names: it stays with the owner of a pack, and leads from new names to old ones."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ...engine.errors import InputError, UsageError
from ...engine.log.creation import PRIVATE
from .pack_names import back

FORMAT = 1


class NameMap(msgspec.Struct, frozen=True, kw_only=True):
    """Old words and their new ones, of one pack.

    :param salt: the secret with which new words were made, in hexadecimal.
    """

    plinian_map: int = FORMAT
    salt: str
    words: dict[str, str]

    @property
    def identity(self) -> str:
        """What a pack says of its map; it does not help to find a name."""
        # Of new words only: a stranger may see it.
        content = msgspec.json.encode(sorted(self.words.values()))
        return hmac.digest(bytes.fromhex(self.salt), content, hashlib.sha256).hex()

    def original(self) -> Callable[[str], str]:
        """Return a function that puts the old names back into a text."""
        return back(self.words)


def made_map(salt: bytes, words: Mapping[str, str]) -> NameMap:
    """Return the map of a pack."""
    return NameMap(salt=salt.hex(), words=dict(words))


def write_map(path: Path, made: NameMap) -> None:
    """Write a map to a file that only its owner can read.

    :raises UsageError: there is a file.
    """
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    except FileExistsError as fault:
        raise UsageError(
            "the file for the map exists; it may be the only map of another pack",
            where=str(path),
            now="choose another --map FILE",
        ) from fault
    with os.fdopen(number, "wb") as out:
        # A umask may have taken rights from the owner as well.
        os.fchmod(out.fileno(), PRIVATE)
        out.write(msgspec.json.format(msgspec.json.encode(made), indent=1))


def read_map(path: Path, *, of: str) -> NameMap:
    """Read the map of a pack.

    :param of: what the pack says of its map; empty if its names are the original ones.
    :raises InputError: it is no map. :raises UsageError: it is the map of another pack.
    """
    try:
        name_map = msgspec.json.decode(path.read_bytes(), type=NameMap)
        identity = name_map.identity
    except (msgspec.DecodeError, ValueError) as fault:
        raise InputError(f"this is not a map of names: {fault}", where=str(path)) from fault
    if not of:
        raise UsageError("the names in this pack are the original ones", now="leave out --map")
    # The salt is in the map, so that no other map has this identity.
    if identity != of:
        raise UsageError(
            "this is the map of another pack",
            where=str(path),
            now="give the file that plinian pack --map wrote together with this pack",
        )
    return name_map
