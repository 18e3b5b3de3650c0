"""Payload structs of the event kinds that are not object versions.

Each is frozen and tagged with the kind it belongs to (where one struct serves several kinds, with
the name of its shape). Fields may be added with a default; anything else is a new schema number and
an upcaster (:mod:`.upcast`). Times are microseconds since 1970 UTC.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Payload(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of all payload structs."""


class PodBound(Payload, frozen=True, kw_only=True, tag="pod.bound"):
    """:param node: the node; empty if the audit level leaves out the body."""

    node: str = ""
    user_agent: str = ""


class RequestAccepted(Payload, frozen=True, kw_only=True, tag="request.accepted"):
    """A write with an unknown result.

    :param verb: create, update, patch, delete; in older logs also deletecollection.
    :param body: the request's body as far as it was recorded (a patch, options), else None.
    :param unknown: what the record does not say, in words.
    """

    verb: str
    subresource: str = ""
    code: int = 0
    body: Any = None
    user_agent: str = ""
    unknown: str = ""


class CollectionDeleted(Payload, frozen=True, kw_only=True, tag="collection.deleted"):
    """A request to delete all objects of a kind that selectors choose.

    :param verb: deletecollection.
    :param labels: and ``fields``: the selectors in the request's URL; empty for all, None if the
        URL was not recorded. :param body: the options, as far as they were recorded, else None.
    """

    verb: str
    labels: str | None = None
    fields: str | None = None
    code: int = 0
    body: Any = None
    user_agent: str = ""
    unknown: str = ""


class RequestRefused(Payload, frozen=True, kw_only=True, tag="request.refused"):
    """:param message: the answer of the API server; ``code`` 504: the result is unknown."""

    verb: str
    subresource: str = ""
    code: int
    reason: str = ""
    message: str = ""
    user_agent: str = ""


class VersionAttributed(Payload, frozen=True, kw_only=True, tag="version.attributed"):
    """The request that wrote a version, from the audit log.

    :param options: of a delete that was answered with the object: grace period, preconditions …
    """

    verb: str
    subresource: str = ""
    user_agent: str = ""
    options: Any = None


class VersionTimed(Payload, frozen=True, kw_only=True, tag="version.timed"):
    """The times of the event are the evidence.

    :param verb: what happened, as the end of a kind: ``observed``, ``created``, ``updated`` or
        ``deleted``; empty in older logs.
    """

    verb: str = ""


class ListObserved(Payload, frozen=True, kw_only=True, tag="list.observed"):
    """:param group: API group and :param kind: of the objects listed.

    :param namespaces: the namespaces of the list; empty for all (or cluster-scoped).
    :param uids: all objects in the list, sorted.
    :param exact: False if the revision of the list is not known; ``revision`` is then the greatest
        among its items, a lower bound.
    :param answered: of such a list, when it was answered, microseconds since 1970; None if not
        known. Its revision does not place it, so its time does.
    :param asserted: that these are all objects was said (``--complete``).
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    uids: tuple[str, ...]
    exact: bool = True
    asserted: bool = False
    answered: int | None = None

    @property
    def order(self) -> tuple[bool, bool, int, int, tuple[str, ...]]:
        """The order of lists of one scope at one revision.

        A list without a revision may be younger than one with it. Of two without a time, the one
        that lacks an object of the other is the younger: both are made after all their items.
        """
        timed = self.answered is not None
        return not self.exact, timed, self.answered or 0, -len(self.uids), self.uids


class ListBroken(Payload, frozen=True, kw_only=True, tag="list.broken"):
    """A list of one kind that is not complete, as records of it were skipped.

    :param revision: of the list, or the greatest among its items. :param records: their number.
    :param first: what is wrong with the first of them, and where.
    """

    group: str
    listed: str
    revision: int
    records: int
    first: str


class JoinedList(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One kind in a document. :param revision: the greatest among its items, a lower bound."""

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    revision: int


class ListsJoined(Payload, frozen=True, kw_only=True, tag="lists.joined"):
    """:param kinds: what the document lists. :param until: the greatest revision in all of it.

    :param answered: when it was answered, microseconds since 1970; None if not known.
    :param asserted: that these are all objects was said with ``--complete``.
    """

    kinds: tuple[JoinedList, ...]
    until: int
    answered: int | None = None
    asserted: bool = False


class WatchInterrupted(Payload, frozen=True, kw_only=True, tag="watch.interrupted"):
    """:param code: HTTP code of the Status, 410 when the requested revision was too old."""

    code: int = 0
    reason: str = ""
    message: str = ""


class WatchFollowed(Payload, frozen=True, kw_only=True, tag="watch.followed"):
    """:param group: API group and :param listed: kind of the objects watched.

    :param namespaces: the namespaces that it covered; empty for all (or cluster-scoped).
    :param since: the revision of its initial list; or, without such a list, the revision from which
        it has all changes. :param until: its last revision.
    :param begin: how its initial list ended: ``marked`` (by a bookmark), ``unmarked`` (without one,
        and ``since`` is a lower bound); or why there is none: ``resumed`` (it continued from a
        revision that the client knew), ``changes`` (it began with changes, or it is not certain).
    :param interrupted: it ended with an error.
    :param until_at: when its last line was received, microseconds since 1970; None if not known.
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    since: int
    until: int
    begin: str
    interrupted: bool = False
    until_at: int | None = None


class WatchRepaired(Payload, frozen=True, kw_only=True, tag="watch.repaired"):
    """:param group: API group and :param listed: kind of the objects watched.

    :param namespaces: the namespaces that the watch covered; empty for all.
    :param after: the last revision before the watch broke off. :param before: that of the list
        with which it began again.
    :param versions: how many versions and deletions in between were asked for and found.
    :param requests: how many requests that took.
    :param unseen: what may be missing: ``short-lived`` (objects that were created and deleted in
        between), ``bounded`` (also versions beyond the bound of requests), ``compacted``
        (everything: the server no longer had the revision).
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    after: int
    before: int
    versions: int
    requests: int
    unseen: str


