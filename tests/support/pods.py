"""Small events to fill a log with."""

from __future__ import annotations

from plinian.engine.events import Effect, Event, Reference, canonical_json
from plinian.engine.events.payloads import ListObserved, MessageLogged, PodBound

SECOND = 1_000_000
START = 1_750_000_000 * SECOND
"""A time that a pod of revision 0 would have been seen at, microseconds."""


def pod(
    revision: int,
    name: str = "web-0",
    *,
    verb: str = "updated",
    actor: str = "",
    cluster: str = "default",
    observed_at: int | None = -1,
    source: str = "dir/watch-pods.jsonl",
) -> Event:
    """Return a version of a pod; seen ``revision`` seconds after :data:`START` by default."""
    reference = Reference("", "Pod", "shop", name, f"uid-of-{name}")
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "resourceVersion": str(revision)},
        "status": {"phase": "Running", "note": f"revision {revision} of {name}" * 5},
    }
    return Event(
        kind=f"pod.{verb}",
        reference=reference,
        payload=canonical_json(document),
        resource_version=str(revision),
        revision=revision,
        earliest=START + revision * SECOND if observed_at == -1 else observed_at,
        latest=START + revision * SECOND if observed_at == -1 else observed_at,
        actor=actor,
        source=source,
        line=revision + 1,
        cluster=cluster,
    )


def pods(*revisions: int, cluster: str = "default") -> list[Event]:
    """Return versions of seven pods in turn, one for each revision."""
    return [pod(revision, f"web-{revision % 7}", cluster=cluster) for revision in revisions]


def bound(name: str, node: str, *, at: int | None) -> Event:
    """Return a binding without revision, seen ``at`` seconds after :data:`START`."""
    return Event(
        kind="pod.bound",
        reference=Reference("", "Pod", "shop", name, f"uid-of-{name}"),
        payload=canonical_json(PodBound(node=node)),
        earliest=None if at is None else START + at * SECOND,
        latest=None if at is None else START + at * SECOND,
        actor="system:scheduler",
        source="audit.log",
        line=1,
    )


def message(text: str, *, line: int = 1) -> Event:
    """Return a log line, which changes no truth."""
    return Event(
        kind="message.logged",
        reference=Reference(),
        payload=canonical_json(MessageLogged(component="scheduler", severity="E", message=text)),
        source="logs/scheduler.log",
        line=line,
    )


def listing(revision: int, *names: str, exact: bool = True) -> Event:
    """Return a complete list of pods."""
    payload = ListObserved(
        group="", listed="Pod", uids=tuple(sorted(f"uid-of-{n}" for n in names)), exact=exact
    )
    return Event(
        kind="list.observed",
        reference=Reference("", "Pod"),
        payload=canonical_json(payload),
        resource_version=str(revision) if exact else "",
        revision=revision,
        source="list.json",
        line=1,
    )


__all__ = ["SECOND", "START", "Effect", "bound", "listing", "message", "pod", "pods"]
