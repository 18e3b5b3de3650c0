"""Numbers have their nouns in the singular or the plural."""

from __future__ import annotations

import pytest

from plinian.engine.kubernetes.counts import counted


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 pods"), (1, "1 pod"), (2, "2 pods"), (1000, "1,000 pods")],
)
def test_a_number_has_its_noun(count: int, words: str) -> None:
    assert counted(count, "pod") == words


def test_a_noun_may_have_its_own_plural_and_a_verb() -> None:
    assert counted(1, "pod is", "pods are") == "1 pod is"
    assert counted(3, "anomaly", "anomalies") == "3 anomalies"
