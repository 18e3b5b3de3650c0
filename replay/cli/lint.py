"""``plinian lint``: find faults of queues, jobs and configurations before they are applied."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import click

from ..questions.fields import Field
from . import options
from .answers import REVIEWS, marked, write_answer, write_json, write_review
from .command import command
from .shell import note, style, write_lines

if TYPE_CHECKING:
    from ..lint.findings import FindingSeverity
    from ..lint.known_background import Background
    from ..lint.lint_task import Report

FORMS = "table|wide|json|yaml|name|github|sarif|junit"


@command("lint")
def lint(
    files: Annotated[
        tuple[str, ...],
        Field(
            "Manifests (YAML or JSON, several documents, lists), scheduler configurations and "
            "their ConfigMaps; folders; or -.",
            "[FILE...]",
        ),
    ] = (),
    *,
    at: Annotated[
        str | None,
        Field(
            "Check the files against the cluster as a log has it at this point; without "
            "files, check what is there. With --log alone it is the log's end; PLINIAN_LOG counts "
            "where no files are given.",
            "POINT",
        ),
    ] = None,
    log: options.LogPlace = options.DEFAULT_LOG,
    release: Annotated[
        tuple[str, ...],
        Field(
            "A release to check for, as in v1.12.1; all (the default) is all of Volcano's. "
            "Repeatable.",
            "RELEASE",
        ),
    ] = (),
    conf: Annotated[
        str | None,
        Field(
            "The scheduler's configuration in force, if it is not among the files; it is checked "
            "too.",
            "FILE",
        ),
    ] = None,
    strict: Annotated[bool, Field("Exit with 1 for warnings too.")] = False,
    ignore: Annotated[tuple[str, ...], Field("A rule to leave out; repeatable.", "RULE")] = (),
    rules: Annotated[bool, Field("List the rules and check nothing.")] = False,
    output: Annotated[
        str, Field("The output form.", FORMS, short="o", choices=tuple(FORMS.split("|")))
    ] = "table",
    namespace: Annotated[
        str, Field("The namespace of objects that have none.", "NAME", short="n")
    ] = "default",
    assume: options.Assume = False,
    as_known_at: options.AsKnownAt = None,
    cluster: options.Cluster = None,
    branch: options.Branch = options.MAIN,
) -> None:
    """Check queues, jobs and configurations before applying them.

    Checks queues, PodGroups, jobs, HyperNodes, JobFlows, and configurations of the scheduler, also
    inside of other objects: of Argo CD, Flux, ConfigMaps, values of Helm. Every rule is checked for
    every release; a finding says which releases it applies to, and what happens there. Files are
    recognised by their content. Objects that they refer to may be among the files, or in a log
    (--at). Exits with 1 if there is an error (with --strict, or a warning), and with 2 if a file
    cannot be read (the others are checked) or nothing in the files is checked.
    """
    from ...engine.errors import UsageError
    from ..facade.linting import checked
    from ..lint.findings import FindingSeverity
    from ..lint.lint_task import ALL
    from ..questions.question import taken

    if rules:
        _write_rules(output)
        return
    alone = not files and conf is None
    # PLINIAN_LOG is set for all commands: it must not turn a check of files into one against a log.
    if at is None and _is_given("log", environment=alone):
        at = "end"
    if alone and at is None:
        raise UsageError("nothing to check", now="give files, or --at POINT, or --conf FILE")
    background = None
    if at is not None:
        background = _background(log, at, as_known_at, cluster, branch)
    named = [] if ALL in release else release
    releases = [taken(name, note, assume=assume) for name in named]
    report = checked(
        files,
        background,
        conf=conf,
        releases=releases,
        ignore=ignore,
        namespace=namespace,
        assume=assume,
    )
    counting = (
        {FindingSeverity.ERROR, FindingSeverity.WARNING} if strict else {FindingSeverity.ERROR}
    )
    _write(report, marked(report.document, named, assume=assume), output, counting)
    if report.unread or any(finding.severity in counting for finding in report.findings):
        sys.stdout.flush()
        raise SystemExit(2 if report.unread else 1)


def _is_given(option: str, *, environment: bool) -> bool:
    """Return whether an option is on the command line, or perhaps in the environment."""
    source = click.get_current_context().get_parameter_source(option)
    sources = click.core.ParameterSource
    return source is sources.COMMANDLINE or (environment and source is sources.ENVIRONMENT)


def _background(
    place: str, at: str, as_known_at: str | None, cluster: str | None, branch: str
) -> Background:
    from ..lint.known_background import background_at
    from ..lint.objects import TYPES
    from .coverage_warnings import note_assumed
    from .open_log import opened

    with opened(place, read_only=True, branch=branch, cluster=cluster) as log:
        moment = log.moment(at, as_known_at=as_known_at)
        note_assumed(log, moment, TYPES)
        return background_at(log, moment)


def _write(
    report: Report, document: Any, output: str, counting: Collection[FindingSeverity]
) -> None:
    from ..render import lint as forms

    if output == "name":
        sys.stdout.writelines(forms.lint_names(report))
    elif output == "github":
        sys.stdout.writelines(forms.lint_annotations(report))
    elif output in REVIEWS:
        from ..review.lint_review import lint_review

        write_review(lint_review(report, counting), output)
    else:
        lines = forms.lint_lines(report, wide=output == "wide", style=style())
        write_answer(document, lines, output, indent=2)
    # The notes stand below the findings, also where both streams are one terminal.
    sys.stdout.flush()
    note(forms.lint_summary(report))
    for text in forms.lint_notes(report):
        note(text)


def _write_rules(output: str) -> None:
    from ..lint.lint_rules import RULES
    from ..render.documents import plain, write_yaml
    from ..render.lint import rule_lines

    if output == "json":
        write_json([rule.document for rule in RULES], indent=2)
    elif output == "yaml":
        write_yaml(sys.stdout, [plain(rule.document) for rule in RULES], single=False)
    elif output == "name":
        sys.stdout.writelines(f"{rule.name}\n" for rule in RULES)
    else:
        write_lines(rule_lines(style=style()))
