"""Made-up objects of a cluster, and the bytes in which people have them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def recorded(name: str) -> bytes:
    """Return a slice of a real recording, unpacked."""
    return gzip.decompress((DATA / name).read_bytes())


def pod(name: str = "a", revision: object = 1, **changes: Any) -> dict[str, Any]:
    """Return a pod as an API server would give it; ``changes`` go to its metadata."""
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": str(revision) if isinstance(revision, int) else revision,
        **changes,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
        "status": {"phase": "Pending"},
    }


def compact(value: Any) -> bytes:
    """Return a value as the API server writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def watched(*events: tuple[str, dict[str, Any]]) -> bytes:
    """Return the lines of a watch."""
    return b"".join(compact({"type": kind, "object": about}) + b"\n" for kind, about in events)


def initial_end(revision: int, kind: str = "Pod") -> tuple[str, dict[str, Any]]:
    """Return the bookmark that ends the list at the begin of a watch."""
    annotations = {"k8s.io/initial-events-end": "true"}
    metadata = {"resourceVersion": str(revision), "annotations": annotations}
    return "BOOKMARK", {"kind": kind, "apiVersion": "v1", "metadata": metadata}


def listed(*items: dict[str, Any], kind: str = "PodList", **metadata: Any) -> dict[str, Any]:
    """Return a list of an API server; its revision is 100 unless said otherwise."""
    return {
        "kind": kind,
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "100", **metadata},
        "items": list(items),
    }
