"""Writes the schemas of Kubernetes' own kinds, which ``kubectl explain`` reads from a server.

    python tools/openapi_schemas.py KUBERNETES/api/openapi-spec/v3 \
        replay/server/kubernetes/read/schemas.json.zst

The folder is part of a checkout of Kubernetes (Apache License 2.0).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import zstandard

DOCUMENTS = (
    "api__v1",
    *(
        f"apis__{group}__v1"
        for group in (
            *("apps", "batch", "policy", "events.k8s.io", "node.k8s.io"),
            *("scheduling.k8s.io", "storage.k8s.io", "discovery.k8s.io", "networking.k8s.io"),
            *("resource.k8s.io", "rbac.authorization.k8s.io", "admissionregistration.k8s.io"),
            *("apiextensions.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io"),
            *("flowcontrol.apiserver.k8s.io", "coordination.k8s.io"),
        )
    ),
    "apis__autoscaling__v2",
)


def schemas_in(folder: Path) -> dict[str, Any]:
    """Return all schemas by name."""
    found: dict[str, Any] = {}
    for name in DOCUMENTS:
        document = json.loads((folder / f"{name}_openapi.json").read_bytes())
        found |= document["components"]["schemas"]
    return found


def main() -> None:
    """Write the file."""
    folder, out = map(Path, sys.argv[1:])
    text = json.dumps(schemas_in(folder), separators=(",", ":"), sort_keys=True)
    out.write_bytes(zstandard.ZstdCompressor(level=22).compress(text.encode()))


if __name__ == "__main__":
    main()
