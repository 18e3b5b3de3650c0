"""The list of invariants, in Python."""

from __future__ import annotations

from typing import Any

from ..invariants.check_report import invariant_document
from ..invariants.check_task import ALL
from ..render.documents import plain


def invariants() -> list[dict[str, Any]]:
    """Return the invariants that ``check`` knows, by number, as ``check --list -o json`` does."""
    return [plain(invariant_document(one)) for one in ALL]
