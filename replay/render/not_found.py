"""Hints for an object of which a log holds no version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.errors import ObjectNotFound
from ...engine.kubernetes.resources import plural_of
from ..histories.related_objects import meant
from ..logs.given_names import never_known
from ..objects.kind_names import ObjectName
from .related_objects import meant_text

if TYPE_CHECKING:
    from ..histories.history import History
    from ..logs.log import Log
    from ..moments.moment import Moment

_ADVICE = "plinian events --object KIND lists what it knows; -n chooses the namespace"


def never_held(log: Log, found: History, moment: Moment) -> ObjectNotFound | None:
    """Return the error for an object of which the log holds no version, with what may be meant.

    None if the log holds one, or requests about it, or if log lines that name the object are the
    best hint.
    """
    if found.uids or any(one.requested for one in found.happenings):
        return None
    reference, place = found.object, found.object.namespace
    target = ObjectName(reference.group, reference.kind, reference.name)
    may_be = meant(log.store, target, place, moment)
    lines = len(found.happenings)
    if lines and not may_be:
        return None
    scope = f" in namespace {place}" if place else ""
    what = f'the log holds no {plural_of(target.group, target.kind)} "{target.name}"{scope}'
    if lines:
        several = f"{lines} log lines that name it"
        what += f", and {'1 log line that names it' if lines == 1 else several}"
    kind = (target.group, target.kind)
    near = "" if may_be else never_known(log, kind, target.name, place)
    now = meant_text(may_be, target.name) if may_be else near or _ADVICE
    return ObjectNotFound(what, now=now)
