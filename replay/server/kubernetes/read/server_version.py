"""The version that the API server says it has: the recorded cluster's, as far as the log knows it.

The image of the API server's own pod has it. In a cluster that does not show that pod, a kubelet is
never newer than the API server, so the newest kubelet is the best that a log of objects knows.
Kubelets that are simulated have other versions, which are no Kubernetes'. Where there is neither,
it is the version whose API is served, and its text says that it was not recorded.

Source: https://kubernetes.io/releases/version-skew-policy/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from .....engine.state.facts import NodeFact
from .....engine.version import __version__
from ..wire.api_resources import NODE, POD
from ..wire.loose_fields import field_of
from .cluster_state import ClusterState

EMULATED = 1, 35, 0
"""The version whose API is served: its columns, schemas and resources."""

_SYSTEM, _SERVER = "kube-system", "kube-apiserver"

_VERSION = re.compile(r"v(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![0-9.])")


def version_of(state: ClusterState) -> bytes:
    """Return the answer to ``/version``."""
    known = max(_servers(state), default=None) or max(_kubelets(state), default=None)
    major, minor, patch = known or EMULATED
    unknown = "" if known else ".not-recorded"
    return msgspec.json.encode(
        {
            "major": str(major),
            "minor": str(minor),
            "gitVersion": f"v{major}.{minor}.{patch}+plinian-{__version__}{unknown}",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "",
            "goVersion": "",
            "compiler": "",
            "platform": "",
        }
    )


def _servers(state: ClusterState) -> Iterator[tuple[int, int, int]]:
    """Yield the versions of the images of the API server's pods."""
    pods = [
        entry
        for entry in state.of(POD)
        if entry.reference.namespace == _SYSTEM and entry.reference.name.startswith(_SERVER)
    ]
    for document in state.documents(pods):
        containers = field_of(document, "spec", "containers")
        for container in containers if isinstance(containers, list) else ():
            image = str(field_of(container, "image")).partition("@")[0]
            version = _VERSION.match(image.rpartition(":")[2])
            if _SERVER in image and version:
                major, minor, patch = map(int, version.groups())
                yield major, minor, patch


def _kubelets(state: ClusterState) -> Iterator[tuple[int, int, int]]:
    """Yield the versions of the kubelets."""
    for entry in state.of(NODE):
        fact = entry.fact
        version = _VERSION.match(fact.version) if isinstance(fact, NodeFact) else None
        if version:
            major, minor, patch = map(int, version.groups())
            yield major, minor, patch
