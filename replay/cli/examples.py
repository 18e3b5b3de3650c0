"""Examples of commands, printed at the end of help; questions declare their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": (
            "plinian demo",
            "plinian ingest dump.tar.gz --log cluster.db",
            "plinian --log cluster.db -n ml get pods --at -5m",
        ),
        "ingest": (
            "plinian ingest watch-pods.jsonl audit.log",
            "kubectl get pods -A -o json | plinian ingest - --log cluster.db",
        ),
        "record": (
            "plinian record --log cluster.db",
            "plinian record --context prod -n ml -n research --for 1h",
            "plinian record --log 'postgresql://plinian@db/logs' --log-format json",
        ),
        "status": (
            "plinian status --log cluster.db",
            "plinian status -o json",
        ),
        "events": (
            "plinian events --kind pod.bound --since -5m",
            "plinian events --object pod/train-0 -n ml -o ndjson",
        ),
        "get": (
            "plinian get pods -n ml --at 2026-01-02T10:42:07Z -o wide",
            "plinian get pods -A --field-selector spec.nodeName=node-1,status.phase=Running",
            "plinian get pods -w --at rv:1042",
            "plinian get queues,podgroups -A -o yaml --clean > manifests.yaml",
        ),
        "describe": (
            "plinian describe podgroup bert -n ml --at rv:1042",
            "plinian describe node/node-1 queue/gold",
        ),
        "plot": (
            "plinian plot queues --from 2026-01-02T10:00:00Z --to 2026-01-02T12:00:00Z",
            "plinian plot nodes --resource nvidia.com/gpu -o nodes.svg",
            "plinian plot gang job/train -n ml -o gang.png --theme dark",
            "plinian plot waits -o waits.html",
        ),
        "serve": (
            "plinian serve --log cluster.db --open",
            "plinian serve --at 2026-01-02T10:42:07Z --port 0",
            "plinian serve --listen 0.0.0.0 --token-file token --tls-cert a.crt --tls-key a.key",
        ),
        "mcp": (
            "plinian mcp --log cluster.db",
            "plinian mcp --log cluster.db --http --port 8002",
        ),
        "kubeconfig": (
            "plinian kubeconfig --at rv:391 --at 10:42:07 -o past.kubeconfig",
            "plinian kubeconfig --server http://127.0.0.1:8002 > past.kubeconfig",
        ),
        "play": (
            "plinian play to 10:42:07",
            "plinian play speed 5x",
        ),
        "digest": ("plinian digest --at rv:1042",),
        "verify": (
            "plinian verify --log cluster.db",
            "plinian verify --head $(cat kept-elsewhere)",
        ),
        "head": ("plinian head --log cluster.db", "plinian head -o json > kept-elsewhere.json"),
        "pack": (
            "plinian pack --at 2026-01-02T10:42:07Z --around 5m -o incident.plinian",
            'plinian pack --at rv:1042 --ask "why does ml/bert wait?" -o incident.plinian',
        ),
        "open": (
            "plinian open incident.plinian",
            "plinian open incident.plinian --map incident.plinian.map",
        ),
        "report": (
            "plinian report --at 2026-01-02T10:42:07Z -o report.html",
            "plinian report --at -5m --why job/train --why queue/gold -n ml --from -15m",
        ),
        "export": (
            "plinian export events.ndjson",
            "plinian export events.parquet",
            "plinian export queues.csv --what queues --every 1m",
            "plinian export timeline.json --what timeline",
            "plinian export cluster.yaml --what kwok --at -5m",
        ),
        "simulate": ("plinian simulate fault.case.json --release v1.12.1",),
        "explore": (
            "plinian explore race.case.json --release v1.8.2",
            "plinian explore race.case.json --strategy pct --seed 7 --budget 5m",
            "plinian explore --at -5m --object deployment/web --release v1.8.2",
            "plinian explore --replay plinian1.…",
            "plinian explore --model device-list --release v1.8.2",
        ),
        "step": ("plinian step race.case.json --release v1.8.2",),
        "lint": (
            "plinian lint queues.yaml job.yaml --release v1.12.1",
            "plinian lint --at end",
            "plinian lint queues/ --release v1.15.1 -o sarif",
        ),
        "release": ("plinian release show v1.12.1",),
        "release unproven": ("plinian release unproven",),
        "db": ("plinian db info",),
        "db info": ("plinian db info --log cluster.db -o json",),
        "db upgrade": ("plinian db upgrade --log cluster.db",),
        "db downgrade": ("plinian db downgrade 0001 --log cluster.db",),
        "checkpoint": ("plinian checkpoint build",),
        "checkpoint build": ("plinian checkpoint build --log cluster.db",),
        "checkpoint list": ("plinian checkpoint list",),
        "checkpoint drop": ("plinian checkpoint drop",),
        "branch": ("plinian branch list",),
        "branch create": ("plinian branch create what-if --at @1042",),
        "branch list": ("plinian branch list --log cluster.db",),
        "demo": ("plinian demo",),
        "completion": ("source <(plinian completion bash)",),
        "version": ("plinian version -o json",),
    }
)
"""By the command's full name; the empty name is the program itself."""


def epilog_of(name: str, *, after: str = "") -> str | None:
    """Return the end of a command's help: its examples, then ``after``."""
    return epilog(EXAMPLES.get(name, ()), after=after)


def epilog(lines: Sequence[str], *, after: str = "") -> str | None:
    """Return the end of help with some examples: these, then ``after``."""
    if not lines:
        return after or None
    parts = ["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)]
    return "\n".join([*parts, *(("", after) if after else ())])
