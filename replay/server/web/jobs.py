"""The page of jobs and PodGroups: one row for each thing that is scheduled together.

Its rows have a template, as its facets and marks of phases are on no other page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from ....engine.kubernetes.counts import counted
from ....engine.state.facts import JobFact, PodGroupFact
from ....engine.state.truth_fold import Entry
from ...answers.finding import SessionFinding
from ...coverage.coverage import SCHEDULING, NotListed
from ...facade.log import Log
from ...logs.given_names import shortened, stem_of
from ...moments.moment import Moment
from ...render.blocks import Ref, Section, Sentence, Words, here_ref, joined, object_ref
from ...render.columns import TableContext
from ...render.state_looks import look_of
from .blocks import BlockPage, drawn, nothing, paged
from .forms import FormField, form
from .look import Look
from .notes import JOB, POD, PODGROUP, WAITING, gaps
from .page import page
from .sorting import Columns, sort_heads
from .waiting_reasons import reasons_for

NO_PHASE = "(none)"
FACETS = ("phase", "queue", "namespace")


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup with the job that it was made for; or a job without a PodGroup.

    :param name: to show. :param job: and ``podgroup``: as links name them; empty if there is none.
    :param phase: of the PodGroup; without one, of the job.
    :param least: how many pods start together. :param pods: of the PodGroup, by status.
    :param pods_unknown: there may be pods, of which the log knows none.
    :param waits: it may be asked why. :param why: as a sentence; empty if no session says it.
    :param because: the same without its name, which is in the same row.
    :param look: how its phase is drawn.
    """

    name: str
    namespace: str
    job: str
    podgroup: str
    phase: str
    job_phase: str
    queue: str
    least: int
    pods: Mapping[str, int]
    pods_unknown: bool = False
    age: str
    waits: bool
    why: str
    because: str
    look: str

    @property
    def object(self) -> str:
        """The job, or else the PodGroup, as links name it."""
        return self.job or self.podgroup


@page(
    "jobs",
    "Jobs",
    nav="Jobs",
    key="j",
    long=True,
    takes=("phase", "queue", "namespace", "q", "skip", "gone", "reasons", "sort"),
)
def jobs(log: Log, look: Look) -> BlockPage:
    """Return the jobs and PodGroups of a moment, those that wait first."""
    moment = log.moment(look.at)
    context = TableContext(log.truth(moment), not_listed=NotListed(log, moment))
    reasons = reasons_for(log, moment, look)
    known = sorted(_workloads(context, reasons.found), key=_rank)
    chosen = {name: look.get(name) for name in FACETS}
    named = [workload for workload in known if look.filter in workload.name]
    facets = [_facet(name, chosen, named) for name in FACETS]
    fits = [workload for workload in named if _fits(workload, chosen)]
    lines, pager = paged(look, fits, "jobs", name="skip", columns=_COLUMNS)
    gone, others = paged(look, _gone(log, moment, look.filter), "jobs at other times", name="gone")
    kinds = (JOB, *SCHEDULING) if reasons.found else (JOB, PODGROUP, POD)
    not_known = gaps(log, moment, kinds)

    def sections() -> Iterator[Section]:
        if known:
            field = FormField("Name has", "q", look.filter, attributes={"size": "14"})
            by = form(look, "Show", [field])
            heads = sort_heads(look, _COLUMNS, "skip", lines.total)
            shown = drawn(look, "jobs.html", facets=facets, form=by, heads=heads, lines=lines.rows)
            text = f"Show all {len(known)}"
            every = here_ref(text, phase=None, queue=None, namespace=None, q=None, skip=None)
            none = Sentence(Words("Nothing has all that is chosen. ", every), "blank")
            over_time = Sentence(Ref("Jobs over time", "jobs/over-time"))
            waits = any(workload.waits for workload in fits)
            asking = [reasons.lacking] if reasons.lacking and waits else []
            yield Section([over_time, *asking, shown, pager if fits else none])
        else:
            yield Section([nothing(look, "job and no PodGroup")])
        if gone.rows:
            more = counted(gone.total, "more job that does", "more jobs that do")
            names = [object_ref(name, name.partition("/")[2]) for name in gone.rows]
            said = Sentence(f"The log holds {more} not exist at this moment:")
            listed = Sentence(Words(*joined(names, " ")), "names")
            yield Section([said, listed, others], "Jobs at other times")

    data = {"all": len(known), "name": look.filter, "facets": facets, "lines": lines, "gone": gone}
    data |= {"assumed": reasons.assumed, "not_known": not_known}
    return BlockPage("Jobs", sections, data, assumed=reasons.assumed, not_known=not_known)


