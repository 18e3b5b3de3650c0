"""Plugin ``resourcequota``: a job is enqueued only if its namespace's quotas leave room for it.

Source: pkg/scheduler/plugins/resourcequota/resourcequota.go;
k8s.io/apiserver/pkg/quota/v1/resources.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from ...kubernetes.quantity import parse
from ...volcano.conf import Arguments
from ..framework.session import Session
from ..framework.trace import PERMITTED, REJECT, Vote
from ..framework.vote_details import QuotaCheck

INSUFFICIENT = "resource quota insufficient"
_UNITS = MappingProxyType({"memory": 10**9})
"""How many billionths the unit of a trace is: a byte of memory, a thousandth of all else."""


class ResourceQuotaPlugin:
    """Compares minResources with every quota of the namespace, in the names that both have.

    Permitted jobs of this session count as used, even if another plugin rejected them.
    """

    name: ClassVar[str] = "resourcequota"

    def __init__(self, arguments: Arguments) -> None:
        """Take no arguments."""

    def on_session_open(self, ssn: Session) -> None:
        """Register on the enqueueing of jobs."""
        pending: dict[str, dict[str, int]] = {}

        def enqueueable(job: int) -> Vote:
            info = ssn.jobs.info[job]
            wanted = info.pod_group.spec.min_resources if info.pod_group else None
            quotas = ssn.quotas.get(info.namespace)
            if wanted is None or quotas is None:
                return PERMITTED
            requested = _billionths(wanted)
            permitted = pending.setdefault(info.namespace, {})
            for quota_name, quota in quotas.items():
                used = _billionths(quota.used)
                exceeded = [
                    name
                    for name, hard in _billionths(quota.hard).items()
                    if name in requested
                    and used.get(name, 0) + permitted.get(name, 0) + requested[name] > hard
                ]
                if exceeded:
                    # The use of the quota object is printed, without what this session permitted to
                    # others.
                    message = (
                        f"{INSUFFICIENT}, requested: {_listed(wanted, exceeded)},"
                        f" used: {_listed(quota.used, exceeded)},"
                        f" limited: {_listed(quota.hard, exceeded)}"
                    )
                    ssn.record_event(job, "Unschedulable", message)
                    if ssn.trace.follows(ssn.jobs.keys[job]):
                        given = {
                            name: permitted.get(name, 0) / _UNITS.get(name, 10**6)
                            for name in exceeded
                        }
                        check = QuotaCheck(
                            quota=quota_name,
                            wanted=_texts(wanted, exceeded),
                            used=_texts(quota.used, exceeded),
                            hard=_texts(quota.hard, exceeded),
                            permitted=given,
                        )
                        ssn.trace.detail(self.name, ssn.jobs.keys[job], check)
                    return Vote(REJECT, message, {"quota": quota_name})
            for name, amount in requested.items():
                permitted[name] = permitted.get(name, 0) + amount
            return PERMITTED

        ssn.registry.add_job_enqueueable(self.name, enqueueable)

    def on_session_close(self, ssn: Session) -> None:
        """Do nothing."""


def _billionths(quantities: Mapping[str, str | float] | None) -> dict[str, int]:
    """Return exact amounts: no quantity is kept finer than that."""
    exact = {}
    for name, text in (quantities or {}).items():
        quantity = parse(text)
        exact[name] = quantity.number * 10 ** (quantity.power + 9)
    return exact


def _texts(quantities: Mapping[str, str | float] | None, names: list[str]) -> dict[str, str]:
    known = quantities or {}
    return {name: f"{known[name]}" for name in names if name in known}


def _listed(quantities: Mapping[str, str | float] | None, names: list[str]) -> str:
    """Return ``map[cpu:4 memory:1Gi]``; Go prints the fields of each quantity in their place."""
    known = quantities or {}
    return f"map[{' '.join(f'{name}:{known[name]}' for name in sorted(names) if name in known)}]"
