"""Takes a dump of the scheduler's cache every few minutes, beside what is watched."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ...engine.errors import PlinianError
from ...engine.events import Event
from ...engine.events.input_names import RECORDED
from ...engine.ingest.components.cache_dump import FORMAT
from ...engine.ingest.reading.formats import Context
from ...engine.kubernetes.units import SECOND_US
from .cluster_access import Access, Unreachable, whole
from .dump_commands import DumpRefused, dump_command
from .event_taker import EventTaker
from .outbox import Outbox
from .pod_exec import PodCommands
from .stream_state import StreamPhase, StreamState, WaitCause
from .stream_thread import StreamThread

SOURCE = f"{RECORDED}cache-dumps"
_SECONDS = 60.0
"""The longest that a dump may take."""

_PARTS = 32
"""More parts than a dump has: each has another line among those of one source."""


class CacheDumps(StreamThread):
    """Takes dumps until it is stopped; one that cannot be taken is a fault, and tried again.

    :param every: seconds from one dump to the next. :param now: microseconds since 1970.
    """

    def __init__(
        self,
        access: Access,
        commands: PodCommands,
        outbox: Outbox,
        *,
        namespace: str,
        every: float,
        cluster: str,
        now: Callable[[], int],
        redact: bool = False,
    ) -> None:
        state = StreamState(resource="cache dumps", may_be_silent=True)
        super().__init__(SOURCE, state, outbox)
        self._access, self._commands, self._namespace = access, commands, namespace
        self._every, self._cluster, self._now = every, cluster, now
        self._taker = EventTaker(outbox, self.state, redact=redact)
        self._halt = threading.Event()

    def stop(self) -> None:
        """End soon; a dump that is under way is given up."""
        self._halt.set()

    def read(self) -> None:
        """Take a dump, and the next after a while."""
        while not self._halt.is_set():
            self.take()
            self._halt.wait(self._every)

    def take(self) -> None:
        """Take one dump; why it cannot be taken is in the state."""
        try:
            events = list(self._dumped())
        except PlinianError as fault:
            self.state.wait(WaitCause(fault.what, fault.where, fault.now))
            return
        context = Context(source=SOURCE, cluster=self._cluster)
        for event in events:
            self._taker.take(event, context)
        self._taker.account(context)
        self.state.phase = StreamPhase.WATCHING
        self.state.forget_fault()

    def _dumped(self) -> Iterator[Event]:
        """Yield the parts of a dump.

        :raises Unreachable: none can be taken. :raises ServerRefusal: as :func:`.whole`.
        :raises InputError: what came is no dump.
        """
        namespace = self._namespace
        pods = self._items(f"/api/v1/namespaces/{namespace}/pods")
        leases = self._items(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
        holders = [(lease.get("spec") or {}).get("holderIdentity") or "" for lease in leases]
        chosen = dump_command(pods, holders, self._now())
        if isinstance(chosen, DumpRefused):
            raise Unreachable(f"no dump is taken: {chosen.why}", where=f"{namespace}/pods")
        answer = self._commands.run(chosen.container, chosen.command, _SECONDS)
        self.state.bytes += len(answer)
        self.state.heard_at = self._now()
        path, _, content = answer.partition(b"\n")
        context = Context(source=path.decode(errors="replace"), cluster=self._cluster)
        for number, event in enumerate(FORMAT.events(io.BytesIO(content), context)):
            if event.observed_at is None:
                raise Unreachable("what was printed is no dump", where=context.source)
            # One source has all dumps; a line is the second of one, and the number of its part.
            line = event.observed_at // SECOND_US * _PARTS + number
            yield msgspec.structs.replace(event, source=SOURCE, line=line)

    def _items(self, path: str) -> Sequence[dict[str, Any]]:
        found = msgspec.json.decode(whole(self._access, path, {}))
        return [
            {**item, "metadata": {"namespace": self._namespace, **item["metadata"]}}
            for item in found.get("items") or ()
        ]
