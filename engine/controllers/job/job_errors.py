"""Why the work on a request fails, besides requests that the API server refuses."""

from __future__ import annotations


class Failed(Exception):
    """The work on a request failed; it is tried again."""
