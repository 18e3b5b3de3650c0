"""``plinian digest``: one hash of the whole state at a moment."""

from __future__ import annotations

import sys

from . import options
from .command import command
from .coverage_warnings import warn


@command("digest")
@options.log
@options.at
@options.as_known_at
@options.strict
@options.text_or_json
@options.cluster
@options.branch
def digest(
    log: str,
    at: str,
    as_known_at: str | None,
    strict: bool,
    output: str,
    cluster: str | None,
    branch: str,
) -> None:
    """Print the digest of the state at a moment.

    Equal states have equal digests, whatever the database, the order of ingestion, the batches or
    the platform.
    """
    import msgspec

    from ..render.documents import json_text
    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        unknown = warn(opened_log, moment, strict=strict)
        found = opened_log.digest(moment)
        objects = len(opened_log.truth(moment))
        if output == "json":
            fields = {
                "at": moment.label,
                "digest": found,
                "objects": objects,
                "unsure": msgspec.to_builtins(moment.unsure),
                "not_known": unknown,
            }
            sys.stdout.write(json_text(fields) + "\n")
        else:
            sys.stdout.write(f"{found}\n")
