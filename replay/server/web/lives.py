"""The lives of objects for a page: read once, and kept while somebody moves through them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ....engine.errors import ObjectNotFound
from ....engine.kubernetes.resources import CLUSTER_SCOPED
from ...facade.log import Log
from ...histories.history import History
from ...histories.name_life import Life, NameState
from ...logs.given_names import name_of
from ...moments.moment import Moment
from ...moments.store_key import StoreKey
from ...objects.kind_names import ObjectName
from ...truth.truth import bound_document


def life_of(log: Log, text: str) -> Life:
    """Return the life of an object, as in ``pod/ml/train-0``.

    :raises UsageError: it does not name an object.
    :raises ObjectNotFound: the log never held it.
    """
    moment = log.moment()
    named, opened = log.object(text, moment), StoreKey(log.store)
    pair = (named.group, named.kind)
    place = "" if pair in CLUSTER_SCOPED else named.place("") or ""
    life = _life(opened, named, place, moment)
    if not life.history.uids:  # Lines of logs name a PodGroup by its job.
        named = named._replace(name=name_of(log, pair, named.name, place, moment))
        life = _life(opened, named, place, moment)
    if not life.history.happenings:
        raise ObjectNotFound(
            f"the log holds no {text}", now="choose an object from the events or a table"
        )
    return life


@lru_cache(maxsize=24)
def _life(opened: StoreKey, named: ObjectName, place: str, moment: Moment) -> Life:
    return Life(opened.store, named, namespace=place, moment=moment)


def document_of(log: Log, state: NameState) -> dict[str, Any]:
    """Return the object that a state shows; if it was deleted, as it was before."""
    moment = log.moment()
    payload = log.store.payloads([state.version], moment.branch)[state.version]
    return bound_document(payload, state.node)


def set_by(past: History, version: int) -> dict[str, int]:
    """Return by path which event set a field last, for the object of a version.

    A field that is not in it has its value from the object's first version.
    """
    uid = next(
        (happening.uid for happening in past.happenings if happening.position == version), ""
    )
    places: dict[str, int] = {}
    for happening in past.happenings:
        if happening.uid != uid:
            continue
        if not places and happening.revision is not None:
            places[""] = happening.position
        for change in happening.changes:
            places[change.path] = happening.position
    return places


def setter(places: dict[str, int], path: str) -> int:
    """Return the last event that changed what is at a path: itself, what holds it, or a part."""
    return max((at for name, at in places.items() if _concerns(name, path)), default=0)


def _concerns(changed: str, path: str) -> bool:
    """Return whether a change of one path changes what is at another."""
    short, long = sorted((changed, path), key=len)
    return not short or long == short or (long.startswith(short) and long[len(short)] in ".[")
