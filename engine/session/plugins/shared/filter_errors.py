"""The code of a filter that fails with an error, which some releases read as final."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...reasons.statuses import StatusCode

if TYPE_CHECKING:
    from ...framework.session import Session


def error_code(ssn: Session, otherwise: StatusCode) -> StatusCode:
    """Return the code of a filter's error: no pod is evicted for it, or ``otherwise`` decides."""
    return StatusCode.ERROR if ssn.behaviours.filter_errors_unresolvable else otherwise