def _gone(log: Log, moment: Moment, text: str) -> list[str]:
    """Return the jobs that the log holds at another time only."""
    existing = {
        (entry.reference.namespace, entry.reference.name) for entry in log.truth(moment).of(*JOB)
    }
    known = log.store.objects_of(*JOB, cluster=moment.cluster)
    names = {
        (reference.namespace, reference.name)
        for reference in known
        if reference.name and text in reference.name
    }
    return [f"job/{place}/{name}" for place, name in sorted(names - existing)]


_COLUMNS: Columns[Workload] = MappingProxyType(
    {
        "NAME": lambda workload: workload.name,
        "PHASE": lambda workload: workload.phase,
        "WHY": lambda workload: workload.because,
        "QUEUE": lambda workload: workload.queue,
        "PODS": lambda workload: str(sum(workload.pods.values()) or ""),
        "NEEDS": lambda workload: str(workload.least),
        "AGE": lambda workload: workload.age,
        "NAMESPACE": lambda workload: workload.namespace,
        "KIND": lambda workload: f"{workload.job and 'Job'} {workload.podgroup and 'PodGroup'}",
    }
)
"""In the order in which the template has them."""


def _rank(workload: Workload) -> tuple[bool, str, str]:
    return not workload.waits, workload.namespace, workload.name


def _fits(workload: Workload, chosen: Mapping[str, str], without: str = "") -> bool:
    return all(
        not value or name == without or getattr(workload, name) == value
        for name, value in chosen.items()
    )


def _facet(
    name: str, chosen: Mapping[str, str], workloads: Sequence[Workload]
) -> dict[str, object]:
    """Return the values that rows can be chosen by, and how many have each."""
    # Without the choice of this facet: its other values must stay there to be chosen.
    counts = Counter(
        getattr(workload, name) for workload in workloads if _fits(workload, chosen, without=name)
    )
    # What is chosen is shown even if nothing has it, so that a person can choose something else.
    if chosen[name]:
        counts.setdefault(chosen[name], 0)
    choices = [
        {"value": value, "count": count, "chosen": value == chosen[name]}
        for value, count in sorted(counts.items(), key=lambda choice: (-choice[1], choice[0]))
    ]
    return {"name": name, "chosen": chosen[name], "choices": choices}


def _workloads(context: TableContext, reasons: Mapping[str, SessionFinding]) -> Iterator[Workload]:
    """Yield each PodGroup with its job, then the jobs that have none.

    :param reasons: why PodGroups wait, by name.
    """
    jobs = {
        (entry.reference.namespace, entry.reference.name): entry for entry in context.truth.of(*JOB)
    }
    groups, with_group = context.truth.of(*PODGROUP), set()
    short = shortened(group.reference.name for group in groups)
    for group in groups:
        place, name = group.reference.namespace, group.reference.name
        key = place, stem_of(name)
        with_group.add(key)
        why = reasons.get(f"{place}/{name}")
        yield _workload(context, short.get(name, name), jobs.get(key), group, why)
    for key, job in jobs.items():
        if key not in with_group:
            yield _workload(context, "", job, None)


def _workload(
    context: TableContext,
    short: str,
    job: Entry | None,
    group: Entry | None,
    why: SessionFinding | None = None,
) -> Workload:
    """Return a row. :param short: the name of a PodGroup without a job."""
    entry = group or job
    assert entry is not None, "there is at least one of them"
    fact, place = entry.fact, entry.reference.namespace
    assert isinstance(fact, PodGroupFact | JobFact), "the kind is PodGroup or Job"
    name, phase = entry.reference.name, fact.phase or NO_PHASE
    pods = context.members.get((place, name), {}) if group else {}
    of_job = job.fact.phase if job and isinstance(job.fact, JobFact) else ""
    return Workload(
        name=job.reference.name if job else short,
        namespace=place,
        job=f"job/{place}/{job.reference.name}" if job else "",
        podgroup=f"podgroup/{place}/{name}" if group else "",
        phase=phase,
        job_phase=of_job if group else phase,
        queue=fact.queue or "default",
        least=fact.min_member if isinstance(fact, PodGroupFact) else fact.min_available,
        pods=pods,
        pods_unknown=not pods and context.not_listed(POD, place),
        age=context.age_of(entry),
        waits=why is not None or fact.phase in WAITING,
        why=why.sentence if why else "",
        because=why.reason if why else "",
        look=look_of(phase),
    )
