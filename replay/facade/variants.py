"""The variants of a what-if, by the parameters of a method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..logs.given_confs import Conf
from ..questions.question import Names, several
from ..sessions.assumed import accepted_conf
from .options import FilePath, conf_texts, paths_of, release_of

if TYPE_CHECKING:
    from ..logs.scheduler_confs import ConfText
    from ..what_if.changed_sessions import Variant


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
    try_conf: Conf | None
    release: str
    try_release: str | None
    each: bool
    assume: bool


class Asked(NamedTuple):
    """The release and the configuration of the original, and the variants."""

    release: str
    conf: ConfText | None
    variants: Sequence[Variant]


def variants_of(changes: Changes, tried: Tried, *, none: bool = False) -> Asked:
    """Return what is original, and the variants.

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
    given, to_try = conf_texts([tried.conf, tried.try_conf])
    conf = accepted_conf(given, sorted({original, other or original}), assume=tried.assume)
    new = accepted_conf(to_try, [other or original], assume=tried.assume)
    variants = wanted.variants_of(asked, new, other, each=tried.each, none=none)
    return Asked(original, conf, variants)
