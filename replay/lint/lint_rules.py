"""All rules, in the order of their findings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...engine.errors import UsageError
from . import (
    admission_rules,
    argument_rules,
    conf_rules,
    flow_rules,
    job_admission_rules,
    job_rules,
    object_rules,
    other_admission_rules,
    queue_rules,
    topology_rules,
    tree_rules,
)
from .context import LintContext
from .findings import Issue

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

Check = Callable[[LintContext, "Behaviours"], Iterator[Issue]]


class RuleDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A rule, as its list shows it."""

    rule: str
    about: str
    finds: str
    more: str


class Rule(NamedTuple):
    """A check with its name."""

    name: str
    check: Check

    @property
    def about(self) -> str:
        """What the rule finds, in one sentence."""
        return inspect.cleandoc(self.check.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @property
    def more(self) -> str:
        """Further explanation."""
        return inspect.cleandoc(self.check.__doc__ or "").partition("\n\n")[2]

    @property
    def group(self) -> str:
        """The group of the rule, as in ``tree`` or ``queue``."""
        module = self.check.__module__.rpartition(".")[2]
        return module.removesuffix("_rules").rpartition("_")[2]

    @property
    def document(self) -> RuleDocument:
        """What its list shows."""
        return RuleDocument(rule=self.name, about=self.group, finds=self.about, more=self.more)


def _rule(check: Check) -> Rule:
    return Rule(check.__name__.replace("_", "-"), check)


RULES: tuple[Rule, ...] = tuple(
    map(
        _rule,
        (
            object_rules.file_unreadable,
            object_rules.api_version_unknown,
            object_rules.kind_unknown,
            object_rules.object_malformed,
            object_rules.object_unnamed,
            object_rules.object_name_refused,
            object_rules.object_repeated,
            object_rules.key_repeated,
            object_rules.field_unknown,
            object_rules.field_of_later_release,
            object_rules.quantity_malformed,
            object_rules.quantity_negative,
            object_rules.resource_not_counted,
            object_rules.resource_nowhere,
            tree_rules.queue_parent_missing,
            tree_rules.queue_parent_cycle,
            tree_rules.queue_exceeds_parent,
            tree_rules.queue_children_exceed_deserved,
            tree_rules.queue_children_exceed_guarantee,
            tree_rules.queue_guarantees_exceed_room,
            tree_rules.queue_below_busy_queue,
            tree_rules.job_in_parent_queue,
            tree_rules.root_capability_ignored,
            tree_rules.queue_parent_ignored,
            admission_rules.queue_refused_for_amounts,
            admission_rules.queue_refused_below_parent,
            admission_rules.queue_refused_for_depth,
            admission_rules.queue_refused_without_parent,
            admission_rules.queue_before_parent,
            other_admission_rules.queue_refused_for_hierarchy,
            other_admission_rules.queue_refused_for_state,
            queue_rules.queue_guarantee_above_deserved,
            queue_rules.queue_deserved_above_capability,
            queue_rules.queue_guarantee_above_capability,
            queue_rules.guarantees_exceed_cluster,
            queue_rules.guarantees_break_division,
            queue_rules.queue_deserved_ignored,
            queue_rules.queue_weight_ignored,
            queue_rules.queue_weight_negative,
            queue_rules.queue_hierarchy_annotations,
            queue_rules.queue_hierarchy_ignored,
            queue_rules.queue_beside_hierarchy,
            queue_rules.reclaim_without_victims,
            job_rules.job_without_tasks,
            job_rules.job_min_available_unreachable,
            job_rules.task_behind_its_gang,
            job_rules.task_min_available_unreachable,
            job_rules.task_minima_ignored,
            job_rules.pod_group_min_member_unreachable,
            job_rules.pod_group_missing,
            job_rules.job_queue_missing,
            job_rules.job_queue_closed,
            job_rules.min_resources_above_queue,
            job_rules.min_resources_above_cluster,
            job_rules.pod_above_every_node,
            job_rules.priority_class_missing,
            job_rules.gang_unheeded,
            job_admission_rules.job_refused_for_policy,
            job_admission_rules.job_refused_for_plugin,
            job_admission_rules.job_refused_for_volume,
            job_admission_rules.job_refused_for_dependency,
            job_admission_rules.job_refused_for_name,
            job_admission_rules.job_refused_for_number,
            job_admission_rules.job_refused_for_partitions,
            job_admission_rules.job_refused_for_queue,
            job_admission_rules.job_refused_for_template,
            other_admission_rules.cron_job_refused,
            other_admission_rules.pod_refused_for_budget,
            topology_rules.hypernode_refused,
            topology_rules.hypernode_selector_ignored,
            topology_rules.hypernode_mixed_members,
            topology_rules.hypernode_cycle,
            topology_rules.hypernode_with_two_parents,
            topology_rules.hypernode_tier_order,
            topology_rules.hypernode_member_missing,
            topology_rules.node_in_two_hypernodes,
            topology_rules.topology_refused,
            topology_rules.topology_tier_missing,
            flow_rules.flow_dependency_missing,
            flow_rules.flow_cycle,
            flow_rules.flow_template_missing,
            flow_rules.flow_repeated,
            flow_rules.flow_policy_unknown,
            conf_rules.conf_rejected,
            conf_rules.conf_key_unknown,
            conf_rules.conf_key_repeated,
            conf_rules.action_unknown,
            conf_rules.action_allocate_missing,
            conf_rules.action_enqueue_missing,
            conf_rules.configuration_unknown,
            conf_rules.plugin_unknown,
            conf_rules.plugin_repeated,
            conf_rules.capacity_beside_proportion,
            conf_rules.queue_plugin_missing,
            conf_rules.gang_missing,
            conf_rules.predicates_missing,
            conf_rules.nodeorder_without_predicates,
            conf_rules.preempt_without_starving,
            conf_rules.preempt_without_priority,
            conf_rules.reclaim_without_queue_plugin,
            conf_rules.reclaim_below_deserved,
            conf_rules.hierarchy_unknown,
            argument_rules.argument_unknown,
            argument_rules.argument_type,
            argument_rules.argument_value,
            argument_rules.argument_unlisted,
            argument_rules.device_modes_conflict,
        ),
    )
)


def rules_without(ignored: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules except the ignored ones.

    :raises UsageError: there is no rule with such a name.
    """
    names = [rule.name for rule in RULES]
    for name in ignored:
        if name not in names:
            like = get_close_matches(name, names, n=1)
            now = f"did you mean {like[0]}?" if like else "list the rules with plinian lint --rules"
            raise UsageError(f"no rule {name!r}", now=now)
    return tuple(rule for rule in RULES if rule.name not in ignored)
