"""Why an API server refuses a request."""

from __future__ import annotations


class Refused(Exception):
    """The API server refused a request, or did not answer it.

    :cvar reason: the reason of the status that it answers, as in ``metav1.StatusReason``.
    """

    reason = ""


class NotFound(Refused):
    """There is no such object."""

    reason = "NotFound"


class AlreadyExists(Refused):
    """There is such an object already."""

    reason = "AlreadyExists"


class Conflict(Refused):
    """The object is not the one that the request means, or has changed since then."""

    reason = "Conflict"


class Invalid(Refused):
    """The request cannot be carried out on this object."""

    reason = "Invalid"


class Forbidden(Refused):
    """An admission plugin does not let the object in."""

    reason = "Forbidden"
