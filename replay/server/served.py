"""What handlers of requests use."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import HTTPConnection

from .readers import Readers
from .settings import Settings
from .works import Works


class Served(NamedTuple):
    """What handlers of requests use."""

    settings: Settings
    readers: Readers
    works: Works


def served(request: HTTPConnection) -> Served:
    """Return what handlers of requests use."""
    found: Served = request.app.state.served
    return found
