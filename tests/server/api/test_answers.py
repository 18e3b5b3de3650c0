"""Every question is answered as its command answers it, with what the answer is about."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from api_questions import QUESTIONS, TIME, path_of
from click.testing import CliRunner
from serving import Running

import plinian
from plinian.replay.cli.main import app
from plinian.replay.server.api.openapi import answer_schema
from plinian.replay.server.api.operation import Operation
from plinian.replay.server.api.results import RESULTS
from plinian.replay.server.api.table import BY_NAME, OPERATIONS

SIZE = {"limit": "1000"}


def asked(server: Running, name: str, **more: str) -> Any:
    """Return the answer to the question of the list that has this name."""
    path, query = path_of(BY_NAME[name].url, QUESTIONS[name])
    answer = server.client.get(path, params={**query, **SIZE, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_question_is_asked_here() -> None:
    assert set(QUESTIONS) == {one.name for one in OPERATIONS}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_an_answer_is_as_documented_and_as_its_command_and_names_no_folder(
    server: Running, operation: Operation
) -> None:
    """All at once: many answers take long."""
    found = asked(server, operation.name)
    _check_shape(found, operation)
    if operation.command:
        _check_command(found, operation, server)
    folders = {str(path.parent) for path in inputs(server)}
    text = json.dumps(found)
    assert [folder for folder in {*folders, str(server.place.parent)} if folder in text] == []


WITHOUT_A_RELEASE = [
    one.name for one in OPERATIONS if one.has_release and "release" in QUESTIONS[one.name]
]


def test_questions_of_one_release_are_asked_without_it() -> None:
    assert {"session", "belief"} <= set(WITHOUT_A_RELEASE)


@pytest.mark.parametrize("name", WITHOUT_A_RELEASE)
def test_an_answer_of_the_usual_release_says_that_it_is_assumed(server: Running, name: str) -> None:
    path, query = path_of(BY_NAME[name].url, QUESTIONS[name])
    del query["release"]
    said = "no release was named: the answer is that of v1.12.1"
    unnamed = server.client.get(path, params={**query, **SIZE}).json()
    assert unnamed["assumed"].count(said) == 1
    named = server.client.get(path, params={**query, **SIZE, "release": "v1.12.1"}).json()
    assert said not in named["assumed"]


def _check_shape(found: Any, operation: Operation) -> None:
    jsonschema.validate(found, answer_schema(operation))
    jsonschema.validate(found, closed(answer_schema(operation)))
    assert found["question"] == operation.name
    assert found["next"] is None
    assert found["cut"] == []


OPEN = frozenset({"StateRow", "KubernetesObject"})
"""Records with further fields, which depend on the table or the kind."""


def closed(schema: Any) -> Any:
    """Return a schema in which fields that no record names are errors."""
    if isinstance(schema, list):
        return list(map(closed, schema))
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(one) for name, one in schema.items()}
    is_record = isinstance(found.get("properties"), dict) and found.get("title") not in OPEN
    return {"additionalProperties": False, **found} if is_record else found


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where objects are in a document; of a list only in its first member."""
    if isinstance(value, dict):
        yield path
        for name, one in value.items():
            yield from _places(one, (*path, name))
    elif isinstance(value, list) and value:
        yield from _places(value[0], (*path, 0))


@pytest.mark.parametrize("name", ["why", "compare", "diff", "forecast", "fidelity", "lint"])
def test_a_field_that_no_shape_names_is_noticed_at_any_depth(server: Running, name: str) -> None:
    found = asked(server, name)
    validator = jsonschema.Draft202012Validator(closed(answer_schema(BY_NAME[name])))
    assert validator.is_valid(found)
    noticed = 0
    for path in list(_places(found["result"])):
        place = found["result"]
        for step in path:
            place = place[step]
        place["a_new_field"] = object()
        noticed += not validator.is_valid(found)
        del place["a_new_field"]
    assert noticed > 3


def test_a_missing_or_wrong_field_is_noticed(server: Running) -> None:
    found = asked(server, "why")
    schema = answer_schema(BY_NAME["why"])
    found["result"]["stages"][0]["since"]["exact"] = "yes"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)
    del found["result"]["stages"][0]["since"]["exact"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)


def test_every_question_has_a_type() -> None:
    assert set(RESULTS) == {one.name for one in OPERATIONS}


