"""Points: the ways to name a moment of a log, and what they mean in it.

==============================  ================================================================
``@1042``                       what was known when position 1042 had been appended
``rv:70915324``                 when the cluster had reached this resourceVersion
``2025-07-30T07:56:43Z``        at this time (any RFC 3339 time)
``-5m``                         so long before the last time in the log
``end``                         everything
``what-if@1042``, ``what-if``   the same on a branch
==============================  ================================================================
"""

from __future__ import annotations

import re

import msgspec

from ..engine.errors import PointTooEarly, PointUnknown, UsageError
from ..engine.log.store import MAIN, LogStore
from ..engine.units import format_time, parse_duration, parse_time


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A point, resolved in one log.

    :param known: only what had been appended by this position counts.
    :param revision: the last revision that had happened; None is the end.
    :param time: the time looked at in microseconds, if the point is one.
    :param label: how to print it.
    """

    branch: str
    cluster: str
    known: int
    revision: int | None
    time: int | None
    label: str


_POSITION = re.compile(r"(?:(?P<branch>[A-Za-z0-9][\w.-]*))?@(?P<position>[0-9]{1,4000})")
_DECIMAL = re.compile(r"[0-9]{1,4000}")  # Python converts no more digits.
_LAST_REVISION = 2**63 - 1
_FORMS = "a point is @POSITION, rv:REVISION, an RFC 3339 time, a span such as -5m, or end"


def only_cluster(store: LogStore, cluster: str | None) -> str:
    """Return the cluster asked for, or the log's only one.

    :raises UsageError: it is not in the log, or the log holds several and none was named.
    """
    clusters = store.clusters()
    if cluster is None:
        if len(clusters) > 1:
            raise UsageError(
                f"the log holds {len(clusters)} clusters: {', '.join(clusters)}",
                now="choose one with --cluster NAME",
            )
        return clusters[0] if clusters else "default"
    if clusters and cluster not in clusters:
        raise UsageError(
            f"the log holds no cluster {cluster!r}", now=f"there is: {', '.join(clusters)}"
        )
    return cluster


def resolve(
    store: LogStore,
    text: str,
    *,
    branch: str = MAIN,
    cluster: str | None = None,
    as_known_at: str | None = None,
) -> Moment:
    """Return the moment that a point names in a log.

    :param as_known_at: ``@POSITION``; leave out of account what was appended later.
    :raises PointUnknown: the point has none of the forms, or lies outside the log.
    """
    text = text.strip()
    branches = {info.name: info.last for info in store.branches()}
    if text in branches and text != "end":
        branch, text = text, "end"
    position = _POSITION.fullmatch(text)
    if position is not None and position["branch"]:
        branch = position["branch"]
    if branch not in branches:
        raise PointUnknown(
            f"there is no branch {branch!r}", now=f"branches: {', '.join(sorted(branches))}"
        )
    last = branches[branch]
    known = last
    if as_known_at is not None:
        known = _position(as_known_at.strip().removeprefix("@"), last)
    if position is not None:
        known = min(known, _position(position["position"], last))
        text = "end"
    name = only_cluster(store, cluster)
    moment = Moment(
        branch=branch,
        cluster=name,
        known=known,
        revision=None,
        time=None,
        label=f"@{known}" if branch == MAIN else f"{branch}@{known}",
    )
    if text == "end":
        return moment
    if text.startswith("rv:"):
        return _at_revision(store, moment, text)
    return _at_time(store, moment, text)


def _position(digits: str, last: int) -> int:
    if not _DECIMAL.fullmatch(digits):
        raise PointUnknown(f"{digits!r} is not a position", now=_FORMS)
    position = int(digits)
    if position > last:
        raise PointUnknown(
            f"position @{position} is beyond the end of the log (last is @{last})",
            now=f"use --at @{last}, or --at end",
        )
    return position


def _at_revision(store: LogStore, moment: Moment, text: str) -> Moment:
    digits = text.removeprefix("rv:")
    if not _DECIMAL.fullmatch(digits):
        raise PointUnknown(f"{text!r}: a resourceVersion is a decimal number", now=_FORMS)
    revision = min(int(digits), _LAST_REVISION)
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    if extent.first_revision is not None and revision < extent.first_revision:
        raise PointTooEarly(
            f"rv:{revision} is before the log's first revision, rv:{extent.first_revision}",
            first=f"rv:{extent.first_revision}",
            now=f"use --at rv:{extent.first_revision}, or ingest older recordings",
        )
    return msgspec.structs.replace(moment, revision=revision, label=f"rv:{revision}")


def _at_time(store: LogStore, moment: Moment, text: str) -> Moment:
    extent = store.extent(known=moment.known, cluster=moment.cluster, branch=moment.branch)
    first, last = extent.first_observed, extent.last_observed
    try:
        if text.startswith("-"):
            if last is None:
                raise PointUnknown(f"{text!r}: no event of the log tells a time", now=_FORMS)
            time = last - parse_duration(text[1:])
        else:
            time = parse_time(text)
        label = format_time(time) if first is None or time >= first else text
    except (ValueError, OverflowError) as fault:
        raise PointUnknown(f"{text!r} names no point", now=_FORMS) from fault
    if first is None or last is None:
        raise PointUnknown(f"{text!r}: no event of the log tells a time", now=_FORMS)
    if time < first:
        raise PointTooEarly(
            f"{text} is before the log begins, at {format_time(first)}",
            first=format_time(first),
            now="choose a later time, or ingest older recordings",
        )
    revision = store.revision_at(
        time, known=moment.known, cluster=moment.cluster, branch=moment.branch
    )
    return msgspec.structs.replace(moment, revision=revision, time=time, label=label)
