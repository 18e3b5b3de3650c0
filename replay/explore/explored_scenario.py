"""Scenarios of ``"mode": "machine"``: the writes of users; all else is the machine's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import InputError, PlinianError
from ...engine.ingest.reading.json_text import DECODE_FAULTS
from ...engine.kubernetes.api_server import ADDED, DELETED, MODIFIED, Document, place_of
from ...engine.kubernetes.object_store import fault_of
from ...engine.kubernetes.objects import KINDS
from ...engine.kubernetes.resources import CLUSTER_SCOPED_KINDS, distinct_kind
from ...engine.machine.cluster_machine import kinds_in
from ...engine.machine.machine_faults import FAULT_KINDS, NO_FAULTS, FaultLimits
from ...engine.machine.user import UserAct
from ..simulate.scenario_cases import case_name, read_packed

MODE = "machine"
CHANGES = (ADDED, MODIFIED, DELETED)
WORKLOADS = frozenset(
    {
        *("Pod", "PodGroup", "Deployment", "ReplicaSet", "ReplicationController"),
        *("StatefulSet", "Job", "Command", "PodDisruptionBudget", "JobFlow", "JobTemplate"),
    }
)
"""Kinds whose objects run something. All others make up the cluster that they run in."""

KNOWN = frozenset({*KINDS, *WORKLOADS})
"""The kinds that a component of the machine watches."""

MOST_FAULTS = 9
NONE = "none"
SCHEDULER = "volcano"
_MADE = frozenset({"Pod", "PodGroup", "ReplicaSet", "Job"})
"""Kinds that controllers make, so that a user may delete what no user wrote."""

_SEE = "see docs/how-to/explore.md for its format"


class _Step(msgspec.Struct):
    """Some writes; other fields are notes of the author."""

    events: list[Document] = []
    conf: str | None = None


class _File(msgspec.Struct):
    """The fields of a scenario file that are read."""

    steps: list[_Step]
    existing: list[Document] = []
    mode: str = ""
    name: str = ""
    about: str = ""
    conf: str | None = None
    faults: dict[str, int] = {}


class MachineCase(NamedTuple):
    """A scenario of a machine.

    :param conf: the text of volcano-scheduler.conf; empty for the built-in one.
    :param existing: objects that are there before anything starts.
    :param writes: what users write, in their order. :param faults: how often what may fail.
    """

    name: str
    about: str
    conf: str
    existing: tuple[Document, ...]
    writes: tuple[UserAct, ...]
    faults: FaultLimits = NO_FAULTS

    def document(self) -> Document:
        """Return the scenario as a file has it."""
        # Of the first writes, a reader takes what runs nothing as existing; what runs must be named
        # so.
        running = any(_runs(each) for each in self.existing)
        begin = [] if running else [{"type": ADDED, "object": each} for each in self.existing]
        writes = [{"type": act.verb, "object": act.document} for act in self.writes]
        steps = [{"events": [*begin, *writes[:1]]}, *({"events": [write]} for write in writes[1:])]
        about = {"about": self.about} if self.about else {}
        there = {"existing": [*self.existing]} if running else {}
        failing = {kind: often for kind, often in self.faults._asdict().items() if often}
        return {
            "name": self.name,
            **about,
            "mode": MODE,
            "conf": self.conf,
            **({"faults": failing} if failing else {}),
            **there,
            "steps": steps,
        }


def read_machine_case(path: Path) -> MachineCase:
    """Read a scenario file, packed or not.

    :raises InputError: there is no such file, or it is no scenario of a machine.
    """
    data = read_packed(path)
    try:
        case = parse_machine_case(data)
    except PlinianError as fault:
        raise type(fault)(fault.what, where=str(path), now=fault.now) from fault
    return case if case.name else case._replace(name=case_name(path))


def parse_machine_case(data: bytes) -> MachineCase:
    """Parse the text of a scenario.

    :raises InputError: it is no scenario of a machine; with the place in it.
    """
    try:
        read = msgspec.json.decode(data, type=_File)
    except msgspec.ValidationError as fault:
        raise InputError(f"not a scenario: {fault}", now=_SEE) from fault
    except DECODE_FAULTS as fault:
        raise InputError(f"not JSON: {fault}", now="is the file cut short?") from fault
    if read.mode != MODE:
        raise InputError(
            f"the scenario has {f'the mode {read.mode!r}' if read.mode else 'no mode'}, and only "
            f'"mode": "{MODE}" can be explored',
            now='if its events are what users write, add "mode": "machine"; '
            "plinian simulate runs scenarios with sessions at fixed places",
        )
    there = [
        _act({"type": ADDED, "object": each}, f"$.existing[{at}]")
        for at, each in enumerate(read.existing)
    ]
    acts = list(_acts(read, there))
    if not acts:
        raise InputError("the scenario has no writes of users", now=_SEE)
    _check_scheduler([*there, *acts])
    begin = next((at for at, act in enumerate(acts) if not _is_begin(act)), len(acts))
    if begin == len(acts) and not there:
        raise InputError(
            "the scenario only builds a cluster: nothing in it runs",
            now="add a write of a Pod, a Job, a Deployment or a StatefulSet",
        )
    if there:
        begin = 0  # Everything that exists is named as such.
    existing = tuple(act.document for act in (*there, *acts[:begin]))
    faults = limits_of(read.faults, "$.faults")
    writes = tuple(acts[begin:])
    # A scheduler has one configuration from the begin: the first step may give it as well.
    conf = read.conf or read.steps[0].conf or ""
    return MachineCase(read.name, read.about, conf, existing, writes, faults)


def limits_of(given: Mapping[str, int], where: str) -> FaultLimits:
    """Return how often each kind of fault may happen.

    :param where: of the numbers, for messages.
    :raises InputError: a kind is not known, or a number is negative or too large.
    """
    for kind, often in given.items():
        if kind not in FAULT_KINDS:
            raise InputError(
                f"{where}: no fault {kind!r:.60}", now=f"there are {', '.join(FAULT_KINDS)}"
            )
        if not 0 <= often <= MOST_FAULTS:
            raise InputError(
                f"{where}: {kind} cannot happen {often} times",
                now=f"write a number from 0 to {MOST_FAULTS}",
            )
    return FaultLimits(**given)


def parsed_faults(text: str) -> FaultLimits:
    """Return the limits of a list such as ``watch,request=2``, or ``none``.

    :raises InputError: a kind is not known, or a number is no number of faults.
    """
    given: dict[str, int] = {}
    for limit in filter(None, (word.strip() for word in text.split(","))):
        kind, equals, often = limit.partition("=")
        if equals and not (often.isascii() and often.isdigit() and len(often) < 4):
            raise InputError(
                f"faults: {limit!r:.60} has no number of times", now="write it as in watch=2"
            )
        if limit != NONE:
            given[kind] = int(often) if equals else 1
    return limits_of(given, "faults")


def _is_begin(act: UserAct) -> bool:
    return act.verb == ADDED and not _runs(act.document)


def _runs(document: Document) -> bool:
    return document["kind"] in WORKLOADS


def _acts(read: _File, there: Sequence[UserAct]) -> Iterator[UserAct]:
    """Yield the writes of a scenario, each checked against what is there and those before it."""
    written: dict[tuple[str, str], Document] = {
        place_of(act.document): act.document for act in there
    }
    for i, step in enumerate(read.steps):
        if step.conf is not None and (i or read.conf):
            raise InputError(
                f"not a scenario of a machine: a new conf at $.steps[{i}].conf",
                now="the scheduler of a machine keeps its configuration; put it at $.conf",
            )
        for j, event in enumerate(step.events):
            act = _act(event, f"$.steps[{i}].events[{j}]")
            place = place_of(act.document)
            if act.verb == DELETED and not _can_exist(act.document, place, written):
                raise InputError(
                    f"impossible user action: {act.document['kind']} {place.key} is deleted at "
                    f"$.steps[{i}].events[{j}], but nothing before creates it",
                    now="add it in an earlier step, or leave its deletion out",
                )
            if act.verb == DELETED:
                written.pop(place, None)
            else:
                written[place] = act.document
            yield act


def _act(event: Any, where: str) -> UserAct:
    kind = event.get("type")
    if kind not in CHANGES:
        raise InputError(
            f"unknown type {kind!r:.60} at {where}.type",
            now=f"in a scenario of a machine write one of {', '.join(CHANGES)}",
        )
    document = event.get("object")
    if fault := fault_of(document):
        raise InputError(f"{fault} at {where}.object", now=_SEE)
    name = distinct_kind(document["apiVersion"], document["kind"])
    if name not in KNOWN:
        raise InputError(
            f"unknown kind {document['kind']!r:.60} of {document['apiVersion']!r:.60} at "
            f"{where}.object: no component of the machine watches it",
            now=f"known are {', '.join(sorted(KNOWN))}",
        )
    metadata = document["metadata"]
    if name not in CLUSTER_SCOPED_KINDS and not metadata.get("namespace"):
        document = {**document, "metadata": {**metadata, "namespace": "default"}}
    return UserAct(kind, document)


def _can_exist(
    document: Document, place: tuple[str, str], written: dict[tuple[str, str], Document]
) -> bool:
    """Say whether an object may be there: a user wrote it, or a controller can have made it."""
    if place in written or (document["kind"] == "Queue" and place[1] in {"default", "root"}):
        return True
    namespace = document["metadata"].get("namespace")
    owners = {
        document["kind"]
        for document in written.values()
        if document["metadata"].get("namespace") == namespace and document["kind"] in WORKLOADS
    }
    return document["kind"] in _MADE and any(
        document["kind"] in kinds_in([owner]) and owner != document["kind"] for owner in owners
    )


def _check_scheduler(acts: Sequence[UserAct]) -> None:
    """Refuse a scenario whose pods are all of another scheduler."""
    specs = list(_pod_specs(acts))
    if specs and not any(spec.get("schedulerName") == SCHEDULER for spec in specs):
        raise InputError(
            f"no pod of the scenario has schedulerName: {SCHEDULER}, so no scheduler runs them",
            now=f'add "schedulerName": "{SCHEDULER}" to the spec of pods or of their template',
        )


def _pod_specs(acts: Sequence[UserAct]) -> Iterator[Document]:
    """Yield the specs of all pods, and of the templates of pods; a Job of Volcano has its own."""
    for act in acts:
        document, spec = act.document, act.document.get("spec") or {}
        if act.verb == DELETED:
            continue
        if document["kind"] == "Job":
            yield {"schedulerName": SCHEDULER, **spec}
        elif document["kind"] == "Pod":
            yield spec
        elif isinstance(spec.get("template"), dict):
            yield spec["template"].get("spec") or {}


def lacking(case: MachineCase) -> Iterator[str]:
    """Yield what a scenario lacks for its pods to run."""
    kinds = {each["kind"] for each in case.existing}
    kinds |= {act.document["kind"] for act in case.writes}
    if "Node" not in kinds:
        yield "no nodes: sessions place no pods"
