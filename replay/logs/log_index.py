"""What is stored beside a log that grows, so that answers about its end are quick."""

from __future__ import annotations


def build_log_index(place: str, branch: str, cluster: str, *, release: str) -> int:
    """Bring all that is stored beside a log up to its end, and return that position.

    The scheduler's cache is stored for the release that the cluster runs, where answers would
    otherwise play many events.

    :param place: of the log. :param release: if the cluster names none.
    :raises LogError: the log cannot be read or written.
    """
    # A recorder has this function run by another process, and never loads all this.
    from ...engine.log import open_log  # noqa: PLC0415
    from ...engine.volcano.session.history import resolve  # noqa: PLC0415
    from ..belief.stored_belief import build_beliefs, is_far  # noqa: PLC0415
    from ..moments.ordered_events import STRETCH  # noqa: PLC0415
    from ..truth.truth import build_index  # noqa: PLC0415
    from .log import Log  # noqa: PLC0415
    from .scheduler_release import release_at  # noqa: PLC0415

    with open_log(place) as store:
        last = store.last(branch)
        build_index(store, branch=branch, cluster=cluster)
        log = Log(store, branch=branch, cluster=cluster, place=place)
        moment = log.moment(f"@{last}")
        running = resolve(release_at(log, moment) or release)
        # Half a second of playing. A stored cache of a large cluster takes a fifth of these.
        if is_far(store, moment, running, STRETCH):
            build_beliefs(store, running, branch=branch, cluster=cluster)
        return last
