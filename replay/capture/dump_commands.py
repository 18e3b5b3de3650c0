"""How a dump of the scheduler's cache is taken from its pod: which one, and by which command.

The scheduler writes a dump to a file on SIGUSR1, from v1.9.0 on. Another process would be ended by
this signal, and so would a scheduler that does not lead yet: so it is only sent where it is safe.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...engine.kubernetes.units import SECOND_US, parse_time
from .pod_exec import ExecContainer

_IMAGE = "vc-scheduler"
_SETTLED = 60 * SECOND_US
"""So long after its start a scheduler certainly waits for signals."""

_FOLDER, _DUMPS, _ELECTS = "--cache-dump-dir", "--cache-dumper", "--leader-elect"

_SCRIPT = """\
grep -q scheduler /proc/1/comm || { echo 'process 1 is not the scheduler' >&2; exit 1; }
begun=$(date +%s); kill -USR1 1; size=; tries=0
while [ $tries -lt 40 ]; do
  sleep 0.5; tries=$((tries + 1)); file=$(ls FOLDER/snapshot-*.json 2>/dev/null | sort | tail -1)
  second=${file##*snapshot-}; second=${second%.json}
  [ -n "$second" ] && [ "$second" -ge "$begun" ] || continue
  now=$(wc -c < "$file")
  [ "$now" = "$size" ] && { echo "$file"; cat "$file"; rm -f "$file"; exit; }
  size=$now
done
echo 'no dump appeared in FOLDER' >&2; exit 1"""


class DumpRefused(NamedTuple):
    """No dump is taken now. :param why: a sentence."""

    why: str


class DumpCommand(NamedTuple):
    """A command that prints a dump: the path of its file in a line, then what is in it."""

    container: ExecContainer
    command: Sequence[str]


def dump_command(
    pods: Iterable[Mapping[str, Any]], holders: Iterable[str], now: int
) -> DumpCommand | DumpRefused:
    """Return the command that takes a dump from the scheduler that leads, or why none is taken.

    :param pods: of the scheduler's namespace. :param holders: of its Leases.
    :param now: microseconds since 1970.
    """
    # The identity is the host's name, which is the pod's, and an id.
    leaders = {holder.rpartition("_")[0] for holder in holders}
    found = [
        (pod, container)
        for pod in pods
        for container in _schedulers(pod)
        if pod["metadata"]["name"] in leaders or _flags(container).get(_ELECTS) == "false"
    ]
    if len(found) != 1:
        return DumpRefused("it is not known which pod of the scheduler leads")
    ((pod, container),) = found
    flags = _flags(container)
    if why := _objection(pod, container, flags, now):
        return DumpRefused(why)
    metadata = pod["metadata"]
    where = ExecContainer(metadata["namespace"], metadata["name"], container["name"])
    script = _SCRIPT.replace("FOLDER", shlex.quote(flags.get(_FOLDER, "/tmp")))  # noqa: S108
    return DumpCommand(where, ("sh", "-c", script))


def _schedulers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if (pod.get("status") or {}).get("phase") != "Running":
        return []
    return [
        container
        for container in (pod.get("spec") or {}).get("containers") or ()
        if _IMAGE in container.get("image", "").rpartition("/")[2]
    ]


def _flags(container: Mapping[str, Any]) -> dict[str, str]:
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    return {flag: value for flag, _, value in (word.partition("=") for word in words)}


def _objection(
    pod: Mapping[str, Any], container: Mapping[str, Any], flags: Mapping[str, str], now: int
) -> str:
    """Return why no signal may be sent to a scheduler; empty if it may."""
    if (pod.get("spec") or {}).get("shareProcessNamespace"):
        return "its pod shares the processes of its containers"
    if ":v1.8." in container["image"]:
        return "v1.8 has no dumps in files"
    if flags.get(_DUMPS, "true") == "false":
        return f"it runs with {_DUMPS}=false"
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    status = next((each for each in statuses if each.get("name") == container["name"]), None)
    state = (status or {}).get("state") or {}
    started = (state.get("running") or {}).get("startedAt")
    if not started or now - parse_time(started) < _SETTLED:
        return "it started less than a minute ago"
    return ""
