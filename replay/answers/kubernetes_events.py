"""The Events that a cluster recorded about objects: of each, the newest that bears on waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...engine.kubernetes.units import parse_time
from ...engine.state.facts import OtherFact
from ...engine.state.log_coverage import Pair
from ...engine.state.truth_fold import Entry
from ..logs.log import Log
from ..moments.moment import Moment
from ..moments.times import time_text
from .contradicting import SAYS, KubernetesEvent
from .evidence import evidence_of, versions_of
from .finding import ObjectKey

EVENTS: tuple[Pair, ...] = (("", "Event"), ("events.k8s.io", "Event"))


_REASON, _ABOUT = 2, 3
"""Places in the summary of an Event's fact."""
_NO_NAMESPACE = "default"
"""Where the Events of objects without a namespace are."""

_UIDS = (("involvedObject", "uid"), ("regarding", "uid"))
_REASONS = (("reason",),)
_MESSAGES = (("message",), ("note",))
_RECORDED_AT = (
    *(("lastTimestamp",), ("deprecatedLastTimestamp",), ("eventTime",)),
    *(("series", "lastObservedTime"), ("firstTimestamp",), ("deprecatedFirstTimestamp",)),
)


class KubernetesEvents:
    """The Events that a log holds at a moment, by the object that they are about."""

    def __init__(self, log: Log, moment: Moment) -> None:
        self._log, self._moment = log, moment
        self._entries: dict[tuple[str, str], list[Entry]] = {}
        for entry in (entry for pair in EVENTS for entry in log.truth(moment).of(*pair)):
            summary = entry.fact.summary if isinstance(entry.fact, OtherFact) else ()
            if len(summary) > _ABOUT and summary[_REASON] in SAYS:
                about = (entry.reference.namespace, summary[_ABOUT])
                self._entries.setdefault(about, []).append(entry)

    def newest(self, about: Mapping[ObjectKey, str]) -> tuple[KubernetesEvent, ...]:
        """Return the newest Event that bears on waiting of each object that has one.

        :param about: the objects, with their uids; an empty one fits all objects of the name.
        """
        events = (self._newest(key, uid) for key, uid in about.items())
        return tuple(event for event in events if event is not None)

    def _newest(self, about: ObjectKey, uid: str) -> KubernetesEvent | None:
        (_, kind), key = about
        namespace, _, name = key.rpartition("/")
        entries = self._entries.get((namespace or _NO_NAMESPACE, f"{kind.lower()}/{name}"), [])
        places = [entry.position for entry in entries]
        payloads = self._log.store.payloads(places, self._moment.branch) if places else {}
        candidates = []
        for entry in entries:
            document = msgspec.json.decode(payloads[entry.position])
            # An Event that names no uid may be about any object of the name.
            if uid in {"", *_texts(document, _UIDS)} or not any(_texts(document, _UIDS)):
                # Old and new Events name their times differently; the latest is the last recording.
                candidates.append((entry, document, max(_times(document), default=None)))
        if not candidates:
            return None
        entry, document, micros = max(
            candidates, key=lambda candidate: (candidate[2] or 0, candidate[0].revision)
        )
        return KubernetesEvent(
            about,
            next(_texts(document, _REASONS), ""),
            next(_texts(document, _MESSAGES), ""),
            self._bounds(entry) if micros is None else time_text(micros),
            micros,
        )

    def _bounds(self, entry: Entry) -> str:
        """Return between which times an Event was recorded that does not say when it was."""
        reference = entry.reference
        about = (reference.group, reference.kind), f"{reference.namespace}/{reference.name}"
        versions = versions_of(self._log, self._moment, about)[-1:]
        return next(
            (evidence.when for evidence in evidence_of(self._log, self._moment, versions)), ""
        )


def _times(document: Any) -> Iterator[int]:
    for text in _texts(document, _RECORDED_AT):
        try:
            yield parse_time(text)
        # Anybody may write Events, so a time may be any text.
        except ValueError:
            continue


def _texts(document: Any, paths: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the texts at some places of an object; what is no text, or empty, is left out."""
    for path in paths:
        value = document
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            yield value
