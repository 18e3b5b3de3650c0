"""The configuration is read as the release reads it, with its strictness and its odd spellings."""

from __future__ import annotations

import pytest

from plinian.engine.volcano.arguments import Arguments
from plinian.engine.volcano.conf import (
    DEFAULT_CONF,
    SWITCHES,
    ConfInvalid,
    PluginOption,
    SchedulerConf,
    conf_in_force,
    parse_scheduler_conf,
)
from plinian.engine.volcano.session.configuration import UnknownAction
from plinian.engine.volcano.session.history import behaviours, resolve

NOW = resolve("v1.12.1")


def parse(text: str) -> SchedulerConf:
    """Return what v1.12.1 makes of a text."""
    return parse_scheduler_conf(text, NOW)


def plugin(text: str) -> PluginOption:
    """Return the one plugin of a configuration with these lines in it."""
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    ((made,),) = parse(f"tiers:\n- plugins:\n  - name: p\n{lines}").tiers
    return made


def test_the_default_is_that_of_all_releases() -> None:
    made = parse(DEFAULT_CONF)
    assert made.actions == ("enqueue", "allocate", "backfill")
    assert [[option.name for option in tier] for tier in made.tiers] == [
        ["priority", "gang", "conformance"],
        ["overcommit", "drf", "predicates", "proportion", "nodeorder"],
    ]
    assert made.errors == ()


def test_switches_are_on_but_for_two() -> None:
    made = plugin("")
    assert made.enabled == set(SWITCHES.values())
    assert not made.enabled_hierarchy
    told = plugin("EnabledClusterOrder: true\nenableHierarchy: true")
    assert "ClusterOrder" in told.enabled
    assert told.enabled_hierarchy


@pytest.mark.parametrize(("key", "point"), SWITCHES.items())
def test_every_switch_turns_its_point_off_and_null_leaves_it(key: str, point: str) -> None:
    assert plugin(f"{key}: false").enabled == set(SWITCHES.values()) - {point}
    assert plugin(f"{key}: off").enabled == set(SWITCHES.values()) - {point}
    assert plugin(f"{key}:").enabled == set(SWITCHES.values())


def test_a_misspelt_switch_does_nothing() -> None:
    misspelt = plugin("enableOverused: false\nenabledJobOrder: false")
    assert misspelt.enabled == set(SWITCHES.values())


def test_arguments_keep_the_types_of_yaml() -> None:
    numbers = "a: 1, b: 1.0, c: 1e3, d: '1', e: yes, f: 012, g: 1_000, h: ~"
    made = plugin(f"arguments: {{{numbers}, i: [1], j: {{k: 2}}}}")
    raw = made.arguments.raw
    plain = {"a": 1, "b": 1.0, "c": 1000.0, "d": "1", "e": True, "f": 10, "g": 1000, "h": None}
    assert raw == plain | {"i": [1], "j": {"k": 2}}
    assert isinstance(raw["c"], float)
    assert isinstance(raw["b"], float)


def test_arguments_are_read_strictly() -> None:
    given = Arguments({"int": 3, "float": 2.0, "text": "3", "bool": True, "huge": 2**63})
    assert given.get_int("int", 7) == 3
    assert given.get_int("none", 7) == 7
    assert given.warnings == []
    assert given.get_int("float", 7) == given.get_int("text", 7) == given.get_int("bool", 7) == 7
    assert given.get_int("huge", 7) == 7
    assert given.get_float("int", 0.5) == 3.0
    assert given.get_float("float", 0.5) == 2.0
    assert given.get_float("text", 0.5) == given.get_float("bool", 0.5) == 0.5
    assert given.get_bool("bool", default=False) is True
    assert given.get_bool("int", default=False) is False
    assert given.get_str("text", "x") == "3"
    assert given.get_str("int", "x") == "x"
    given.get_int("text", 7)
    assert given.warnings == [
        "Could not parse argument: 2 for key float to int",
        "Could not parse argument: 3 for key text to int",
        "Could not parse argument: true for key bool to int",
        "Could not parse argument: 9223372036854775808 for key huge to int",
        "Could not parse argument: 3 for key text to float64",
        "Could not parse argument: true for key bool to float64",
        "Could not parse argument: 3 for key int to bool",
    ]


@pytest.mark.parametrize(
    ("text", "value"), [("t", True), ("TRUE", True), ("1", True), ("False", False), ("0", False)]
)
def test_texts_are_truth_values_since_v1_15(text: str, *, value: bool) -> None:
    given = conf_in_force(
        f"""
actions: allocate
tiers:
- plugins:
  - name: predicates
    arguments: {{switch: "{text}", odd: "yes", number: 1}}
configurations:
- name: allocate
  arguments: {{switch: "{text}"}}
""",
        resolve("v1.15.0"),
    )
    for arguments in (given.tiers[0][0].arguments, given.action_arguments("allocate")):
        assert arguments.get_bool("switch", not value) is value
        assert arguments.warnings == []
        before = Arguments(arguments.raw)
        assert before.get_bool("switch", not value) is not value
        assert before.warnings == [f"Could not parse argument: {text} for key switch to bool"]
    ((option,),) = given.tiers
    assert [option.arguments.get_bool(key, not value) for key in ("odd", "number")] == [
        not value
    ] * 2


