"""``docker-compose.yml`` and ``Dockerfile`` hold together, even where no engine can run them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from typing import Any

import pytest
import yaml

from tree import ROOT, files

TOP_LEVEL = {"name", "services", "volumes", "networks", "configs", "secrets"}
OF_A_SERVICE = {
    *("image", "build", "command", "entrypoint", "environment", "ports", "volumes"),
    *("healthcheck", "depends_on", "restart", "user", "working_dir", "profiles"),
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
DURATION = re.compile(r"(\d+(h|m|s|ms|us))+")


def compose() -> dict[str, Any]:
    """Return the compose file as data."""
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert isinstance(loaded, dict)
    return loaded


def faults(document: dict[str, Any]) -> list[str]:
    """Return what in a compose file an engine would refuse or never bring up."""
    services = document.get("services", {})
    found = [f"unknown: {key}" for key in sorted(set(document) - TOP_LEVEL)]
    for name, service in services.items():
        found += [f"{name}: unknown: {key}" for key in sorted(set(service) - OF_A_SERVICE)]
        if not {"image", "build"} & set(service):
            found.append(f"{name}: neither image nor build")
        for value in service.get("environment", {}).values():
            if not isinstance(value, str):
                found.append(f"{name}: environment must be text: {value!r}")
        found += [f"{name}: {fault}" for fault in _faults_of_volumes(service, document)]
        for other, needed in service.get("depends_on", {}).items():
            if other not in services:
                found.append(f"{name}: depends on {other}, which is not there")
            elif needed.get("condition") not in CONDITIONS:
                found.append(f"{name}: unknown condition {needed.get('condition')}")
            elif needed["condition"] == "service_healthy" and "healthcheck" not in services[other]:
                found.append(f"{name}: waits for the health of {other}, which has no check")
        found += [f"{name}: {fault}" for fault in _faults_of_health(service.get("healthcheck"))]
    return found


def _faults_of_volumes(service: dict[str, Any], document: dict[str, Any]) -> list[str]:
    named = [volume.split(":")[0] for volume in service.get("volumes", ())]
    return [
        f"volume {volume} is not declared"
        for volume in named
        if volume.isidentifier() and volume not in document.get("volumes", {})
    ]


def _faults_of_health(check: dict[str, Any] | None) -> list[str]:
    if check is None:
        return []
    found = [
        f"{field} is no duration: {check[field]!r}"
        for field in ("interval", "timeout", "start_period")
        if field in check and not DURATION.fullmatch(str(check[field]))
    ]
    if check.get("test", [None])[0] not in {"CMD", "CMD-SHELL", "NONE"}:
        found.append("test must begin with CMD or CMD-SHELL")
    return found


def test_an_engine_would_accept_the_compose_file() -> None:
    assert faults(compose()) == []


def test_plinian_waits_for_a_healthy_postgres_and_its_tables() -> None:
    services = compose()["services"]
    waits = services["plinian"]["depends_on"]
    assert waits["postgres"]["condition"] == "service_healthy"
    assert waits["tables"]["condition"] == "service_completed_successfully"
    assert services["tables"]["command"] == ["db", "upgrade"]


def test_plinian_is_given_the_database_that_postgres_makes() -> None:
    services = compose()["services"]
    made = services["postgres"]["environment"]
    given = services["plinian"]["environment"]["PLINIAN_LOG"]
    user, password, base = (made[f"POSTGRES_{part}"] for part in ("USER", "PASSWORD", "DB"))
    assert given == f"postgresql://{user}:{password}@postgres:5432/{base}"


def test_what_is_built_here_is_what_the_dockerfile_builds() -> None:
    services = compose()["services"]
    assert {service.get("build") for service in services.values()} == {None, "."}
    text = (ROOT / "Dockerfile").read_text()
    copied = [
        word
        for line in text.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for word in shlex.split(line)[1:-1]
    ]
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    for path in copied:
        assert any(file == path or file.startswith(f"{path}/") for file in files()), path
        assert f"!{path}" in kept, f"{path} does not reach the engine"


def test_the_image_has_a_python_that_plinian_supports_and_runs_its_command() -> None:
    text = (ROOT / "Dockerfile").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = tuple(map(int, project["requires-python"].removeprefix(">=").split(".")))
    versions = re.findall(r"^FROM python:(\d+)\.(\d+)", text, re.MULTILINE)
    assert versions
    assert all(tuple(map(int, found)) >= least for found in versions)
    (entry,) = re.findall(r'^ENTRYPOINT \["([^"]+)"\]', text, re.MULTILINE)
    assert entry in project["scripts"]


def test_the_engine_itself_accepts_the_file_where_there_is_one() -> None:
    docker = shutil.which("docker")
    probe = [docker or "docker", "compose", "version"]
    if docker is None or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no docker compose on this machine; the checks above stand in for it")
    subprocess.run([docker, "compose", "config", "--quiet"], cwd=ROOT, check=True)


def test_the_check_finds_what_an_engine_would_refuse() -> None:
    broken = {
        "service": {},
        "services": {
            "a": {"comand": "x", "environment": {"N": 1}, "volumes": ["data:/x"]},
            "b": {
                "image": "x",
                "healthcheck": {"test": ["true"], "interval": "2 sec"},
                "depends_on": {
                    "a": {"condition": "service_healthy"},
                    "c": {"condition": "service_started"},
                    "b": {"condition": "healthy"},
                },
            },
        },
    }
    assert faults(broken) == [
        "unknown: service",
        "a: unknown: comand",
        "a: neither image nor build",
        "a: environment must be text: 1",
        "a: volume data is not declared",
        "b: waits for the health of a, which has no check",
        "b: depends on c, which is not there",
        "b: unknown condition healthy",
        "b: interval is no duration: '2 sec'",
        "b: test must begin with CMD or CMD-SHELL",
    ]
