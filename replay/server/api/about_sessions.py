"""Questions that run sessions or search: why, what if, where releases differ, what is wrong."""

from __future__ import annotations

from .asking import explore, method
from .operation import Operation
from .parameters import Parameter, ParameterType
from .words import (
    ASSUME,
    AT,
    BUDGET,
    INVARIANTS,
    RELEASE,
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
