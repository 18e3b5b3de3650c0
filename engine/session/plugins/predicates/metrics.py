"""Whether kube-scheduler's metrics exist in the process: ``predicates`` registers them.

Source: plugins/predicates/predicates.go, ``metrics.Register()`` in v1.12.0 and v1.12.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...framework.session import ProcessState

_KEY = "predicates: metrics"


def register_metrics(process: ProcessState) -> None:
    """Note that ``predicates`` has prepared for a pod in this process."""
    process.kept[_KEY] = True


def metrics_registered(process: ProcessState) -> bool:
    """Return whether ``predicates`` has prepared for a pod in this process."""
    return _KEY in process.kept
