"""The assertion of old releases that no node's future idle is negative.

Source: pkg/scheduler/api/node_info.go (``FutureIdle``), api/resource_info.go (``Sub``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.panic import Panic
from ...model.resource import Resource

if TYPE_CHECKING:
    from ...model.session_tables import Rows
    from ..framework.session import Session

_SLACK = 0.1


def check_future_idle(ssn: Session, rows: Rows, *callers: str) -> None:
    """Compare pipelined requests on nodes with what is idle or releasing there.

    :param callers: the calling functions in Volcano, innermost first.
    :raises Panic: more is pipelined, on the first such node; cpu and memory count even if nothing
        is pipelined, other resources as soon as any of them was.
    """
    nodes = ssn.nodes
    has = nodes.idle[rows] + nodes.releasing[rows]
    promised = nodes.pipelined[rows]
    short = promised - has >= _SLACK
    # `LessEqual` compares the scalars of its left side: what was never pipelined is not there.
    short[:, 2:] &= nodes.promised[rows, 2:]
    overfull = short.any(axis=1)
    if not overfull.any():
        return
    first = int(overfull.argmax())
    row = int(rows[first])
    info = ssn.nodes.info[row]
    named = {*(info.idle.scalars or ()), *(info.releasing.scalars or ())}
    left = _resource(ssn, has[first].tolist(), named)
    ever = {name for name, any_was in zip(ssn.dims, nodes.promised[row], strict=True) if any_was}
    taken = _resource(ssn, promised[first].tolist(), ever)
    raise Panic(
        f"resource is not sufficient to do operation: <{left}> sub <{taken}>",
        ("api.(*Resource).Sub", "api.(*NodeInfo).FutureIdle", *callers),
    )


def _resource(ssn: Session, amounts: list[float], named: set[str]) -> Resource:
    """Return a resource with those scalars that are named or not 0."""
    resource = Resource(amounts[0], amounts[1])
    for name, amount in sorted(zip(ssn.dims[2:], amounts[2:], strict=True)):
        if amount or name in named:
            resource.set_scalar(name, amount)
    return resource
