"""The check: every rule in every release; equal findings are joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .answer_cache import AnswerCache
from .assumed_plugin import LimitingPlugin, assumption
from .context import LintContext
from .findings import FaultEffect, Finding, FindingSeverity, FindingSubject, Issue
from .lint_inputs import LintInputs
from .lint_rules import RULES, Check, Rule

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_ORDER = tuple(FindingSeverity)
_NUMBER = re.compile(r"\b\d\S*")


def lint(
    world: LintInputs, releases: Sequence[Behaviours], rules: Sequence[Rule] = RULES
) -> list[Finding]:
    """Return the findings on inputs in any of some releases, the most severe first.

    If a rule has the same result in several releases, one finding lists them all, also if not the
    same is to be done about it. If no configuration is known, queues are checked for each plugin
    that they may be written for.

    :param releases: their behaviours; findings name them in this order.
    """
    return checked(world, releases, rules).findings


class Checked(NamedTuple):
    """The findings, and what could not be decided as a field cannot be read.

    :param undecided: rules and objects.
    """

    findings: list[Finding]
    undecided: tuple[tuple[str, FindingSubject], ...] = ()


def checked(
    world: LintInputs, releases: Sequence[Behaviours], rules: Sequence[Rule] = RULES
) -> Checked:
    """Return the findings as :func:`lint` does, with those that were left out.

    What rests on a value that cannot be read is left out: it differs for other values. If only its
    numbers differ, it is a finding, which says so.
    """
    findings = _found(world, releases, rules)
    if world.otherwise is None:
        return Checked(findings)
    first, other = _by_issue(findings), _by_issue(_found(world.otherwise, releases, rules))
    agreed = [
        _agreed(finding, other[key])._replace(releases=both)
        for key, finding in first.items()
        if key in other and (both := _both(finding.releases, other[key].releases))
    ]
    undecided = {
        (finding.rule, finding.issue.subject): None
        for key, finding in (*first.items(), *other.items())
        if key not in first or key not in other or first[key].releases != other[key].releases
    }
    return Checked(agreed, tuple(undecided))


def _both(first: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in first if name in other)


def _by_issue(findings: Iterable[Finding]) -> dict[Finding, Finding]:
    """Return findings by all but releases, numbers, and what is to be done about them."""
    by_issue: dict[Finding, Finding] = {}
    for finding in findings:
        issue = finding.issue._replace(now="", message=_NUMBER.sub("0", finding.issue.message))
        key = finding._replace(issue=issue, releases=())
        # Two findings that differ only in their numbers must not replace each other.
        by_issue[finding._replace(releases=()) if key in by_issue else key] = finding
    return by_issue


def _agreed(one: Finding, other: Finding) -> Finding:
    """Return a finding that holds for small and for large values; its numbers may not."""
    if one.issue.message == other.issue.message:
        return one
    message = f"{one.issue.message} (with small values for those that cannot be read)"
    return one._replace(issue=one.issue._replace(message=message))


def _found(
    world: LintInputs, releases: Sequence[Behaviours], rules: Sequence[Rule]
) -> list[Finding]:
    plugins = assumption(world).plugins or (None,)
    issues: dict[tuple[str, Issue, bool], dict[LimitingPlugin | None, dict[str, str]]] = {}
    for plugin in plugins:
        given = LintContext.of(world, plugin)
        for rule in rules:
            memory = AnswerCache(partial(_issues, rule.check, given))
            for how in releases:
                for issue in memory(how):
                    # Releases with different advice share a finding, but not those with advice and
                    # those without.
                    key = rule.name, issue._replace(now=""), bool(issue.now)
                    named = issues.setdefault(key, {each: {} for each in plugins})
                    named[plugin].setdefault(how.release, issue.now)
    findings = [
        finding
        for (rule, issue, _), named in issues.items()
        for finding in _joined(rule, issue, named)
    ]
    return sorted(findings, key=_rank)


def _joined(
    rule: str, issue: Issue, named: Mapping[LimitingPlugin | None, Mapping[str, str]]
) -> Iterator[Finding]:
    """Yield a finding that holds whatever plugin limits queues, and one for each alone.

    :param named: what to do about it, by plugin and release.
    """
    first = next(iter(named.values()))
    always = [
        release for release in first if all(release in releases for releases in named.values())
    ]
    if always:
        yield _finding(rule, issue, {release: first[release] for release in always})
    for plugin, releases in named.items():
        rest = {release: now for release, now in releases.items() if release not in always}
        if rest:
            yield _finding(rule, issue, rest, "" if plugin is None else plugin.value)


def _finding(rule: str, issue: Issue, nows: Mapping[str, str], plugin: str = "") -> Finding:
    """Return a finding of some releases, in which not the same may be to do about it."""
    changes: list[tuple[str, str]] = []
    for release, now in nows.items():
        if not changes or changes[-1][1] != now:
            changes.append((release, now))
    since = [now if at == 0 else f"since {first}: {now}" for at, (first, now) in enumerate(changes)]
    return Finding(rule, issue._replace(now="; ".join(since)), tuple(nows), plugin)


def _issues(check: Check, given: LintContext, how: Behaviours) -> tuple[Issue, ...]:
    """Return what a rule finds, without duplicates."""
    return tuple(dict.fromkeys(check(given, how)))


def _rank(finding: Finding) -> tuple[object, ...]:
    """Order by severity, then by file and line; what is in no file is last."""
    effect, place = finding.issue.effect, finding.issue.subject.place
    where = ("", 0, 0) if place is None else tuple(place)
    severity = _ORDER.index(finding.severity)
    return (severity, place is None, where, tuple(FaultEffect).index(effect), finding.rule)


def brought(by: Iterable[Finding], before: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings that files cause: about their content, or new with them.

    :param by: findings with the files. :param before: findings without them.
    """
    known = {_about(finding): frozenset(finding.releases) for finding in before}
    for finding in by:
        if finding.issue.subject.place is not None:
            yield finding
            continue
        old = known.get(_about(finding), frozenset())
        new = tuple(name for name in finding.releases if name not in old)
        if new:
            yield finding._replace(releases=new)


def _about(finding: Finding) -> tuple[object, ...]:
    issue = finding.issue
    subject = issue.subject._replace(place=None)
    return finding.rule, subject, issue.field, issue.effect, finding.message
