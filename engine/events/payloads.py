"""Payload structs of the event kinds that are not object versions.

Each is frozen and tagged with the kind it belongs to (where one struct serves several kinds, with
the name of its shape). Fields may be added with a default; anything else is a new schema number and
an upcaster (:mod:`.upcast`). Times are microseconds since 1970 UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import msgspec


class Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all payload structs; carries nothing itself."""


class PodBound(Payload, frozen=True, kw_only=True, tag="pod.bound"):
    """:param node: the node bound to; empty when the audit level left the body out."""

    node: str = ""
    user_agent: str = ""


class RequestAccepted(Payload, frozen=True, kw_only=True, tag="request.accepted"):
    """A write of which the result is unknown.

    :param verb: create, update, patch, delete, deletecollection.
    :param body: the request's body as far as it was recorded (a patch, options), else None.
    :param unknown: in words, what cannot be known from this record.
    """

    verb: str
    subresource: str = ""
    code: int = 0
    body: Any = None
    user_agent: str = ""
    unknown: str = ""


class RequestRefused(Payload, frozen=True, kw_only=True, tag="request.refused"):
    """:param message: what the API server answered; ``code`` 504 means that nobody knows."""

    verb: str
    subresource: str = ""
    code: int
    reason: str = ""
    message: str = ""
    user_agent: str = ""


class VersionAttributed(Payload, frozen=True, kw_only=True, tag="version.attributed"):
    """Who wrote a version, by the audit log.

    :param options: of a delete that was answered with the object: grace period, preconditions …
    """

    verb: str
    subresource: str = ""
    user_agent: str = ""
    options: Any = None


class VersionTimed(Payload, frozen=True, kw_only=True, tag="version.timed"):
    """Carries nothing: the event's own times are the evidence."""


