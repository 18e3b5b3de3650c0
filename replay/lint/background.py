"""The objects of a log at a point, which files are checked against."""

from __future__ import annotations

from typing import NamedTuple

from ..moments.log import Log
from ..moments.moment import Moment
from ..moments.scheduler_confs import conf_at
from .findings import Subject
from .inputs import Configuration
from .objects import TYPES, Manifest


class Background(NamedTuple):
    """Objects at a point, and the last configuration applied before it, if any."""

    manifests: tuple[Manifest, ...]
    conf: Configuration | None


def background_at(log: Log, moment: Moment) -> Background:
    """Return the objects that rules check, and the configuration, at a point."""
    manifests = [
        Manifest(document, None) for kind in TYPES for document in log.get(kind, at=moment)
    ]
    found = conf_at(log.store, moment)
    if found is None:
        return Background(tuple(manifests), None)
    subject = Subject("", "SchedulerConfiguration", found.source)
    return Background(tuple(manifests), Configuration(found.text, subject))
