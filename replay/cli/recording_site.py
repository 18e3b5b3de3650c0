"""What a recorder also answers over HTTP: probes and metrics, and with ``--serve`` its log."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from . import serving
from .shell import note

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from ..capture.recorder import Recording, StreamRecorder
    from ..server.recorder_site import Beside
    from ..server.running import Listening
    from ..server.settings import ServerSettings

_LONGEST_START = 20.0
"""Seconds after which the log is served though its first lists are not whole."""

_END_SECONDS = 2.5


class AskedSite(NamedTuple):
    """What is to be answered. :param names: by which it may be addressed, beside addresses.

    :param serves: also pages and APIs of the log. :param show: open the page in a browser.
    """

    settings: ServerSettings
    names: Sequence[str] = ()
    serves: bool = False
    show: bool = False


class RecordingSite:
    """Listens beside a recorder.

    Probes are answered from the start. With ``serves`` nothing is, before the log has the first
    lists: what a server is about, such as the release of the scheduler, it reads when it starts.
    """

    def __init__(
        self, recorder: StreamRecorder, asked: AskedSite, logger: FilteringBoundLogger
    ) -> None:
        from ..server.settings import checked

        self._recorder, self._asked, self._logger = recorder, asked, logger
        self._beside: Beside | None = None
        self._begun = monotonic()
        if asked.serves:
            checked(asked.settings)  # At once, not when the log has its lists.
        else:
            self._start()

    def noticed(self, recording: Recording) -> None:
        """Begin to serve the log, once it has something; called by the recorder.

        :raises PlinianError: it cannot be served.
        """
        if self._beside is None and (
            _has_lists(recording) or monotonic() - self._begun > _LONGEST_START
        ):
            self._start()

    def end_soon(self) -> None:
        """Let it end; called by a signal."""
        if self._beside is not None:
            self._beside.end_soon()

    def stop(self) -> None:
        """End it, and wait for its end."""
        if self._beside is not None:
            self._beside.stop(within=_END_SECONDS)

    def _start(self) -> None:
        from ..server.recorder_site import Beside

        self._beside = Beside(self._served() if self._asked.serves else self._watched_over())
        self._beside.start()

    def _watched_over(self) -> Listening:
        """Return what answers probes alone."""
        from ..server.recorder_site import recorder_application, recorder_routes
        from ..server.running import Listening

        routes, names = recorder_routes(self._recorder.recording), self._asked.names
        return Listening(
            self._asked.settings,
            lambda bound: recorder_application(bound, routes, names),
            ready=lambda bound: note(f"plinian: metrics at {bound.origin}/metrics"),
            logger=self._logger,
        )

    def _served(self) -> Listening:
        """Return what answers probes, and serves the log."""
        from ...engine.log.location import shown_place
        from ..server.recorder_site import recorder_routes
        from ..server.running import Serving

        asked = self._asked
        settings = asked.settings._replace(
            release=serving.release_named(
                asked.settings.release,
                asked.settings.place,
                asked.settings.cluster,
                asked.settings.branch,
            ),
            grows=True,
        )

        def ready(listening: ServerSettings, remarks: Sequence[str]) -> None:
            serving.warn(listening, remarks)
            place = shown_place(listening.place)
            note(f"plinian: serving {place} at {listening.origin}/ (Ctrl-C ends it)")
            if asked.show:
                serving.open_in_browser(f"{listening.origin}/")

        return Serving(
            settings,
            names=asked.names,
            more=recorder_routes(self._recorder.recording),
            ready=ready,
            logger=self._logger,
        )


def _has_lists(recording: Recording) -> bool:
    """Return whether each stream has its first list or a reason to have none, and it is stored."""
    from ..capture.stream_state import StreamPhase

    begun = {StreamPhase.STARTING, StreamPhase.LISTING}
    is_listed = not any(state.phase in begun for state in recording.streams)
    return is_listed and bool(recording.committed.commits or not recording.waiting)
