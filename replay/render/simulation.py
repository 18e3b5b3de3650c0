"""Results of scenarios as text: what each session did, and releases side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ...engine.volcano.releases import PRE_RELEASES, RELEASES, parse_release
from ..simulate.results import StepResult
from .amounts import quantity_list, resource_list
from .blocks import Block, Section, TerminalLine, block_lines
from .session import KEPT, panic_place_texts
from .tables import NONE, PLAIN, Style, Table

Document = Mapping[str, Any]

_KINDS = ("crash", "bind", "evict", "pipeline", "phase")
_SCALARS = "scalar_resources/"
_RESOURCES = MappingProxyType({"milli_cpu": "cpu", "memory_bytes": "memory"})


class _Fact(NamedTuple):
    """The subject of a row in a table of releases: a kind of decision, a pod or PodGroup."""

    step: int
    kind: str
    about: str


def result_lines(
    result: Document, *, step: int | None = None, style: Style = PLAIN
) -> Iterator[str]:
    """Yield what each session of a result did: crash, decisions, phases, queues, pending pods.

    :param result: the long form of ``NAME.RELEASE.json``.
    :param step: only this step, counted from 1.
    """
    parts = [Section([TerminalLine(f"{result['name']} as {result['version']}")])]
    for number, session in enumerate(result["steps"], start=1):
        if step in {None, number}:
            parts += _session_sections(number, session)
    return block_lines(parts, style=style)


def _session_sections(number: int, session: StepResult) -> Iterator[Section]:
    restarted = ", the scheduler was restarted" if session.get("restarted") else ""
    blocks: list[Block] = [TerminalLine(f"session {number}{restarted}")]
    if session["panic"] is not None:
        blocks.append(TerminalLine(f"The scheduler panics: {session['panic']}", "removed"))
        blocks += panic_place_texts(session.get("panic_at", ""), session.get("panic_during", ""))
    decisions = Table(("DECISION", "OBJECT", "NODE", "REASON"), _decisions(session), keep=KEPT)
    yield Section([*blocks, decisions if decisions.rows else "No decision."])
    groups = ("PODGROUP", "PHASE", "RUNNING", "SUCCEEDED", "FAILED", "CONDITION")
    errors = [(line,) for line in dict.fromkeys(session["errors"])]
    for table in (
        Table(groups, _groups(session), keep=KEPT),
        Table(("QUEUE", "ALLOCATED", "DESERVED", "SHARE"), _queues(session), keep=KEPT),
        Table(("POD", "PENDING REASON"), _waiting(session), keep=KEPT),
        Table(("SCHEDULER LOG",), errors, keep=KEPT),
    ):
        if table.rows:
            yield Section([table])


def _decisions(session: StepResult) -> list[tuple[str, str, str, str]]:
    rows = [("bind", pod, node, "") for pod, node in session["binds"]]
    rows += [
        ("evict", pod, "", session["evict_reasons"].get(pod, "")) for pod in session["evictions"]
    ]
    return rows + [("pipeline", pod, node, "") for pod, node in session["pipelined"]]


def _groups(session: StepResult) -> list[tuple[str, ...]]:
    return [
        (
            key,
            group["phase"] or NONE,
            *(str(group[field]) for field in ("running", "succeeded", "failed")),
            _condition(group["conditions"]),
        )
        for key, group in sorted(session["podgroups"].items())
    ]


def _condition(conditions: Iterable[Mapping[str, str]]) -> str:
    """Return the type and message of the last condition that is true."""
    truths = [each for each in conditions if each["status"] == "True"]
    if not truths:
        return NONE
    return f"{truths[-1]['type']}: {truths[-1].get('message') or truths[-1].get('reason', '')}"


def _queues(session: StepResult) -> list[tuple[str, str, str, str]]:
    rows = []
    for name, queue in sorted(session["queues"].items()):
        gauges = session["metrics"].get(name, {})
        share = gauges.get("share")
        rows.append(
            (
                name,
                quantity_list(queue.get("allocated", {})),
                _gauged(gauges, "deserved_"),
                NONE if share is None else share if isinstance(share, str) else f"{share:.4g}",
            )
        )
    return rows


def _gauged(gauges: Mapping[str, float | str], prefix: str) -> str:
    """Return the amounts of a queue's gauges whose names begin with a word, without zeros."""
    amounts: dict[str, float] = {}
    for gauge, value in gauges.items():
        resource = gauge.removeprefix(prefix)
        if resource != gauge and isinstance(value, float) and value:
            name = _RESOURCES.get(resource, resource.removeprefix(_SCALARS))
            amounts[name] = value
    return resource_list(amounts)


