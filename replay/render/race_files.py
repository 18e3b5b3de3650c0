"""Files about a race: a test for pytest, a report for Volcano's bug template, a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from ...engine.version import __version__
from ..explore.exploration import Anomaly, Exploration
from ..explore.explored_scenario import MachineCase
from ..explore.scenario_world import ScenarioWorld, needed_case
from ..explore.story import Story, story_of
from .documents import json_text
from .race import lanes_lines, releases_line
from .simulation import spans
from .yaml_text import YamlWriter

_LINE = 88


def files_of(world: ScenarioWorld, result: Exploration, anomaly: Anomaly) -> dict[str, str]:
    """Return the files about an anomaly by their suffix."""
    story = story_of(world, anomaly.steps)
    needed = needed_case(world, anomaly.steps)
    release = result.plan.release
    return {
        "token": anomaly.token + "\n",
        "md": "".join(evidence_lines(needed, release, anomaly, story)),
        "py": pytest_text(anomaly, release),
        "case.json": scenario_text(needed),
    }


def scenario_text(case: MachineCase) -> str:
    """Return a scenario as the text of a file."""
    return json_text(case.document(), indent=1) + "\n"


def pytest_text(anomaly: Anomaly, release: str) -> str:
    """Return a test that runs the order of an anomaly again; it needs only Plinian."""
    starts = range(0, len(anomaly.token), _LINE)
    token = "\n".join(f'    "{anomaly.token[at : at + _LINE]}"' for at in starts)
    invariant, sentence = anomaly.violation.invariant, anomaly.violation.sentence
    # It becomes part of a docstring.
    clean = sentence.replace("\\", "/").replace('"""', "'''")
    comment = "\n".join(wrap(clean, 96, break_on_hyphens=False))
    return f'''"""{invariant}, in {release}: found by plinian explore {__version__}.

{comment}
"""

import plinian

TOKEN = (
{token}
)


def test_this_order_ends_badly_in_the_release() -> None:
    again = plinian.replay_token(TOKEN)
    assert again.release == "{release}"
    assert again.breaks
    assert again.digest == "{anomaly.digest}"
{"".join(map(_held, anomaly.releases.holds[-1:]))}'''


def _held(release: str) -> str:
    return f"""

def test_the_same_order_ends_well_in_another_release() -> None:
    again = plinian.replay_token(TOKEN, release="{release}")
    assert not again.breaks
"""


def evidence_lines(
    case: MachineCase, release: str, anomaly: Anomaly, story: Story
) -> Iterator[str]:
    """Yield a report in Markdown, with what Volcano's bug template wants of a race."""
    violation = anomaly.violation
    yield f"# {violation.sentence}\n\n"
    yield "## What happened\n\n"
    yield f"{violation.sentence} (invariant {violation.invariant}), in {release}.\n\n"
    yield "## What was expected\n\n"
    yield f"{_expected(violation.invariant)}\n\n"
    yield "## How to reproduce it\n\n### What users do\n\n"
    if case.about:
        yield f"{case.about}\n\n"
    yield from _user_path(case)
    yield "### The complete concurrent path\n\n"
    yield (
        "Each step is one of a component: its informer delivers a change, or its worker takes an "
        "item. Steps that are marked were made while another one, which was due, had not come yet: "
        "informers and workers are independent, and any of them may be late.\n\n"
    )
    for moment in story.moments:
        if moment.matters or not moment.alone:
            mark = " (early: another step was due)" if moment.instead_of else ""
            yield f"{moment.number}. **{moment.actor}** {moment.sentence}{mark}\n"
    yield "\n```text\n"
    yield from lanes_lines(story)
    yield "```\n\n### What is late\n\n"
    for delay in story.delays:
        made = f"comes only as step {delay.made}" if delay.made else "never comes"
        yield f"- `{delay.what}`: due at step {delay.due}, {made}.\n"
    yield "\n### With Plinian\n\n"
    yield f"Plinian {__version__} runs exactly this order again:\n\n```sh\n"
    yield f"plinian explore --replay {anomaly.token}\n```\n\n"
    yield f"The objects in the end have the digest `{anomaly.digest}`, on every machine.\n\n"
    yield from _versions(anomaly)
    yield "## What this is not\n\n"
    yield (
        "The order was found in Plinian's model of the components, whose behaviour per release is "
        "taken from their code and compared with it in recorded cases. It says that the order is "
        "possible, not how likely it is.\n"
    )


def _expected(invariant: str) -> str:
    from ..invariants.check_task import ALL  # noqa: PLC0415 -- only a report needs the catalogue

    for known in ALL:
        if known.id == invariant:
            return known.statement
    return "No process panics." if invariant == "I-05" else "The cluster comes to rest."


def _user_path(case: MachineCase) -> Iterator[str]:
    writer = YamlWriter()
    if case.existing:
        yield "The cluster has:\n\n```yaml\n"
        yield "---\n".join(writer.text(each) for each in case.existing)
        yield "```\n\n"
    for number, act in enumerate(case.writes, start=1):
        how = {"ADDED": "apply", "MODIFIED": "apply", "DELETED": "delete"}[act.verb]
        yield f"{number}. `kubectl {how} -f -` with\n\n```yaml\n{writer.text(act.document)}```\n\n"


def _versions(anomaly: Anomaly) -> Iterator[str]:
    runs = anomaly.releases
    yield "## Versions\n\n"
    yield f"{releases_line(anomaly)}\n"
    if runs.complete:
        yield "| in this order | releases |\n| --- | --- |\n"
        yield f"| ends so | {spans(runs.breaks) or 'none'} |\n"
        yield f"| ends well | {spans(runs.holds) or 'none'} |\n\n"
        yield "A release that holds in this order may still break in another one.\n\n"
    yield "## What would fix it\n\n"
    yield from (f"{line}\n\n" for line in _cure(anomaly))


def _cure(anomaly: Anomaly) -> Iterator[str]:
    cure = anomaly.cure
    if cure is None:
        yield "All releases end alike in this order."
        return
    yield f"The order ends so in {cure.breaks}, and well in {cure.holds}."
    for behaviour in cure.behaviours:
        pull = f" ({behaviour.pull})" if behaviour.pull else ""
        yield (
            f"Changed alone in {cure.breaks}, this makes it end well: `{behaviour.behaviour}`, "
            f"{behaviour.values[0]} → {behaviour.values[-1]}{pull}. {behaviour.why}"
        )
    if not cure.behaviours:
        yield (
            f"No behaviour of sessions or controllers makes the difference alone. "
            f"`plinian release diff {cure.breaks} {cure.holds}` lists what changed, also in the "
            "scheduler's cache."
        )
