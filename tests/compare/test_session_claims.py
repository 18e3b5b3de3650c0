"""Questions about a session: what the answers of ``bisect`` say of a panic."""

from __future__ import annotations

import pytest

from plinian.engine.cache.cache import SchedulerCache
from plinian.engine.model.panic import Panic
from plinian.engine.session.framework.session_outcome import SessionResult
from plinian.engine.volcano.session.history import resolve
from plinian.replay.compare.session_claims import SessionClaim
from plinian.replay.sessions.session_answer import SessionAnswer

DURING = "it handles Pod ns/a (ADDED)"


def answered(panic: Panic) -> SessionAnswer:
    how = resolve("v1.12.1")
    result = SessionResult(panic=panic)
    return SessionAnswer("@1", how.release, "", result, cache=SchedulerCache(how))


@pytest.mark.parametrize("kind", ["panic", "bound", "enqueued"])
def test_a_panic_is_said_with_what_the_scheduler_does_meanwhile(kind: str) -> None:
    panic = Panic("boom", ("cache.AddPod",), during=DURING)
    assert f"while {DURING}" in SessionClaim(kind, "ns/a").of(answered(panic)).text
    assert "while" not in SessionClaim(kind, "ns/a").of(answered(Panic("boom"))).text


def test_the_panic_itself_is_the_message() -> None:
    assert SessionClaim("panic").of(answered(Panic("boom", during=DURING))).text == (
        f"boom, while {DURING}"
    )
