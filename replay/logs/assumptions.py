"""What answers rest on that no input shows: fields that were filled in when it was ingested."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ...engine.events.kinds import UID_FIELD, VERSION_FIELD
from ...engine.events.payloads import AssumedField, InputAssumed
from ...engine.kubernetes.resources import CLUSTER_SCOPED, plural_of
from ...engine.log.store import Query
from ...engine.state.log_coverage import Pair
from ..moments.moment import Moment
from ..truth.log_states import LogStates

_LACKED_IDENTITY = frozenset({UID_FIELD, VERSION_FIELD})
_NO_UID = (
    "a uid was generated from kind, namespace, name and creationTimestamp, and without the latter "
    "it is not known whether a later object of the same name is the same one"
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
        msgspec.json.decode(event.event.payload, type=InputAssumed)
        for event in log.store.read(query)
    ]
    fields = (
        field
        for assumed_input in inputs
        for field in assumed_input.fields
        if kinds is None or (field.group, field.listed) in kinds
    )
    return assumed_sentences(fields)


def assumed_sentences(fields: Iterable[AssumedField]) -> tuple[str, ...]:
    """Return what was filled in as sentences: one about identities, then one for each field."""
    together: dict[tuple[str, str], list[AssumedField]] = {}
    identities: dict[str, list[AssumedField]] = {}
    for field in fields:
        if field.field in _LACKED_IDENTITY:
            identities.setdefault(field.field, []).append(field)
        else:
            together.setdefault((field.field, field.value), []).append(field)
    filled = (_sentence(*key, alike) for key, alike in sorted(together.items()))
    return *_of_identities(identities), *filled


def _of_identities(lacked: Mapping[str, Sequence[AssumedField]]) -> Iterator[str]:
    """Yield what is not known of objects without a uid or a resourceVersion."""
    uid, version = (_counts(lacked.get(field, ())) for field in (UID_FIELD, VERSION_FIELD))
    # Inputs that lack one often lack both, as manifests do: then one sentence is enough.
    if uid and uid == version:
        yield f"{_counted(uid)} had neither uid nor resourceVersion: {_NO_UID}; {_NO_VERSION}"
        return
    if uid:
        yield f"{_counted(uid)} had no uid: {_NO_UID}"
    if version:
        yield f"{_counted(version)} had no resourceVersion: {_NO_VERSION}"


class _Count(NamedTuple):
    """The number of different objects of a kind.

    :param exact: False if there may be more: several inputs may be about the same ones.
    """

    least: int
    exact: bool


def _counts(fields: Iterable[AssumedField]) -> dict[Pair, _Count]:
    by_kind: dict[Pair, list[AssumedField]] = {}
    for assumed_field in fields:
        by_kind.setdefault((assumed_field.group, assumed_field.listed), []).append(assumed_field)
    return {pair: _different(pair, inputs) for pair, inputs in sorted(by_kind.items())}


def _different(pair: Pair, inputs: Sequence[AssumedField]) -> _Count:
    """Return how many objects of a kind several inputs are about.

    Each input counts its own, and names the first. Where it has no other, a name says which object
    it is, if the kind has no namespaces.
    """
    firsts = {assumed_field.first for assumed_field in inputs}
    # Counts of several inputs cannot be added: they may be about the same objects.
    least = max(len(firsts), *(assumed_field.count for assumed_field in inputs))
    most = sum(assumed_field.count for assumed_field in inputs)
    # Each input is about one object of a kind without namespaces: then the names say which.
    if pair in CLUSTER_SCOPED and most == len(inputs):
        most = len(firsts)
    return _Count(least, least == most)


def _counted(counts: Mapping[Pair, _Count]) -> str:
    return ", ".join(
        f"{'' if exact else 'at least '}{least} "
        f"{plural_of(*pair) if least > 1 else pair[1].lower()}"
        for pair, (least, exact) in counts.items()
    )


def _sentence(field: str, value: str, fields: Sequence[AssumedField]) -> str:
    counts = _counts(fields)
    others = " and others" if sum(count.least for count in counts.values()) > 1 else ""
    return (
        f"{_counted(counts)} ({fields[0].first}{others}) had no {field}: taken to be {value}, "
        "as an API server or a webhook sets it"
    )
