"""All questions of the API, in the order in which they are documented.

This table makes the routes, the OpenAPI document, the tools of agents and the page of reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...questions.table import QUESTIONS, question_named
from .about_sessions import SEARCHES, SEARCHES_OF_SESSIONS, THE_SCHEDULER
from .about_state import THE_LOG, THE_STATE
from .asking import releases_method
from .operation import Operation
from .parameters import Parameter
from .question_operation import operation_of

RELEASES_OF_VOLCANO = (
    Operation(
        name="releases",
        about="The releases of Volcano that can be run, and what each changed.",
        is_tool=False,
        method="releases",
        command=("release", "list"),
        ask=releases_method("releases"),
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
        takes=(
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
        takes=(
            Parameter(name="one", about="The first release.", required=True, option=""),
            Parameter(name="other", about="The second release.", required=True, option=""),
        ),
        point="",
        is_list=True,
    ),
)

OPERATIONS = (
    *(*THE_LOG, *THE_STATE, *map(operation_of, map(question_named, QUESTIONS)), *THE_SCHEDULER),
    *(*SEARCHES, *SEARCHES_OF_SESSIONS, *RELEASES_OF_VOLCANO),
)

BY_NAME: Mapping[str, Operation] = MappingProxyType({one.name: one for one in OPERATIONS})
