"""The life of an object against the truth, at positions of a log."""

from __future__ import annotations

import plinian
from plinian.engine.events import Reference
from plinian.engine.state.facts import PodFact
from plinian.engine.state.object_status import status_of
from plinian.replay.histories.name_life import Life, NameState
from plinian.replay.objects.kind_names import ObjectName


def life_of(log: plinian.Log, one: Reference) -> Life:
    """Return the life of an object."""
    named = ObjectName(one.group, one.kind, one.name)
    return Life(log.store, named, namespace=one.namespace, moment=log.moment())


def truth_of(log: plinian.Log, one: Reference, at: int) -> NameState:
    """Return what the fold says, in the form of a life's state."""
    entry = log.truth(f"@{at}").find(one.group, one.kind, one.namespace, one.name)
    if entry is None:
        return NameState()
    fact = entry.fact
    return NameState(
        version=entry.position,
        exists=True,
        uid=entry.reference.uid,
        status=status_of(fact),
        node=fact.node if isinstance(fact, PodFact) else "",
    )


def compare(log: plinian.Log, one: Reference, places: list[int]) -> None:
    """Check that life and truth say the same of an object at some positions."""
    life = life_of(log, one)
    steps = list(life.steps())
    for at in places:
        state, expected = life.state(at), truth_of(log, one, at)
        assert state._replace(version=state.version if state.exists else 0) == expected, (one, at)
        step = next((each.state for each in reversed(steps) if each.position <= at), NameState())
        assert step._replace(version=0) == expected._replace(version=0), (one, at)
