"""``plinian digest``: one hash of the whole state at a moment."""

from __future__ import annotations

import sys

from . import options
from .answers import write_json
from .command import command
from .coverage_warnings import warn


@command("digest")
def digest(
    *,
    log: options.LogPlace = options.DEFAULT_LOG,
    at: options.At = options.END,
    as_known_at: options.AsKnownAt = None,
    strict: options.Strict = False,
    output: options.TextOrJson = "text",
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Print the digest of the state at a moment.

    Equal states have equal digests, whatever the database, the order of ingestion, the batches or
    the platform.
    """
    import msgspec

    from .open_log import opened

    with opened(log, read_only=True, branch=branch, cluster=cluster) as opened_log:
        moment = opened_log.moment(at, as_known_at=as_known_at)
        unknown = warn(opened_log, moment, strict=strict)
        state_digest = opened_log.digest(moment)
        objects = len(opened_log.truth(moment))
        if output == "json":
            fields = {
                "at": moment.label,
                "digest": state_digest,
                "objects": objects,
                "unsure": msgspec.to_builtins(moment.unsure),
                "not_known": unknown,
            }
            write_json(fields)
        else:
            sys.stdout.write(f"{state_digest}\n")
