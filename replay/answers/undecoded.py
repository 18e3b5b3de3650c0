"""Objects that sessions need and that cannot be decoded: what is said of them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...engine.cache.informers import Undecoded
from ...engine.kubernetes.counts import counted
from ..moments.unknown import Unknown
from ..objects.undecodable import undecodable_words
from .amounts import joined
from .answering_session import JOB, NODE, POD, PODGROUP, Run
from .finding import Blocked, ObjectKey, SessionFinding
from .records import Note
from .target import Target

CAUSE = "undecodable"
_NAMED = 3


def words_about(run: Run, kind: str, key: str) -> str:
    """Return that an object cannot be decoded, and why; empty if it can."""
    undecoded = run.cache.stores.undecoded.get((kind, key))
    return "" if undecoded is None else undecodable_words(undecoded.fault)


def absence(run: Run, kind: str, key: str) -> str:
    """Return why sessions do not see an object that something names."""
    return words_about(run, kind, key) or "does not exist"


def undecoded_finding(run: Run, target: Target) -> SessionFinding | None:
    """Return the answer about an object that cannot be decoded; None if it can."""
    (_, kind), key = target.scheduled
    said = words_about(run, kind, key)
    if not said:
        return None
    text = f"{target.title} {said}"
    # A job is asked about, and it is its PodGroup that cannot be decoded.
    if target.scheduled != (target.pair, target.key):
        text = f"{target.title} waits because its {kind} {key} {said}"
    note = Note(text=text, blocks=target.waits)
    return SessionFinding(text, target.waits, CAUSE, (note,), (target.scheduled,), (key,))


def with_job_fault(
    finding: SessionFinding, target: Target, unknown: Iterable[Unknown]
) -> SessionFinding:
    """Return an answer about a job of Volcano that also says if the job cannot be decoded.

    Sessions read its PodGroup only, and Volcano's job controller reads the job.
    """
    for gap in unknown:
        if gap.fault and gap.pair == target.pair == JOB and target.key in gap.objects:
            text = f"{target.title} {gap.fault}"
            finding = msgspec.structs.replace(
                finding,
                sentence=f"{finding.sentence}; {text}",
                chain=(Note(text=text), *finding.chain),
            )
    return finding


def undecoded_pods(run: Run, group: str) -> Blocked | None:
    """Return which pods of a PodGroup sessions do not see as they cannot be decoded; None if none.

    :param group: ``namespace/name``.
    """
    undecoded = {key: pod for key, pod in _of(run, "Pod").items() if pod.within == group}
    text = _together("pod", undecoded)
    about: tuple[ObjectKey, ...] = tuple((POD, key) for key in list(undecoded)[:1])
    return Blocked(text, CAUSE, (Note(text=text, blocks=True),), about, ("pods",)) if text else None


def undecoded_groups(run: Run, queue: str) -> Blocked | None:
    """Return which PodGroups of a queue sessions do not see as they cannot be decoded."""
    undecoded = {
        key: group
        for key, group in _of(run, "PodGroup").items()
        if (group.within or run.cache.options.default_queue) == queue
    }
    text = _together("podgroup", undecoded)
    about: tuple[ObjectKey, ...] = tuple((PODGROUP, key) for key in list(undecoded)[:1])
    return Blocked(text, CAUSE, (Note(text=text),), about, ("groups",)) if text else None


def undecoded_nodes(run: Run) -> Blocked | None:
    """Return which nodes sessions do not see as they cannot be decoded; None if there are none."""
    undecoded = _of(run, "Node")
    text = _together("node", undecoded)
    about: tuple[ObjectKey, ...] = tuple((NODE, key) for key in list(undecoded)[:1])
    return (
        Blocked(text, CAUSE, (Note(text=text, blocks=True),), about, ("nodes",)) if text else None
    )


def undecoded_names(run: Run) -> dict[str, str]:
    """Return the nodes that cannot be decoded, with what is so of them."""
    return {name: words_about(run, "Node", name) for name in _of(run, "Node")}


def _of(run: Run, kind: str) -> dict[str, Undecoded]:
    undecoded = {key: item for (of, key), item in run.cache.stores.undecoded.items() if of == kind}
    return dict(sorted(undecoded.items()))


def _together(noun: str, undecoded: dict[str, Undecoded]) -> str:
    """Return what is so of some objects of a kind: each field that is wrong, but for many."""
    if not undecoded:
        return ""
    keys = list(undecoded)
    if len(keys) == 1:
        return f"{noun} {keys[0]} {undecodable_words(undecoded[keys[0]].fault)}"
    shown = [f"{noun} {key}, of which {undecoded[key].fault}" for key in keys[:_NAMED]]
    rest = len(keys) - _NAMED
    more = [counted(rest, f"more {noun}")] if rest > 0 else []
    return (
        f"{joined([*shown, *more])} cannot be decoded; no API server stores such objects, and "
        "sessions ignore them"
    )
