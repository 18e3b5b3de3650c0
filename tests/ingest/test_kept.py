"""What is stored of an object: nothing of a Secret's content, whatever format tells of it."""

from __future__ import annotations

from typing import Any

import pytest

from campaign import secrets
from plinian.engine.events import Event, Reference, canonical_json
from plinian.engine.ingest.objects.kept_fields import (
    conceal,
    stored,
    without_secrets,
    without_values,
)
from plinian.replay.ingest import ingest_run as module


def test_no_format_lets_the_content_of_a_secret_into_a_log() -> None:
    found = secrets.run(seed=1, count=3 * len(secrets.FORMS))
    assert found.failures == ()
    assert set(found.by_form) == set(secrets.FORMS)


def test_the_search_finds_what_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "stored", lambda event: event)
    found = secrets.run(seed=1, count=2 * len(secrets.FORMS))
    assert {line.partition(" ")[0] for line in found.failures} >= {"nested", "dump", "klog"}


@pytest.mark.postgres
def test_nor_into_one_on_postgres(postgres_log_url: str) -> None:
    found = secrets.run(seed=2, count=len(secrets.FORMS), place=lambda _: postgres_log_url)
    assert found.failures == ()
    assert found.cases == len(secrets.FORMS)


def event(kind: str, payload: Any, about: Reference | None = None) -> Event:
    return Event(kind=kind, reference=about or Reference(), payload=canonical_json(payload))


def test_a_reference_to_a_secret_is_no_secret() -> None:
    owner = {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "u", "controller": True}
    pod = {"kind": "Pod", "metadata": {"ownerReferences": [owner]}}
    told = event("pod.observed", pod, Reference("", "Pod", "default", "p", "u"))
    assert stored(told) is told


def test_what_has_no_secret_is_the_same_event() -> None:
    pod = {"kind": "Pod", "spec": {"imagePullSecrets": [{"name": "s"}], "secretName": "x"}}
    told = event("pod.observed", pod, Reference("", "Pod", "default", "p", "u"))
    assert stored(told) is told


def test_of_a_secret_its_place_type_labels_owners_and_finalizers_are_kept() -> None:
    kept = {"name": "s", "labels": {"a": "b"}, "finalizers": ["f"]}
    secret = {"kind": "Secret", "apiVersion": "v1", "type": "Opaque", "immutable": True}
    metadata = {**kept, "annotations": {"x": "y"}}
    document = {**secret, "metadata": metadata, "data": {"k": "eA=="}, "more": 1}
    assert conceal(document)
    assert document == {**secret, "metadata": kept}
    assert not conceal(document)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a Secret was made", "a Secret was made"),
        ('{"kind":"Pod","x":"Secret"}', '{"kind":"Pod","x":"Secret"}'),
        ('{"kind":"Secret","data":{"a":"b"}}', '{"kind":"Secret"}'),
        ("no: v1.Secret{Data: x}", "no: v1.[the content of a Secret is left out]"),
        (
            'c.go:100] *v1.Secret: {"metadata":{},"stringData":{"p":"x"}}',
            "c.go:100] *v1.[the content of a Secret is left out]",
        ),
        (
            'Secret "s" is invalid: data: Invalid value: "x": no',
            'Secret "s" is invalid: data: Invalid value: [left out]',
        ),
    ],
)
def test_texts_lose_secrets_and_nothing_else(text: str, kept: str) -> None:
    assert without_secrets(text) == kept


def test_the_message_of_a_refusal_ends_at_the_first_value() -> None:
    assert without_values("a: Invalid value: 5: must be 6") == "a: Invalid value: [left out]"
    assert without_values("quota exceeded") == "quota exceeded"
