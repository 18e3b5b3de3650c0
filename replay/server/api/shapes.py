"""The shapes of answers: stable names and types, down to the last field; fields are only added.

A shape is words ``name:type``. A type is ``string``, ``integer``, ``number``, ``boolean``, ``any``,
``object`` (of Kubernetes, or with any names), the name of another shape, ``[type]``, a list, or
``{type}``, an object with any names. ``?`` after a type: it may be null; ``*``: the field may be
missing. The word ``...``: there are further fields, which depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

PREFIX = "Result"
"""Before the name of a shape in documents that also have others."""

_PLAIN = frozenset({"string", "integer", "number", "boolean"})

_SESSION = (
    "at:string conf:string conf_rejected:[string] binds:[[string]] binds_refused:[[string]] "
    "enqueued:[string] errors:[string] evict_reasons:{string} evictions:[string] "
    "fit_errors:{string} fit_codes:{{number}} metrics:{{number}} node_scores:{{number}}* "
    "nominated:{string} not_known:[Gap] panic:string? "
    "panic_at:string? panic_during:string? stopped:string pipelined:[[string]] "
    "pod_conditions:{string} podgroups:{[any]} "
    "queues:{[any]} release:string session_jobs:[string] trace:[Step]* unsure:Unsure?"
)
_BEHAVIOUR = (
    "behaviour:string part:string subject:string since:[string] source:string why:string "
    "pull:string? "
)

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "Reference": "group:string kind:string namespace:string name:string uid:string",
        "Named": "kind:string namespace:string name:string",
        "Gap": "group:string kind:string namespaces:[string] why:string after:integer? "
        "after_time:string? after_earliest:string? after_latest:string? before:integer? "
        "before_time:string? before_earliest:string? before_latest:string? "
        "shown_again_earliest:string? shown_again_latest:string? shown_gone_earliest:string? "
        "shown_gone_latest:string? message:string remedy:string",
        "Unsure": "count:integer first:integer last:integer",
        "Step": "action:string what:string about:string by:string outcome:string numbers:{any}",
        "Behaviour": f"{_BEHAVIOUR}values:[string?]",
        # log
        "Input": "source:string format:string events:integer first_revision:integer? "
        "last_revision:integer? redacted:boolean",
        "Times": "first:string? first_earliest:string? first_latest:string? last:string? "
        "last_earliest:string? last_latest:string? bounded:integer revisions:integer "
        "median_width_us:integer? disagreements:[any]",
        "Stretch": "first:integer? last:integer? first_time:string? first_earliest:string? "
        "first_latest:string? last_time:string? last_earliest:string? last_latest:string? "
        "by:[string] open:boolean",
        "Coverage": "group:string kind:string namespaces:[string] complete:[Stretch]",
        "Kind": "group:string kind:string",
        # diff, history
        "Moment": "point:string branch:string known:integer revision:integer? time:string? "
        "earliest:string? latest:string? shown:string? uncertain:boolean unsure:Unsure?",
        "Summary": "added:integer first_seen:integer removed:integer changed:integer "
        "rewritten:integer same:integer",
        "Then": "object:Reference position:integer resource_version:string replaced:boolean",
        "FieldChange": "path:string old:any* new:any*",
        "Changed": "object:Reference changes:[FieldChange] positions:[integer] "
        "versions:[string] stale:[boolean]",
        "Held": "allocatable:{number} used:{number} pods:integer",
        "Holding": "name:string before:Held? after:Held? first_seen:boolean",
        "Happening": "position:integer kind:string time:string? earliest:string? latest:string? "
        "recorded_at:string? resource_version:string revision:integer? uid:string actor:string "
        "attributed_at:integer? source:string line:integer? note:string changes:[FieldChange]",
        # why, blame
        "Event": "position:integer revision:integer? time:string? earliest:string? latest:string? "
        "estimate:string? kind:string about:string by:string",
        "Part": "about:string amount:string before:string event:Event?",
        "Asked": "kind:string name:string at:string release:string conf:string "
        "revision:integer? assumed:[string]",
        "Link": "reason:string text:string blocks:boolean ...",
        "Since": "at:string time:string? earliest:string? latest:string? estimate:string? "
        "exact:boolean or_earlier:boolean gap:boolean not_at:string? "
        "events:[Event] more:integer",
        "Stage": "cause:string sentence:string since:Since? gaps:[[integer]]",
        "Remedy": "text:string kind:string starts:string evicts:[string] no_longer:[string] "
        "faults:[string]",
        # what-if, forecast
        "ShortSession": "name:string changes:[string] conf:string conf_rejected:[string] "
        "release:string binds:[[string]] binds_refused:[[string]] enqueued:[string] "
        "errors:[string] evict_reasons:{string} "
        "evictions:[string] fit_errors:{string} fit_codes:{{number}} nominated:{string} "
        "panic:string? panic_at:string? "
        "panic_during:string? stopped:string pipelined:[[string]] pod_conditions:{string} "
        "podgroups:{[any]} queues:{[any]} session_jobs:[string]",
        "OneDecision": "decision:string object:string ...",
        "Calibration": "until:string recorded:integer predicted:integer same_node:integer "
        "invented:integer off:integer? off_most:integer?",
        "Placement": "pod:string node:string at:string work:string",
        "Eviction": "pod:string at:string work:string",
        "Use": "queue:string resource:string mean:number peak:number series:[number] "
        "deserved:number? capability:number?",
        "Work": "name:string queue:string needs:integer had:integer placed:integer "
        "starts:string? finished:string? evictions:integer waiting:integer",
        "CourseSummary": "name:string started:integer earlier:integer later:integer "
        "only_here:integer not_here:integer by:integer? evictions:integer finished:integer "
        "waiting:integer sessions:integer ran:integer endless:integer",
        "Panic": "at:string message:string",
        "Course": "name:string changes:[string] release:string conf:string until:string "
        "works:[Work] placements:[Placement] evictions:[Eviction] queues:[Use] panics:[Panic] "
        "summary:CourseSummary",
        "CourseDifference": "what:string work:string queue:string ...",
        # compare
        "LabelledSession": f"label:string {_SESSION}",
        "Decision": "kind:string about:string values:[string?]",
        "Parting": "number:integer what:string before:[Step] steps:[[Step]]",
        "Consulted": f"{_BEHAVIOUR}values:[string?] releases:[string] decides:boolean?",
        # belief, drift
        "NodeHeld": "name:string state:string allocatable:{any} idle:{any} used:{any} "
        "releasing:{any} pods:{any} outOfSync:[any]",
        "JobHeld": "job:string queue:string priority:integer minAvailable:integer phase:string? "
        "podGroup:string? resourceVersion:string? seen:string allocated:{any} tasks:{integer}",
        "TaskHeld": "task:string job:string? node:string? uid:string status:string "
        "priority:integer request:{any}",
        "QueueHeld": "name:string parent:string? weight:integer state:string "
        "reclaimable:boolean? resourceVersion:string jobs:integer allocated:{any}",
        "WorkHeld": "worker:string item:string state:string",
        "Differing": "kind:string name:string field:string truth:any belief:any since:integer",
        # check, lint
        "Place": "position:integer revision:integer? time:string? earliest:string? latest:string?",
        "Began": "position:integer kind:string object:Named actor:string?",
        "Violation": "invariant:string name:string severity:string object:Named field:string? "
        "message:string since:Place since_before:boolean until:Place? lasted_seconds:number? "
        "events:[Began]",
        "NotChecked": "invariant:string reason:string",
        "Counts": "error:integer warning:integer note:integer",
        "Subject": "group:string kind:string namespace:string name:string",
        "Finding": "rule:string severity:string effect:string object:Subject file:string? "
        "line:integer? document:integer? field:string message:string plugin:string? now:string "
        "releases:[string]",
        # explore
        "Reached": "made:[string] never:[string]",
        "Verdicts": "order:string breaks:[string] holds:[string] complete:boolean",
        "Cured": "behaviour:string part:string values:[string?] pull:string? why:string",
        "Cure": "breaks:string holds:string behaviours:[Cured]",
        "InLog": "object:string position:integer time:string? earliest:string? latest:string?",
        "Promise": "depth:integer kinds:integer steps:integer walks:integer of_one_walk:number "
        "of_all_walks:number",
        "Anomaly": "invariant:string sentence:string steps:[string] found_in:integer "
        "seed:integer? digest:string token:string releases:Verdicts cure:Cure? in_log:InLog?",
        # bisect, upgrade-check, fidelity
        "Question": "kind:string about:string value:string",
        "Crash": "position:integer revision:integer? observed_at:string? earliest:string? "
        "latest:string? message:string",
        "Probe": "at:string answer:boolean? says:string",
        "FlipSide": "at:string answer:boolean? says:string steps:[Step]",
        "FlipEvent": "position:integer revision:integer? kind:string object:string",
        "Flip": "before:FlipSide after:FlipSide events:[FlipEvent] causes:[[string]] "
        "behaviours:[Behaviour] partings:[Parting]",
        "LeftOut": "count:integer before:any first:any",
        "There": "name:string first:integer last:integer? gone:boolean",
        "Panicking": "crash:integer same:boolean releases:[string]",
        "Effect": "level:string sessions:integer objects:integer decisions:integer "
        "doubtful:integer",
        "Change": "at:string position:integer kind:string level:string about:string "
        "known:boolean values:[string?]",
        "Group": "causes:[[string]] sessions:integer decisions:[Change]",
        "Tally": "recorded:integer exact:integer tie:integer different:integer missed:integer "
        "invented:integer",
        "RunSessions": "recorded:integer left_out:integer requested:integer run:integer "
        "exact:integer exact_at_once:integer moved:integer reordered:integer",
        "Miss": "session:integer position:integer name:string about:string recorded:string "
        "again:string cause:string why:string",
        "Informer": "...",
        "Delivery": "session:integer informers:[Informer]",
        "RunSession": "number:integer id:string opened:string position:integer revision:integer? "
        "how:string runs:integer order:integer exact:boolean bindings:Tally evictions:Tally "
        "phases:Tally conditions:Tally panics:Tally",
        # releases
        "Ours": "session:[string] cache:[string] controllers:[string]",
    }
)
"""The shapes that answers consist of."""

_OBJECT = "apiVersion:string kind:string metadata:object ..."
_COMPARISON = (
    "asked:[string] behaviours:[Behaviour] consulted:[Consulted] decisions:[Decision] "
    "differ:boolean not_known:[Gap] partings:[Parting] sides:[LabelledSession] "
    "steps_compared:integer?"
)

RESULTS: Mapping[str, str] = MappingProxyType(
    {
        "log": "cluster:string branch:string last:integer events:integer first_revision:integer? "
        "last_revision:integer? times:Times inputs:[Input] whole:boolean coverage:[Coverage] "
        "missing:[Kind] releases:[any] configurations:[string] advice:[string]",
        "events": "position:integer kind:string object:Reference resource_version:string "
        "time:string? earliest:string? latest:string? recorded_at:string? actor:string "
        "made:integer? verb:string? source:string line:integer? branch:string cluster:string "
        "payload:object*",
        "sessions": "session:string number:integer id:string how:string position:integer "
        "revision:integer? opened:string? opened_after:string? closed:string? jobs:integer? "
        "queues:integer? podgroups:integer? binds:integer? evictions:integer?",
        "kinds": "group:string kind:string resource:string name:string objects:integer",
        "state": "time:integer? revision:integer? ...",
        "objects": _OBJECT,
        "object": _OBJECT,
        "diff": "apiVersion:string kind:string from:Moment to:Moment summary:Summary added:[Then] "
        "first_seen:[Then] removed:[Then] changed:[Changed] nodes:[Holding] queues:[Holding] "
        "begun:[any] not_known:[Gap]",
        "history": "apiVersion:string kind:string object:Reference uids:[string] "
        "happenings:[Happening] belonging:[Reference] not_known:[Gap] unsure:Unsure?",
        "blame": "about:string number:string at:string value:string changed:string? how:string "
        "last:Event? parts:[Part] not_known:[Gap]",
        "drift": "at:string release:string differences:[Differing] crashes:[any] not_known:[Gap]",
        "why": "asked:Asked sentence:string waits:boolean cause:string began:Event? "
        "made_by:[Event] chain:[Link] stages:[Stage] steps:[Step] events:[Event] "
        "sessions:integer? not_known:[Gap]",
        "what-would-help": "found:[Remedy] tried:integer left:integer unchanged:string "
        "by_fault:[Remedy] in_vain:[string] pairs:integer",
        "what-if": "at:string sides:[ShortSession] decisions:[OneDecision] not_known:[Gap] "
        "unread:[string]",
        "forecast": "at:string begin:string until:string courses:[Course] "
        "differences:[CourseDifference] assumed:[string] not_modelled:[string] "
        "calibration:Calibration? missing:[string] unread:[string] not_known:[Gap]",
        "session": _SESSION,
        "compare": _COMPARISON,
        "compare-moments": _COMPARISON,
        "belief": "nodes:[NodeHeld] jobs:[JobHeld] tasks:[TaskHeld] queues:[QueueHeld] "
        "hypernodes:[any] work:[WorkHeld] panic:string*",
        "check": "at:string release:string checked:[string] not_checked:[NotChecked] "
        "violations:[Violation] unsettled:[Violation] sessions:integer settle_seconds:number "
        "since:string? not_known:[Gap]",
        "explore": "about:string case:string release:string strategy:string seed:integer? "
        "delays:integer? prompt:[string] faults:{integer} invariants:[string] anomalies:[Anomaly] "
        "not_shrunk:integer complete:boolean interrupted:boolean states:integer turns:integer "
        "ends:integer coverage:Reached bound:Promise?",
        "bisect": "question:Question searched:string release:string? release_because:Panicking? "
        "unsure:Unsure? not_known:[Gap] crashes:[Crash] probes:[Probe] answered:boolean "
        "doubtful:integer left_out:LeftOut? object_there:There? flip:Flip?",
        "upgrade-check": "verdict:string effects:[Effect] releases:[string] differ:boolean "
        "unsure:Unsure? not_known:[Gap] logged:boolean sessions:integer known:integer "
        "doubtful:integer left_out:integer unconfigured:boolean differing:integer "
        "groups:[Group] behaviours:[Behaviour]",
        "fidelity": "release:string conf:string sessions:RunSessions bindings:Tally phases:Tally "
        "conditions:Tally evictions:Tally panics:Tally causes:{integer} informers:[Informer] "
        "differences:[Miss] deliveries:[Delivery] by_session:[RunSession] not_known:[Gap]",
        "lint": "releases:[string] conf:string? conf_assumed:string? assumed:[string] "
        "objects:integer counts:Counts not_checked:[any] not_rendered:[any] "
        "without_rules:{integer} findings:[Finding]",
        "releases": "name:string changed:Ours lacking:{string}",
        "behaviours": f"{_BEHAVIOUR}value:string proof:string?",
        "release-diff": f"{_BEHAVIOUR}values:[string?]",
    }
)
"""The shape of each answer, by the name of the question; of a list that of its members."""


_ANY = "..."
"""The shape of an answer that is not described: an object with any fields."""


def result_schema(name: str, *, is_list: bool, ref: str, closed: bool = False) -> dict[str, Any]:
    """Return the JSON schema of the result of a question.

    :param ref: the place of other shapes, with ``{name}`` in it.
    :param closed: fields that no shape names are errors; for tests that all are named.
    """
    shape = _schema(RESULTS.get(name, _ANY), ref, closed=closed)
    return {"type": "array", "items": shape} if is_list else shape


def shape_schemas(
    names: Iterable[str] = SHAPES, *, ref: str, closed: bool = False
) -> dict[str, Any]:
    """Return the JSON schemas of shapes by their names in documents; by default of all.

    :param ref: and ``closed``: as of :func:`result_schema`.
    """
    return {f"{PREFIX}{one}": _schema(SHAPES[one], ref, closed=closed) for one in names}


def shapes_in(name: str) -> Iterator[str]:
    """Yield the names of the shapes that the answer to a question consists of, each once."""
    waiting, found = [RESULTS.get(name, _ANY)], set[str]()
    while waiting:
        for _, _, kind in map(_parted, _fields(waiting.pop())):
            of = kind.strip("[]{}?")
            if of in SHAPES and of not in found:
                found.add(of)
                waiting.append(SHAPES[of])
                yield of


def _fields(shape: str) -> list[str]:
    return [word for word in shape.split() if word != "..."]


def _parted(word: str) -> tuple[str, bool, str]:
    """Return the name of a field, whether it is always there, and its type."""
    name, _, kind = word.partition(":")
    return name, not kind.endswith("*"), kind.removesuffix("*")


def _schema(shape: str, ref: str, *, closed: bool) -> dict[str, Any]:
    fields = list(map(_parted, _fields(shape)))
    found = {
        "type": "object",
        "properties": {name: _type(kind, ref) for name, _, kind in fields},
        "required": [name for name, always, _ in fields if always],
    }
    return {**found, "additionalProperties": False} if closed and "..." not in shape else found


def _type(text: str, ref: str) -> dict[str, Any]:
    """Return the JSON schema of a type."""
    kind = text.removesuffix("?")
    if kind != text:
        found = _type(kind, ref)
        if list(found) == ["type"]:
            return {"type": [found["type"], "null"]}
        return {"anyOf": [found, {"type": "null"}]}
    if kind.startswith("["):
        return {"type": "array", "items": _type(kind[1:-1], ref)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _type(kind[1:-1], ref)}
    if kind == "any":
        return {}
    if kind == "object" or kind in _PLAIN:
        return {"type": kind}
    assert kind in SHAPES, f"there is no shape {kind}"
    return {"$ref": ref.format(name=f"{PREFIX}{kind}")}
