"""Releases of Volcano from Python: their list, their behaviours, and their differences."""

from __future__ import annotations

from ..compare.releases import Unproven, unproven_rows
from ..questions.behaviours import BehavioursQuestion
from ..questions.release_diff import ReleaseDiffQuestion
from ..questions.releases import ReleasesQuestion
from ..tabular.tabular import Records
from .question_method import function_of

releases = function_of(ReleasesQuestion)
behaviours = function_of(BehavioursQuestion)
release_diff = function_of(ReleaseDiffQuestion)


def unproven() -> Records[Unproven]:
    """Return the behaviours of releases that no recorded decision proves, and why."""
    return Records(unproven_rows()[1], "unproven", Unproven)