WITHIN = {
    "log": lambda printed: printed["clusters"][0],
    "events": lambda printed: printed["items"],
    "sessions": lambda printed: printed["items"],
    "objects": lambda printed: printed["items"],
    "object": lambda printed: [printed],
    "what-would-help": lambda printed: printed["would_help"],
}
"""Where the answer is in what a command prints, if it prints more."""


def _check_command(found: Any, operation: Operation, server: Running) -> None:
    """Check that the command of an answer prints the same."""
    program, *words = shlex.split(found["command"])
    of_log = ["--log", str(server.place)] if operation.point else []
    if operation.body is not None:
        file = server.place.parent / "manifest.yaml"
        file.write_text(str(QUESTIONS[operation.name][operation.body.name]))
        words[words.index(file.name)] = str(file)
    ran = CliRunner().invoke(app, [*words, *of_log, "-o", "json"])
    assert program == "plinian"
    assert ran.exit_code in {0, 1}, ran.output
    text = ran.stdout
    for path in inputs(server):
        text = text.replace(str(path), path.name)
    within = WITHIN.get(operation.name, lambda printed: printed)
    assert within(json.loads(text)) == found["result"]


def inputs(server: Running) -> list[Path]:
    """Return the files that the log was made from."""
    with plinian.open(server.place, read_only=True) as log:
        known = log.store.last()
        found = [Path(one.source) for one in log.store.sources(known=known, cluster=log.cluster)]
    assert all(path.is_absolute() for path in found)
    return found


def test_an_answer_says_which_moment_it_is_about(server: Running) -> None:
    found = asked(server, "why")
    with plinian.open(server.place, read_only=True) as log:
        moment = log.moment(TIME)
    assert found["moment"]["time"] == TIME
    assert found["moment"]["revision"] == moment.revision
    assert found["moment"]["position"] == moment.known
    assert found["releases"] == ["v1.12.1"]
    assert found["configurations"] == ["volcano-scheduler.conf"]
    assert found["assumed"] == ["no release was named: the answer is that of v1.12.1"]


def test_the_evidence_is_the_events_that_the_answer_names(server: Running) -> None:
    found = asked(server, "blame")
    named = {part["event"]["position"] for part in found["result"]["parts"]}
    assert named == set(found["evidence"]["positions"])
    events = server.client.get(found["links"]["events"] + "&limit=1000").json()
    assert named <= {one["position"] for one in events["result"]}


def test_queues_are_linked_at_the_moment_of_the_answer(server: Running) -> None:
    found = asked(server, "blame")
    queues = server.client.get(found["links"]["queues"]).json()
    assert queues["moment"] == found["moment"]


def test_what_is_not_known_is_said(server: Running) -> None:
    early = asked(server, "check", at="@20")
    secrets = server.client.get("/plinian/v1/objects/secrets").json()
    assert early["not_known"]
    assert secrets["not_known"][0]["kind"] == "Secret"
    assert secrets["result"] == []


def test_a_configuration_comes_with_the_request(server: Running) -> None:
    conf = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n'
    found = asked(server, "session", conf=conf)
    assert found["configurations"] == ["volcano-scheduler.conf"]
    assert "--conf volcano-scheduler.conf" in found["command"]
    assert found["result"]["binds"] == []
    assert found["result"] != asked(server, "session")["result"]


def test_what_if_runs_with_one_configuration_and_tries_another(server: Running) -> None:
    conf = 'actions: "enqueue"\ntiers:\n- plugins:\n  - name: gang\n'
    both = asked(server, "what-if", conf=conf)
    assert {side["conf"] for side in both["result"]["sides"]} == {"volcano-scheduler.conf"}
    assert all(side["binds"] == [] for side in both["result"]["sides"])
    tried = asked(server, "what-if", conf=conf, try_conf=conf.replace("enqueue", "backfill"))
    names = ["volcano-scheduler.conf", "try-volcano-scheduler.conf"]
    sides = {side["name"]: side["conf"] for side in tried["result"]["sides"]}
    assert (sides["original"], sides[names[1]]) == tuple(names)
    assert f"--conf {names[0]}" in tried["command"]
    assert f"--try-conf {names[1]}" in tried["command"]


@pytest.mark.slow
def test_a_configuration_is_not_read_from_a_file(server: Running, tmp_path: Path) -> None:
    secret = tmp_path / "secret.conf"
    secret.write_text("hidden: text", "utf-8")
    path, query = path_of("session", QUESTIONS["session"])
    answer = server.client.get(path, params={**query, "conf": str(secret)})
    assert "hidden" not in answer.text
    assert answer.status_code == 400
