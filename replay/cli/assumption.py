"""What commands take for a release that is not known, or a configuration that is rejected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .shell import note

if TYPE_CHECKING:
    from ..moments.log import Log
    from ..moments.moment import Moment
    from ..moments.scheduler_confs import ConfText
    from ..sessions.session import SessionAnswer


class Chosen(NamedTuple):
    """Releases that a command runs as.

    :param assumed: by the name that was asked for: the release that is taken for it.
    """

    names: list[str]
    assumed: dict[str, str]

    def told(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document that tells what was assumed, if anything was."""
        return {**document, "assumed": self.assumed} if self.assumed else document


def chosen(names: Sequence[str], *, assume: bool) -> Chosen:
    """Return the releases of names; what is taken for an unknown one is said on standard error.

    :param assume: take the nearest release for one that is not known.
    :raises UsageError: one is not known, and nothing is to be assumed, or nothing is near.
    """
    from ..sessions.assumed import taken_release

    found, assumed = [], {}
    for name in names:
        release, remark = taken_release(name, assume=assume)
        if remark:
            assumed[name] = release
            note(remark)
        found.append(release)
    return Chosen(found, assumed)


def check_confs(confs: Sequence[ConfText | None], releases: Sequence[str], *, assume: bool) -> None:
    """Refuse configurations that were given and that a release would reject.

    :param assume: say instead what such a release runs with.
    :raises UsageError: one rejects one.
    """
    from ..sessions.assumed import rejections

    for remark in rejections(confs, releases, assume=assume):
        note(remark)


UNNAMED = "the usual one, as none was named; --release takes another"


def note_session(answer: SessionAnswer, *, recorded: bool, named: bool = True) -> None:
    """Say on standard error what a session was run on.

    :param named: the release is one that was asked for.
    :param recorded: its configuration is the log's: say as well which ones it did not take.
    """
    for fault in answer.rejected if recorded else ():
        note(_kept(answer.release, fault, answer.conf))
    release = answer.release if named else f"{answer.release} ({UNNAMED})"
    note(f"session at {answer.at} as {release}, configuration {answer.conf}")


def note_rejected(log: Log, moment: Moment, releases: Sequence[str]) -> None:
    """Say on standard error which configurations of a log releases do not take."""
    from ...engine.volcano.session.history import resolve
    from ..moments.scheduler_confs import confs_at
    from ..sessions.session import conf_of

    confs = confs_at(log.store, moment)
    for release in releases:
        in_force = conf_of(confs, resolve(release))
        for fault in in_force.rejected:
            note(_kept(release, fault, in_force.source))


def _kept(release: str, fault: str, conf: str) -> str:
    return f"{release} rejects the configuration: {fault}; it keeps the one of before: {conf}"
