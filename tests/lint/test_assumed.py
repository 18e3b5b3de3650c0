"""Without a configuration, queues are checked for the plugin that they are written for."""

from __future__ import annotations

from typing import Any

import pytest
from linting import Document, found, inputs_of, names, queue

from plinian.replay.lint.assumed_plugin import LimitingPlugin, assumption

CPU = {"cpu": "1"}
RESERVED = {"resource": CPU}
CAPACITY, PROPORTION = LimitingPlugin.CAPACITY, LimitingPlugin.PROPORTION


@pytest.mark.parametrize(
    ("spec", "plugins"),
    [
        ({"weight": 5, "guarantee": RESERVED}, (PROPORTION,)),
        ({"weight": 1, "deserved": CPU}, (CAPACITY,)),
        ({"parent": "team"}, (CAPACITY,)),
        ({"weight": 5, "deserved": CPU}, (CAPACITY, PROPORTION)),
        ({"guarantee": RESERVED}, (CAPACITY, PROPORTION)),
        ({"capability": CPU, "parent": "root"}, (PROPORTION,)),
    ],
)
def test_the_plugin_is_the_one_that_alone_reads_what_queues_write(
    spec: Document, plugins: tuple[LimitingPlugin, ...]
) -> None:
    assert assumption(inputs_of(queue("a", **spec))).plugins == plugins


def test_nothing_is_assumed_where_a_configuration_is_known() -> None:
    known = assumption(inputs_of(queue("a", weight=5, deserved=CPU), conf="actions: allocate"))
    assert (known.plugins, known.remark) == ((), "")


def test_a_queue_with_weight_and_guarantee_is_written_for_proportion() -> None:
    of_weights = found(queue("a", weight=5, guarantee=RESERVED, capability={"cpu": "5"}))
    assert names(of_weights) == {"queue-refused-for-amounts"}


def told(rule: str, *documents: Document) -> dict[str, Any]:
    """Return the releases of each plugin for which a rule finds something."""
    return {one.plugin: one.releases for one in found(*documents, rule=rule)}


def test_a_finding_that_holds_for_one_plugin_only_says_so() -> None:
    both = queue("a", weight=5, deserved={"cpu": "2"}, guarantee={"resource": {"cpu": "3"}})
    weight = told("queue-weight-ignored", both)
    assert set(weight) == {"capacity"}
    assert "v1.8.2" not in weight["capacity"]  # There is no such plugin yet.
    deserved = told("queue-deserved-ignored", both)
    assert "v1.15.1" in deserved["proportion"]
    assert "v1.8.2" in deserved[""]
    assert "v1.8.2" not in deserved["proportion"]
    (one,) = found(both, rule="queue-guarantee-above-deserved")[:1]
    assert one.message.endswith("(with capacity)")
    assert one.document.plugin == "capacity"


def test_the_remark_names_the_field_that_decided() -> None:
    remark = assumption(inputs_of(queue("b", weight=5), queue("a", deserved=CPU))).remark
    assert "queue a has deserved, which only capacity reads" in remark
    assert "queue b has weight 5, which only proportion reads" in remark


def test_what_the_scheduler_writes_into_the_root_decides_nothing() -> None:
    root = queue("root", deserved=CPU, guarantee=RESERVED)
    assert assumption(inputs_of(root, queue("a"), stored=True)).plugins == (PROPORTION,)
