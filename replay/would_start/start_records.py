"""The answer to whether manifests would start: records, which all doors show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from ..answers.answer import Why
from ..moments.unknown import Unknown
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.tabular import Tabular
from ..what_if.help import WouldHelp
from .lint_verdict import LintRemark

NOW, LATER, NO = "now", "later", "no"
REFUSED = "refused"


class TriedPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that gets a node. :param after: in microseconds after the moment."""

    pod: str
    node: str
    after: int


class TriedObject(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to one object.

    :param object: as in ``job default/train``.
    :param starts: ``now``, if each session until then enqueues it or gives a pod of it a node;
        ``later``; or ``no``, not within the time.
    :param at: when it starts: as many pods have nodes as it needs. ``after`` is the same in
        microseconds after the moment.
    :param enqueued_after: when a session enqueues it, likewise; None if none does.
    :param pods: how many pods it has in the end; ``waiting`` are those without a node.
    :param evicts: the pods that sessions evict that keep nodes for it.
    :param waits_after: when the first session leaves it as it is; None if each takes it further.
    :param why: why it waits then. :param why_at_end: why it waits at the end, if that is another
        answer.
    :param would_help: with which changes it does not wait then, if that was asked.
    """

    object: str
    queue: str
    starts: str
    at: str | None
    after: int | None
    enqueued_after: int | None
    needs: int
    pods: int
    placements: tuple[TriedPlacement, ...]
    waiting: tuple[str, ...]
    evicts: tuple[str, ...]
    waits_after: int | None
    why: Why | None
    why_at_end: Why | None
    would_help: WouldHelp | msgspec.UnsetType = msgspec.UNSET


class WouldStartAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried.

    :param at: the moment, as printed; ``time`` as RFC 3339, and ``until`` when the trial ends.
    :param conf: the source of the configuration. :param assumed: what was assumed, as sentences.
    """

    at: str
    time: str
    until: str
    release: str
    conf: str
    assumed: tuple[str, ...]


class StartRow(NamedTuple):
    """One object, and when it starts. :param after: microseconds; None if it does not."""

    object: str
    queue: str
    starts: str
    after: int | None
    needs: int
    pods: int
    placed: int
    why: str


class PlacementRow(NamedTuple):
    """A pod that gets a node. :param after: microseconds after the moment."""

    object: str
    pod: str
    node: str
    after: int


class WouldStart(msgspec.Struct, Tabular, frozen=True, kw_only=True):
    """Whether manifests would start.

    :param sentence: the answer. :param starts: ``now`` or ``later``, if all objects start;
        ``refused``, if one is not let in; else ``no``.
    :param refused: why objects, or their pods, are not let in: then nothing is tried.
    :param beside: objects that are created with those that are asked about.
    :param left_out: objects that no component here reads.
    :param lint: what rules of ``lint`` find besides, of this release.
    :param panics: of processes in the trial, with times.
    :param resting_on: what the times rest on, as sentences. :param not_modelled: likewise.
    """

    asked: WouldStartAsked
    sentence: str
    starts: str
    refused: tuple[LintRemark, ...]
    objects: tuple[TriedObject, ...]
    beside: tuple[str, ...]
    left_out: tuple[str, ...]
    lint: tuple[LintRemark, ...]
    panics: tuple[str, ...]
    resting_on: tuple[str, ...]
    not_modelled: tuple[str, ...]
    not_known: tuple[Unknown, ...] = ()

    @property
    def headline(self) -> str:
        """The answer."""
        return self.sentence

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return when objects start, where their pods go, and what lint finds."""
        return {
            "objects": table_of(StartRow, map(_start_row, self.objects)),
            "placements": table_of(PlacementRow, self._placements()),
            "refused": table_of(LintRemark, self.refused),
            "lint": table_of(LintRemark, self.lint),
        }

    def _placements(self) -> Iterator[PlacementRow]:
        for each in self.objects:
            for placement in each.placements:
                yield PlacementRow(each.object, placement.pod, placement.node, placement.after)


def _start_row(each: TriedObject) -> StartRow:
    return StartRow(
        each.object,
        each.queue,
        each.starts,
        each.after,
        each.needs,
        each.pods,
        len(each.placements),
        "" if each.why is None else each.why.sentence,
    )
