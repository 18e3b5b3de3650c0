"""Checks from Python: files before they are applied, by themselves or against a log."""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.errors import UsageError
from ..lint.background import Background
from ..lint.reading import read_conf, read_files
from ..lint.rules import RULES, Rule
from ..lint.task import ALL, Report, Task, check
from .options import FilePath, Names, paths_of, release_of, several


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

    Every rule is asked under every release. To check files against a log, or what is in it, there
    is :meth:`Log.lint`.

    :param files: manifests (YAML or JSON), scheduler configurations, folders.
    :param conf: the configuration in force, where it is not among the files; it is checked too.
    :param releases: names; none, or ``all``, are all of Volcano's whose sessions can be run.
    :param ignore: names of rules that are not asked.
    :param namespace: of objects that name none.
    :param assume: take the nearest release for one that is not known.
    :raises InputError: a file cannot be read, or holds something else.
    :raises UsageError: there is nothing to check; a release or a rule is not known.
    """
    if not files and conf is None:
        raise UsageError("there is nothing to check", now="give files or conf, or ask Log.lint")
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
    """Check files, or without any what there is in the background.

    :param background: what a log tells at a moment; None if no log is asked.
    """
    names = several(releases)
    taken = [] if ALL in names else [release_of(name, assume=assume) for name in names]
    given = None if conf is None else read_conf(str(conf))
    written = read_files(paths_of(files))
    return check(Task(written, background, given, namespace, tuple(several(ignore))), taken)


def lint_rules() -> tuple[Rule, ...]:
    """Return what is looked for, in the order in which findings are told."""
    return RULES
