"""The bill of materials of a release: what `pip install plinian` brings, as CycloneDX 1.6 in JSON.

It is made from the metadata of the packages that are installed here, without a network, and it is
the same wherever the same versions are installed.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any, NamedTuple

from packaging.requirements import Requirement

_SPACE = uuid.UUID("8c9f3a52-3b0a-5f0e-9b67-4f6c1d2f7a10")


class NotResolved(Exception):
    """A package that Plinian needs is missing here, or has a version that does not fit."""


class Package(NamedTuple):
    """A package that is installed with Plinian.

    :param needs: the references of the packages that it needs, sorted.
    """

    name: str
    version: str
    licence: str
    needs: tuple[str, ...]

    @property
    def reference(self) -> str:
        """The package as a URL of packages names it."""
        return reference(self.name, self.version)


def reference(name: str, version: str) -> str:
    """Return a version of a package as a URL of packages."""
    return f"pkg:pypi/{name}@{version}"


def normal(name: str) -> str:
    """Return the name of a package as an index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(requirements: Iterable[str], extras: Iterable[str] = ()) -> list[Requirement]:
    """Return the requirements that apply to this Python, for some extras of their package."""
    parsed = [Requirement(one) for one in requirements]
    asked = ("", *extras)
    return [
        one
        for one in parsed
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in asked)
    ]


def installed(requirement: Requirement) -> Distribution:
    """Return what is installed for a requirement.

    :raises NotResolved: nothing is, or a version that does not fit.
    """
    try:
        found = distribution(requirement.name)
    except PackageNotFoundError:
        raise NotResolved(f"{requirement} is not installed") from None
    if not requirement.specifier.contains(found.version, prereleases=True):
        raise NotResolved(f"{requirement} is needed, and {found.version} is installed")
    return found


def resolved(requirements: Iterable[str]) -> list[Package]:
    """Return all packages that requirements bring, sorted by name.

    :raises NotResolved: a package is missing, or does not fit.
    """
    found: dict[str, Distribution] = {}
    needs: dict[str, set[str]] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    waiting = needed(requirements)
    while waiting:
        requirement = waiting.pop()
        name, extras = normal(requirement.name), tuple(sorted(requirement.extras))
        found[name] = installed(requirement)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        further = needed(found[name].requires or (), extras)
        needs.setdefault(name, set()).update(normal(one.name) for one in further)
        waiting += further
    of = {name: reference(name, one.version) for name, one in found.items()}
    return [
        Package(
            name, one.version, licence_of(one), tuple(sorted(of[other] for other in needs[name]))
        )
        for name, one in sorted(found.items())
    ]


def licence_of(found: Distribution) -> str:
    """Return the licence of a package as an SPDX expression, empty if its metadata has none."""
    return str(found.metadata.json.get("license_expression", ""))


def component(package: Package, kind: str = "library") -> dict[str, Any]:
    """Return a package as a component."""
    licences = {"licenses": [{"expression": package.licence}]} if package.licence else {}
    return {
        "type": kind,
        "bom-ref": package.reference,
        "name": package.name,
        "version": package.version,
        "purl": package.reference,
        **licences,
    }


def bill(project: Mapping[str, Any], version: str, made: datetime, python: str) -> str:
    """Return the bill of materials of a release, the same text for the same packages.

    :param project: the table ``project`` of pyproject.toml.
    :param made: the time of the released commit.
    :param python: the version of Python for which the packages were resolved.
    :raises NotResolved: a package is missing, or does not fit.
    """
    others = resolved(project["dependencies"])
    direct = {normal(one.name) for one in needed(project["dependencies"])}
    needs = tuple(other.reference for other in others if other.name in direct)
    own = Package(project["name"], version, project["license"], needs)
    content = {
        "metadata": {
            "timestamp": made.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(own, "application"),
            "properties": [{"name": "plinian:python", "value": python}],
        },
        "components": [component(other) for other in others],
        "dependencies": [{"ref": one.reference, "dependsOn": one.needs} for one in (own, *others)],
    }
    serial = uuid.uuid5(_SPACE, json.dumps(content, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}"}
    return json.dumps({**head, "version": 1, **content}, indent=2) + "\n"
