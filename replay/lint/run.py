"""The check: every rule in every release; equal findings are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from .answer_cache import AnswerCache
from .assumed import Plugin, assumption
from .context import LintContext
from .findings import Effect, Finding, Issue, Severity
from .inputs import LintInputs
from .rules import RULES, Check, Rule

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_ORDER = tuple(Severity)


def lint(
    world: LintInputs, releases: Sequence[Behaviours], rules: Sequence[Rule] = RULES
) -> list[Finding]:
    """Return the findings on inputs in any of some releases, the most severe first.

    If a rule has the same result in several releases, one finding lists them all. If no
    configuration is known, queues are checked for each plugin that they may be written for.

    :param releases: their behaviours; findings name them in this order.
    """
    plugins = assumption(world).plugins or (None,)
    found: dict[tuple[str, Issue], dict[Plugin | None, list[str]]] = {}
    for plugin in plugins:
        given = LintContext.of(world, plugin)
        for rule in rules:
            memory = AnswerCache(partial(_issues, rule.check, given))
            for how in releases:
                for issue in memory(how):
                    named = found.setdefault((rule.name, issue), {each: [] for each in plugins})
                    named[plugin].append(how.release)
    findings = [
        finding for (rule, issue), named in found.items() for finding in _joined(rule, issue, named)
    ]
    return sorted(findings, key=_rank)


def _joined(rule: str, issue: Issue, named: Mapping[Plugin | None, list[str]]) -> Iterator[Finding]:
    """Yield a finding that holds whatever plugin limits queues, and one for each alone."""
    first = next(iter(named.values()))
    always = tuple(one for one in first if all(one in releases for releases in named.values()))
    if always:
        yield Finding(rule, issue, always)
    for plugin, releases in named.items():
        rest = tuple(one for one in releases if one not in always)
        if rest:
            yield Finding(rule, issue, rest, "" if plugin is None else plugin.value)


def _issues(check: Check, given: LintContext, how: Behaviours) -> tuple[Issue, ...]:
    """Return what a rule finds, without duplicates."""
    return tuple(dict.fromkeys(check(given, how)))


def _rank(finding: Finding) -> tuple[object, ...]:
    """Order by severity, then by place."""
    effect, place = finding.issue.effect, finding.issue.subject.place
    where = ("", 0, 0) if place is None else tuple(place)
    return (_ORDER.index(finding.severity), tuple(Effect).index(effect), where, finding.rule)


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
