"""A behaviour is read in at most two places of the code, or a page says why not."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from plinian.engine.volcano.session.behaviours import Behaviours
from tree import ROOT, files

MOST = 2
READERS = ("engine/session/", "engine/cache/", "engine/model/")
PAGE = ROOT / "docs" / "decisions" / "0012-behaviours-dated-by-a-history.md"
FIELDS = frozenset(field.name for field in dataclasses.fields(Behaviours)) - {"release"}
# A PodGroup's spec and a policy have a field ``networkTopology``, a pod's spec ``schedulingGates``.
OTHERS = frozenset({"self", "spec", "policy"})


def _read(texts: Iterable[str]) -> Counter[str]:
    """Return how many places of some sources read each behaviour."""
    return Counter(
        node.attr
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and node.attr in FIELDS
        and ast.unparse(node.value).rpartition(".")[2] not in OTHERS
    )


def _often(texts: Iterable[str]) -> set[str]:
    return {name for name, places in _read(texts).items() if places > MOST}


def _sources() -> Iterator[str]:
    for path in files():
        if path.startswith(READERS) and path.endswith(".py"):
            yield (ROOT / path).read_text("utf-8")


def test_what_is_read_in_more_than_two_places_is_on_the_page_with_the_reason() -> None:
    reasons = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE))
    assert _often(_sources()) == reasons.keys()


def test_reads_are_counted_wherever_they_are() -> None:
    once = "x = ssn.behaviours.queue_priority\n"
    assert _often([once, once]) == set()
    assert _often([once, once, "how = a.behaviours\ny = how.queue_priority\n"]) == {
        "queue_priority"
    }
    assert _often([3 * "x = pod_group.spec.network_topology\n"]) == set()
