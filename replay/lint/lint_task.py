"""From files, a point of a log and releases to findings: the check as the command line runs it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from ...engine.errors import UsageError
from ...engine.volcano.releases import PreRelease, Release, known_release
from ...engine.volcano.session.history import SUPPORTED, record, resolve
from ..logs.assumptions import assumed_sentences
from ..tabular.column_table import ColumnTable, table_of
from ..tabular.documents import shown_as
from ..tabular.tabular import Tabular
from .assumed_plugin import assumption
from .filled import COMPARED, resting
from .findings import FaultEffect, Finding, FindingDocument, FindingSeverity
from .known_background import Background
from .lint_inputs import Configuration, LintInputs
from .lint_rules import rules_without
from .lint_run import brought, checked, lint
from .manifest_reading import WrittenFiles
from .not_checked import RuleNotChecked, malformed, not_checked
from .objects import Manifest
from .rendering import NotRendered, not_rendered, without_rules
from .shared_files import shared_files
from .wrapped import is_checked

ALL = "all"
"""The name that stands for all releases."""

EMPTY = WrittenFiles((), ())
_SHOWN = 5
_NOW = (
    "rules check Queues, PodGroups, Jobs, their templates, JobFlows, HyperNodes, pods, nodes, "
    "priority classes and configurations of the scheduler"
)


class LintTask(NamedTuple):
    """What to check.

    :param written: the content of the files. :param background: the content of a log, if given.
    :param conf: the configuration in force, before any other.
    :param namespace: the namespace of objects that have none. :param ignored: rules to leave out.
    """

    written: WrittenFiles = EMPTY
    background: Background | None = None
    conf: Configuration | None = None
    namespace: str = "default"
    ignored: tuple[str, ...] = ()


class FindingRow(NamedTuple):
    """A finding.

    :param file: None for an object of a log.
    :param plugin: the plugin that must limit queues for this to hold; None if any may.
    """

    rule: str
    severity: str
    effect: str
    kind: str
    namespace: str
    name: str
    file: str | None
    line: int | None
    field: str
    message: str
    plugin: str | None
    now: str
    releases: tuple[str, ...]


class NotRenderedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An object from which other tools make more than was checked; see :class:`.NotRendered`."""

    kind: str
    namespace: str
    name: str
    file: str
    line: int
    checked: int
    now: str


class LintDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, as answers show them; files have the names that others know.

    :param conf: the source of the configuration; null if not known.
    :param conf_assumed: what was assumed of it. :param counts: of findings, by severity.
    """

    releases: tuple[str, ...]
    conf: str | None
    conf_assumed: str | None
    assumed: tuple[str, ...]
    objects: int
    counts: dict[str, int]
    not_checked: tuple[RuleNotChecked, ...]
    not_rendered: list[NotRenderedDocument]
    without_rules: Mapping[str, int]
    findings: list[FindingDocument]


@dataclass(frozen=True, slots=True)
class Report(Tabular):
    """The findings, the releases, and the configuration in force.

    :param conf: its source; empty if not known.
    :param remark: what was assumed of the configuration; empty if nothing.
    :param not_checked: rules that need what is not known, such as nodes.
    :param not_rendered: objects from which other tools make more than was checked.
    :param without_rules: kinds that no rule is about, with the number of their objects.
    :param assumed: what objects of files lacked and was filled in, if a finding rests on it.
    :param unread: how many files, or objects in them, cannot be read, and are not ignored.
    """

    findings: list[Finding]
    releases: tuple[str, ...]
    objects: int
    conf: str
    remark: str
    not_checked: tuple[RuleNotChecked, ...] = ()
    not_rendered: tuple[NotRendered, ...] = ()
    without_rules: Mapping[str, int] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    unread: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names, as they were given."""
        places = (finding.issue.subject.place for finding in self.findings)
        named = [place.file for place in places if place is not None]
        return tuple(
            dict.fromkeys([*named, *(holder.file for holder in self.not_rendered), self.conf])
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many findings have each severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity.value: counted[severity] for severity in FindingSeverity}

    @property
    def document(self) -> LintDocument:
        """What answers show of it."""
        files = shared_files(self.files)
        shown = [finding.document for finding in self.findings]
        return shown_as(
            LintDocument,
            self,
            conf=files[self.conf] or None,
            conf_assumed=self.remark or None,
            not_rendered=[
                shown_as(NotRenderedDocument, holder, file=files[holder.file])
                for holder in self.not_rendered
            ],
            findings=[
                document
                if document.file is None
                else msgspec.structs.replace(document, file=files[document.file])
                for document in shown
            ],
        )

    def tables(self) -> Mapping[str, ColumnTable]:
        """Return the findings."""
        return {
            "findings": table_of(FindingRow, map(_row, self.findings)),
            "not_checked": table_of(RuleNotChecked, self.not_checked),
            "not_rendered": table_of(NotRendered, self.not_rendered),
        }


