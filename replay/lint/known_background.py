"""The objects of a log at a point, which files are checked against."""

from __future__ import annotations

from typing import NamedTuple

from ..logs.log import Log
from ..logs.logged_confs import conf_at
from ..moments.moment import Moment
from .findings import FindingSubject
from .lint_inputs import Configuration
from .objects import TEMPLATE, TYPES, Manifest


class Background(NamedTuple):
    """Objects at a point, and the last configuration applied before it, if any.

    :param templates: the JobTemplates by ``namespace/name``.
    """

    manifests: tuple[Manifest, ...]
    conf: Configuration | None
    templates: tuple[str, ...] = ()


def background_at(log: Log, moment: Moment) -> Background:
    """Return the objects that rules check, and the configuration, at a point."""
    manifests = [
        Manifest(document, None) for kind in TYPES for document in log.get(kind, at=moment)
    ]
    templates = [
        Manifest(template, None).subject().name for template in log.get(TEMPLATE, at=moment)
    ]
    conf_text, conf = conf_at(log.store, moment), None
    if conf_text is not None:
        subject = FindingSubject("", "SchedulerConfiguration", conf_text.source)
        conf = Configuration(conf_text.text, subject)
    return Background(tuple(manifests), conf, tuple(templates))
