"""Questions about what the log holds, and about the state at a moment."""

from __future__ import annotations

from .asking import events, kinds, method, objects
from .operation import Operation
from .parameters import Parameter, ParameterType
from .words import (
    AT,
    NAMESPACE,
    SINCE,
    UNTIL,
)

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

THE_LOG = (
    Operation(
        name="log",
        about="What the log holds of its cluster: inputs, range, what it knows completely, advice.",
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

THE_STATE = (
    Operation(
        name="kinds",
        about="The kinds of objects that exist at a moment, and how many of each.",
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
