"""The events of a pack: those of a slice, between what says where it begins and where it ends."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...engine.events import Event, Reference, canonical_json
from ...engine.events.input_names import InputNames
from ...engine.events.payloads import AnswerExpected, Payload, SliceBegan, SliceEnded
from ...engine.ingest.objects.redaction import Redaction
from ...engine.version import __version__
from ..logs.log import Log
from .pack_reading import FORMAT
from .slice import Range, Slice, read_at

_SOURCE = "plinian pack"


def slice_events(
    log: Log,
    wanted: Range,
    chosen: Slice,
    expected: AnswerExpected | None,
    redaction: Redaction,
) -> Iterator[Event]:
    """Yield the events of a pack, in order.

    :param expected: the answer; without it, only the state at the begin is wanted.
    """
    yield began(log, wanted, objects=len(chosen.state))
    branch, names = wanted.point.branch, InputNames()
    # Coverage and clock are those of the whole log: the slice alone would know less.
    for positions in (chosen.state, chosen.events):
        for recorded in read_at(log, positions, branch):
            event = redaction.redacted(recorded.event)
            # Only names of files: folders say whose machine it was.
            yield msgspec.structs.replace(event, source=names.shown(event.source))
    cluster = wanted.point.cluster
    if expected is None:
        return
    yield about("slice.ended", SliceEnded(events=len(chosen.events)), cluster, **_end(log, wanted))
    yield about("answer.expected", expected, cluster)


def about(kind: str, payload: Payload, cluster: str, **fields: int | None) -> Event:
    """Return an event about the slice itself."""
    return Event(
        kind=kind,
        reference=Reference(kind="Slice", name="" if kind == "slice.began" else kind),
        payload=canonical_json(payload),
        source=_SOURCE,
        cluster=cluster,
        **fields,  # type: ignore[arg-type] # revision and times
    )


def began(log: Log, wanted: Range, *, objects: int) -> Event:
    """Return the event that says where a slice begins, and what was known in it.

    Its times are the bounds of the begin, which follow from events that the slice lacks.
    """
    coverage = log.coverage(wanted.point)
    (span,) = log.clock(wanted.point).spans([wanted.begin])
    payload = SliceBegan(
        format=FORMAT,
        plinian=__version__,
        objects=objects,
        whole=coverage.whole,
        proof=coverage.proof,
        known=tuple(dict.fromkeys(coverage.between(wanted.begin, wanted.end))),
    )
    return about(
        "slice.began",
        payload,
        wanted.point.cluster,
        revision=wanted.begin,
        earliest=span.earliest,
        latest=span.estimate,
    )


def _end(log: Log, wanted: Range) -> dict[str, int | None]:
    (span,) = log.clock(wanted.point).spans([wanted.end])
    return {"revision": wanted.end, "latest": span.latest}
