"""What answers rest on that no input shows: fields that were filled in when it was ingested."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from ...engine.events.kinds import UID_FIELD, VERSION_FIELD
from ...engine.events.payloads import AssumedField, InputAssumed
from ...engine.kubernetes.resources import plural_of
from ...engine.log.store import Query
from ...engine.state.coverage import Pair
from .log_states import LogStates
from .moment import Moment

_LACKED_IDENTITY = frozenset({UID_FIELD, VERSION_FIELD})
_NO_UID = (
    "a uid was generated from kind, namespace and name, and whether a later object of the same "
    "name is the same one is not known"
)
_NO_VERSION = (
    "when and in which order they were written is not known, and any other version counts as newer"
)


def assumptions_at(
    log: LogStates, moment: Moment, kinds: Collection[Pair] | None = None
) -> tuple[str, ...]:
    """Return as sentences what the log assumes about objects of some kinds; once for each field.

    :param kinds: None is all.
    """
    query = Query(
        branch=moment.branch,
        cluster=moment.cluster,
        until=moment.known,
        kinds=("input.assumed",),
        about_kinds=True,
    )
    inputs = [
        msgspec.json.decode(one.event.payload, type=InputAssumed) for one in log.store.read(query)
    ]
    fields = (
        field
        for one in inputs
        for field in one.fields
        if kinds is None or (field.group, field.listed) in kinds
    )
    return assumed_sentences(fields)


def assumed_sentences(fields: Iterable[AssumedField]) -> tuple[str, ...]:
    """Return what was filled in as sentences: one about identities, then one for each field."""
    together: dict[tuple[str, str], list[AssumedField]] = {}
    identities: dict[str, dict[Pair, int]] = {}
    for one in fields:
        if one.field in _LACKED_IDENTITY:
            counts = identities.setdefault(one.field, {})
            pair = one.group, one.listed
            counts[pair] = counts.get(pair, 0) + one.count
        else:
            together.setdefault((one.field, one.value), []).append(one)
    filled = (_sentence(*key, some) for key, some in sorted(together.items()))
    return *_of_identities(identities), *filled


def _of_identities(lacked: Mapping[str, Mapping[Pair, int]]) -> Iterator[str]:
    """Yield what is not known of objects without a uid or a resourceVersion."""
    uid, version = lacked.get(UID_FIELD), lacked.get(VERSION_FIELD)
    if uid and uid == version:
        yield f"{_counted(uid)} had neither uid nor resourceVersion: {_NO_UID}; {_NO_VERSION}"
        return
    if uid:
        yield f"{_counted(uid)} had no uid: {_NO_UID}"
    if version:
        yield f"{_counted(version)} had no resourceVersion: {_NO_VERSION}"


def _counted(counts: Mapping[Pair, int]) -> str:
    return ", ".join(
        f"{count} {plural_of(*pair) if count > 1 else pair[1].lower()}"
        for pair, count in sorted(counts.items())
    )


def _sentence(field: str, value: str, some: Sequence[AssumedField]) -> str:
    counts: dict[Pair, int] = {}
    for one in some:
        pair = one.group, one.listed
        counts[pair] = counts.get(pair, 0) + one.count
    others = " and others" if sum(counts.values()) > 1 else ""
    return (
        f"{_counted(counts)} ({some[0].first}{others}) had no {field}: taken to be {value}, "
        "as an API server or a webhook sets it"
    )
