"""The page of what queues are entitled to at a moment, and of one queue's share step by step."""

from __future__ import annotations

from functools import partial

from ...answers.assumed_confs import unnamed
from ...answers.why import assumed_of
from ...facade.log import Log
from ...render.shares import shares_sections
from ...shares.session_shares import SharesTask, shares_at
from ..reach import reach_cache
from .blocks import BlockPage
from .look import Look
from .notes import filled_in, sentences
from .page import page


@page("shares", "Shares", long=True, takes=("queue",))
def shares(log: Log, look: Look) -> BlockPage:
    """Return what queues are entitled to at the moment.

    :raises ObjectNotFound: there is no queue that the query names.
    """
    moment, queue = log.moment(look.at), look.get("queue") or ""
    reach_cache(log, moment, [look.release])
    found = shares_at(
        log,
        SharesTask(
            moment=moment,
            release=look.release,
            queue=queue.removeprefix("queue/"),
            assumed=tuple(assumed_of(look.named_release, look.release)),
        ),
    )
    return BlockPage(
        f"Share of queue {queue}" if queue else "Shares of queues",
        partial(shares_sections, found),
        found,
        assumed=tuple(line for line in found.asked.assumed if line != unnamed(look.release)),
        not_known=(*sentences(found.not_known), *filled_in(log, moment)),
    )
