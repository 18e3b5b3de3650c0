"""Every code with which the Kubernetes API refuses a request has the reason that clients read."""

from __future__ import annotations

import ast

import pytest

from plinian.replay.server.kubernetes.wire.api_status import StatusError
from tree import ROOT

CODES = sorted(
    {
        int(call.args[0].value)
        for path in (ROOT / "replay" / "server").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "StatusError"
        and isinstance(call.args[0], ast.Constant)
    }
)


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_names_its_reason(code: int) -> None:
    assert 400 <= code < 600
    assert StatusError(code, "refused").document["reason"] != "InternalError"


def test_codes_are_found() -> None:
    assert {400, 404, 415, 422} <= set(CODES)
