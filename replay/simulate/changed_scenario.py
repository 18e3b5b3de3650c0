"""Change a scenario: another configuration, or other fields in its objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.kubernetes.object_store import Document, fault_of
from ...engine.kubernetes.resources import CLUSTER_SCOPED_KINDS
from ..objects.kind_names import ObjectName, object_named
from .scenario_cases import CHANGES, Case, CaseStep

_FORM = """write TYPE/NAME=JSON, as in 'queue/test={"spec":{"capability":{"cpu":"20"}}}'"""


class Patch(NamedTuple):
    """A change to every version of an object in a scenario.

    :param change: a JSON merge patch (RFC 7386), as ``kubectl patch --type merge`` takes it.
    """

    named: ObjectName
    namespace: str
    change: Document


class ScenarioChanges(NamedTuple):
    """Changes to a scenario; by default none.

    :param conf: the text of a volcano-scheduler.conf that replaces the scenario's.
    """

    conf: str | None = None
    patches: Sequence[Patch] = ()


NOTHING = ScenarioChanges()


def parse_patch(text: str) -> Patch:
    """Parse ``TYPE/NAME={…}`` or ``TYPE/NAMESPACE/NAME={…}``.

    :raises UsageError: it has another form, there is no such kind, or the JSON is not an object.
    """
    address, equals, change = text.partition("=")
    kind, _, rest = address.partition("/")
    namespace, slash, name = rest.partition("/")
    if not equals or not kind or not rest or not change:
        raise UsageError(
            f"{text!r} is not a patch: it is not of the form TYPE/NAME=JSON", now=_FORM
        )
    try:
        document = msgspec.json.decode(change)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        message = f"what follows the = is not JSON: {fault}"
        raise UsageError(f"{text!r} is not a patch: {message}", now=_FORM) from fault
    if not isinstance(document, dict):
        message = "what follows the = is not a JSON object"
        raise UsageError(f"{text!r} is not a patch: {message}", now=_FORM)
    named = object_named(f"{kind}/{name if slash else rest}")
    return Patch(named, namespace if slash else "default", document)


def changed(case: Case, what_if: ScenarioChanges) -> Case:
    """Return a changed copy of a scenario.

    :raises UsageError: a patch is for an object that the scenario does not have, or its result is
        not an object.
    """
    for patch in what_if.patches:
        if not any(_is_about(event, patch) for step in case.steps for event in step.events):
            raise UsageError(
                f"the scenario has no {patch.named.kind} {patch.named.name}",
                where=case.name,
                now="patch an object that one of its events has",
            )
    if what_if == NOTHING:
        return case
    steps = tuple(_changed_step(step, what_if) for step in case.steps)
    conf = case.conf if what_if.conf is None else what_if.conf
    return msgspec.structs.replace(case, conf=conf, steps=steps)


def _changed_step(step: CaseStep, what_if: ScenarioChanges) -> CaseStep:
    events = tuple(_changed_event(event, what_if.patches) for event in step.events)
    # A given configuration replaces those of all steps.
    conf = step.conf if what_if.conf is None else None
    return msgspec.structs.replace(step, conf=conf, events=events)


def _changed_event(event: Document, patches: Sequence[Patch]) -> Document:
    for patch in patches:
        if _is_about(event, patch):
            event = {**event, "object": merged(event["object"], patch.change)}
            if fault := fault_of(event["object"]):
                raise UsageError(
                    f"after the patch, {patch.named.kind} {patch.named.name} is not a valid "
                    f"object: {fault}",
                    now="patch other fields",
                )
    return event


def _is_about(event: Document, patch: Patch) -> bool:
    if event["type"] not in CHANGES:
        return False
    document = event["object"]
    kind, metadata = document["kind"], document["metadata"]
    group = document["apiVersion"].rpartition("/")[0]
    namespace = metadata.get("namespace") or "default"
    here = kind in CLUSTER_SCOPED_KINDS or namespace == patch.namespace
    return here and (group, kind, metadata["name"]) == patch.named[:3]


def merged(document: Any, change: Any) -> Any:
    """Return a document with a JSON merge patch applied; null takes a field away (RFC 7386)."""
    if not isinstance(change, dict):
        return change
    patched = dict(document) if isinstance(document, dict) else {}
    for name, value in change.items():
        if value is None:
            patched.pop(name, None)
        else:
            patched[name] = merged(patched.get(name), value)
    return patched
