"""What would help an object of a small cluster."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from answer_worlds import Document, log_of

from plinian.replay.answers.target import target_of
from plinian.replay.answers.why import why_at
from plinian.replay.what_if.help import WouldHelp, what_would_help


def helped(
    folder: Path,
    conf: str,
    *world: Document,
    named: str = "podgroup/new",
    release: str = "v1.12.1",
    **others: Any,
) -> WouldHelp:
    """Return what would help an object of the namespace ``ns``, by default PodGroup ``new``."""
    with log_of(Path(mkdtemp(dir=folder)), conf, *world) as log:
        moment, name = log.moment(), log.object(named)
        why = why_at(log, name, moment, namespace="ns", release=release)
        target = target_of(log, name, "ns", moment)
        return what_would_help(log, moment, target, why, **others)


def texts_of(found: WouldHelp, kind: str) -> list[str]:
    """Return the changes of a kind that help."""
    return [one.text for one in found.found if one.kind == kind]
