"""A gap in what a log knows: when something is not known, why, and what would make it known."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ...engine.events.payloads import ListBroken
from ...engine.kubernetes.resources import plural_of
from ...engine.state.clock import UNDATED, TimeSpan
from ...engine.state.log_coverage import KnownGap, Pair, UnknownCause
from ..objects.kind_names import plain_name
from ..tabular.documents import described
from ..tabular.record_columns import Time
from .stream_holes import left_unseen
from .times import is_known, place_text, span_words

_NAMED = 3
"""How many objects are named that somebody deleted."""


class GapDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What a log does not know, as answers say it.

    :param namespaces: where; empty for all requested namespaces of the kind.
    :param after: the last known revision before it, and ``before`` the first after it; each with
        the estimate of its time, and bounds.
    :param shown_again_earliest: when the next list shows the same state.
    :param shown_gone_earliest: when the first list without what somebody deleted was made.
    :param message: what is not known, when and why. :param remedy: what would make it known.
    """

    group: str
    kind: str
    namespaces: tuple[str, ...]
    why: str
    after: int | None
    after_time: Time | None
    after_earliest: Time | None
    after_latest: Time | None
    before: int | None
    before_time: Time | None
    before_earliest: Time | None
    before_latest: Time | None
    shown_again_earliest: Time | None
    shown_again_latest: Time | None
    shown_gone_earliest: Time | None
    shown_gone_latest: Time | None
    message: str
    remedy: str


@described
@dataclass(frozen=True, kw_only=True, slots=True)
class Unknown:
    """A gap in what the log knows at a moment.

    :param namespaces: where; empty for all requested namespaces of the kind.
    :param gap: when it is not known, and why.
    :param broken: a list that would have shown it, had no record of it been skipped.
    :param unseen: what a recorder that asked about a hole afterwards did not see of it.
    :param fault: of an object that cannot be decoded: which field, and what follows, in words.
    :param after: and :param before: times of the gap's ends, microseconds; ``_within``: bounds.
    :param shown_again: when the next list shows the same state; None if none does.
    :param shown_gone: of objects that somebody deleted, when the first list without them was made;
        None if nothing shows that they are gone, and without bounds if another event does.
    :param objects: namespaces and names, if only these objects are not known, as somebody deleted
        them. :param actor: who did, empty if not known; ``after`` is when.
    """

    pair: Pair
    namespaces: tuple[str, ...]
    gap: KnownGap
    after: int | None = None
    before: int | None = None
    after_within: TimeSpan | None = None
    before_within: TimeSpan | None = None
    shown_again: TimeSpan | None = None
    shown_gone: TimeSpan | None = None
    objects: tuple[str, ...] = ()
    actor: str = ""
    broken: ListBroken | None = None
    fault: str = ""
    unseen: str = ""

    @property
    def name(self) -> str:
        """What is not known, as in ``pods in ml``."""
        plural = plural_of(*self.pair)
        if plain_name(*self.pair) != self.pair[1].lower():
            plural = f"{plural}.{self.pair[0]}"
        if self.objects:
            few = ", ".join(self.objects[:_NAMED])
            more = len(self.objects) - _NAMED
            if len(self.objects) == 1:
                plural = plain_name(*self.pair)
            return f"{plural} {few}{f' and {more} more' if more > 0 else ''}"
        if not self.namespaces:
            return plural
        few = ", ".join(self.namespaces[:3])
        more = len(self.namespaces) - 3
        return f"{plural} in {few}{f' and {more} more namespaces' if more > 0 else ''}"

    @property
    def reason(self) -> str:
        """When it is not known, and why."""
        broken = self.broken
        if broken is None:
            return self._when
        count = "1 record" if broken.records == 1 else f"{broken.records} records"
        first = f": {broken.first}" if broken.first else ""  # A pack with new names lacks it.
        return f"{self._when}; a list is not complete because {count} of it was skipped{first}"

    @property
    def _when(self) -> str:
        gap = self.gap
        after = place_text(gap.after, self.after_within)
        before = place_text(gap.before, self.before_within)
        broken = "the watch was interrupted"
        match gap.why:
            case UnknownCause.NEVER:
                return "not fully known: the log holds no complete list"
            case UnknownCause.BEFORE:
                return f"not known before {before}: no complete list before it"
            case UnknownCause.HOLE:
                why = broken if gap.interrupted else "no watch or full audit log in between"
                left = left_unseen(self.unseen)
                return f"not known between {after} and {before}: {why}{f'; {left}' if left else ''}"
            case UnknownCause.AFTER:
                why = broken if gap.interrupted else "no list, watch or full audit log after it"
                if self.shown_again is not None:
                    shown = span_words(self.shown_again)
                    why = f"no watch or full audit log before the list of {shown}"
                    why += ", which shows the same"
                return f"not known after {after}: {why}"
            case UnknownCause.CONTRADICTION:
                return (
                    f"not certain at rv:{gap.after}: inputs hold two contents of this version, and "
                    "the greater one as canonical JSON counts"
                )
            case UnknownCause.UNDECODABLE:
                return self.fault
            case UnknownCause.DELETION:
                by = f" of {self.actor}" if self.actor else ""
                within = self.after_within
                at = f" at {span_words(within)}" if within and is_known(within) else ""
                return f"may be gone: a request{by} to delete was accepted{at}, and {self._result}"

    @property
    def _result(self) -> str:
        """What a log shows of the result of a request to delete."""
        gone = self.shown_gone
        if gone is None:
            return "no later list or watch shows the result"
        shown = f"the list of {span_words(gone)}" if is_known(gone) else "a later event"
        return f"{shown} shows that {'it' if len(self.objects) == 1 else 'they'} went"

    @property
    def remedy(self) -> str:
        """What would make it known."""
        if self.broken is not None:
            return "mend the skipped record, and ingest the list again"
        plural = plural_of(*self.pair)
        if self.gap.why is UnknownCause.CONTRADICTION:
            return "find out which input is true; plinian events --kind version.contradicted"
        if self.gap.why is UnknownCause.UNDECODABLE:
            return f"mend the field of {self.name} in the input, and ingest that into a new log"
        if self.gap.why is UnknownCause.DELETION and self.shown_gone is None:
            return f"ingest a list of {plural} that was made later, or a watch of {plural}"
        if self.gap.why is UnknownCause.NEVER:
            return f"ingest a list of {plural}, or a complete watch of {plural}"
        if self.gap.why is UnknownCause.BEFORE:
            return f"ingest an earlier list of {plural}, or an earlier complete watch"
        return (
            f"ingest a watch of {plural}, or an audit log of level RequestResponse, for that time"
        )

    @property
    def document(self) -> GapDocument:
        """What answers say of it."""
        gap, ends = self.gap, (self.after_within, self.before_within)
        after, before, again, gone = (
            UNDATED if span is None else span for span in (*ends, self.shown_again, self.shown_gone)
        )
        return GapDocument(
            group=self.pair[0],
            kind=self.pair[1],
            namespaces=self.namespaces,
            why=str(gap.why),
            after=gap.after,
            after_time=Time.of(self.after),
            after_earliest=Time.of(after.earliest),
            after_latest=Time.of(after.latest),
            before=gap.before,
            before_time=Time.of(self.before),
            before_earliest=Time.of(before.earliest),
            before_latest=Time.of(before.latest),
            shown_again_earliest=Time.of(again.earliest),
            shown_again_latest=Time.of(again.latest),
            shown_gone_earliest=Time.of(gone.earliest),
            shown_gone_latest=Time.of(gone.latest),
            message=f"{self.name}: {self.reason}",
            remedy=self.remedy,
        )
