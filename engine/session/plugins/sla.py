"""Plugin ``sla``: a job whose waiting time is over is enqueued and pipelined first.

Source: pkg/scheduler/plugins/sla/sla.go.
"""

from __future__ import annotations

from typing import ClassVar

from ...kubernetes.duration import parse_go_duration
from ...volcano.conf import Arguments
from ..framework.session import Session
from ..framework.trace import ABSTAINED, PERMITTED, Vote

WAITING_TIME = "sla-waiting-time"


class Sla:
    """Orders jobs by the end of their waiting time, and votes for those after it.

    Argument ``sla-waiting-time`` (a Go duration above 0): the limit of jobs that name none.
    """

    name: ClassVar[str] = "sla"

    def __init__(self, arguments: Arguments) -> None:
        self._limit = _global_limit(arguments)

    def on_session_open(self, ssn: Session) -> None:
        """Register the order of jobs, and the votes on enqueueing and pipelining."""
        jobs = ssn.jobs

        def deadline(job: int) -> int | None:
            """Return the nanosecond since 1970 at which a job's waiting must end."""
            limit = jobs.info[job].waiting_time
            if limit is None:
                limit = self._limit
            return None if limit is None else jobs.info[job].created * 1_000_000_000 + limit

        def key(job: int) -> tuple[bool, int]:
            end = deadline(job)
            return end is None, end or 0

        def overdue(job: int) -> bool:
            end = deadline(job)
            return end is not None and end <= ssn.now * 1000

        def enqueueable(job: int) -> Vote:
            return PERMITTED if overdue(job) else ABSTAINED

        def pipelined(job: int) -> int:
            return int(overdue(job))

        ssn.registry.add_job_order(self.name, key)
        ssn.registry.add_job_enqueueable(self.name, enqueueable)
        ssn.registry.add_job_pipelined(self.name, pipelined)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _global_limit(arguments: Arguments) -> int | None:
    """Return the limit in nanoseconds; a malformed duration, or one not above 0, sets none."""
    text = arguments.raw.get(WAITING_TIME)
    try:
        limit = parse_go_duration(text) if isinstance(text, str) else 0
    except ValueError:
        return None
    return limit if limit > 0 else None
