"""Files against a log: its configuration is known, and its own faults are not those of files."""

from __future__ import annotations

import pytest
from linting import FILE, PROPORTION, RELEASES, conf_of, names, queue

from plinian.engine.errors import UsageError
from plinian.replay.lint.findings import FilePlace, FindingSubject
from plinian.replay.lint.known_background import Background
from plinian.replay.lint.lint_task import LintTask, Report, check
from plinian.replay.lint.manifest_reading import WrittenFiles
from plinian.replay.lint.objects import Manifest

NEWEST = [RELEASES[-1].release]


def against_log(document: dict[str, object], conf: str) -> Report:
    """Check a file against a log that has a configuration."""
    subject = FindingSubject("", "SchedulerConfiguration", "scheduler.conf")
    behind = Background((), conf_of(conf)._replace(subject=subject))
    written = WrittenFiles((Manifest(document, FilePlace(FILE, 1, 1)),), ())
    return check(LintTask(written, behind), NEWEST)


def test_the_configuration_of_the_log_is_not_called_missing() -> None:
    report = against_log(queue("a", weight=2), PROPORTION)
    assert not [one for one in report.not_checked if "configuration" in one.reason]
    assert report.conf == "scheduler.conf"


def test_a_fault_of_the_log_is_not_one_of_the_files() -> None:
    report = against_log(queue("a", weight=2), PROPORTION.replace("backfill", "bakfill"))
    assert "action-unknown" not in names(report.findings)


def test_a_file_without_objects_is_not_checked_for_the_log() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    with pytest.raises(UsageError, match="nothing to check"):
        against_log(service, PROPORTION)
