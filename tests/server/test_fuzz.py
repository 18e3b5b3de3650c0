"""Requests at random: each is answered or refused in plain words, and never with a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import positive_data_acceptance
from serving import Running

from campaign import requests
from plinian.replay.server.api.openapi import document_of_api

pytestmark = pytest.mark.slow

OPERATIONS = [
    f"{method.upper()} {path}"
    for path, operations in document_of_api()["paths"].items()
    for method in operations
]
SHORT = "300ms"
"""The budget of what searches: a test is not for its answers."""


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_document_of_the_api_says_what_is_answered(operation: str, server: Running) -> None:
    @settings(
        max_examples=8,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
        database=None,
    )
    def holds(case: schemathesis.Case) -> None:
        # No schema says which points and names exist, or what takes too long: 400 and 503 are fine.
        if "budget" in {one.name for one in case.operation.query}:
            case.query = {**(case.query or {}), "budget": SHORT}
        answer = case.call(base_url=str(server.client.base_url))
        assert answer.status_code != 500
        excluded = [not_a_server_error, positive_data_acceptance]
        case.validate_response(answer, excluded_checks=excluded)

    # The cases are made here: those of all operations would be made by everybody who collects.
    load_all_checks()
    schema = schemathesis.openapi.from_dict(document_of_api()).include(name=operation)
    (made,) = get_all_tests(schema=schema, test_func=holds, settings=None, given_kwargs={})
    _, test = made.ok()
    test()


def test_a_server_survives_requests_at_random(tmp_path: Path) -> None:
    found = requests.run(seed=7, count=400, seconds=120, folder=tmp_path)
    assert found.faults == []
    assert found.statuses[200] > 10
    assert found.statuses[400] > 10


def test_the_attack_notices_a_failure() -> None:
    said = b'{"error": {"what": "Traceback (most recent call last)"}}'
    assert requests.faults_of("GET /", 200, said)
    assert requests.faults_of("GET /", 500, b"{}")
    assert requests.faults_of("GET /", 200, b'{"x": "/home/me/logs"}', ("/home/me",))
    assert requests.faults_of("GET /plinian/v1/log", 200, b'{"x"')
    assert requests.faults_of("GET /plinian/v1/log", 200, b"{}") == []
