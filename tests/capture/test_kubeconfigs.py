"""Kubeconfigs with faults are refused at the start, in words that are about the file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from credential_server import kubeconfig

from plinian.engine.errors import UsageError
from plinian.replay.capture.cluster_access import ClusterAccess

SERVER = "https://127.0.0.1:9"
VERSION = "client.authentication.k8s.io/v1"


def refused(kubeconfig: str | None, context: str | None = None) -> UsageError:
    with pytest.raises(UsageError) as found:
        ClusterAccess(kubeconfig, context)
    assert "\n" not in found.value.what
    return found.value


def plugin(folder: Path, script: str, **more: object) -> dict[str, Any]:
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"exec": {"apiVersion": VERSION, "command": str(program), **more}}


def answer(status: str) -> str:
    told = f'{{"apiVersion":"{VERSION}","kind":"ExecCredential","status":{status}}}'
    return f"echo '{told}'"


def test_a_plugin_that_is_not_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # As in a process of its own.
    user: dict[str, Any] = {"exec": {"apiVersion": VERSION, "command": "no-such-aws"}}
    place = kubeconfig(tmp_path, SERVER, user)
    fault = refused(place)
    assert fault.what == "the program 'no-such-aws', which gives the credentials, is not there"
    assert fault.where == f"{place}, user u"
    assert fault.now.startswith("install no-such-aws")
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger().handlers
    user["exec"]["installHint"] = "get it\nfrom there"
    assert refused(kubeconfig(tmp_path, SERVER, user)).now == "get it from there"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo it is locked >&2; exit 3", "process returned 3. it is locked"),
        ("echo hello", "failed to decode process output"),
        ("true", "failed to decode process output"),
        (answer("{}"), "missing token or clientCertificateData"),
        (answer('{"clientCertificateData":"a"}'), "missing clientKeyData"),
        (answer('{"token":""}'), ""),
    ],
)
def test_a_plugin_that_gives_no_credentials(
    tmp_path: Path, script: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fault = refused(kubeconfig(tmp_path, SERVER, plugin(tmp_path, script)))
    assert "gave no credentials" in fault.what
    assert said in fault.what
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "user",
    [
        {"auth-provider": {"name": "azure"}},
        {"auth-provider": {"name": "oidc", "config": {"id-token": "a+b"}}},
        {"tokenFile": "/dev/null"},
        {"username": "me"},
    ],
    ids=lambda user: next(iter(user)),
)
def test_credentials_that_cannot_be_had_are_not_left_out(
    tmp_path: Path, user: dict[str, Any]
) -> None:
    fault = refused(kubeconfig(tmp_path, SERVER, user))
    assert fault.what == f"no credentials came of {next(iter(user))}"


def test_a_user_without_credentials_asks_without(tmp_path: Path) -> None:
    assert ClusterAccess(kubeconfig(tmp_path, SERVER, {})).server == SERVER


def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(tmp_path / "nosuch.yaml")
    fault = refused(place)
    assert (fault.what, fault.where) == ("there is no such file", place)
    assert "--kubeconfig" in fault.now
    monkeypatch.setenv("KUBECONFIG", place)
    fault = refused(None)
    assert (fault.what, fault.where) == ("there is no such file", place)
    assert fault.now.startswith("KUBECONFIG names it")
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert refused(None).where == "~/.kube/config"


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("hello", "it is no kubeconfig: it is a single value, and no mapping", ""),
        ("- a", "it is no kubeconfig: it is a list, and no mapping", ""),
        ("", "it is no kubeconfig: it is empty", ""),
        ("kind: Config", "it is no kubeconfig: it has no contexts", ""),
        ("a: b\nc: [\n", "it is no YAML: ", ":3"),
        ("a: b\n\tc: d\n", "it is no YAML: found character", ":2"),
        ("\x00", "it is no YAML: special characters", ""),
        ("contexts: 3", "it is no kubeconfig: contexts must be a list", ""),
        ("contexts: [a]", "it is no kubeconfig: contexts must be a list", ""),
        ("contexts: [{name: a, context: b}]", "it is no kubeconfig: contexts must", ""),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, what: str, line: str) -> None:
    place = tmp_path / "config"
    place.write_text(text)
    fault = refused(str(place))
    assert fault.what.startswith(what)
    assert fault.where == f"{place}{line}"
    assert "--kubeconfig" in fault.now


def test_a_context_that_is_not_there(tmp_path: Path) -> None:
    place = kubeconfig(tmp_path, SERVER, {})
    fault = refused(place, "nope")
    assert (fault.what, fault.where) == ("there is no context 'nope'", place)
    assert fault.now == "name one with --context: c"


def test_a_user_that_is_not_there(tmp_path: Path) -> None:
    place = Path(kubeconfig(tmp_path, SERVER, {}))
    place.write_text(place.read_text().replace('"user": "u"', '"user": "v"'))
    assert refused(str(place)).what == "the context 'c' names the user 'v', which is not there"
