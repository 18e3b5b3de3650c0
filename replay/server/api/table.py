"""All questions of the API, in the order in which they are documented.

This table makes the routes, the OpenAPI document, the tools of agents and the page of reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .asking import events, explore, kinds, method, objects, releases_method
from .operation import Operation
from .parameters import Kind, Parameter
from .words import (
    ASSUME,
    AT,
    BUDGET,
    CHANGES,
    CONF,
    IGNORE,
    INVARIANTS,
    KINDS,
    NAMED,
    NAMESPACE,
    PAGES,
    RELEASE,
    RELEASES,
    SINCE,
    STRICT,
    TIME,
    UNTIL,
)

_SCHEDULER = (RELEASE, ASSUME, STRICT)
_BEFORE = Parameter(name="before", about="The first moment.", required=True, option="")
_AFTER = Parameter(name="after", about="The second moment.", default="end", option="")
_KIND = Parameter(
    name="kind",
    about="The kind, as in pods, vcjob, podgroups or jobs.batch.",
    required=True,
    in_path=True,
    option="",
)
_FOR = Parameter(
    name="for",
    about="For how long, as in 10m.",
    kind=Kind.DURATION,
    least=0,
    most=86_400,
    required=True,
    argument="for_",
)

_OBJECTS = (
    AT,
    Parameter(name="namespace", about="Only in this namespace.", absent="--all-namespaces"),
    Parameter(name="selector", about="Labels, as in app=web,tier in (a,b)."),
    Parameter(
        name="field_selector",
        about="Fields, as in spec.nodeName=n1,status.phase!=Running.",
        argument="fields",
    ),
    *PAGES,
)

THE_LOG = (
    Operation(
        name="log",
        about="What the log holds of its cluster: inputs, range, what it knows completely, advice.",
        names_inputs=True,
        long=True,
        method="Log.status",
        command=("status",),
        ask=lambda asked: asked.log.status(),
        parameters=PAGES,
        default="end",
    ),
    Operation(
        name="events",
        about="The events of the log by position: what happened to objects, and who did it.",
        method="Log.events",
        command=("events",),
        ask=events,
        parameters=(
            Parameter(
                name="kind",
                about="Event kinds, as in pod.bound or pod.*.",
                many=True,
                argument="kinds",
            ),
            Parameter(
                name="object",
                about="Only about these objects, as in pods, pod/train-0 or a uid.",
                many=True,
                argument="objects",
            ),
            NAMESPACE,
            SINCE,
            UNTIL,
            Parameter(name="after", about="@POSITION: only events appended after it."),
            Parameter(name="payload", about="With what each event holds.", kind=Kind.FLAG),
            *PAGES,
        ),
        point="until",
        default="end",
        is_list=True,
    ),
    Operation(
        name="sessions",
        about="The scheduling sessions that the scheduler ran, as far as the log shows them.",
        long=True,
        method="Log.sessions",
        command=("session", "list"),
        ask=method("sessions"),
        parameters=(SINCE, UNTIL, *PAGES),
        point="until",
        default="end",
        is_list=True,
    ),
)

THE_STATE = (
    Operation(
        name="kinds",
        about="The kinds of objects that exist at a moment, and how many of each.",
        method="Log.truth",
        command=(),
        ask=kinds,
        parameters=(AT, *PAGES),
        is_list=True,
    ),
    Operation(
        name="state",
        about="The state at a moment as rows: one for each object, or each resource of it. cpu is "
        "in cores, memory in bytes.",
        method="Log.state",
        command=(),
        ask=method("state", "table"),
        path="state/{table}",
        parameters=(
            Parameter(
                name="table",
                about="Which table.",
                required=True,
                choices=("queues", "nodes", "pods", "podgroups"),
                in_path=True,
                option="",
            ),
            AT,
            *PAGES,
        ),
        is_list=True,
    ),
    Operation(
        name="objects",
        about="Whole objects of a kind as the API server held them at a moment. What Secrets "
        "contain is never in a log.",
        method="Log.get",
        command=("get",),
        ask=objects,
        path="objects/{kind}",
        parameters=(_KIND, *_OBJECTS),
        is_list=True,
    ),
    Operation(
        name="object",
        about="The objects of a kind that have one name, as the API server held them at a moment.",
        is_tool=False,
        method="Log.get",
        command=("get",),
        ask=objects,
        path="objects/{kind}/{name}",
        parameters=(
            _KIND,
            Parameter(name="name", about="The name.", required=True, in_path=True, option=""),
            *_OBJECTS,
        ),
        is_list=True,
    ),
    Operation(
        name="diff",
        about="What differs between two moments: objects, fields, used resources.",
        method="Log.diff",
        command=("diff",),
        ask=method("diff", "before", "after"),
        parameters=(_BEFORE, _AFTER, KINDS, NAMESPACE, IGNORE, STRICT, *PAGES),
        point="after",
        default="end",
    ),
    Operation(
        name="history",
        about="Everything that happened to an object up to a moment.",
        method="Log.history",
        command=("history",),
        ask=method("history", "named"),
        parameters=(NAMED, AT, NAMESPACE, IGNORE, STRICT, *PAGES),
    ),
    Operation(
        name="blame",
        about="Which events make up a number of a queue or a node, and which changed it last.",
        method="Log.blame",
        command=("blame",),
        ask=method("blame", "named", "number"),
        parameters=(
            NAMED,
            Parameter(
                name="number",
                about="The number: allocated.cpu or pods of a queue, used.cpu or idle.cpu of a "
                "node, or a field, as in spec.capability.cpu.",
                required=True,
                option="",
            ),
            AT,
            NAMESPACE,
            STRICT,
            *PAGES,
        ),
    ),
)

THE_SCHEDULER = (
    Operation(
        name="why",
        about="Why a pod, job, podgroup, queue or node waits at a moment, and since when.",
        method="Log.why",
        command=("why",),
        ask=method("why", "named"),
        parameters=(NAMED, AT, NAMESPACE, RELEASE, CONF, ASSUME, STRICT, *PAGES),
        long=True,
    ),
    Operation(
        name="what-would-help",
        about="Single changes with which a pod, job or podgroup starts, found by running the "
        "session with each.",
        method="Log.what_would_help",
        command=("why", "--what-would-help"),
        ask=method("what_would_help", "named"),
        parameters=(NAMED, AT, NAMESPACE, RELEASE, CONF, BUDGET, ASSUME, STRICT, *PAGES),
        long=True,
    ),
    Operation(
        name="what-if",
        about="The session of a moment as it was, and with something changed.",
        method="Log.what_if",
        command=("what-if",),
        ask=method("what_if", progress=True),
        parameters=(
            *CHANGES,
            AT,
            NAMESPACE,
            CONF,
            RELEASE,
            Parameter(
                name="try_release",
                about="Another release, compared with release.",
                option="--release",
            ),
            Parameter(name="each", about="Try every change alone.", kind=Kind.FLAG),
            ASSUME,
            STRICT,
            *PAGES,
        ),
        long=True,
    ),
    Operation(
        name="forecast",
        about="What happens for some time after a moment, as the cluster was and with something "
        "changed.",
        names_inputs=True,
        method="Log.forecast",
        command=("what-if",),
        ask=method("forecast", "for_", progress=True),
        parameters=(
            _FOR,
            *CHANGES,
            AT,
            NAMESPACE,
            CONF,
            RELEASE,
            ASSUME,
            STRICT,
            TIME,
            *PAGES,
        ),
        long=True,
    ),
    Operation(
        name="session",
        about="One scheduling session on the state at a moment: what it decides.",
        method="Log.session",
        command=("session",),
        ask=method("session"),
        parameters=(
            AT,
            RELEASE,
            CONF,
            Parameter(
                name="trace", about="With every step, and the values compared.", kind=Kind.FLAG
            ),
            Parameter(
                name="choose",
                about="How to choose among equal nodes: least-name, recorded, or a seed.",
            ),
            ASSUME,
            STRICT,
            *PAGES,
        ),
        long=True,
    ),
    Operation(
        name="compare",
        about="The sessions of several releases at one moment, and the first difference.",
        method="Log.compare",
        command=("session",),
        ask=method("compare"),
        parameters=(AT, RELEASES, ASSUME, STRICT, *PAGES),
        long=True,
    ),
    Operation(
        name="compare-moments",
        about="What sessions decide differently at two moments.",
        is_tool=False,
        method="Log.compare_moments",
        command=("diff",),
        ask=method("compare_moments", "before", "after"),
        parameters=(_BEFORE, _AFTER, RELEASES, ASSUME, STRICT, *PAGES),
        point="after",
        default="end",
        long=True,
    ),
    Operation(
        name="belief",
        about="What the scheduler's cache held at a moment.",
        is_tool=False,
        method="Log.belief",
        command=("belief", "nodes,jobs,tasks,queues,hypernodes,work"),
        ask=method("belief", progress=True),
        parameters=(AT, *_SCHEDULER, TIME, *PAGES),
        long=True,
    ),
    Operation(
        name="drift",
        about="Where the scheduler's cache differs from the API server, and since which event.",
        method="Log.drift",
        command=("drift",),
        ask=method("drift", progress=True),
        parameters=(AT, *_SCHEDULER, TIME, *PAGES),
        long=True,
    ),
)

SEARCHES = (
    Operation(
        name="check",
        about="Which invariants are violated at a moment, or over a range of the log.",
        names_inputs=True,
        method="Log.check",
        command=("check",),
        ask=method("check", progress=True),
        is_whole=True,
        parameters=(
            AT,
            SINCE,
            Parameter(name="until", about="Where to end, without at."),
            RELEASE,
            INVARIANTS,
            CONF,
            ASSUME,
            STRICT,
            TIME,
            *PAGES,
        ),
        long=True,
    ),
    Operation(
        name="explore",
        about="Orders of a cluster's steps from a moment on that end badly: races.",
        method="explore_log",
        command=("explore",),
        ask=explore,
        parameters=(
            AT,
            Parameter(name="until", about="The last moment whose writes of users are taken."),
            Parameter(
                name="object",
                about="Only writes to this object, as in deployment/web.",
                many=True,
                argument="objects",
            ),
            RELEASE,
            Parameter(
                name="steps",
                about="Stop after so many turns.",
                kind=Kind.NUMBER,
                least=1,
                most=10_000_000,
            ),
            BUDGET,
            Parameter(
                name="strategy",
                about="Try every order, or pick orders.",
                choices=("exhaustive", "pct", "random", "delay"),
            ),
            Parameter(
                name="seed",
                about="The seed of orders that are picked.",
                kind=Kind.NUMBER,
                least=0,
                most=2**53,
            ),
            INVARIANTS,
            ASSUME,
            *PAGES,
        ),
        long=True,
    ),
)

RELEASES_OF_VOLCANO = (
    Operation(
        name="releases",
        about="The releases of Volcano that can be run, and what each changed.",
        is_tool=False,
        method="releases",
        command=("release", "list"),
        ask=releases_method("releases"),
        parameters=PAGES,
        point="",
        is_list=True,
    ),
    Operation(
        name="behaviours",
        about="How a release of Volcano behaves, with the source of each behaviour.",
        is_tool=False,
        method="behaviours",
        command=("release", "show"),
        ask=releases_method("behaviours", "release"),
        parameters=(
            Parameter(name="release", about="The release.", required=True, option=""),
            Parameter(
                name="part",
                about="Only of sessions, the scheduler's cache, or the controllers.",
                many=True,
                choices=("session", "cache", "controllers"),
                argument="parts",
            ),
            Parameter(
                name="subject",
                about="Only about this, as in preempt.",
                many=True,
                argument="subjects",
            ),
            *PAGES,
        ),
        point="",
        is_list=True,
    ),
    Operation(
        name="release-diff",
        about="The behaviours in which two releases of Volcano differ.",
        is_tool=False,
        method="release_diff",
        command=("release", "diff"),
        ask=releases_method("release_diff", "one", "other"),
        parameters=(
            Parameter(name="one", about="The first release.", required=True, option=""),
            Parameter(name="other", about="The second release.", required=True, option=""),
            *PAGES,
        ),
        point="",
        is_list=True,
    ),
)

OPERATIONS = (*THE_LOG, *THE_STATE, *THE_SCHEDULER, *SEARCHES, *RELEASES_OF_VOLCANO)

BY_NAME: Mapping[str, Operation] = MappingProxyType({one.name: one for one in OPERATIONS})
