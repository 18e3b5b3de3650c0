"""The variants of a what-if, by the parameters of a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .options import Conf, FilePath, Names, accepted_conf, paths_of, release_of, several

if TYPE_CHECKING:
    from ..what_if.run import Variant


class Changes(NamedTuple):
    """What is changed: parameters of :meth:`.AnsweringLog.what_if`; ``copies`` is ``count``."""

    fields: Names
    files: FilePath | Sequence[FilePath]
    add_nodes: Names
    copies: int
    cordon: Names
    uncordon: Names
    delete: Names
    namespace: str | None


class Tried(NamedTuple):
    """What sessions run with, as the parameters of :meth:`.AnsweringLog.what_if`."""

    conf: Conf | None
    release: str
    try_release: str | None
    each: bool
    assume: bool


def variants_of(
    changes: Changes, tried: Tried, *, none: bool = False
) -> tuple[str, Sequence[Variant]]:
    """Return the release of the original, and the variants.

    :param none: nothing needs to be changed.
    :raises UsageError: a change is wrong, or a release is not known or rejects the configuration.
    """
    from ..what_if import wanted  # noqa: PLC0415 -- only needed here

    original = release_of(tried.release, assume=tried.assume)
    other = (
        None if tried.try_release is None else release_of(tried.try_release, assume=tried.assume)
    )
    asked = wanted.Wanted(
        several(changes.fields),
        [str(path) for path in paths_of(changes.files)],
        several(changes.add_nodes),
        changes.copies,
        several(changes.cordon),
        several(changes.uncordon),
        several(changes.delete),
        changes.namespace,
    )
    conf = accepted_conf(tried.conf, [other or original], assume=tried.assume)
    return original, wanted.variants_of(asked, conf, other, each=tried.each, none=none)
