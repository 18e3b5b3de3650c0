"""Revisions of the log's tables that this Plinian knows; cheap to import."""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003", "0004")
"""All revisions, oldest first."""

REVISION = REVISIONS[-1]
"""The newest one; a log at any other is not opened."""
