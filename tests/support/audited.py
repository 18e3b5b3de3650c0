"""Lines of an audit log: who wrote a version of an object, and when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def audited(document: Mapping[str, Any], time: str) -> str:
    """Return a line: a node of this form was created, or updated if it is not revision 10.

    :param time: RFC 3339, with microseconds.
    """
    revision, name = document["metadata"]["resourceVersion"], document["metadata"]["name"]
    line = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": f"a{revision}",
        "stage": "ResponseComplete",
        "verb": "create" if revision == "10" else "update",
        "user": {"username": "admin"},
        "objectRef": {"resource": "nodes", "name": name, "apiVersion": "v1"},
        "responseStatus": {"code": 200},
        "responseObject": {"kind": "Node", "apiVersion": "v1", **document},
        "requestReceivedTimestamp": time,
        "stageTimestamp": time,
    }
    return json.dumps(line) + "\n"
