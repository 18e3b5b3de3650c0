"""What a session did and why, step by step; when it is off, it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from .vote_details import NOTHING as NO_AMOUNTS
from .vote_details import Amounts, Detail, PluginRefusal, Spared, Spares

PERMIT = 1
ABSTAIN = 0
REJECT = -1

NOTHING: Mapping[str, object] = MappingProxyType({})


class StepOutcome(StrEnum):
    """What came of a step."""

    PERMIT = "permit"
    ABSTAIN = "abstain"
    REJECT = "reject"
    OVERUSED = "overused"
    """The jobs of the queue are skipped: to vote that a queue is overused is no permission."""
    NOT_OVERUSED = "not-overused"
    ENQUEUED = "enqueued"
    STAYS_PENDING = "stays-pending"
    NODE = "node"
    """The node ``named`` was chosen, or got the task."""
    REASON = "reason"
    """The reason ``named`` was given, of an event or an eviction."""
    PASSING = "passing"
    """So many nodes (``many``, ``of`` so many) pass the filters."""
    SCORED = "scored"
    """So many nodes (``of``) were scored; the numbers have the best."""
    VICTIMS = "victims"
    """A plugin chose so many (``many``)."""
    TAKEN_BACK = "taken-back"
    """So many operations (``many``) were undone."""


_OF_VOTE = MappingProxyType(
    {PERMIT: StepOutcome.PERMIT, ABSTAIN: StepOutcome.ABSTAIN, REJECT: StepOutcome.REJECT}
)


class Vote(msgspec.Struct, frozen=True):
    """A plugin's vote, with what it compared.

    :param refused: why it refuses, if no amounts were compared.
    """

    vote: int
    message: str = ""
    numbers: Mapping[str, object] = NOTHING
    refused: PluginRefusal | None = None

    @property
    def outcome(self) -> StepOutcome:
        """What the vote is where it is about a permission."""
        return _OF_VOTE[self.vote]


PERMITTED = Vote(PERMIT)
ABSTAINED = Vote(ABSTAIN)
REJECTED = Vote(REJECT)


ComparedSide = Amounts | float | Callable[[], Amounts]
"""One side of a comparison: amounts, one number, or what gives amounts if they are needed."""

_NUMBERS = (int, float)


def _amounts(side: ComparedSide) -> Amounts:
    """Return one side of a comparison as amounts: one number has an empty name."""
    # Numbers first: whether something is a mapping takes Python ten times as long.
    if isinstance(side, _NUMBERS):
        return {"": float(side)}
    if callable(side):
        return side()
    return side if isinstance(side, Mapping) else {"": float(side)}  # A number of an array.


class TraceStep(NamedTuple):
    """One thing that happened in a session.

    ``about`` names the objects: queues, ``ns/podgroup`` or ``ns/pod``; ``what`` is the extension
    point or operation; ``by`` the plugin or action; ``outcome`` says what else is set. ``numbers``
    are plain values: numbers, texts, lists of them, and maps of resources to amounts (bytes of
    memory, pods, milli of all else). They come last: what comes before them is what happened.
    """

    action: str
    what: str
    about: tuple[str, ...]
    by: str
    outcome: StepOutcome
    named: str = ""
    many: int = 0
    of: int = 0
    numbers: Mapping[str, object] = NOTHING


class Trace:
    """Collects steps while it is on.

    :param closely: names of queues, PodGroups and pods (``ns/name``) to keep details about.
    :param fully: of these, the PodGroups of which also that is kept what the session did not ask.
    :param paths: of these, the pods and PodGroups of which also that is kept what permits them:
        what each filter says of each node, each score, and what stands before them.
    :ivar details: by action, what, and name: what was seen last; see :mod:`.vote_details`.
    :ivar scores: whether what every node scored for every task is kept beside the steps.
    :ivar action: the running action, stored in steps.
    :ivar opening: the plugin that is being opened; empty when none is.
    :ivar staying: while a vote on victims is explained, why plugins let candidates stay; else None.
    """

    def __init__(
        self,
        *,
        on: bool = True,
        scores: bool = True,
        closely: Collection[str] = (),
        fully: Collection[str] = (),
        paths: Collection[str] = (),
    ) -> None:
        self.on = on
        self.scores = scores
        self.closely = frozenset(closely)
        self.fully = frozenset(fully)
        self.paths = frozenset(paths)
        self.details: dict[tuple[str, str, str], Detail] = {}
        self.steps: list[TraceStep] = []
        self.action = ""
        self.opening = ""
        self.staying: dict[tuple[Spares, str], Spared] | None = None
        self._refusing: dict[tuple[str, str], str] = {}

    def add(
        self,
        what: str,
        *about: str,
        outcome: StepOutcome,
        by: str = "",
        named: str = "",
        many: int = 0,
        of: int = 0,
        numbers: Mapping[str, object] = NOTHING,
    ) -> None:
        """Add a step, if the trace is on."""
        if self.on:
            facts = (self.action, what, about, by, outcome, named, many, of, numbers)
            self.keep(TraceStep(*facts))

    def records_all(self, about: str) -> bool:
        """Return whether each attempt at an object is to be recorded, though its end is known.

        A trace that follows some objects closely needs that of no others.
        """
        return self.on and (not self.closely or about in self.closely)

    def follows(self, about: str) -> bool:
        """Return whether details about an object are kept."""
        return self.on and about in self.closely

    def keeps_path(self, about: str) -> bool:
        """Return whether also that is kept of an object what permits it."""
        return self.on and about in self.paths

    def follows_check(self, pod: str, group: str, *, permits: bool) -> bool:
        """Return whether details about a check of a pod are kept.

        They are if the pod is followed; or if its PodGroup is, and the pod is the first that the
        running action refuses of it: the others would give the same reason.

        :param group: key of its PodGroup. :param permits: whether the check permits the pod.
        """
        if permits or self.follows(pod):
            return self.follows(pod)
        return self.follows(group) and pod == self._refusing.setdefault((self.action, group), pod)

    def detail(self, what: str, about: str, seen: Detail) -> None:
        """Keep details about an object, instead of earlier ones of the same action."""
        self.details[self.action, what, about] = seen

    def spare(
        self,
        spares: Spares,
        about: str,
        has: ComparedSide = NO_AMOUNTS,
        limit: ComparedSide = NO_AMOUNTS,
        *,
        pods: int = 1,
    ) -> None:
        """Keep why a plugin lets candidates stay; call it only while :attr:`staying` is not None.

        :param about, has, limit, pods: as in :class:`.Spared`; one number needs no name.
        """
        assert self.staying is not None, "a vote is being explained"
        spared = self.staying.get((spares, about))
        if spared is None:
            spared = Spared(spares, about, 0, _amounts(has), _amounts(limit))
            self.staying[spares, about] = spared
        spared.pods += pods

    def keep(self, step: TraceStep) -> None:
        """Add a step; other kinds of traces override this."""
        self.steps.append(step)
