"""A narrow terminal shows the columns of numbers that the sentence of an answer names."""

from __future__ import annotations

import re

import pytest

from plinian.replay.answers.records import Account, Held, QueuePath
from plinian.replay.render.tables import Style, lines_of
from plinian.replay.render.why import link_tables


def account(compared: str, **more: dict[str, str]) -> Account:
    names = ("capability", "deserved", "guarantee", "allocated", "inqueue", "elastic", "wanted")
    amounts = {name: {"nvidia.com/gpu": "1", "memory": "42949672960"} for name in names}
    return Account(
        queue="research-of-the-team",
        compared=compared,
        limit={"nvidia.com/gpu": "4", "memory": "42949672960"},
        left={"nvidia.com/gpu": "-2", "memory": "-1024"},
        exceeded=("nvidia.com/gpu", "memory"),
        checked=True,
        **{**amounts, **more},
    )


def path(*accounts: Account) -> QueuePath:
    held = Held(
        job="job ns/train",
        podgroup="ns/train",
        queue="research-of-the-team",
        allocated={},
        reserved={"nvidia.com/gpu": "6"},
    )
    return QueuePath(
        text="",
        action="allocate",
        point="Allocatable",
        plugin="capacity",
        permits=False,
        accounts=accounts,
        holders=(held,),
    )


@pytest.mark.parametrize("width", [57, 77, 117, 197])
@pytest.mark.parametrize(
    ("compared", "wanted", "named"),
    [
        ("realCapability", "1", {"WANTED", "LIMIT", "LEFT", "CHECK"}),
        ("deserved", "1", {"WANTED", "LIMIT", "ALLOCATED", "CHECK"}),
        ("realCapability", "0", {"LIMIT", "ALLOCATED", "CHECK"}),
    ],
)
def test_the_columns_that_the_sentence_names_stay(
    width: int, compared: str, wanted: str, named: set[str]
) -> None:
    asks = {"nvidia.com/gpu": wanted, "memory": wanted}
    accounts, holders = link_tables(path(account(compared, wanted=asks)))
    lines = list(lines_of(accounts, style=Style(width=width)))
    assert named <= {cell for line in lines for cell in re.split(" {2,}", line.strip())}
    assert max(len(line.rstrip("\n")) for line in lines) <= width
    assert "HAS RESERVED" in next(lines_of(holders, style=Style(width=width)))
