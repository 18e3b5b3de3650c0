"""A behaviour is declared once: its field, its rows and its effect are made from that."""

from __future__ import annotations

import dataclasses

import pytest

from plinian.engine.volcano.releases import (
    FIRST,
    Row,
    behaviour,
    effects_of,
    history_of,
    landed,
    since,
    subject,
)

PICKED = landed("v1.12.4", "v1.13.1", "v1.14.0")


@subject
class _Cats:
    colour: str = behaviour(
        "What colour cats are.",
        since(FIRST, "grey").means("Cats are grey.", fault="Cats are not seen."),
        since(PICKED, "red", pull=7).means("Cats are red.", source="cats/red.go"),
        source="cats/cats.go",
    )


@subject
class _Dogs:
    bark: bool = behaviour(
        "Dogs bark.",
        since(FIRST, False).means("Dogs are quiet.", source="dogs/dogs.go"),
        since("v1.10.0", True, pull=3).means("Dogs bark.", source="dogs/dogs.go Bark"),
    )


@dataclasses.dataclass(frozen=True)
class _Animals(_Cats, _Dogs):
    """Animals."""


def test_rows_are_made_in_the_order_in_which_they_landed() -> None:
    assert history_of(_Animals) == (
        Row("colour", "grey", FIRST, "cats/cats.go", "Cats are grey.", None, "Cats are not seen."),
        Row("bark", False, FIRST, "dogs/dogs.go", "Dogs are quiet."),
        Row("bark", True, landed("v1.10.0"), "dogs/dogs.go Bark", "Dogs bark.", 3),
        Row("colour", "red", PICKED, "cats/red.go", "Cats are red.", 7),
    )


def test_effects_are_told_by_subject() -> None:
    assert effects_of(_Cats) == {"colour": "What colour cats are."}
    assert effects_of(_Dogs) == {"bark": "Dogs bark."}


def test_a_record_needs_a_value_for_each_behaviour_and_keeps_it() -> None:
    animals = _Animals(colour="red", bark=True)
    assert (animals.colour, animals.bark) == ("red", True)
    with pytest.raises(TypeError, match="bark"):
        _Animals(colour="red")  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        animals.bark = False  # type: ignore[misc]
