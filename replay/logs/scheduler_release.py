"""The release of Volcano that a cluster runs, as the image of its scheduler's pods names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...engine.errors import UsageError
from ..moments.moment import Moment
from .log import Log

_POD = ("", "Pod")
_NAMED = "scheduler"
"""Part of the names of the scheduler's pods: only such pods are read, of maybe many thousands."""

_IMAGE = "vc-scheduler"
_TAG = re.compile(r"v?([0-9]+\.[0-9]+\.[0-9]+)(?![0-9.])(?!-(?:alpha|beta|rc))")
_ENDED = frozenset({"Succeeded", "Failed"})


class RunningRelease(msgspec.Struct, frozen=True):
    """A release. :param image: that names it. :param pod: with that image, ``namespace/name``."""

    release: str
    image: str
    pod: str


def running_release(log: Log, moment: Moment) -> RunningRelease | None:
    """Return the release that the scheduler's pods name at a moment.

    None if no such pod is known, if its image names no known release, or if pods differ, as they do
    while one release replaces another.
    """
    entries = log.truth(moment).with_name_part(*_POD, _NAMED)
    releases = [
        RunningRelease(release, image, _key(document))
        for document in log.documents(entries, branch=moment.branch)
        if (document.get("status") or {}).get("phase") not in _ENDED
        for image in _images(document)
        if (release := release_of_image(image))
    ]
    return releases[0] if len({running.release for running in releases}) == 1 else None


def release_of_image(image: str) -> str:
    """Return the known release that an image of the scheduler names; empty if it names none.

    A registry, a digest and what follows the version do not matter, as in
    ``registry:5000/a/vc-scheduler:v1.9.0-arm64@sha256:…``. Pre-releases are no releases.
    """
    path = image.partition("@")[0].rpartition("/")[2]
    name, _, tag = path.partition(":")
    version = _TAG.match(tag)
    if _IMAGE not in name or version is None:
        return ""
    from ...engine.volcano.releases import parse_release  # noqa: PLC0415 -- seldom needed

    try:
        return str(parse_release(f"v{version[1]}"))
    except UsageError:
        return ""


def _images(document: Mapping[str, Any]) -> Iterator[str]:
    for container in (document.get("spec") or {}).get("containers") or ():
        image = container.get("image") if isinstance(container, dict) else None
        if isinstance(image, str):
            yield image


def _key(document: Mapping[str, Any]) -> str:
    metadata = document["metadata"]
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"


def release_at(log: Log, moment: Moment) -> str | None:
    """Return the release of :func:`running_release`, or None."""
    release = running_release(log, moment)
    return None if release is None else release.release
