"""Names that the controllers of JobFlows and JobTemplates share, and what their requests are.

Source: pkg/controllers/jobflow/constant.go, jobflow_controller_util.go;
pkg/controllers/jobtemplate/constant.go, jobtemplate_controller_util.go.
"""

from __future__ import annotations

from typing import NamedTuple

from ..kubernetes.api_server import Document

CREATED_BY_TEMPLATE = "volcano.sh/createdByJobTemplate"
CREATED_BY_FLOW = "volcano.sh/createdByJobFlow"
"""Labels and annotations of jobs, with what :func:`dotted` returns."""


class FlowRequest(NamedTuple):
    """What is to be synced, by namespace and name.

    Source: pkg/controllers/apis/request.go FlowRequest.
    """

    namespace: str
    name: str
    action: str = ""
    event: str = ""

    @property
    def key(self) -> str:
        """The key of the object: ``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class FlowFailure(Exception):
    """The work on a request failed; it is tried again."""


def dotted(namespace: str, name: str) -> str:
    """Return how a label names a JobFlow or a JobTemplate."""
    return f"{namespace}.{name}"


def labels_of(job: Document) -> dict[str, str]:
    """Return an object's labels."""
    return job["metadata"].get("labels") or {}


def namespace_of(document: Document) -> str:
    """Return an object's namespace."""
    return document["metadata"].get("namespace") or "default"


def phase_of(document: Document) -> str:
    """Return the phase of a job or a JobFlow; empty if it has none."""
    phase: str = document.get("status", {}).get("state", {}).get("phase", "")
    return phase
