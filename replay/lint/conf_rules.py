"""Rules about a scheduler's configuration: what a release rejects, ignores, or lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ...engine.session.plugins import BUILDERS
from ...engine.volcano.conf import (
    ConfInvalid,
    SchedulerConf,
    known_actions,
    parse_scheduler_conf,
)
from ...engine.volcano.conf_yaml import Decoder, FieldType, Struct
from .conf_outline import ConfOutline, outline, shown
from .context import LintContext
from .findings import FaultEffect, Issue
from .lint_inputs import Configuration
from .linted_queues import exists
from .victim_tiers import PlacedPlugin, blind_actions, knows_deserved, placed_plugins

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

_LINE = re.compile(r"line (\d+):")
_STARVING_PLUGINS = frozenset({"gang", "priority", "tdm"})
_ACTIONS = Struct("conf.SchedulerConfiguration", {"actions": FieldType.TEXT})
_NO_ACTION = "failed to find Action"
KEPT = "the previous configuration, or the built-in one, stays in force"


class AcceptedConf(NamedTuple):
    """A configuration that a release accepts."""

    given: Configuration
    conf: SchedulerConf
    outline: ConfOutline

    @property
    def plugins(self) -> list[PlacedPlugin]:
        """The plugins of all tiers, in order."""
        return placed_plugins(self.conf)

    def names(self, how: Behaviours) -> frozenset[str]:
        """Return the names of the plugins that the release has."""
        return frozenset(p.option.name for p in self.plugins if exists(p.option.name, how))

    def issue(
        self, path: tuple[str | int, ...], effect: FaultEffect, message: str, now: str = ""
    ) -> Issue:
        """Return an issue about a place in the configuration."""
        subject = self.given.place(self.outline.line(*path))
        return Issue(subject, shown(path), effect, message, now)


def read_by(given: LintContext, how: Behaviours) -> Iterator[AcceptedConf]:
    """Yield the configurations that a release accepts and that are not empty."""
    for conf in given.world.confs:
        try:
            parsed = parse_scheduler_conf(conf.text, how)
        except ConfInvalid:
            continue
        if conf.text.strip():
            yield AcceptedConf(conf, parsed, outline(conf.text))


def conf_rejected(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration that the scheduler cannot read or rejects, as hdrf with proportion."""
    for conf in given.world.confs:
        try:
            parse_scheduler_conf(conf.text, how)
        except ConfInvalid as fault:
            message = str(fault)
            # The rule action-unknown reports this one.
            if message.startswith(_NO_ACTION):
                continue
            for line in message.splitlines():
                if line.startswith("yaml: unmarshal errors"):
                    continue
                at = _LINE.search(line)
                subject = conf.place(int(at[1]) if at else 1)
                yield Issue(subject, "", FaultEffect.REFUSED, f"{line.strip()}: {KEPT}")


