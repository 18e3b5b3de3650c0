"""Commands of kubectl that cannot exist here, and what there is instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...engine.errors import UsageError


def _like(names: str, what: str, *instead: str) -> dict[str, tuple[str, str]]:
    """Return several commands that are absent for one reason. :param instead: a line each."""
    return dict.fromkeys(names.split(), (what, "\n".join(instead)))


_ABSENT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **_like(
            "logs",
            "a log of events has no output of containers",
            "what Volcano's components logged: plinian events --kind 'message.*,decision.*'",
            "what happened to a pod: plinian history pod/NAME",
        ),
        **_like(
            "top",
            "the API server does not know what pods and nodes really use",
            "what pods request of nodes: plinian get nodes",
            "what queues hold: plinian shares",
        ),
        **_like(
            "exec attach cp port-forward proxy debug run",
            "a container of the past cannot be reached",
            "what it was: plinian describe pod/NAME",
            "what happened to it: plinian history pod/NAME",
        ),
        **_like(
            "apply create replace",
            "the past cannot be changed",
            "whether what is in a file would start: plinian try -f FILE",
            "let clients write to a branch: plinian serve --writable --branch NAME",
        ),
        **_like(
            "edit patch set label annotate scale autoscale delete cordon uncordon drain taint "
            "expose rollout",
            "the past cannot be changed",
            "what a change would do: plinian what-if --set KIND/NAME.FIELD=VALUE",
            "who changed an object: plinian history KIND/NAME",
            "let clients write to a branch: plinian serve --writable --branch NAME",
        ),
        **_like(
            "wait",
            "the past does not change while one waits",
            "how objects changed: plinian get pods --watch --at POINT",
        ),
        **_like(
            "explain api-resources api-versions",
            "only a served cluster says what kinds there are",
            "serve the log: plinian serve",
            "then: plinian kubeconfig -o past.kubeconfig, kubectl --kubeconfig past.kubeconfig ...",
        ),
        **_like(
            "config cluster-info auth certificate",
            "there is no cluster to connect to",
            "serve the past to kubectl: plinian serve, then plinian kubeconfig",
            "what a log holds: plinian status",
        ),
    }
)


def absent(name: str) -> UsageError | None:
    """Return the error for a command of kubectl that Plinian has not; None for other names."""
    if name not in _ABSENT:
        return None
    what, now = _ABSENT[name]
    return UsageError(f"there is no plinian {name}: {what}", now=now)
