"""What commands use in place of an unknown release or a rejected configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .shell import note

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..logs.logged_confs import ConfText
    from ..moments.moment import Moment


class ChosenReleases(NamedTuple):
    """The releases that a command runs as.

    :param assumed: by the name that was requested: the release that is used for it.
    """

    names: list[str]
    assumed: dict[str, str]

    def marked(self, document: Any) -> Any:
        """Return a document that says what was assumed, if anything was."""
        if not self.assumed:
            return document
        from ..render.documents import plain

        return {**plain(document), "assumed": self.assumed}


def chosen(names: Sequence[str], *, assume: bool, pre_releases: bool = False) -> ChosenReleases:
    """Return the releases with these names; note on standard error what replaces an unknown one.

    :param assume: use the nearest release for one that is not known.
    :param pre_releases: take known pre-releases, too.
    :raises UsageError: one is not known, and nothing may be assumed, or no release is near.
    """
    from ..sessions.assumed import taken_release

    found, assumed = [], {}
    for name in names:
        release, remark = taken_release(name, assume=assume, pre_releases=pre_releases)
        if remark:
            assumed[name] = release
            note(remark)
        found.append(release)
    return ChosenReleases(found, assumed)


def check_confs(confs: Sequence[ConfText | None], releases: Sequence[str], *, assume: bool) -> None:
    """Refuse given configurations that a release would reject.

    :param assume: note instead what such a release runs with.
    :raises UsageError: a release rejects a configuration.
    """
    from ..sessions.assumed import rejections

    for remark in rejections(confs, releases, assume=assume):
        note(remark)


def named_release(asked: str | None, log: Log, moment: Moment) -> str | None:
    """Return the release that the command line names, else the image of the scheduler's pods."""
    from ..logs.scheduler_release import running_release

    if asked is not None:
        return asked
    found = running_release(log, moment)
    if found is None:
        return None
    note(f"release {found.release}: pod {found.pod} runs the image {found.image}")
    return found.release
