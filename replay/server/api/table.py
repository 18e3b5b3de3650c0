"""All questions of the API, in the order in which they are documented.

This table makes the routes, the OpenAPI document, the tools of agents and the page of reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...questions.table import QUESTIONS, question_named
from .about_sessions import SEARCHES, SEARCHES_OF_SESSIONS
from .about_state import THE_LOG, THE_STATE
from .operation import Operation
from .question_operation import operation_of

OPERATIONS = (
    *(*THE_LOG, *THE_STATE, *map(operation_of, map(question_named, QUESTIONS))),
    *(*SEARCHES, *SEARCHES_OF_SESSIONS),
)

BY_NAME: Mapping[str, Operation] = MappingProxyType({one.name: one for one in OPERATIONS})
