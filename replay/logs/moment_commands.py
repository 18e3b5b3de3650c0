"""The commands that give the parts of a report, as a person types them."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from ..moments.moment import Moment
from .log import Log


class MomentCommands(NamedTuple):
    """The options that commands about one moment share.

    :param at: the moment, as printed. :param place: the cluster and the branch.
    :param known: which part of the log counts. :param session: the release and the configuration.
    """

    at: str
    place: tuple[str, ...]
    known: tuple[str, ...]
    session: tuple[str, ...]

    def of_events(self, *words: str) -> str:
        """Return a command about events in the order of the log."""
        return shlex.join(("plinian", *words, *self.place))

    def of_log(self, *words: str) -> str:
        """Return a command that has its own moments."""
        return shlex.join(("plinian", *words, *self.place, *self.known))

    def of_moment(self, *words: str) -> str:
        """Return a command about the moment."""
        return self.of_log(*words, "--at", self.at)

    def of_session(self, *words: str) -> str:
        """Return a command about the session at the moment."""
        return self.of_moment(*words, *self.session)


def commands_at(log: Log, moment: Moment, release: str, conf: str | None) -> MomentCommands:
    """Return the options that give the same answers again.

    :param conf: the file of a configuration instead of the log's.
    """
    place: list[str] = []
    known: list[str] = []
    if len(log.store.clusters()) > 1:
        place += ["--cluster", moment.cluster]
    # A label such as what-if@1042 names its branch itself.
    if moment.branch != "main" and not moment.label.startswith(f"{moment.branch}@"):
        place += ["--branch", moment.branch]
    if moment.known != log.store.last(moment.branch):
        known += ["--as-known-at", f"@{moment.known}"]
    session = ["--release", release]
    if conf is not None:
        session += ["--conf", conf]
    return MomentCommands(moment.label, tuple(place), tuple(known), tuple(session))


def beginning(name: str) -> tuple[str, ...]:
    """Return what makes the other commands read a log."""
    return (f"export PLINIAN_LOG={shlex.quote(name)}",)
