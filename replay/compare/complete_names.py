"""Complete the name in a question, and refuse a name that the log never held."""

from __future__ import annotations

import msgspec

from ...engine.errors import ObjectNotFound
from ...engine.kubernetes.resources import GroupKind, plural_of
from ..logs.given_names import PODGROUP, is_known, name_of, never_known
from ..logs.log import Log
from ..moments.moment import Moment
from .session_claims import BOUND, PANIC, PENDING, SessionClaim

_POD: GroupKind = ("", "Pod")


def named(log: Log, question: SessionClaim, moment: Moment) -> SessionClaim:
    """Return a question with the full name of what it is about.

    A PodGroup may be named by its job. What is there at the moment comes first, then what the log
    ever knew.

    :raises ObjectNotFound: the log never held it.
    :raises UsageError: the name may be that of several objects.
    """
    if question.kind == PANIC:
        return question
    kind = _POD if question.kind in {BOUND, PENDING} else PODGROUP
    namespace, _, text = question.about.partition("/")
    name = name_of(log, kind, text, namespace, moment)
    if not is_known(log, kind, name, namespace):
        raise ObjectNotFound(
            f'the log knows no {plural_of(*kind)} "{text}" in namespace {namespace}',
            now=never_known(log, kind, text, namespace),
        )
    return msgspec.structs.replace(question, about=f"{namespace}/{name}")