def _row(finding: Finding) -> FindingRow:
    document = finding.document
    about = document.object
    fields: dict[str, Any] = {name: getattr(document, name, "") for name in FindingRow._fields}
    return FindingRow(
        **{**fields, "kind": about.kind, "namespace": about.namespace, "name": about.name}
    )


def check(task: LintTask, releases: Sequence[str]) -> Report:
    """Return the findings on a task's files, or without files on the state of a log.

    :param releases: as in ``v1.12.1``, in any order; without any, all of Volcano's whose sessions
        can be run.
    :raises UsageError: a release, or an ignored rule, is not known; or there is nothing to check.
    """
    rules = rules_without(task.ignored)
    behaviours = [resolve(name) for name in in_order(releases)] or [
        record(release) for release in SUPPORTED if not release.ours
    ]
    world = _world(task)
    written = (*task.written.manifests, *task.written.inner)
    unrendered = tuple(not_rendered(task.written.holders))
    # The configuration of the log comes with --at: alone it is no task, unless no files are given.
    given = bool(task.written.confs) or task.conf is not None or not written
    if not (any(map(is_checked, written)) or (given and (world.confs or world.subjects))):
        now = str(unrendered[0].now) if unrendered else _NOW
        raise UsageError(f"nothing to check: {_others(written)}", now=now)
    findings, undecided = checked(world, behaviours, rules)
    # Findings that the log has without the files are not the files' fault.
    if task.background is not None and written:
        before = lint(_world(task._replace(written=EMPTY)), behaviours, rules)
        findings = list(brought(findings, before))
    force = world.in_force
    has = {kind for kind, _ in world.subjects}
    return Report(
        findings,
        tuple(how.release for how in behaviours),
        world.count,
        "" if force is None else _source(force),
        assumption(world).remark if has & COMPARED else "",
        (*malformed(world, rules, undecided), *not_checked(world, rules)),
        unrendered,
        without_rules(task.written.holders),
        assumed_sentences(resting(world.assumed, has)),
        sum(finding.issue.effect is FaultEffect.UNREAD for finding in findings),
    )


def _others(manifests: Iterable[Manifest]) -> str:
    """Return what there is instead of objects that rules check, in words."""
    kinds = Counter(manifest.group_kind[1] for manifest in manifests)
    if not kinds:
        return "there is no object and no configuration"
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())[:_SHOWN])
    more = len(kinds) - _SHOWN
    return f"there is only {named}" + (f" and {more} more kinds" if more > 0 else "")


def in_order(names: Iterable[str]) -> list[str]:
    """Return releases by name, each once, the oldest first.

    :raises UsageError: a release is not known.
    """
    known = {str(release): release for release in map(known_release, names)}
    return sorted(known, key=lambda name: _age(known[name]))


def _age(release: Release | PreRelease) -> tuple[int, bool]:
    """Return what releases are ordered by; a pre-release comes before what it becomes."""
    final = isinstance(release, Release)
    return SUPPORTED.index(release if isinstance(release, Release) else release.becomes), final


def _world(task: LintTask) -> LintInputs:
    """Combine files with a background; a given configuration is in force before any other."""
    behind = task.background or Background((), None)
    confs = [*task.written.confs, *([] if task.conf is None else [task.conf])]
    in_force = task.conf or (confs[-1] if confs else behind.conf)
    # The log's configuration is checked only where the files replace none.
    if not confs and behind.conf is not None:
        confs = [behind.conf]
    return LintInputs(
        (*behind.manifests, *task.written.manifests, *task.written.inner),
        confs,
        in_force=in_force,
        namespace=task.namespace,
        alone=task.background is None,
        templates=behind.templates,
        unread=task.written.unread,
    )


def _source(conf: Configuration) -> str:
    place = conf.subject.place
    return conf.subject.name if place is None else place.file
