"""Events that are derived from an object version by its kind.

Every format that makes version events of ConfigMaps passes them through here, so that a scheduler
configuration is found in every input: a list, a watch, an audit log.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...events import KINDS, Effect, Event
from ...kubernetes.scheduler_confs import configs_in
from .scheduler_conf import config_event


def extra_events(document: dict[str, Any], event: Event) -> list[Event]:
    """Return the derived events: ``config.applied`` for each scheduler configuration.

    Cheap for all objects but ConfigMaps. The derived event has the version's revision, time and
    actor. Events of one revision and reference differ only in their effect, so the second
    and later configurations of a ConfigMap have the key added to the name: ``name/key``.

    :param document: the object of ``event``.
    """
    reference = event.reference
    if reference.kind != "ConfigMap" or reference.group:
        return []
    if KINDS[event.kind].effect is not Effect.VERSION:
        return []
    extra = []
    for place, (key, text, parsed) in enumerate(configs_in(document)):
        derived = config_event(
            text,
            parsed,
            source=event.source,
            line=event.line,
            cluster=event.cluster,
            configmap=f"{reference.namespace}/{reference.name}:{key}",
        )
        named = (
            msgspec.structs.replace(reference, name=f"{reference.name}/{key}")
            if place
            else reference
        )
        extra.append(
            msgspec.structs.replace(
                derived,
                reference=named,
                resource_version=event.resource_version,
                revision=event.revision,
                earliest=event.earliest,
                latest=event.latest,
                actor=event.actor,
            )
        )
    return extra
