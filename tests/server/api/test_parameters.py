"""What a request gives is read by its type and bounds; what is wrong is refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from serving import Running

import plinian
from plinian.engine.errors import UsageError
from plinian.engine.log.location import parse_location
from plinian.replay.server.api.parameters import Parameter, ParameterType, given, texts_of
from plinian.replay.server.withheld import Withheld

API = "/plinian/v1"


@pytest.mark.parametrize(
    ("path", "what", "now"),
    [
        ("why?objekt=job/x", "there is no parameter 'objekt'", "object, namespace"),
        ("why", "object is missing", "as in job/train"),
        ("why?object=", "object is empty", ""),
        ("why?object=a/b&object=c/d", "object is given 2 times", ""),
        ("why?object=job/gpu-2&strict=maybe", "strict='maybe' is not true or false", ""),
        ("events?limit=0", "limit='0' is not a number from 1 to 1000", ""),
        ("events?limit=1001", "a number from 1 to 1000", ""),
        ("events?limit=%D9%A1", "a number from 1 to 1000", ""),
        ("events?kind=nonsense", "no event kind 'nonsense'", ""),
        ("state/pods?table=nodes", "table is given 2 times", ""),
        ("state/cows", "table='cows' is not known", "queues, nodes, pods, podgroups"),
        ("explore?budget=2m", "a duration of at most 60s", ""),
        ("explore?budget=0s", "a duration of at most 60s", ""),
        ("explore?budget=soon", "budget: ", "write 30s"),
        ("check?at=end&since=-5m", "", ""),
        ("why?object=job%00", "object holds a character that no text has", ""),
        ("objects/cows", "", ""),
        ("compare", "release is missing", ""),
        ("session?release=v9.9.9", "", ""),
        ("bisect?releases=v1.8.0..v1.9.0", "exactly one of bound, pending", "as in: bound default"),
        ("bisect?bound=x", "bound x: expected", "as in: bound default/train-0"),
        (f"why?object={'x' * 1001}", "object has 1001 characters", "at most 1000"),
        ("events?" + "&".join(["kind=pod.*"] * 101), "kind: 101 values", "at most 100"),
    ],
)
def test_a_wrong_value_is_refused(server: Running, path: str, what: str, now: str) -> None:
    answer = server.client.get(f"{API}/{path}")
    assert answer.status_code == 400, answer.text
    fault = answer.json()["error"]
    assert what in fault["what"]
    assert now in fault["now"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("why?object=job/none", 404),
        ("objects/pods/none", 404),
        ("why?object=job/gpu-2&at=@99999999", 404),
        ("why?object=job/gpu-2&at=noon", 400),
        ("why?object=job/gpu-2&at=rv:x", 400),
        ("why?object=job/gpu-2&at=session:x", 400),
        ("log/more", 404),
        ("nothing", 404),
        ("session?at=@20&strict=true", 409),
    ],
)
def test_what_does_not_exist_is_not_found(server: Running, path: str, status: int) -> None:
    answer = server.client.get(f"{API}/{path}")
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"what", "where", "now"}


def test_a_position_beyond_the_end_is_said_without_options(server: Running) -> None:
    fault = server.client.get(f"{API}/events?after=@999999").json()["error"]
    with plinian.open(server.place, read_only=True) as log:
        last = log.store.last()
    assert (fault["what"], fault["now"]) == (
        f"position @999999 is beyond the end of the log (last is @{last})",
        f"use @{last}, or end",
    )


def test_nothing_but_reading_is_allowed(server: Running) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        answer = server.client.request(method, f"{API}/log")
        assert answer.status_code == 405
        assert answer.json()["error"]["what"] == "Method Not Allowed"


def test_an_error_names_no_folder_of_this_machine() -> None:
    place = "postgresql://me:secret@10.0.0.9/logs"
    withheld = Withheld(["/home/me/conf/volcano-scheduler.conf", "audit.log"], place)
    fault = UsageError(
        "/home/me/conf/volcano-scheduler.conf: line 3", where=place, now=f"plinian db --log {place}"
    )
    withheld.fault(fault)
    assert fault.what == "volcano-scheduler.conf: line 3"
    assert fault.where == "LOG"
    assert fault.now == "plinian db --log LOG"
    assert "10.0.0.9" not in withheld.text(parse_location(place).shown)
    assert withheld.text("/var/lib/kubelet") == "/var/lib/kubelet"


ALL = (
    Parameter(name="name", about="", required=True),
    Parameter(name="count", about="", kind=ParameterType.NUMBER, least=-2, most=5),
    Parameter(name="each", about="", kind=ParameterType.FLAG),
    Parameter(name="part", about="", many=True),
)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"name": "x"}, {"name": "x"}),
        ({"name": "x", "count": -2, "each": True}, {"name": "x", "count": -2, "each": True}),
        ({"name": "x", "each": False, "part": []}, {"name": "x", "each": False}),
        ({"name": "x", "part": ["a", "b"]}, {"name": "x", "part": ["a", "b"]}),
        ({"name": "x", "part": "a", "count": None}, {"name": "x", "part": ["a"]}),
    ],
)
def test_arguments_of_tools_are_read_like_queries(
    arguments: dict[str, Any], values: dict[str, Any]
) -> None:
    assert given(ALL, texts_of(arguments)) == values


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": {}},
        {"name": 1.5},
        {"name": [["x"]]},
        {"name": None},
        {"name": "\ud800"},
        {"name": "x", "count": 6},
        {"name": "x", "count": "1_0"},
        {"name": "x", "other": 1},
    ],
)
def test_other_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        given(ALL, texts_of(arguments))
