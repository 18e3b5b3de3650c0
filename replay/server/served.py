"""What handlers of requests use."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import HTTPConnection

from .kept_answers import KeptAnswers
from .readers import Readers
from .settings import ServerSettings
from .works import Works


class Served(NamedTuple):
    """What handlers of requests use. :param kept: pages that were sent."""

    settings: ServerSettings
    readers: Readers
    works: Works
    kept: KeptAnswers


def served(request: HTTPConnection) -> Served:
    """Return what handlers of requests use."""
    state: Served = request.app.state.served
    return state
