"""What becomes of pods for which a session keeps nodes: when a next session binds them, if any."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.objects import Pod
from ..sessions.next_sessions import NextSession, next_sessions
from .action_order import evicting_first
from .amounts import joined
from .answering_session import Run
from .finding import ObjectKey, SessionFinding
from .records import Link, Note

RELEASING = "releasing"
_NAMED = 3


class Outlook(msgspec.Struct, frozen=True):
    """The next sessions. :param starts: the number of the one that binds a pod; 0 if none does."""

    sessions: tuple[NextSession, ...]
    starts: int

    @property
    def gone(self) -> tuple[str, ...]:
        """The pods that are gone until then, in order."""
        until = self.starts or len(self.sessions)
        return tuple(pod for session in self.sessions[:until] for pod in session.gone)


def outlook(run: Run, pods: Collection[str]) -> Outlook | None:
    """Run the next sessions until one binds any of these pods; None if none can be run.

    At earlier moments than that of the question none is run.
    """
    if run.scene is None or run.behaviours is None:
        return None
    ran: list[NextSession] = []
    for session in next_sessions(run.scene, run.behaviours, run.cache, run.answer.result):
        ran.append(session)
        # One pod is enough: a gang is bound as a whole, and `_starts` counts what goes with it.
        if any(pod in pods for pod, _ in session.answer.result.binds):
            return Outlook(tuple(ran), session.number)
    return Outlook(tuple(ran), 0) if ran else None


def releasing(
    run: Run,
    subject: str,
    pods: Sequence[str],
    links: tuple[Link, ...],
    about: tuple[ObjectKey, ...],
) -> SessionFinding:
    """Return what becomes of pods for which the session keeps nodes.

    :param subject: what the sentence begins with.
    """
    nodes = sorted({run.pipelined[pod] for pod in pods})
    ahead = outlook(run, pods)
    if ahead is None:
        text = _not_known(run, subject, nodes)
        return SessionFinding(text, True, RELEASING, links, about)
    text = _starts(run, subject, pods, ahead) if ahead.starts else _fails(run, subject, pods, ahead)
    order = evicting_first(run)
    if order:
        text, links = f"{text}; {order}", (*links, Note(text=order))
    count = len(ahead.sessions)
    ran = "next session" if count == 1 else f"next {count} sessions"
    note = Note(
        text=f"the {ran} as {run.answer.release}, run with what the log has: pods that are evicted "
        "or deleted are gone, pods that are bound run, and nothing creates others"
    )
    return SessionFinding(text, True, RELEASING, (*links, note), about)


def leaving(run: Run, nodes: Collection[str]) -> tuple[int, str]:
    """Return the pods that go from nodes: evicted by the session, or being deleted.

    They are returned as (how many, which ones in words).
    """
    evicted = [
        name
        for name, _ in run.answer.result.evictions
        if (pod := run.pod(name)) is not None and pod.spec.node_name in nodes
    ]
    if evicted:
        return len(evicted), f"{_pods(evicted)}, which this session evicts,"
    going = _being_deleted(run, nodes)
    if not going:
        return 0, ""
    be = "is" if len(going) == 1 else "are"
    return len(going), f"{_pods(going)}, which {be} being deleted,"


def _being_deleted(run: Run, nodes: Collection[str]) -> list[str]:
    pods = run.cache.stores.of("Pod")
    return [
        key
        for key, pod in sorted(pods.items())
        if isinstance(pod, Pod) and pod.metadata.deletion_timestamp and pod.spec.node_name in nodes
    ]


def _starts(run: Run, subject: str, pods: Sequence[str], ahead: Outlook) -> str:
    """Return when the pods start, and what has to be gone until then."""
    nodes = sorted({run.pipelined[pod] for pod in pods})
    bound = dict(ahead.sessions[-1].answer.result.binds)
    to = sorted({bound[pod] for pod in pods if pod in bound})
    of_it = f"{counted(sum(pod in bound for pod in pods), 'pod')} of it"
    many = "it" if subject == f"pod {pods[0]}" else of_it
    count, going = leaving(run, nodes)
    if ahead.starts == 1 and going:
        verb = "frees" if count == 1 else "free"
        return f"{subject} waits until {going} {verb} resources: {many} will go to {_to(to)}"
    if ahead.starts == 1:
        return f"{subject} waits only for the next session, which binds it to {_to(to)}"
    after = f", when {_pods(ahead.gone)} are gone" if ahead.gone else ""
    return (
        f"{subject} waits for {counted(ahead.starts, 'more session')}: "
        f"this one keeps {_to(nodes)} for it, "
        f"and session {ahead.starts} after it binds it to "
        f"{_to(to)}{after}"
    )


def _fails(run: Run, subject: str, pods: Sequence[str], ahead: Outlook) -> str:
    """Return that the pods do not start although nodes are kept for them, and what happens."""
    nodes = sorted({run.pipelined[pod] for pod in pods})
    evicted = [pod for pod, _ in run.answer.result.evictions]
    evicts = f" and evicts {_pods(evicted)}" if evicted else ""
    later = [
        pod
        for session in ahead.sessions
        for pod, _ in session.answer.result.evictions
        if pod not in evicted
    ]
    more = f", which also evict {_pods(list(dict.fromkeys(later)))}" if later else ""
    count = len(ahead.sessions)
    none = "nor does the next session" if count == 1 else f"none of the next {count} sessions does"
    last = ahead.sessions[-1].answer.result
    said = next((last.fit_errors[pod] for pod in pods if pod in last.fit_errors), "")
    # A session that breaks off writes no reason for single pods.
    if last.panic is not None:
        said = last.panic.sentence
    end = f"; the last one says: {said}" if said else ""
    return (
        f"{subject} waits: this session keeps {_to(nodes)} for it{evicts}, but does not bind it, "
        f"and {none}{more}{end}"
    )


def _not_known(run: Run, subject: str, nodes: list[str]) -> str:
    _, going = leaving(run, nodes)
    until = f" until {going} free resources" if going else ""
    return (
        f"{subject} waits: this session keeps {_to(nodes)} for it{until}; whether that is enough "
        "was not tried"
    )


def _pods(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    named = [*names[:_NAMED], f"{rest} more"] if rest > 0 else list(names)
    return f"{'pod' if len(names) == 1 else 'pods'} {joined(named)}"


def _to(nodes: Sequence[str]) -> str:
    return f"{'node' if len(nodes) == 1 else 'nodes'} {joined(list(nodes[:_NAMED]))}"