def test_actions_have_arguments_of_the_first_entry() -> None:
    made = parse(
        "configurations:\n"
        "- name: preempt\n  arguments: {a: 1}\n"
        "- name: preempt\n  arguments: {a: 2}\n"
    )
    assert made.action_arguments("preempt").get_int("a", 0) == 1
    assert made.action_arguments("reclaim").raw == {}


def test_an_unknown_action_is_ignored_or_refuses_everything() -> None:
    text = 'actions: " enqueue , elect,backfill, enqueue"'
    made = parse(text)
    assert made.actions == ("enqueue", "backfill", "enqueue")
    assert made.errors == ("Failed to find Action  elect, ignore it",)
    for unknown, told in (
        (UnknownAction.REJECTS, "failed to find Action  elect"),
        (UnknownAction.REJECTS_AS_IGNORED, "failed to find Action  elect, ignore it"),
    ):
        with pytest.raises(ConfInvalid, match=f"^{told}$"):
            parse_scheduler_conf(text, behaviours("v1.12.1", unknown_action=unknown))


@pytest.mark.parametrize(
    ("release", "runs"),
    [
        ("v1.8.2", False),
        ("v1.11.2", False),
        ("v1.12.0", True),
        ("v1.13.3", True),
        ("v1.14.0", False),
    ],
)
def test_where_the_rest_of_a_configuration_runs(release: str, *, runs: bool) -> None:
    text = 'actions: "elect, backfill"'
    if runs:
        assert parse_scheduler_conf(text, behaviours(release)).actions == ("backfill",)
    else:
        with pytest.raises(ConfInvalid):
            parse_scheduler_conf(text, behaviours(release))


def test_the_actions_for_gangs_exist_where_they_do() -> None:
    assert parse("actions: gangpreempt").actions == ()
    newer = behaviours("v1.12.1", gang_eviction_actions=True)
    assert parse_scheduler_conf("actions: gangpreempt", newer).actions == ("gangpreempt",)


def test_an_empty_text_has_no_actions_but_no_file_means_the_default() -> None:
    assert parse("") == parse("# nothing")
    assert parse("").actions == ()
    assert conf_in_force(" \n", NOW).actions == ("enqueue", "allocate", "backfill")


HDRF = "- plugins:\n  - {name: drf, enableHierarchy: true}\n"


def test_hierarchical_drf_and_proportion_conflict_in_one_tier() -> None:
    with pytest.raises(ConfInvalid, match="proportion and drf with hierarchy enabled conflicts"):
        parse(f"tiers:\n{HDRF}  - name: proportion")
    assert len(parse(f"tiers:\n{HDRF}- plugins:\n  - name: proportion").tiers) == 2


UNMARSHAL = "yaml: unmarshal errors:"
YES = "  line 4: cannot unmarshal !!str `yes` into bool"
LIST = "  line 5: cannot unmarshal !!seq into map[string]interface {}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "actions: x\ntiers: abc",
            f"{UNMARSHAL}\n  line 2: cannot unmarshal !!str `abc` into []conf.Tier",
        ),
        (
            "tiers:\n- plugins:\n  - name: drf\n    enableJobOrder: 'yes'\n    arguments: [1]",
            f"{UNMARSHAL}\n{YES}\n{LIST}",
        ),
        (
            "tiers: a-very-long-text",
            f"{UNMARSHAL}\n  line 1: cannot unmarshal !!str `a-very-...` into []conf.Tier",
        ),
        ("[1, 2]", "cannot unmarshal !!seq into conf.SchedulerConfiguration"),
        ("a: b: c", "yaml: line 1: mapping values are not allowed in this context"),
        ("actions: !!int x", "yaml: 'x' is no int"),
    ],
)
def test_what_cannot_be_decoded_is_refused_as_a_whole(text: str, message: str) -> None:
    with pytest.raises(ConfInvalid) as caught:
        parse(text)
    assert message in str(caught.value)
    default = conf_in_force(text, NOW)
    assert default.actions == ("enqueue", "allocate", "backfill")
    assert len(default.errors) == 1
    assert default.errors[0].startswith(f"Scheduler config {text} is invalid: ")


def test_the_last_of_a_key_counts_and_merged_ones_come_first() -> None:
    made = parse("actions: allocate\nactions: backfill")
    assert made.actions == ("backfill",)
    merged = "metrics: &m {type: a, address: b}\n"
    ((first,),) = parse(
        f"{merged}tiers:\n- plugins:\n  - name: p\n    arguments: {{type: own, <<: *m}}"
    ).tiers
    assert first.arguments.raw == {"type": "own", "address": "b"}


def test_numbers_and_words_are_texts_where_texts_are_wanted() -> None:
    made = parse("actions: 1\nmetrics: {a: 1, b: yes, c: 1.50}")
    assert made.metrics == {"a": "1", "b": "yes", "c": "1.50"}
