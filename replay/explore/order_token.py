"""Tokens: one line that holds a scenario, a release, and the order of the steps of one run."""

from __future__ import annotations

import hashlib
import lzma
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import InputError, UsageError
from ...engine.machine.machine_layout import MachineStep
from ...engine.version import __version__
from .explored_scenario import MachineCase, parse_machine_case

NAME, FORMAT = "plinian", 1
MOST_BYTES = 16 * 2**20
_SUM_BYTES = 8


class Token(NamedTuple):
    """A run that can be repeated exactly.

    :param steps: then the cluster is left alone. :param invariant: which one is violated then;
        empty if none is. :param digest: of the objects in the end.
    :param version: of the Plinian that made it.
    """

    case: MachineCase
    release: str
    steps: tuple[MachineStep, ...]
    invariant: str
    digest: str
    version: str = __version__


class _Content(msgspec.Struct, array_like=True):
    """What is packed: distinct steps, and the order as their numbers."""

    version: str
    release: str
    invariant: str
    digest: str
    names: list[tuple[str, ...]]
    order: list[int]
    case: msgspec.Raw


def encoded(token: Token) -> str:
    """Return a token as one line, which needs no quotes in a shell or a URL."""
    names = {step: at for at, step in enumerate(dict.fromkeys(token.steps))}
    content = _Content(
        version=token.version,
        release=token.release,
        invariant=token.invariant,
        digest=token.digest,
        # Most steps are no faults: without the empty field a token is shorter.
        names=[(*step,) if step.fault else step[:3] for step in names],
        order=[names[step] for step in token.steps],
        case=msgspec.Raw(msgspec.json.encode(token.case.document(), order="sorted")),
    )
    packed = lzma.compress(msgspec.json.encode(content), lzma.FORMAT_RAW, filters=_filters())
    return f"{NAME}{FORMAT}.{urlsafe_b64encode(_sum(packed) + packed).decode().rstrip('=')}"


def is_token(text: str) -> bool:
    """Say whether a text looks like a token, of whatever format."""
    head, dot, rest = text.partition(".")
    number = head.removeprefix(NAME)
    is_name = head.startswith(NAME) and number.isascii() and number.isdigit()
    return bool(dot and rest and is_name and not {".", "/"} & {*rest})


def decoded(text: str) -> Token:
    """Return what a token says.

    :raises UsageError: it is none, is of another format, or is damaged.
    """
    text = "".join(text.split())
    if not is_token(text):
        raise UsageError(
            f"{text[:40]!r} is not a token",
            now=f"copy the whole line, which begins with {NAME}{FORMAT}.",
        )
    head, _, body = text.partition(".")
    if head != f"{NAME}{FORMAT}":
        raise UsageError(
            f"the token has format {head.removeprefix(NAME)}, and this Plinian ({__version__}) "
            f"reads format {FORMAT}",
            now="replay it with the version of Plinian that made it",
        )
    try:
        content = msgspec.json.decode(_unpacked(body), type=_Content)
        case = parse_machine_case(bytes(content.case))
        steps = tuple(MachineStep(*content.names[at]) for at in content.order)
    except (ValueError, IndexError, lzma.LZMAError, EOFError, InputError) as fault:
        raise _damaged() from fault
    return Token(case, content.release, steps, content.invariant, content.digest, content.version)


def _unpacked(body: str) -> bytes:
    # Its padding was left out.
    data = urlsafe_b64decode(body + "=" * (-len(body) % 4))
    given_sum, packed = data[:_SUM_BYTES], data[_SUM_BYTES:]
    if given_sum != _sum(packed):
        raise _damaged()
    unpacker: Any = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_filters())
    # A short token may unpack to very much: no more than this is read.
    return bytes(unpacker.decompress(packed, MOST_BYTES))


def _filters() -> list[dict[str, int]]:
    return [{"id": lzma.FILTER_LZMA1, "preset": 9, "dict_size": 2**20}]


def _sum(packed: bytes) -> bytes:
    return hashlib.blake2b(packed, digest_size=_SUM_BYTES).digest()


def _damaged() -> UsageError:
    return UsageError(
        "the token is damaged: its checksum does not fit its content",
        now="copy the whole line again: a character is missing or changed",
    )
