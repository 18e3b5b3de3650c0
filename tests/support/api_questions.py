"""A question of each kind to the log of the demo, as the query of a request has it."""

from __future__ import annotations

TIME = "2026-11-21T01:53:36Z"
AT = {"at": TIME}

QUESTIONS: dict[str, dict[str, str | list[str]]] = {
    "log": {},
    "events": {"kind": "pod.bound", "since": TIME, "payload": "true"},
    "kinds": AT,
    "state": {"table": "queues", **AT},
    "objects": {"kind": "pods", "field_selector": "spec.nodeName=node-1", **AT},
    "object": {"kind": "pods", "name": "gpu-2-gpu-0", **AT},
    "diff": {"before": "2026-11-21T01:53:02Z", "after": TIME, "kind": ["nodes", "queues"]},
    "history": {"object": "job/gpu-2", "ignore": "status", **AT},
    "blame": {"object": "queue/gold", "number": "allocated.cpu", **AT},
    "drift": AT,
    "overview": AT,
    "shares": {"queue": "gold", **AT},
    "why": {"object": "job/gpu-2", **AT},
    "path": {"object": "pod/gpu-2-gpu-0", "nodes": "node-1,node-4", **AT},
    "what-would-help": {"object": "job/gpu-2", "budget": "60s", **AT},
    "session": {"release": "v1.11.0", "trace": "true", "choose": "7", **AT},
    "sessions": {"since": TIME},
    "what-if": {
        "add_node": ["node-3"],
        "delete": "job/gpu-1",
        "each": "true",
        "try_release": "v1.13.0",
        **AT,
    },
    "would-start": {
        "manifest": '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried"}, "spec": '
        '{"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": '
        '{"cpu": "500m"}}}]}}',
        "for": "30s",
        **AT,
    },
    "forecast": {"for": "30s", "delete": "job/gpu-1", **AT},
    "compare": {"release": ["v1.11.0", "v1.12.1"], **AT},
    "compare-moments": {"before": "rv:400", "after": TIME, "release": "v1.12.1"},
    "belief": {"release": "v1.11.0", **AT},
    "check": {"invariant": ["I-04", "I-07"], **AT},
    "explore": {"steps": "50", "budget": "60s", **AT},
    "bisect": {"pending": "default/gpu-2-gpu-0", "releases": "v1.11.0..v1.12.1", **AT},
    "upgrade-check": {"from": "v1.11.0", "to": "v1.12.1", "sample": "3"},
    "fidelity": AT,
    "lint": AT,
    "releases": {},
    "behaviours": {"release": "v1.12.1", "part": "cache"},
    "release-diff": {"one": "v1.11.0", "other": "v1.12.1"},
}
"""By the name of the question; all are answered with one page of 1,000."""


def path_of(url: str, values: dict[str, str | list[str]]) -> tuple[str, dict[str, str | list[str]]]:
    """Return the path of a question, and the values that are not in it."""
    inside = {name: value for name, value in values.items() if f"{{{name}}}" in url}
    path = url.format(**inside)
    return f"/plinian/v1/{path}", {k: v for k, v in values.items() if k not in inside}
