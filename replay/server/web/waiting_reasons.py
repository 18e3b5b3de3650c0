"""Why each job waits, for the page of jobs: one session is asked about all of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from ....engine.errors import PlinianError
from ....engine.kubernetes.counts import counted
from ...answers.finding import SessionFinding
from ...facade.log import Log
from ...facade.options import release_of
from ...logs.log import Log as AnyLog
from ...logs.logged_confs import has_no_conf, runs_built_in
from ...moments.moment import Moment
from ...overview.waiting_jobs import waiting_at
from ...render.blocks import Sentence, Words, here_ref
from ..reach import reach_cache
from .look import Look
from .notes import NODE, POD
from .whole_log import kept

MOST_ASKED = 5_000
"""Nodes and pods: with more, a session takes seconds, and a person must ask for it."""


class WaitingReasons(msgspec.Struct, frozen=True, kw_only=True):
    """Why jobs wait.

    :param found: by PodGroup, as in ``ml/train``; empty if no session was run.
    :param lacking: why none was run, with what to do. :param assumed: what the session assumed.
    """

    found: Mapping[str, SessionFinding] = MappingProxyType({})
    lacking: Sentence | None = None
    assumed: tuple[str, ...] = ()


def reasons_for(log: Log, moment: Moment, look: Look) -> WaitingReasons:
    """Return why the jobs of a moment wait, in the words of an overview and of *why*.

    In a large cluster a session is run only if the query says so: the page comes at once.
    """
    truth = log.truth(moment)
    size = sum(len(truth.of(*kind)) for kind in (NODE, POD))
    if size > MOST_ASKED and look.get("reasons") != "yes":
        ask = here_ref("Show why each job waits", "button", reasons="yes")
        many = f" It takes a session of {counted(size, 'node or pod', 'nodes and pods')}."
        return WaitingReasons(lacking=Sentence(Words(ask, many)))
    # The table is there in any case: what hinders a session must not hide it.
    try:
        reach_cache(log, moment, [look.release])
        found = kept(log, _found, look.at, look.release)
    except PlinianError as fault:
        lacking = f"Why each job waits is not shown: {fault.what}; {fault.now}."
        return WaitingReasons(lacking=Sentence(lacking, "remark"))
    built_in = (runs_built_in(look.release),) if has_no_conf(log, moment) else ()
    return WaitingReasons(found=found, assumed=built_in if found else ())


def _found(log: AnyLog, at: str, release: str) -> Mapping[str, SessionFinding]:
    jobs = waiting_at(log, log.moment(at), release_of(release, assume=False)).jobs
    return {job.key: job.finding for job in jobs}