class ListObserved(Payload, frozen=True, kw_only=True, tag="list.observed"):
    """:param group: API group and :param kind: of the objects listed.

    :param namespaces: the namespaces the list covers; empty for every one (or cluster-scoped).
    :param uids: all objects in the list, sorted.
    :param exact: False when the list's own revision is not known and ``revision`` is only the
        greatest among its items, a lower bound.
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    uids: tuple[str, ...]
    exact: bool = True


def lacked_by(listing: ListObserved, before: Container[str]) -> Callable[[str, str], bool]:
    """Return what says of an object of the listed kind whether a list shows that it is gone.

    It is called with namespace and uid. A list that knows its revision covers all objects in its
    scope. One that does not (kubectl's ``List``) may be an excerpt: it is compared with the list of
    the same kind and namespaces before it, and shows that what that one held is gone.

    :param before: the uids of that earlier list; nothing if there is none.
    """
    held, namespaces = frozenset(listing.uids), frozenset(listing.namespaces)

    def lacked(namespace: str, uid: str) -> bool:
        in_scope = not namespaces or namespace in namespaces
        return in_scope and uid not in held and (listing.exact or uid in before)

    return lacked


class JoinedList(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind in a document. :param revision: the greatest among its items, a lower bound."""

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    revision: int


class ListsJoined(Payload, frozen=True, kw_only=True, tag="lists.joined"):
    """:param kinds: what the document lists. :param until: the greatest revision in all of it."""

    kinds: tuple[JoinedList, ...]
    until: int


class WatchInterrupted(Payload, frozen=True, kw_only=True, tag="watch.interrupted"):
    """:param code: HTTP code of the Status, 410 when the revision asked for was too old."""

    code: int = 0
    reason: str = ""
    message: str = ""


class WatchFollowed(Payload, frozen=True, kw_only=True, tag="watch.followed"):
    """:param group: API group and :param listed: kind of the objects watched.

    :param namespaces: those it was about; empty for every one (or cluster-scoped).
    :param since: the first revision at which what it had told was all there is, or, if it never
        told what existed, from which on it told the changes. :param until: the last it told of.
    :param begin: how it told what existed: ``marked`` (a bookmark ended it), ``unmarked`` (nothing
        did, and ``since`` is a lower bound), ``resumed`` (not at all: it went on from a revision
        that was known to who asked), ``changes`` (not at all, or it is not certain).
    :param interrupted: it ended with an error.
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    since: int
    until: int
    begin: str
    interrupted: bool = False


class AuditedKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Accepted writes of one kind in an audit log.

    :param level: the lowest audit level among them.
    :param until: the greatest revision before a write of which the result cannot be known (an
        answer that nobody waited for, a deletion of a collection); None if there is no such write.
    """

    group: str
    listed: str
    writes: int
    level: str
    until: int | None = None


class AuditCovered(Payload, frozen=True, kw_only=True, tag="audit.covered"):
    """What an audit log covers, as far as its records tell.

    :param since: least and :param until: greatest revision that a recorded write made, None if no
        level told one.
    :param first_at: time of the first and :param last_at: of the last record, microseconds.
    :param pause: the longest time without a record in between, microseconds, to the second.
    """

    since: int | None = None
    until: int | None = None
    first_at: int
    last_at: int
    pause: int = 0
    kinds: tuple[AuditedKind, ...] = ()


class ScenarioDeclared(Payload, frozen=True, kw_only=True, tag="scenario.declared"):
    """A cluster of which a scenario is the whole history.

    :param until: its last revision.
    """

    until: int


class InputRedacted(Payload, frozen=True, kw_only=True, tag="input.redacted"):
    """:param input: that was ingested with ``--redact``. :param rules: by their names.

    :param values: how many were left out.
    """

    input: str
    rules: tuple[str, ...]
    values: int = 0


class ConfigApplied(Payload, frozen=True, kw_only=True, tag="config.applied"):
    """:param text: the configuration, verbatim. :param parsed: the same as JSON, or None."""

    text: str
    parsed: Any = None
    configmap: str = ""


class CacheDumped(Payload, frozen=True, kw_only=True, tag="cache.dumped"):
    """:param part: what the document holds (nodes, jobs, hypernodes …) and ``index`` its place."""

    component: str = "scheduler"
    part: str
    index: int
    layout: str
    content: Any


class ProcessStarted(Payload, frozen=True, kw_only=True, tag="process.started"):
    """:param flags: command-line flags as logged."""

    component: str
    version: str = ""
    flags: dict[str, str] = {}


class ProcessPanicked(Payload, frozen=True, kw_only=True, tag="process.panicked"):
    """:param message: the panic's value. :param stack: the goroutine's frames as logged."""

    component: str
    message: str
    stack: str = ""
    session: str = ""


class SessionOpened(Payload, frozen=True, kw_only=True, tag="session.opened"):
    """:param jobs: and :param queues: as the scheduler counted them."""

    session: str
    jobs: int = 0
    queues: int = 0
    nodes: int | None = None


class SessionClosed(Payload, frozen=True, kw_only=True, tag="session.closed"):
    """The end of the session of this id."""

    session: str


class SessionRequested(Payload, frozen=True, kw_only=True, tag="session.requested"):
    """:param step: 1-based step of the scenario that asks."""

    step: int


class ActionMarked(Payload, frozen=True, kw_only=True, tag="action.marked"):
    """The begin or end of an action in a session."""

    session: str = ""
    action: str


class DecisionLogged(Payload, frozen=True, kw_only=True, tag="decision.logged"):
    """:param verb: enqueue, allocate, pipeline, bind, bind-failed, evict, discard, commit …

    A logged decision may have been undone: a bind is real only if the API server saw it.
    """

    component: str
    verb: str
    session: str = ""
    task: str = ""
    job: str = ""
    queue: str = ""
    node: str = ""
    reason: str = ""
    message: str = ""


class CleanupRetried(Payload, frozen=True, kw_only=True, tag="cleanup.retried"):
    """A deletion that a component tries again."""

    component: str
    job: str = ""
    message: str


class MessageLogged(Payload, frozen=True, kw_only=True, tag="message.logged"):
    """:param severity: W, E or F; I only for lines worth keeping. :param at: file:line in Go."""

    component: str
    severity: str
    at: str = ""
    message: str
    session: str = ""


class ControlMarked(Payload, frozen=True, kw_only=True, tag="control.marked"):
    """:param control: RESTART, CLEANUP_HOLD, CLEANUP_STEP or CLEANUP_RUN."""

    control: str
    step: int


class UsageMeasured(Payload, frozen=True, kw_only=True, tag="usage.measured"):
    """How busy a node was, as the scheduler's source of metrics told it.

    It was measured when the event was observed; without a time, at the moment of whoever asks.

    :param cpu: average use in percent of the node, by the period that it was averaged over, as in
        ``{"10m": 42.5}``; ``memory`` the same. Volcano files what it measures under ``10m``.
    """

    node: str
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}


class ExtenderAnswered(Payload, frozen=True, kw_only=True, tag="extender.answered"):
    """What a scheduler extender answered, and goes on answering until another answer is told.

    :param verb: which the configuration names for the extension point.
    :param about: what was asked about: ``ns/pod node`` for predicates, ``ns/pod`` for priorities
        and victims, ``ns/podgroup``, a queue's name, or nothing when a session opens.
    :param answer: the JSON object; None if the call failed.
    """

    verb: str
    about: str = ""
    answer: dict[str, Any] | None = None
