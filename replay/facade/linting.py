"""Checks from Python: files before they are applied, alone or against a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.errors import UsageError
from ..lint.known_background import Background
from ..lint.lint_rules import RULES, Rule
from ..lint.lint_task import ALL, LintTask, Report, check
from ..lint.manifest_reading import read_conf, read_files
from ..questions.fields import Names, several
from ..render.documents import plain
from .options import FilePath, paths_of, release_of


def lint(
    files: FilePath | Sequence[FilePath] = (),
    *,
    conf: FilePath | None = None,
    releases: Names = (),
    ignore: Names = (),
    namespace: str = "default",
    assume: bool = False,
) -> Report:
    """Check queues, PodGroups, jobs and scheduler configurations before they are applied.

    Every rule is checked for every release. To check files against a log, or the log's objects, use
    :meth:`Log.lint`.

    :param files: manifests (YAML or JSON), scheduler configurations, folders.
    :param conf: the configuration in force, if it is not among the files; it is checked too.
    :param releases: names; without any, or with ``all``, all of Volcano's whose sessions can be
        run.
    :param ignore: names of rules to leave out.
    :param namespace: the namespace of objects that have none.
    :param assume: use the nearest release for an unknown one.
    :raises InputError: a file does not exist, or there is nothing in the files that can be read.
    :raises UsageError: there is nothing to check, or a release or a rule is not known.
    """
    if not files and conf is None:
        raise UsageError("nothing to check", now="give files or conf, or use Log.lint")
    return checked(
        files,
        None,
        conf=conf,
        releases=releases,
        ignore=ignore,
        namespace=namespace,
        assume=assume,
    )


def checked(
    files: FilePath | Sequence[FilePath],
    background: Background | None,
    *,
    conf: FilePath | None,
    releases: Names,
    ignore: Names,
    namespace: str,
    assume: bool,
) -> Report:
    """Check files, or without any the objects of the background.

    :param background: the objects of a log at a moment; None without a log.
    """
    names = several(releases)
    taken = [] if ALL in names else [release_of(name, assume=assume) for name in names]
    given = None if conf is None else read_conf(str(conf))
    written = read_files(paths_of(files), go_on=True)
    return check(LintTask(written, background, given, namespace, tuple(several(ignore))), taken)


def lint_rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of their findings."""
    return RULES


def invariants() -> list[dict[str, Any]]:
    """Return the invariants that ``check`` knows, by number, as ``check --list -o json`` does."""
    from ..invariants.check_report import invariant_document  # noqa: PLC0415 -- lint needs none
    from ..invariants.check_task import ALL as INVARIANTS  # noqa: PLC0415

    return [plain(invariant_document(invariant)) for invariant in INVARIANTS]
