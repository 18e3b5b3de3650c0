"""The page of jobs and PodGroups: one row for each thing that is scheduled together.

It has a template, as its facets and marks of phases are on no other page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ....engine.state.facts import JobFact, PodGroupFact
from ....engine.state.truth_fold import Entry
from ...coverage.coverage import NotListed
from ...facade.log import Log
from ...logs.given_names import shortened, stem_of
from ...moments.moment import Moment
from ...render.columns import TableContext
from .bounded import Some, number, some
from .look import Look
from .looks import look_of
from .notes import JOB, POD, PODGROUP, WAITING, gaps
from .page import page

NO_PHASE = "(none)"
FACETS = ("phase", "queue", "namespace")


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A PodGroup with the job that it was made for; or a job without a PodGroup.

    :param name: to show. :param job: and ``podgroup``: as links name them; empty if there is none.
    :param phase: of the PodGroup; without one, of the job.
    :param least: how many pods start together. :param pods: of the PodGroup, by status.
    :param pods_unknown: there may be pods, of which the log knows none.
    :param waits: it may be asked why. :param look: how its phase is drawn.
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
    look: str

    @property
    def object(self) -> str:
        """The job, or else the PodGroup, as links name it."""
        return self.job or self.podgroup


class FacetValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value of a facet, and how many rows have it with the other facets as they are."""

    value: str
    count: int
    chosen: bool


class Facet(msgspec.Struct, frozen=True, kw_only=True):
    """What rows can be chosen by. :param chosen: empty if all are shown."""

    name: str
    chosen: str
    choices: tuple[FacetValue, ...]


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs and PodGroups of a moment. :param all: how many there are without any choice.

    :param gone: the jobs of the log that do not exist at the moment, as links name them.
    """

    all: int
    name: str
    facets: tuple[Facet, ...]
    lines: Some[Workload]
    gone: Some[str]
    not_known: tuple[str, ...]


@page("jobs", template="jobs.html", title="Jobs", nav="Jobs", key="j")
def jobs(log: Log, look: Look) -> Jobs:
    """Return the jobs and PodGroups of a moment, those that wait first."""
    moment = log.moment(look.at)
    context = TableContext(log.truth(moment), not_listed=NotListed(log, moment))
    found = sorted(_workloads(context), key=_rank)
    chosen = {name: look.get(name) for name in FACETS}
    named = [one for one in found if look.filter in one.name]
    return Jobs(
        all=len(found),
        name=look.filter,
        facets=tuple(_facet(name, chosen, named) for name in FACETS),
        lines=some([one for one in named if _fits(one, chosen)], number(look, "skip")),
        gone=some(_gone(log, moment, look.filter), number(look, "gone")),
        not_known=gaps(log, moment, (JOB, PODGROUP, POD)),
    )


def _gone(log: Log, moment: Moment, text: str) -> list[str]:
    """Return the jobs that the log holds at another time only."""
    held = {(one.reference.namespace, one.reference.name) for one in log.truth(moment).of(*JOB)}
    known = log.store.objects_of(*JOB, cluster=moment.cluster)
    names = {(one.namespace, one.name) for one in known if one.name and text in one.name}
    return [f"job/{place}/{name}" for place, name in sorted(names - held)]


def _rank(one: Workload) -> tuple[bool, str, str]:
    return not one.waits, one.namespace, one.name


def _fits(one: Workload, chosen: Mapping[str, str], without: str = "") -> bool:
    return all(
        not value or name == without or getattr(one, name) == value
        for name, value in chosen.items()
    )


def _facet(name: str, chosen: Mapping[str, str], found: Sequence[Workload]) -> Facet:
    counts = Counter(getattr(one, name) for one in found if _fits(one, chosen, without=name))
    if chosen[name]:
        counts.setdefault(chosen[name], 0)
    return Facet(
        name=name,
        chosen=chosen[name],
        choices=tuple(
            FacetValue(value=value, count=count, chosen=value == chosen[name])
            for value, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        ),
    )


def _workloads(context: TableContext) -> Iterator[Workload]:
    """Yield each PodGroup with its job, then the jobs that have none."""
    jobs = {(one.reference.namespace, one.reference.name): one for one in context.truth.of(*JOB)}
    groups, with_group = context.truth.of(*PODGROUP), set()
    short = shortened(one.reference.name for one in groups)
    for group in groups:
        place, name = group.reference.namespace, group.reference.name
        key = place, stem_of(name)
        with_group.add(key)
        yield _workload(context, short.get(name, name), jobs.get(key), group)
    for key, job in jobs.items():
        if key not in with_group:
            yield _workload(context, "", job, None)


def _workload(
    context: TableContext, short: str, job: Entry | None, group: Entry | None
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
        waits=fact.phase in WAITING,
        look=look_of(phase),
    )


PAGES = (jobs,)
