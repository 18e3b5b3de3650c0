"""How long pods take to start, to run and to end, by what a log records of them and of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from ...engine.controllers.timed_kubelets import End
from ...engine.errors import UsageError
from ...engine.kubernetes.api_server import Document, place_of
from ...engine.kubernetes.counts import counted
from ...engine.kubernetes.units import SECOND_US, format_age, parse_duration
from ..objects.kind_names import object_named, plain_name
from .pod_lives import PodLife, PodTemplateKey, template_of

SUCCEEDED = "Succeeded"
START_US = 2 * SECOND_US
"""How long a pod takes to start if the log records no start of any."""

LONGEST_US = 24 * 3600 * SECOND_US
"""The longest stretch that is run."""

_FORM = "write KIND/NAME=DURATION, as in job/train=5m"


class RunFor(NamedTuple):
    """How long the pods of an object run, as a person says it.

    :param kind: in lower case, as people write it. :param namespace: empty for any.
    """

    kind: str
    namespace: str
    name: str
    micros: int


def run_for(text: str, namespace: str | None = None) -> RunFor:
    """Parse ``KIND/NAME=DURATION``.

    :raises UsageError: it has another form.
    """
    address, equals, duration = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} gives no duration", now=_FORM)
    named = object_named(address)
    kind = plain_name(named.group, named.kind)
    return RunFor(kind, named.place(namespace) or "", named.name, positive(duration, "--run-for"))


def positive(text: str, option: str) -> int:
    """Parse a duration that is longer than nothing, in microseconds.

    :raises UsageError: it is none, or is not.
    """
    try:
        micros = parse_duration(text)
    except ValueError as fault:
        raise UsageError(f"{option}: {fault}", now="write a duration such as 90s or 10m") from fault
    if micros <= 0:
        raise UsageError(f"{option}: {text} is no time", now="write a duration such as 90s or 10m")
    return micros


class Wish(NamedTuple):
    """How a cluster lives on.

    :param lasts: microseconds. :param start_after: how long pods take to start; None is as
        recorded. :param runs: how long the pods of some objects run.
    :param period: between sessions; None is that of the log.
    :param arrivals: what users wrote then, and what no component here makes, comes as recorded.
    """

    lasts: int
    start_after: int | None = None
    runs: tuple[RunFor, ...] = ()
    period: int | None = None
    arrivals: bool = True


def wish_of(
    lasts: str,
    start_after: str | None = None,
    runs: Sequence[str] = (),
    period: str | None = None,
    *,
    namespace: str | None = None,
    arrivals: bool = True,
) -> Wish:
    """Return how a cluster lives on, from texts.

    :param namespace: of objects that name none.
    :raises UsageError: one of them is not a duration, or is too short or too long.
    """
    micros = positive(lasts, "--for")
    if micros > LONGEST_US:
        raise UsageError(f"--for: {lasts} is more than 24h", now="run less time")
    return Wish(
        lasts=micros,
        start_after=None if start_after is None else positive(start_after, "--start-after"),
        runs=tuple(run_for(text, namespace) for text in runs),
        period=None if period is None else positive(period, "--period"),
        arrivals=arrivals,
    )


class KnownDurations(NamedTuple):
    """What is known of durations. :param starts: in microseconds, how many are known."""

    start: int
    starts: int
    ran: int


class RecordedTimes:
    """The times of pods, for one run.

    A pod of the name of a recorded one takes as long as that one. Others take as long as pods of
    the same task of the same job do, at the median, then as pods of the same owner; if none of
    these has ended, they run for ever.

    :param lives: all that are recorded, by uid. :param begin: when the run begins; pods that were
        there go on from what was over by then. :param now: returns the time.
    :param start_after: how long each pod takes to start, in microseconds; None is as recorded.
    :param given: how long the pods of some objects run.
    :ivar endless: the keys of pods that run for ever, because the log does not say how long.
    """

    def __init__(
        self,
        lives: Mapping[str, PodLife],
        begin: int,
        now: Callable[[], int],
        *,
        start_after: int | None = None,
        given: Sequence[RunFor] = (),
    ) -> None:
        self._lives, self._begin, self._now = lives, begin, now
        self._fixed, self._given = start_after, given
        starts = [live.started_after for live in lives.values() if live.started_after is not None]
        ran = [life for life in lives.values() if life.ran_for is not None]
        self._named = _by_name(lives.values())
        self._of = _by_template(ran)
        self._began: dict[str, int] = {}
        self.endless: set[str] = set()
        usual = round(median(starts)) if starts else START_US
        self.known = KnownDurations(
            usual if start_after is None else start_after, len(starts), len(ran)
        )
        gone = [life.ended_after for life in lives.values() if life.ended_after is not None]
        self._end = round(median(gone)) if gone else None

    def start(self, pod: Document) -> int:
        """Return when a pod runs that has a node."""
        life = self._lives.get(pod["metadata"]["uid"])
        if life is not None and life.bound is not None and life.bound <= self._begin:
            if self._fixed is None and life.running is not None:
                return life.running - self._now()
            return max(self.known.start - (self._begin - life.bound), 0)
        if self._fixed is not None:
            return self._fixed
        named = self._named.get(place_of(pod).key)
        own = None if named is None else named.started_after
        return self.known.start if own is None else own

    def finish(self, pod: Document) -> End | None:
        """Return when a running pod ends by itself; None if it never does."""
        key, uid = place_of(pod).key, pod["metadata"]["uid"]
        life = self._lives.get(uid)
        ran = 0
        if life is not None and life.running is not None and life.running <= self._begin:
            ran = self._now() - life.running
        if life is not None and life.ran_for is not None and life.ran_for >= ran > 0:
            return End(life.ran_for - ran, life.phase)
        lasts = self._lasts(pod, ran)
        if lasts is None:
            self.endless.add(key)
            return None
        return lasts._replace(after=max(lasts.after - ran, 0))

    def _lasts(self, pod: Document, ran: int) -> End | None:
        """Return how long a pod runs in all, of which so much is over."""
        key, template = place_of(pod).key, template_of(pod)
        for run in self._given:
            if _is_meant(run, key, template, pod):
                return End(run.micros, SUCCEEDED)
        life = self._named.get(key)
        if life is not None and life.ran_for is not None and life.ran_for >= ran:
            return End(life.ran_for, life.phase)
        if template is None:
            return None
        for like in (template, template._replace(task="")):
            # Those that ended sooner say nothing: this pod already ran longer.
            longer = [ran_for for ran_for in self._of.get(like, ()) if ran_for >= ran]
            if longer:
                return End(round(median(longer)), SUCCEEDED)
        return None

    def end(self, pod: Document) -> int:
        """Return when a pod is gone that is being deleted."""
        metadata = pod["metadata"]
        most = int(metadata.get("deletionGracePeriodSeconds") or 0) * SECOND_US
        life = self._lives.get(metadata["uid"])
        if life is not None and life.deleting is not None and life.deleting <= self._begin:
            if life.gone is not None:
                return life.gone - self._now()
            return max(most - (self._begin - life.deleting), 0)
        # The kubelet kills what still runs after the grace period, however long others took.
        return most if self._end is None else min(self._end, most)

    def texts(self) -> list[str]:
        """Return in sentences how long pods are taken to take."""
        start = format_age(self.known.start) if self.known.start >= SECOND_US else "at once"
        if self._fixed is not None:
            how = "as given"
        elif self.known.starts:
            starts = counted(self.known.starts, "recorded start")
            how = f"the median of {starts}; recorded pods as they did"
        else:
            how = "assumed: the log records no start of a pod"
        sentences = [f"A pod starts {start} after it was bound ({how})."]
        if self.known.ran:
            sentences.append(
                f"A pod runs as long as recorded ({counted(self.known.ran, 'pod')} ended), or as "
                "the median of those of its task or owner."
            )
        return sentences


def _by_name(lives: Iterable[PodLife]) -> dict[str, PodLife]:
    """Return by name the life that says most: one that ended, else one that ran, the last."""
    by_name: dict[str, PodLife] = {}
    for life in lives:
        known = by_name.get(life.key)
        if known is None or _says(life) >= _says(known):
            by_name[life.key] = life
    return by_name


def _says(life: PodLife) -> tuple[bool, bool]:
    return life.ran_for is not None, life.started_after is not None


def _by_template(ran: Iterable[PodLife]) -> dict[PodTemplateKey, list[int]]:
    by_template: dict[PodTemplateKey, list[int]] = {}
    for life in ran:
        # How long a pod ran that failed says nothing of those that do their work.
        if life.template is not None and life.ran_for is not None and life.phase == SUCCEEDED:
            for like in {life.template, life.template._replace(task="")}:
                by_template.setdefault(like, []).append(life.ran_for)
    return by_template


def _is_meant(
    run: RunFor, key: str, template: PodTemplateKey | None, pod: Mapping[str, Any]
) -> bool:
    namespace, _, name = key.partition("/")
    if run.namespace not in {"", namespace}:
        return False
    if run.kind == "pod":
        return run.name == name
    if run.kind == "podgroup":
        annotations = pod["metadata"].get("annotations") or {}
        return run.name == annotations.get("scheduling.k8s.io/group-name")
    if template is None:
        return False
    if run.kind == "deployment":
        return template.kind == "ReplicaSet" and template.owner.rpartition("-")[0] == run.name
    return template.kind.lower() == run.kind and template.owner == run.name
