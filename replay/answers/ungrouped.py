"""Why a job of Volcano waits that has no PodGroup: sessions do not see it."""

from __future__ import annotations

from ...engine.cache.job_cache import job_of
from .answering_session import JOB, POD, PODGROUP, Run
from .carried import carried
from .finding import Blocked, SessionFinding
from .job_reasons import missing_group
from .records import Note, PodGroupState
from .target import RUNNING, Target

_MAKER = "Volcano's job controller"


def without_group(run: Run, target: Target) -> SessionFinding:
    """Return the answer about a job that has no PodGroup, or not any more.

    That of a job whose pods name one is what each of these pods has, too.
    """
    about = (JOB, target.key)
    if target.phase == RUNNING and not target.waits:
        return _running(run, target).after((), about)
    # Pods may name a PodGroup that is gone: then each of them waits for just that.
    blocked = (
        missing_group(run, target.podgroup) if _has_pods(run, target) else _to_come(run, target)
    )
    return carried(run, blocked.finding(target.title).after((), about), target)


def _running(run: Run, target: Target) -> SessionFinding:
    """Return the answer about a job that runs: without its PodGroup sessions do not see it."""
    text = f"{target.title} is {RUNNING}, and the log "
    if run.never_listed(PODGROUP):
        text += "holds no podgroups: it is not known whether more of its pods wait"
        return SessionFinding(text, None, "unknown", (Note(text=text),))
    text += "has no PodGroup of it: sessions do not see the job without one"
    return SessionFinding(text, False, "no-podgroup", (Note(text=text),))


def _has_pods(run: Run, target: Target) -> bool:
    """Return whether there are pods that name the PodGroup of a job."""
    if not target.podgroup:
        return False
    return any(job_of(pod) == target.podgroup for pod in run.pods())


def _to_come(run: Run, target: Target) -> Blocked:
    """Return that a job without pods waits for the PodGroup that its controller makes."""
    phase = f"is {target.phase}" if target.phase else "has no phase"
    if not target.podgroup:
        yet = "" if run.never_listed(POD) else " yet"
        text = f"it has no PodGroup{yet}: {_MAKER} makes it, and the job {phase}"
        return Blocked(text, "no-podgroup", (Note(text=text, blocks=True),))
    key = target.podgroup
    text = (
        f"its PodGroup {key} does not exist any more: {_MAKER} has to make it again, and the job "
        f"{phase}"
    )
    link = PodGroupState(text=text, blocks=True, podgroup=key, exists=False)
    return Blocked(text, "no-podgroup", (link,), ((PODGROUP, key),), (key,))
