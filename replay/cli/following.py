"""``plinian ingest --follow``: files that grow, until it is interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ..questions.defaults import DEFAULT_RELEASE
from .answers import write_answer
from .shell import style
from .stopping import stopped_by_signals


def refuse_with_follow(given: Mapping[str, object], chosen: Mapping[str, bool]) -> None:
    """Refuse options that say something of a whole input.

    :param given: values by option; None was not given. :param chosen: flags by option.
    :raises UsageError: one of them was given.
    """
    from ...engine.errors import UsageError

    named = [name for name, value in given.items() if value is not None]
    named += [name for name, value in chosen.items() if value]
    if named:
        raise UsageError(
            f"{named[0]} is about a whole input, and --follow reads one that grows",
            now=f"leave out {named[0]}, or ingest without --follow",
        )


def follow_files(
    place: str, paths: Sequence[str], *, cluster: str, branch: str, redact: bool, output: str
) -> None:
    """Append what files have, and what is written to them from now on."""
    from ...engine.log import open_log
    from ...engine.log.wall_clock import micros_now
    from ..capture.followed_file import check_folders, followed_files
    from ..capture.index_builder import indexed
    from ..capture.outbox import Room
    from ..capture.recorder import ROOM, StreamRecorder
    from ..capture.recording_summary import summary_of
    from ..logs.log_index import build_log_index
    from ..render.recording import recorded_lines
    from .moving_recording import shown_moving

    check_folders(paths)
    room = Room(ROOM)
    build = partial(build_log_index, place, branch, release=DEFAULT_RELEASE)
    streams = followed_files({"": paths}, room, cluster=cluster, now=micros_now, redact=redact)
    with open_log(place, create=True, waits=False) as store:
        recorder = StreamRecorder(store, streams, room, branch=branch)
        with (
            stopped_by_signals(recorder),
            shown_moving() as show,
            indexed(build, cluster=lambda: cluster, last=recorder.last),
        ):
            recording = recorder.run(show)
    write_answer(summary_of(recording), recorded_lines(recording, style=style()), output)
