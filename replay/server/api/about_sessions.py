"""Questions that run sessions or search: why, what if, where releases differ, what is wrong."""

from __future__ import annotations

from .asking import bisect, explore, method
from .operation import Operation
from .parameters import Parameter, ParameterType
from .words import (
    ASSUME,
    AT,
    BUDGET,
    CONF,
    INVARIANTS,
    RELEASE,
    TIME,
)

SEARCHES = (
    Operation(
        name="explore",
        about="Orders of a cluster's steps from a moment on that end badly: races.",
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
)

SEARCHES_OF_SESSIONS = (
    Operation(
        name="bisect",
        about="The first moment, or with releases the first release, at which a session answers a "
        "question otherwise, and the behaviour that causes it. Give one question: bound, pending, "
        "enqueued, phase or panic.",
        names_inputs=True,
        method="Log.bisect",
        command=("bisect",),
        runs_sessions=True,
        reads_all="changes of an answer",
        ask=bisect,
        is_whole=True,
        takes=(
            Parameter(name="bound", about="Does this pod have a node? As in default/train-0."),
            Parameter(name="pending", about="Does this pod exist without a node?"),
            Parameter(name="enqueued", about="Has this PodGroup left the phase Pending?"),
            Parameter(name="phase", about="Has it this phase? As in default/train=Running."),
            Parameter(name="panic", about="Does the scheduler panic?", kind=ParameterType.FLAG),
            Parameter(
                name="releases",
                about="The first release instead of the first moment, as in v1.11.0..v1.12.1.",
            ),
            Parameter(name="at", about="With releases: the moment."),
            Parameter(name="from", about="Where to begin.", argument="from_"),
            Parameter(name="to", about="Where to end."),
            RELEASE,
            CONF,
            Parameter(
                name="halve",
                about="Check few moments: right if the answer changes once.",
                kind=ParameterType.FLAG,
            ),
            TIME,
        ),
    ),
    Operation(
        name="lint",
        about="Which rules queues, PodGroups and jobs of a moment break, and in which releases.",
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