class AuditLacked(Payload, frozen=True, kw_only=True, tag="audit.lacked"):
    """:param group: API group and :param listed: kind of the objects.

    :param changes: how many changes a watch showed of which no record came.
    :param first: and ``last``: the least and the greatest revision among them.
    """

    group: str
    listed: str
    changes: int
    first: int
    last: int


class AuditedKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Accepted writes of one kind in an audit log.

    :param level: the lowest audit level among them.
    :param until: the greatest revision before a write with an unknown result (a timeout, a deletion
        of a collection); None if there is no such write.
    """

    group: str
    listed: str
    writes: int
    level: str
    until: int | None = None


class AuditCovered(Payload, frozen=True, kw_only=True, tag="audit.covered"):
    """What an audit log covers, as far as its records show.

    :param since: least and :param until: greatest revision that a recorded write made, None if no
        record has one.
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
    """A cluster whose whole history is a scenario.

    :param until: its last revision.
    """

    until: int


class InputRedacted(Payload, frozen=True, kw_only=True, tag="input.redacted"):
    """:param input: that was ingested with ``--redact``. :param rules: their names.

    :param values: the number of values that were left out.
    """

    input: str
    rules: tuple[str, ...]
    values: int = 0


class AssumedField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field that objects of one kind lacked.

    :param field: its path. :param value: what it got, in words.
    :param count: the number of these objects. :param first: the name of the first.
    """

    group: str
    listed: str
    field: str
    value: str
    count: int
    first: str


class InputAssumed(Payload, frozen=True, kw_only=True, tag="input.assumed"):
    """:param input: whose objects lacked something. :param fields: what was filled in."""

    input: str
    fields: tuple[AssumedField, ...]


class KnownSpan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Revisions at which all objects of a kind were known, or all changes of it.

    :param namespaces: the covered ones; empty for all. :param by: the inputs that showed it.
    :param complete: all objects are known; else only the changes.
    :param exact: False if ``until`` is a lower bound. :param interrupted: a watch ended there with
        an error.
    """

    group: str
    listed: str
    namespaces: tuple[str, ...] = ()
    since: int
    until: int
    by: tuple[str, ...]
    complete: bool = True
    exact: bool = True
    interrupted: bool = False


class SliceBegan(Payload, frozen=True, kw_only=True, tag="slice.began"):
    """The log is a slice of another one: the state at its revision, and what followed.

    :param format: the version of the format of packs. :param plinian: the version that wrote it.
    :param objects: how many events after this one give the state at the beginning.
    :param whole: the other log had a cluster's whole history.
    :param proof: the greatest revision of that log, up to the end, that is not a lower bound.
    """

    format: int
    plinian: str
    objects: int
    whole: bool = False
    proof: int = -1
    known: tuple[KnownSpan, ...] = ()


class SliceEnded(Payload, frozen=True, kw_only=True, tag="slice.ended"):
    """:param events: how many events of the slice came before this one, after the beginning."""

    events: int


class AnswerExpected(Payload, frozen=True, kw_only=True, tag="answer.expected"):
    """What a session of a slice decided when the slice was made.

    :param question: why it was sent, in the words of the sender.
    :param at: the moment, as a point. :param conf: the source of the configuration.
    :param decisions: how many, by kind. :param digest: of the decisions, in hexadecimal.
    """

    question: str = ""
    at: str
    release: str
    conf: str
    decisions: dict[str, int]
    digest: str


class NamesRedacted(Payload, frozen=True, kw_only=True, tag="names.redacted"):
    """Names in the log are not the original ones, and its sessions decide the same.

    :param names: the number of names that were replaced. :param release: of the sessions.
    :param map: identifies the map of names. :param moments: at which sessions were compared.
    :param decisions: how many were compared. :param digest: of all of them, in hexadecimal.
    """

    names: int
    map: str
    release: str
    moments: tuple[str, ...]
    decisions: int
    digest: str


class ConfigApplied(Payload, frozen=True, kw_only=True, tag="config.applied"):
    """:param text: the configuration, verbatim. :param parsed: the same as JSON, or None."""

    text: str
    parsed: Any = None
    configmap: str = ""


class CacheDumped(Payload, frozen=True, kw_only=True, tag="cache.dumped"):
    """:param part: the content of the document (nodes, jobs …); ``index``: its place."""

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
    """:param step: 1-based step of the scenario."""

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
    """:param severity: W, E or F; I only for chosen lines. :param at: file:line in Go."""

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
    """The usage of a node, as the scheduler's source of metrics reported it.

    It was measured when the event was observed; without a time, at the moment of the query.

    :param cpu: average use in percent of the node, by period of averaging, as in ``{"10m": 42.5}``;
        ``memory`` the same. Volcano stores its measurements under ``10m``.
    """

    node: str
    cpu: dict[str, float] = {}
    memory: dict[str, float] = {}


class ExtenderAnswered(Payload, frozen=True, kw_only=True, tag="extender.answered"):
    """The answer of a scheduler extender, valid until another answer is recorded.

    :param verb: that the configuration names for the extension point.
    :param about: its subject: ``ns/pod node`` for predicates, ``ns/pod`` for priorities and
        victims, ``ns/podgroup``, a queue's name, or nothing when a session opens.
    :param answer: the JSON object; None if the call failed.
    """

    verb: str
    about: str = ""
    answer: dict[str, Any] | None = None
