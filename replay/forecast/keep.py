"""A course as events on a branch of a log, which every other command reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...engine.events import Event, Reference, canonical_json
from ...engine.events.payloads import ScenarioDeclared
from ...engine.ingest.objects.scheduler_conf import config_event
from ...engine.ingest.objects.version_events import version_event
from ...engine.kubernetes.api_server import ADDED, DELETED, Document
from ...engine.kubernetes.scheduler_confs import parse_conf
from ...engine.kubernetes.yaml import YamlFault
from ...engine.log import open_log
from ...engine.machine.live import WrittenObject
from ..explore.written_branch import WrittenBranch as Branched
from ..logs.logged_confs import ConfText

SOURCE = "plinian what-if"


def keep(
    place: str | Path,
    name: str,
    existing: Iterable[Document],
    written: Sequence[WrittenObject],
    *,
    begin: int,
    conf: ConfText | None,
    cluster: str,
) -> Branched:
    """Write a course to a log, as a new branch that begins with what existed at its beginning.

    :param place: of the log. :param begin: microseconds since 1970.
    :raises UsageError: there is such a branch, or it cannot have this name.
    """
    with open_log(place) as store:
        # The branch shares no event with the log: its revisions begin with 1 again.
        branch = store.create_branch(name, fork=0)
        events = list(_Events(cluster).of(existing, written, begin, conf))
        store.append(events, branch=name)
    return Branched(branch, len(events))


class _Events:
    """Gives each version the next revision, as the one API server of a cluster does."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._revision = 0

    def of(
        self,
        existing: Iterable[Document],
        written: Sequence[WrittenObject],
        begin: int,
        conf: ConfText | None,
    ) -> Iterator[Event]:
        """Yield the configuration, what existed, what was written, and that this is all."""
        if conf is not None and conf.text.strip():
            yield self._configuration(conf.text)
        for document in existing:
            yield self._version(document, "observed", begin, "")
        for written_object in written:
            verb = {ADDED: "created", DELETED: "deleted"}.get(written_object.change.verb, "updated")
            yield self._version(
                written_object.change.document, verb, written_object.at, written_object.by
            )
        yield Event(
            kind="scenario.declared",
            reference=Reference(kind="Scenario"),
            payload=canonical_json(ScenarioDeclared(until=self._revision)),
            source=SOURCE,
            line=0,
            cluster=self._cluster,
        )

    def _version(self, document: Document, verb: str, at: int, actor: str) -> Event:
        self._revision += 1
        metadata = {**document["metadata"], "resourceVersion": str(self._revision)}
        return version_event(
            {**document, "metadata": metadata},
            verb=verb,
            source=SOURCE,
            line=self._revision,
            cluster=self._cluster,
            earliest=at,
            latest=at,
            actor=actor,
        )

    def _configuration(self, text: str) -> Event:
        try:
            parsed = parse_conf(text)
        except YamlFault:
            parsed = None  # The scheduler reads it all the same, and reports the fault.
        return config_event(text, parsed, source=SOURCE, line=0, cluster=self._cluster)
