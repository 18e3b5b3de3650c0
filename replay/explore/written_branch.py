"""A run as events on a branch of a log, which every other command reads.

The log has what the API server held: one order of writes. It does not have when an informer
delivered each of them. So a cache rebuilt from the branch is that of a scheduler that is never
late.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ...engine.errors import LogNotFound, UsageError
from ...engine.events import Event, Reference, canonical_json
from ...engine.events.payloads import ScenarioDeclared
from ...engine.ingest.objects.scheduler_conf import config_event
from ...engine.ingest.objects.version_events import version_event
from ...engine.kubernetes.api_server import ADDED, DELETED, Document
from ...engine.kubernetes.scheduler_confs import parse_conf
from ...engine.kubernetes.yaml import YamlFault
from ...engine.log import MAIN, check_place, open_log
from ...engine.log.store import BranchInfo
from ...engine.version import __version__
from .scenario_world import ScenarioWorld, server_in
from .step_writes import StoryWrite
from .story import Story

SOURCE = "plinian explore"


class WrittenBranch(msgspec.Struct, frozen=True):
    """A branch that was written, and how many events it got."""

    branch: BranchInfo
    events: int


def check_branch(place: str | Path, name: str) -> None:
    """Refuse a branch that a run could not be written to, before the run is searched for.

    :raises UsageError: there is such a branch. :raises LogUnavailable: there can be no such log.
    """
    try:
        with open_log(place, read_only=True) as store:
            there = {branch.name for branch in store.branches()}
    except LogNotFound:
        check_place(place)
        there = {MAIN}
    if name in there:
        raise UsageError(f"a branch {name!r} already exists", now="choose another name")


def write_branch(
    place: str | Path, name: str, world: ScenarioWorld, story: Story, *, cluster: str = "default"
) -> WrittenBranch:
    """Write a run to a log, as a new branch that begins with an empty cluster.

    :param place: of the log; it is created if there is none.
    :raises UsageError: there is such a branch, or it cannot have this name.
    """
    with open_log(place, create=True) as store:
        branch = store.create_branch(name, fork=0)
        events = list(_Events(cluster).of(world, story))
        store.append(events, branch=name)
    return WrittenBranch(branch, len(events))


class _Events:
    """Gives each change the next revision, as the one API server of a cluster does."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._revision = 0

    def of(self, world: ScenarioWorld, story: Story) -> Iterator[Event]:
        """Yield what exists before the run, and then what each of its steps writes."""
        if world.case.conf:
            yield self._configuration(world.case.conf)
        for _, document in server_in(world, world.start).kept().objects:
            yield self._version(document, "created", "", 0)
        for moment in story.moments:
            for write in moment.writes:
                yield from self._write(write, moment.actor, moment.number)
        declared = ScenarioDeclared(until=self._revision)
        yield self._event("scenario.declared", Reference(kind="Scenario"), canonical_json(declared))

    def _write(self, write: StoryWrite, actor: str, number: int) -> Iterator[Event]:
        # One step replaced an object by another of its name: a log has that as two events.
        if write.before is not None and write.before["metadata"]["uid"] != _uid(write.after):
            yield self._version(write.before, "deleted", actor, number)
            yield self._version(write.after, "created", actor, number)
        else:
            yield self._version(write.after, _verb_of(write), actor, number)

    def _version(self, document: Document, verb: str, actor: str, number: int) -> Event:
        self._revision += 1
        metadata = {**document["metadata"], "resourceVersion": str(self._revision)}
        event = version_event(
            {**document, "metadata": metadata},
            verb=verb,
            source=SOURCE,
            line=number,
            cluster=self._cluster,
            actor=actor,
        )
        # The order is the time of a run; the times in its objects are those of no clock.
        return msgspec.structs.replace(event, earliest=None)

    def _configuration(self, text: str) -> Event:
        self._revision += 1
        try:
            parsed = parse_conf(text)
        except YamlFault:
            parsed = None  # The scheduler reads it all the same, and reports the fault.
        event = config_event(text, parsed, source=SOURCE, line=0, cluster=self._cluster)
        revision = self._revision
        return msgspec.structs.replace(event, revision=revision, resource_version=str(revision))

    def _event(self, kind: str, reference: Reference, payload: bytes) -> Event:
        return Event(
            kind=kind,
            reference=reference,
            payload=payload,
            source=f"{SOURCE} {__version__}",
            line=0,
            cluster=self._cluster,
        )


def _verb_of(write: StoryWrite) -> str:
    return {ADDED: "created", DELETED: "deleted"}.get(write.verb, "updated")


def _uid(document: Document) -> str:
    return str(document["metadata"]["uid"])
