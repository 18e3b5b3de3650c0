"""All questions of the API, in the order in which they are documented.

This table makes the routes, the OpenAPI document, the tools of agents and the page of reference.
Questions that are records declare themselves; the others are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...questions.table import QUESTIONS, question_named
from .asking import events, explore, kinds, method, objects
from .operation import Operation
from .parameters import Parameter, ParameterType
from .question_operation import operation_of
from .words import ASSUME, AT, BUDGET, INVARIANTS, NAMESPACE, RELEASE, SINCE, UNTIL

_KIND = Parameter(
    name="kind",
    about="The kind, as in pods, vcjob, podgroups or jobs.batch.",
    required=True,
    in_path=True,
    option="",
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
)

_THE_LOG = (
    Operation(
        name="log",
        about="What the log holds of its cluster: inputs, range, what it knows completely, advice.",
        guide="Call it first, with `limit` 10. `coverage` says which kinds are known completely, "
        "and when; `releases` which release ran; `advice` what to ingest. Whether its "
        "sessions come out again: `fidelity`.",
        names_inputs=True,
        long=True,
        method="Log.status",
        command=("status",),
        ask=lambda asked: asked.log.status(),
        default="end",
    ),
    Operation(
        name="events",
        about="The events of the log by position: what happened to objects, and who did it.",
        guide="For one kind of event over a time, such as pod.evicted, pod.deleted or node.*; for "
        "one object ask `history`. An empty `actor` is not known.",
        method="Log.events",
        command=("events",),
        ask=events,
        takes=(
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
            Parameter(name="payload", about="With what each event holds.", kind=ParameterType.FLAG),
        ),
        point="until",
        default="end",
        is_list=True,
    ),
)

_THE_STATE = (
    Operation(
        name="kinds",
        about="The kinds of objects that exist at a moment, and how many of each.",
        guide="For the names that `objects` takes, and whether the log has a kind at all.",
        method="Log.truth",
        command=(),
        ask=kinds,
        takes=(AT,),
        is_list=True,
    ),
    Operation(
        name="state",
        about="The state at a moment as rows: one for each object, or each resource of it. cpu is "
        "in cores, memory in bytes.",
        guide="For all queues or nodes side by side. What a queue deserves is here what its spec "
        "says; the share that a session computes is in `why` about the queue.",
        method="Log.state",
        command=(),
        ask=method("state", "table"),
        path="state/{table}",
        takes=(
            Parameter(
                name="table",
                about="Which table.",
                required=True,
                choices=("queues", "nodes", "pods", "podgroups"),
                in_path=True,
                option="",
            ),
            AT,
        ),
        is_list=True,
    ),
    Operation(
        name="objects",
        about="Whole objects of a kind as the API server held them at a moment. What Secrets "
        "contain is never in a log.",
        guide="For specs, labels and status; `state` is shorter. Name a `field_selector` or a "
        "`namespace`, as whole objects are long. `kinds` lists what there is.",
        method="Log.get",
        command=("get",),
        ask=objects,
        path="objects/{kind}",
        takes=(_KIND, *_OBJECTS),
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
        takes=(
            _KIND,
            Parameter(name="name", about="The name.", required=True, in_path=True, option=""),
            *_OBJECTS,
        ),
        is_list=True,
    ),
)

_SEARCHES = (
    Operation(
        name="explore",
        about="Orders of a cluster's steps from a moment on that end badly: races.",
        guide="For faults that happen now and then. It searches, and takes as long as `budget`; "
        "ask `check` first for what did happen.",
        method="explore_log",
        command=("explore",),
        ask=explore,
        takes=(
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
                kind=ParameterType.NUMBER,
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
                kind=ParameterType.NUMBER,
                least=0,
                most=2**53,
            ),
            INVARIANTS,
            ASSUME,
        ),
        long=True,
    ),
    Operation(
        name="lint",
        about="Which rules queues, PodGroups and jobs of a moment break, and in which releases.",
        guide="For queues, PodGroups and jobs that can never work as they are written. Each of "
        "the `findings` names its `releases`, its effect and what to do now. What did go "
        "wrong is found by `check`.",
        names_inputs=True,
        method="Log.lint",
        command=("lint",),
        long=True,
        ask=method("lint"),
        takes=(
            AT,
            Parameter(
                name="release",
                about="Check only for this release.",
                many=True,
                argument="releases",
            ),
            Parameter(name="ignore", about="Leave out this rule.", many=True),
            ASSUME,
        ),
        default="end",
    ),
)

OPERATIONS = (
    *(*_THE_LOG, *_THE_STATE, *map(operation_of, map(question_named, QUESTIONS))),
    *_SEARCHES,
)

BY_NAME: Mapping[str, Operation] = MappingProxyType(
    {operation.name: operation for operation in OPERATIONS}
)
