"""Filter ``ProportionalEnable``: pods that use no card leave cpu and memory for the cards.

    idle.cpu − request.cpu  ≥  idle cards × cpu rate      (cores for each card)
    idle.mem − request.mem  ≥  idle cards × memory rate   (GB for each card)

Source: pkg/scheduler/plugins/predicates/proportional.go (up to v1.12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ....model.session_tables import Ints, Rows
from ...reasons.objections import Objection
from ...reasons.statuses import Reasons, StatusCode
from .filter_errors import error_code

if TYPE_CHECKING:
    from ...framework.session import Session

_THOUSAND = 1000.0
"""Cards are counted in milli, so thousand times this times the rate in GB is in bytes."""


class CardRate(msgspec.Struct, frozen=True):
    """What is reserved per card: cores, and memory in GB."""

    cpu: float
    memory: float


class Proportional:
    """Checks the idle of nodes against the rates of some resources.

    Of several that fail, the first in the configuration is named (in the original, any).
    """

    def __init__(self, ssn: Session, rates: dict[str, CardRate], reasons: Reasons) -> None:
        self._tasks = ssn.tasks
        self._nodes = ssn.nodes
        code = error_code(ssn, StatusCode.UNSCHEDULABLE_AND_UNRESOLVABLE)
        self._rates = rates
        self._checks = [
            (
                ssn.dims.index(name),
                rate,
                np.array(
                    [name in (info.allocatable.scalars or ()) for info in ssn.nodes.info], np.bool_
                ),
                reasons.intern(code, Objection(f"proportional of resource {name} check failed")),
            )
            for name, rate in rates.items()
            if name in ssn.dims
        ]

    def filter(self, task: int, rows: Rows) -> Ints:
        """Return a verdict for each row."""
        verdicts = np.zeros(len(rows), dtype=np.int32)
        request = self._tasks.info[task].request
        scalars = request.scalars or {}
        if any(scalars.get(name, 0.0) > 0 for name in self._rates):
            return verdicts
        idle = self._nodes.idle[rows]
        for dim, rate, listed, verdict in reversed(self._checks):
            cards = idle[:, dim]
            short = (idle[:, 0] - request.cpu < cards * rate.cpu) | (
                idle[:, 1] - request.memory < cards * rate.memory * _THOUSAND * _THOUSAND
            )
            # A node that never had the resource is not looked at, whatever is free there.
            verdicts[short & (listed[rows] | (cards != 0))] = verdict
        return verdicts
