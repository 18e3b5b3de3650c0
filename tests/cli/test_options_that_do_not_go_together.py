"""An option that would do nothing, or of which one value would silently win, is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]

TWICE = (
    ("why", "gpu-2", "--release", "v1.12.1", "--release", "v1.13.0"),
    ("overview", "--conf", "a", "--conf", "b"),
    ("get", "nodes", "--at", "rv:1000", "--at", "rv:1080"),
    ("session", "list", "--since", "rv:1000", "--since", "rv:1080"),
)


@pytest.mark.parametrize("words", TWICE, ids=" ".join)
def test_a_second_value_of_an_option_that_takes_one_is_refused(
    run: Run, demo_log: str, words: tuple[str, ...]
) -> None:
    result = run(*words, "--log", demo_log)
    assert (result.exit_code, result.stdout) == (2, "")
    option = words[-2]
    assert f"'{option}': it is given 2 times, and this command takes one value" in result.stderr


def test_an_option_of_an_alias_may_be_given_again(run: Run, demo_log: str) -> None:
    words = ("get", "pods", "-n", "nowhere", "-o", "name", "--log", "nosuch.db")
    result = run(*words, "-n", "default", "-o", "json", "--log", demo_log)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("{")


def test_repeatable_options_and_flags_may_be_repeated(run: Run, demo_log: str) -> None:
    session = ("session", "--at", "rv:1080", "--log", demo_log)
    assert run(*session, "--release", "v1.12.1", "--release", "v1.13.0", "-v", "-v").exit_code == 0


@pytest.mark.parametrize("words", [("why", "gpu-2"), ("try", "-f", "nosuch.yaml")], ids=" ".join)
def test_a_budget_for_nothing_is_refused(run: Run, demo_log: str, words: tuple[str, ...]) -> None:
    result = run(*words, "--budget", "5s", "--log", demo_log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--budget is for trying changes, and none are tried" in result.stderr
    assert "add --what-would-help" in result.stderr
