"""Writes which fields the definitions of Volcano's kinds have, and since which release.

    python tools/crd_fields.py VOLCANO.git

It reads the definitions (CRDs) at every release from a clone of Volcano. Only names of fields are
kept, with the release that first has them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from plinian.engine.volcano.releases import RELEASES

TARGET = Path(__file__).parent.parent / "replay" / "lint" / "crd_fields.json"
FOLDERS = ("config/crd/volcano/bases", "config/crd/jobflow/bases", "config/crd/bases")
KINDS = {
    *("queues", "podgroups", "jobs", "cronjobs", "hypernodes", "jobflows", "jobtemplates"),
}
POD = "PodTemplateSpec"
"""Stands for the template of pods, which several kinds have."""

Fields = dict[str, Any]


def main(repository: str) -> None:
    """Read all releases, and write the fields."""
    found: Fields = {}
    for release in RELEASES:
        if not release.ours:
            _read(repository, str(release), found)
    TARGET.write_text(json.dumps(found, sort_keys=True, separators=(",", ":")) + "\n", "utf-8")


def _read(repository: str, release: str, found: Fields) -> None:
    for folder in FOLDERS:
        for path in _git(repository, "ls-tree", "--name-only", release, f"{folder}/").split():
            if path.rpartition("_")[2].removesuffix(".yaml") in KINDS:
                _take(yaml.safe_load(_git(repository, "show", f"{release}:{path}")), release, found)


def _git(repository: str, *arguments: str) -> str:
    git = shutil.which("git") or "git"
    run = subprocess.run(  # noqa: S603 -- a clone that the caller names
        [git, "-C", repository, *arguments], check=True, capture_output=True, text=True
    )
    return run.stdout


def _take(definition: Any, release: str, found: Fields) -> None:
    spec = definition["spec"]
    name = f"{spec['group']}/{spec['names']['kind']}"
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        _merge(found.setdefault(name, {}), schema, release, found)


def _merge(into: Fields, schema: Any, release: str, found: Fields) -> None:
    """Add the fields of a schema; ``*`` stands for each value of a map, ``?`` for anything."""
    while schema.get("type") == "array":
        schema = schema.get("items", {})
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        into.setdefault("?", release)
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        _merge(into.setdefault("*", {}), values, release, found)
    elif schema.get("type") == "object" and "properties" not in schema:
        into.setdefault("?", release)
    for name, inner in schema.get("properties", {}).items():
        held = into.setdefault(name, {"@": release})
        if name == "template" and "spec" in inner.get("properties", {}):
            held["="] = POD
            _merge(found.setdefault(POD, {}), inner, release, found)
        elif name not in {"apiVersion", "kind", "metadata"}:
            _merge(held, inner, release, found)


if __name__ == "__main__":
    main(sys.argv[1])
