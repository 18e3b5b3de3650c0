"""Store scheduler caches where a command would otherwise read much of a log to rebuild them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .shell import note, shows_progress

if TYPE_CHECKING:
    from ..logs.log import Log
    from ..moments.moment import Moment


def store_beliefs(place: str, log: Log, moment: Moment, releases: Iterable[str]) -> None:
    """Store the scheduler caches of some releases up to a moment, if that is far from the last one.

    This command and later ones then start from there. A log that cannot be written still answers.

    :param place: the log's place; it is opened again for writing.
    """
    from ...engine.errors import PlinianError
    from ...engine.log import open_log
    from ...engine.volcano.session.history import resolve
    from ..belief.stored_belief import believed, build_beliefs, is_far
    from ..render.progress import counting

    # Releases whose caches behave alike share one that is stored.
    ways = {believed(behaviours): behaviours for behaviours in map(resolve, releases)}
    for behaviours in ways.values():
        if not is_far(log.store, moment, behaviours):
            continue
        what = f"store the cache of {behaviours.release}"
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
                f"plinian: the scheduler's cache of {behaviours.release} cannot be stored "
                f"({fault.what}), so the log is read from its first event"
            )
