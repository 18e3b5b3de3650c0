"""Storing what schedulers believed, where a question would go through much of a log for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .shell import note, shows_progress

if TYPE_CHECKING:
    from ..moments.log import Log
    from ..moments.moment import Moment


def store_beliefs(place: str, log: Log, moment: Moment, releases: Iterable[str]) -> None:
    """Store what schedulers of some releases believed up to a moment, if that is far from what is.

    The question then goes on from there, as will later ones. A log that cannot be written is
    answered from all the same.

    :param place: of the log, which is opened anew for writing.
    """
    from ...engine.errors import PlinianError
    from ...engine.log import open_log
    from ...engine.volcano.session.history import resolve
    from ..moments.stored_belief import believed, build_beliefs, is_far
    from ..render.progress import counting

    ways = {believed(behaviours): behaviours for behaviours in map(resolve, releases)}
    for behaviours in ways.values():
        if not is_far(log.store, moment, behaviours):
            continue
        what = f"store what {behaviours.release} believed"
        try:
            with open_log(place) as store, counting(what, visible=shows_progress()) as progress:
                build_beliefs(
                    store,
                    behaviours,
                    branch=moment.branch,
                    cluster=moment.cluster,
                    until=moment.revision,
                    progress=progress,
                )
        except PlinianError as fault:
            note(
                f"plinian: what schedulers of {behaviours.release} believed cannot be stored "
                f"({fault.what}), so the log is gone through from its first event"
            )
