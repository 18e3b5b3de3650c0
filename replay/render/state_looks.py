"""How a status looks, the same on every page and in every picture: a sign, a word and a colour.

Nothing is known by its colour alone. Each colour has a contrast of 4.5 on its paper, so words can
have it, and neighbours differ in brightness.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class StateLook(NamedTuple):
    """A look. :param word: in legends. :param light: and ``dark``: its colours on such paper."""

    sign: str
    word: str
    light: str
    dark: str


PENDING, WAITING, RUNNING, DONE = "pending", "waiting", "running", "done"
FAILED, RELEASING, UNKNOWN = "failed", "releasing", "unknown"

STATES: Mapping[str, StateLook] = MappingProxyType(
    {
        PENDING: StateLook("○", "pending", "#8e6700", "#f0d16f"),
        WAITING: StateLook("┄", "waiting", "#a14400", "#ffa460"),
        RUNNING: StateLook("■", "running", "#005889", "#59a9e1"),
        DONE: StateLook("●", "succeeded", "#00513c", "#2c9c77"),
        FAILED: StateLook("✖", "failed", "#b42318", "#ff8b80"),
        RELEASING: StateLook("◇", "releasing", "#92467f", "#e3a1c4"),
        UNKNOWN: StateLook("?", "unknown", "#57606a", "#9aa5b1"),
    }
)
"""All looks, by the names that styles have for them."""

_LOOKS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("Pending", "(none)", "SchedulingGated", "Restarting"), PENDING),
        **dict.fromkeys(("Inqueue", "Closing", "ContainerCreating", "PodInitializing"), WAITING),
        **dict.fromkeys(("Running", "Ready", "Open", ""), RUNNING),
        **dict.fromkeys(("Succeeded", "Completed", "Completing", "Closed"), DONE),
        **dict.fromkeys(("Failed", "Aborted", "Aborting", "Terminated"), FAILED),
        **dict.fromkeys(("Evicted", "NodeLost", "OOMKilled", "DeadlineExceeded"), FAILED),
        **dict.fromkeys(("Terminating", "Releasing"), RELEASING),
    }
)
_FAULTS = ("Err", "CrashLoop", "ImagePull", "Invalid", "ExitCode:", "Signal:", "NotReady")
"""Beginnings of what kubectl prints for containers that do not run, and for nodes."""

_ENDED = ("Error", "BackOff", "OOMKilled")


def look_of(status: str, node: str = "") -> str:
    """Return how a status looks, which is a key of :data:`STATES`.

    :param status: as ``get`` prints it; empty for kinds without one.
    :param node: of a pod: one that is bound does not wait for a node any more.
    """
    if status == "Pending" and node:
        return WAITING
    if status.startswith(_FAULTS) or status.endswith(_ENDED):
        return FAILED
    if status.startswith("Init:") or status.endswith(",SchedulingDisabled"):
        return WAITING
    return _LOOKS.get(status, UNKNOWN)


def state_rules() -> str:
    """Return the rules of style sheets for all looks: each has its colour and its sign."""
    return "".join(
        f".{name} {{ --state: light-dark({look.light}, {look.dark}); }}\n"
        f'.phase.{name}::before {{ content: "{look.sign} "; }}\n'
        for name, look in STATES.items()
    )
