"""The streams of a live cluster: one for each kind, and namespace, that is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from ...engine.events import Event
from ...engine.events.epochs import latest_epoch, next_epoch
from ...engine.log import MAIN, LogStore
from .cluster_access import Access
from .outbox import Outbox, Room
from .recorded_kinds import OF_VOLCANO_ALONE, RecordedKind, recorded_kinds
from .recorder import RecordedStream
from .recording_stream import RecordingStream, StreamPlan
from .resume_points import resumed
from .watched_lines import Pace


class RecordOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What to record.

    :param namespaces: only in these; empty for all. Kinds without namespaces are always whole.
    :param kinds: only these, as kubectl names them; empty for all that are of use.
    :param scheduler_namespace: where the scheduler's ConfigMap and Lease are.
    :param cluster: the name that the log gives to the cluster.
    :param redact: leave out what often holds secrets.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    scheduler_namespace: str = "volcano-system"
    cluster: str = "default"
    branch: str = MAIN
    redact: bool = False


class ClusterEpochs:
    """The streams of a cluster, epoch by epoch.

    :param clusters: that the log has. :param made: returns the streams of an epoch.
    :ivar cluster: the epoch that is recorded now.
    """

    def __init__(
        self,
        clusters: Iterable[str],
        cluster: str,
        made: Callable[[str], Sequence[RecordedStream]],
    ) -> None:
        self.cluster = latest_epoch(clusters, cluster)
        self._made = made

    def streams(self) -> Sequence[RecordedStream]:
        """Return the streams of the epoch that is recorded now."""
        return self._made(self.cluster)

    def renewed(self) -> Sequence[RecordedStream]:
        """Begin the next epoch, and return its streams."""
        following = next_epoch(self.cluster)
        streams = self._made(following)
        self.cluster = following  # Not before: where the log cannot be read, this is done again.
        return streams


def planned(options: RecordOptions) -> Iterator[StreamPlan]:
    """Yield what each stream reads.

    :raises UsageError: a kind is not one that is recorded.
    """
    for kind in recorded_kinds(options.kinds):
        for namespace in _namespaces(kind, options):
            yield StreamPlan(kind, namespace)


def _namespaces(kind: RecordedKind, options: RecordOptions) -> tuple[str, ...]:
    if not kind.namespaced:
        return ("",)
    if kind.pair in OF_VOLCANO_ALONE:
        return (options.scheduler_namespace,)
    return options.namespaces or ("",)


def cluster_streams(
    store: LogStore,
    access: Access,
    options: RecordOptions,
    room: Room,
    *,
    now: Callable[[], int],
    pace: Pace = Pace(),  # noqa: B008 -- a tuple
    seen: Callable[[Event], None] | None = None,
) -> list[RecordingStream]:
    """Return the streams of a cluster; they continue where the log ends.

    :param room: what may wait to be stored. :param now: microseconds since 1970.
    :param seen: called with each event, by the threads of the streams.
    :raises UsageError: a kind is not one that is recorded.
    """
    return [
        RecordingStream(
            access,
            resumed(store, plan, cluster=options.cluster, branch=options.branch),
            Outbox(room),
            cluster=options.cluster,
            now=now,
            pace=pace,
            redact=options.redact,
            seen=seen,
        )
        for plan in planned(options)
    ]
