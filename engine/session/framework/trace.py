"""What a session did and why, step by step; when it is off, it costs nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .details import NOTHING as NO_AMOUNTS
from .details import Amounts, Detail, Refused, Spared, Spares

PERMIT = 1
ABSTAIN = 0
REJECT = -1

IS_OVERUSED, NOT_OVERUSED = "overused: skipped", "not overused"
"""What votes on whether a queue is overused mean: to vote for it is no permission.

Jobs of such a queue are skipped.
"""

NOTHING: Mapping[str, object] = MappingProxyType({})


class Verdict(NamedTuple):
    """A plugin's vote, with what it compared.

    :param refused: why it refuses, if no amounts were compared.
    """

    vote: int
    message: str = ""
    numbers: Mapping[str, object] = NOTHING
    refused: Refused | None = None


PERMITTED = Verdict(PERMIT)
ABSTAINED = Verdict(ABSTAIN)
REJECTED = Verdict(REJECT)


class TraceStep(NamedTuple):
    """One thing that happened in a session.

    ``about`` names the object: a queue, ``ns/podgroup`` or ``ns/pod``; ``what`` is the extension
    point or operation; ``by`` the plugin or action; ``numbers`` are plain values: numbers, texts,
    lists of them, and maps of resources to amounts (bytes of memory, pods, milli of all else).
    """

    action: str
    what: str
    about: str
    by: str
    outcome: str
    numbers: Mapping[str, object]


class Trace:
    """Collects steps while it is on.

    :param closely: names of queues, PodGroups and pods (``ns/name``) to keep details about.
    :param fully: of these, the PodGroups of which also that is kept what the session did not ask.
    :ivar details: by action, what, and name: what was seen last; see :mod:`.details`.
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
    ) -> None:
        self.on = on
        self.scores = scores
        self.closely = frozenset(closely)
        self.fully = frozenset(fully)
        self.details: dict[tuple[str, str, str], Detail] = {}
        self.steps: list[TraceStep] = []
        self.action = ""
        self.opening = ""
        self.staying: dict[tuple[Spares, str], Spared] | None = None
        self._refusing: dict[tuple[str, str], str] = {}

    def add(
        self,
        what: str,
        about: str,
        *,
        by: str = "",
        outcome: str = "",
        numbers: Mapping[str, object] = NOTHING,
    ) -> None:
        """Add a step, if the trace is on."""
        if self.on:
            self.keep(TraceStep(self.action, what, about, by, outcome, numbers))

    def records_all(self, about: str) -> bool:
        """Return whether each attempt at an object is to be recorded, though its end is known.

        A trace that follows some objects closely needs that of no others.
        """
        return self.on and (not self.closely or about in self.closely)

    def follows(self, about: str) -> bool:
        """Return whether details about an object are kept."""
        return self.on and about in self.closely

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
        self, spares: Spares, about: str, has: Amounts = NO_AMOUNTS, limit: Amounts = NO_AMOUNTS
    ) -> None:
        """Keep why a plugin lets a candidate stay; call it only while :attr:`staying` is not None.

        :param about, has, limit: as in :class:`.Spared`.
        """
        assert self.staying is not None, "a vote is being explained"
        known = self.staying.get((spares, about)) or Spared(spares, about, 0, has, limit)
        self.staying[spares, about] = known._replace(pods=known.pods + 1)

    def keep(self, step: TraceStep) -> None:
        """Add a step; other kinds of traces override this."""
        self.steps.append(step)
