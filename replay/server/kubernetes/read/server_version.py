"""The version that the API server says it has: the recorded cluster's, as far as its nodes tell.

A kubelet is never newer than the API server, so the newest kubelet is the best that a log of
objects knows. Kubelets that are simulated have other versions, which are no Kubernetes'.

Source: https://kubernetes.io/releases/version-skew-policy/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from .....engine.state.facts import NodeFact
from .....engine.version import __version__
from ..wire.api_resources import NODE
from .cluster_state import ClusterState

EMULATED = 1, 35, 0
"""The version whose API is served: its columns, schemas and resources."""

_VERSION = re.compile(r"v(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![0-9.])")


def version_of(state: ClusterState) -> bytes:
    """Return the answer to ``/version``."""
    major, minor, patch = max(_kubelets(state), default=EMULATED)
    return msgspec.json.encode(
        {
            "major": str(major),
            "minor": str(minor),
            "gitVersion": f"v{major}.{minor}.{patch}+plinian-{__version__}",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "",
            "goVersion": "",
            "compiler": "",
            "platform": "",
        }
    )


def _kubelets(state: ClusterState) -> Iterator[tuple[int, int, int]]:
    """Yield the versions of the kubelets."""
    for entry in state.of(NODE):
        fact = entry.fact
        version = _VERSION.match(fact.version) if isinstance(fact, NodeFact) else None
        if version:
            major, minor, patch = map(int, version.groups())
            yield major, minor, patch