def conf_key_unknown(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A key that no configuration has: it is not read, without any message."""
    for conf in given.world.confs:
        for key in outline(conf.text).unknown:
            now = f"write {key.like}" if key.like else ""
            message = f"there is no key {key.path[-1]!r} here"
            yield Issue(conf.place(key.line), shown(key.path), FaultEffect.IGNORED, message, now)


def conf_key_repeated(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A key that its mapping has twice, also in values of Helm: the last one counts."""
    for conf in given.world.confs:
        for key in outline(conf.text).repeated:
            message = f"the key {key.path[-1]!r} occurs twice; the last one counts"
            yield Issue(conf.place(key.line), shown(key.path), FaultEffect.DIFFERS, message)
        place = conf.subject.place
        # Only Helm's values, which are in a file, have keys around the configuration.
        for line, name in conf.repeated if place is not None else ():
            assert place is not None
            message = f"the key {name[:60]!r} occurs twice in these values; the last one counts"
            subject = conf.subject._replace(place=place._replace(line=line))
            yield Issue(subject, "", FaultEffect.DIFFERS, message)


def action_unknown(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """An action that the release does not have.

    Some releases then reject the whole configuration, others run without the action.
    """
    known = known_actions(how)
    for conf in given.world.confs:
        actions = _written_actions(conf) if conf.text.strip() else None
        if actions is None:
            continue
        refused = how.unknown_action.rejects or _is_rejected(conf, how)
        then = KEPT if refused else "the others run"
        effect = FaultEffect.REFUSED if refused else FaultEffect.UNKNOWN
        subject = conf.place(outline(conf.text).line("actions"))
        if not actions.strip():
            then = KEPT if refused else "nothing runs"
            now = 'write actions: "enqueue, allocate, backfill"'
            yield Issue(subject, "actions", effect, f"it has no actions: {then}", now)
            continue
        for name in _unknown(actions, known):
            fault = f"there is no action {name!r}" if name else "an action has an empty name"
            like = get_close_matches(name, sorted(known), n=1)
            now = _divided(name, known) or (f"write {like[0]}" if like else "remove it")
            yield Issue(subject, "actions", effect, f"{fault}: {then}", now)


def _unknown(actions: str, known: Collection[str]) -> Iterator[str]:
    names = (name.strip() for name in actions.split(","))
    yield from (name for name in names if name not in known)


def _divided(name: str, known: Collection[str]) -> str:
    """Return advice about actions that are not divided by commas."""
    parts = name.split()
    apart = len(parts) > 1 and all(part in known for part in parts)
    return f"divide them by commas: {', '.join(parts)}" if apart else ""


def _is_rejected(conf: Configuration, how: Behaviours) -> bool:
    """Return whether a release rejects a configuration for another reason than its actions."""
    try:
        parse_scheduler_conf(conf.text, how)
    except ConfInvalid as fault:
        return not str(fault).startswith(_NO_ACTION)
    return False


def action_allocate_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration without the action ``allocate``: no pod with requests is placed."""
    for read in read_by(given, how):
        if "allocate" not in read.conf.actions:
            message = "the action allocate is missing: no pod with requests is placed"
            yield read.issue(("actions",), FaultEffect.STOPS, message, "add it")


def action_enqueue_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration without the action ``enqueue``.

    Every PodGroup counts as enqueued: pods of all jobs are created at once, whether or not their
    queues have room for them.
    """
    for read in read_by(given, how):
        if "enqueue" not in read.conf.actions and "allocate" in read.conf.actions:
            message = (
                "the action enqueue is missing: pods of all jobs are created, even if their "
                "queue has no room"
            )
            yield read.issue(("actions",), FaultEffect.DIFFERS, message, "put it first")


def configuration_unknown(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Arguments for an action that the release does not have, or that does not run."""
    for read in read_by(given, how):
        for number, (name, _) in enumerate(read.conf.configurations):
            if name not in read.conf.actions:
                why = "does not run" if name in known_actions(how) else "does not exist"
                path = ("configurations", number, "name")
                message = f"the action {name!r} {why}"
                yield read.issue(path, FaultEffect.IGNORED, message)


def plugin_unknown(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A plugin that the release does not have: the scheduler runs without it."""
    for read in read_by(given, how):
        for placed in read.plugins:
            name = placed.option.name
            if exists(name, how):
                continue
            fault = (
                "this release does not have the plugin"
                if name in BUILDERS
                else "there is no plugin"
            )
            message = f"{fault} {name!r}; the scheduler runs without it"
            yield read.issue((*placed.path, "name"), FaultEffect.UNKNOWN, message)


def plugin_repeated(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A plugin that occurs twice: it is called in both places, with the last arguments."""
    for read in read_by(given, how):
        seen: dict[str, str] = {}
        for placed in read.plugins:
            name = placed.option.name
            if name in seen and exists(name, how):
                message = f"{name} is also at {seen[name]}: it is called in both places"
                yield read.issue(
                    (*placed.path, "name"), FaultEffect.DIFFERS, message, "keep one of them"
                )
            # The last place stays: a third entry names the one before it.
            seen[name] = shown(placed.path)


def capacity_beside_proportion(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The plugins ``capacity`` and ``proportion`` together, which conflict according to Volcano.

    Both limit every queue, so the lower of the two limits counts, and shares of one are compared
    before those of the other.
    """
    for read in read_by(given, how):
        if {"capacity", "proportion"} <= read.names(how):
            last = next(p for p in reversed(read.plugins) if p.option.name == "proportion")
            message = (
                "capacity and proportion both limit the queues: the lower limit counts for "
                "every queue"
            )
            yield read.issue(
                (*last.path, "name"), FaultEffect.INVALID, message, "keep one, usually capacity"
            )


def queue_plugin_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration with neither ``capacity`` nor ``proportion``: queues have no limits."""
    for read in read_by(given, how):
        if not {"capacity", "proportion"} & read.names(how):
            message = "without capacity or proportion, queues have no limits and no shares"
            yield read.issue(("tiers",), FaultEffect.DIFFERS, message, "add one of them")


def gang_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration without the plugin ``gang``: pods of a job are bound one by one."""
    for read in read_by(given, how):
        if "gang" not in read.names(how):
            message = "without gang, jobs run with fewer pods than their minimum"
            yield read.issue(("tiers",), FaultEffect.DIFFERS, message, "add gang to the first tier")


def predicates_missing(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A configuration without the plugin ``predicates``: taints and selectors are ignored."""
    for read in read_by(given, how):
        if "predicates" not in read.names(how):
            message = "without predicates, taints, node selectors, affinities and ports are ignored"
            yield read.issue(("tiers",), FaultEffect.DIFFERS, message, "add predicates")


def nodeorder_without_predicates(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The plugin ``nodeorder`` without ``predicates``: some releases crash at the first score.

    In v1.12.0 and v1.12.1, ``predicates`` registers a metric that kube-scheduler's scores need.
    v1.12.2 and v1.13.0 crash as well if the scheduler runs with neither ``--enable-metrics`` nor
    ``--enable-pprof``; the Helm chart sets the first. Other releases do not crash.
    """
    for read in read_by(given, how):
        scoring = [p for p in read.plugins if p.option.name == "nodeorder"]
        scoring = [p for p in scoring if "NodeOrder" in p.option.enabled]
        filtering = [p for p in read.plugins if p.option.name == "predicates"]
        filtered = any("Predicate" in p.option.enabled for p in filtering)
        if how.nodeorder_needs_predicates and scoring and not filtered:
            message = "without predicates, nodeorder crashes the scheduler at the first score"
            now = "add predicates, with enablePredicate"
            yield read.issue((*scoring[0].path, "name"), FaultEffect.CRASHES, message, now)


def preempt_without_starving(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The action ``preempt`` without a plugin that finds starving jobs: nothing preempts."""
    for read in read_by(given, how):
        asked = [
            p.option.name
            for p in read.plugins
            if p.option.name in _STARVING_PLUGINS and "JobStarving" in p.option.enabled
        ]
        if "preempt" in read.conf.actions and not asked:
            message = "no plugin says which jobs are starving, so nothing preempts"
            now = "add gang or priority, with enableJobStarving"
            yield read.issue(("actions",), FaultEffect.IGNORED, message, now)


def preempt_without_priority(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The action ``preempt`` without ``priority``: jobs of any priority are evicted."""
    for read in read_by(given, how):
        placed = [p for p in read.plugins if p.option.name == "priority"]
        if "preempt" not in read.conf.actions:
            continue
        if not any("Preemptable" in p.option.enabled for p in placed):
            message = "without priority, jobs of any priority are evicted for others"
            yield read.issue(
                ("actions",), FaultEffect.DIFFERS, message, "add priority to the first tier"
            )


def reclaim_without_queue_plugin(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """The action ``reclaim`` without a plugin that knows what queues deserve."""
    for read in read_by(given, how):
        options = [p.option for p in read.plugins if exists(p.option.name, how)]
        knows = any(knows_deserved(option) for option in options if "Reclaimable" in option.enabled)
        if "reclaim" in read.conf.actions and not knows:
            message = (
                "no plugin knows what queues deserve: any queue's pods are evicted for another"
            )
            yield read.issue(
                ("actions",), FaultEffect.DIFFERS, message, "add capacity or proportion"
            )


def reclaim_below_deserved(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """Plugins that choose victims in a tier above the one that knows what queues deserve.

    The first tier that chooses any pod decides alone. Queues are then reclaimed below what they
    deserve, and reclaim it back: evictions go on in both directions.
    """
    for read in read_by(given, how):
        for action, knows, above in blind_actions(read.conf, how):
            names = " and ".join(dict.fromkeys(plugin.option.name for plugin in above))
            name, choose = knows.option.name, "choose" if len(above) > 1 else "chooses"
            message = (
                f"{action} asks {name} only where {names}, in a tier above it, {choose} no pod: "
                "queues can lose pods below what they deserve"
            )
            now = f"put {name} into the tier of {names}"
            yield read.issue((*knows.path, "name"), FaultEffect.DIFFERS, message, now)


def hierarchy_unknown(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """``enableHierarchy`` of a plugin without hierarchies in the release."""
    knows = {
        "drf": True,
        "capacity": how.root_queue,
        "nodegroup": how.nodegroup_uses_job_queue,
    }
    for read in read_by(given, how):
        for placed in read.plugins:
            name = placed.option.name
            if placed.option.enabled_hierarchy and exists(name, how) and not knows.get(name):
                message = f"{name} has no hierarchy of queues"
                path = (*placed.path, "enableHierarchy")
                yield read.issue(path, FaultEffect.IGNORED, message)


def _written_actions(conf: Configuration) -> str | None:
    """Return the actions as written; None if they cannot be read, which is another rule."""
    try:
        actions: str = Decoder(conf.text).decode(_ACTIONS)["actions"]
    except ConfInvalid:
        return None
    return actions