def _waiting(session: StepResult) -> list[tuple[str, str]]:
    """Return why pods are pending: no node fits them, or the message of their new condition."""
    why = {pod: text.partition(": ")[2] for pod, text in session["pod_conditions"].items()}
    why |= {pod: text for pod, text in session["fit_errors"].items() if text}
    placed = {pod for pod, _ in (*session["binds"], *session["pipelined"])}
    return sorted((pod, text) for pod, text in why.items() if pod not in placed)


def releases_lines(
    results: Sequence[Document], *, step: int | None = None, style: Style = PLAIN
) -> Iterator[str]:
    """Yield one scenario's results for several releases as a table with a row per decision.

    Releases that did the same share a column. A PodGroup's phase is shown where it changes. The
    messages of crashes follow.
    """
    groups: dict[tuple[tuple[_Fact, str], ...], list[str]] = {}
    for result in results:
        facts = tuple(sorted(_facts(result).items()))
        groups.setdefault(facts, []).append(result["version"])
    sides = [dict(facts) for facts in groups]
    known = sorted({fact for side in sides for fact in side}, key=_place)
    rows = [
        (str(fact.step), fact.kind, fact.about, *(side.get(fact, NONE) for side in sides))
        for fact in known
        if step in {None, fact.step} and not _stays(fact, sides)
    ]
    headers = ("SESSION", "DECISION", "OBJECT", *map(spans, groups.values()))
    table = Table(headers, rows, keep=headers[: headers.index("OBJECT") + 2])
    parts = [Section([TerminalLine(results[0]["name"]), table]), *_crashes(results, step)]
    return block_lines(parts, style=style)


def _crashes(results: Sequence[Document], step: int | None) -> Iterator[Section]:
    """Yield the crashes: which releases, in which sessions, with what message and where."""
    crashes: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for result in results:
        for number, session in enumerate(result["steps"], start=1):
            if session["panic"] is not None and step in {None, number}:
                place, during = session.get("panic_at", ""), session.get("panic_during", "")
                sessions_of = crashes.setdefault((session["panic"], place, during), {})
                sessions_of.setdefault(result["version"], []).append(number)
    for (message, place, during), sessions_of in crashes.items():
        sides: dict[str, list[str]] = {}
        for release, numbers in sessions_of.items():
            sides.setdefault(",".join(map(str, numbers)), []).append(release)
        panics = f"the scheduler panics: {message}"
        lines = (
            TerminalLine(f"{spans(releases)}, session {sessions}: {panics}", "removed")
            for sessions, releases in sides.items()
        )
        yield Section([*lines, *panic_place_texts(place, during)])


def _facts(result: Document) -> dict[_Fact, str]:
    facts: dict[_Fact, str] = {}
    for number, session in enumerate(result["steps"], start=1):
        if session["panic"] is not None:
            facts[_Fact(number, "crash", "")] = "panics"
        for kind, pod, node, reason in _decisions(session):
            facts[_Fact(number, kind, pod)] = node or reason or "yes"
        for key, group in session["podgroups"].items():
            facts[_Fact(number, "phase", key)] = group["phase"] or NONE
    return facts


def _place(fact: _Fact) -> tuple[int, int, str]:
    return fact.step, _KINDS.index(fact.kind), fact.about


def _stays(fact: _Fact, sides: Sequence[Mapping[_Fact, str]]) -> bool:
    """Return whether a phase is the same on all sides as after the previous session."""
    before = fact._replace(step=fact.step - 1)
    return fact.kind == "phase" and all(side.get(before) == side.get(fact) for side in sides)


def spans(names: Sequence[str]) -> str:
    """Return releases as ranges: ``v1.11.0..v1.11.2,v1.12.1``; a range includes all between.

    Pre-releases are in no range, and come last.
    """
    runs: list[list[int]] = []
    before = [str(release) for release in PRE_RELEASES if str(release) in names]
    released = [name for name in names if name not in before]
    for place in sorted(RELEASES.index(parse_release(name)) for name in released):
        # Plinian's own release is in no range of Volcano's.
        if runs and runs[-1][-1] == place - 1 and not RELEASES[place].ours:
            runs[-1].append(place)
        else:
            runs.append([place])
    ranges = [
        "..".join(dict.fromkeys(str(RELEASES[place]) for place in (span[0], span[-1])))
        for span in runs
    ]
    return ",".join([*ranges, *before])
