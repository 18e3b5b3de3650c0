"""Replacements for an unknown release or a rejected configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..logs.given_confs import Conf
    from ..logs.log import Log
    from ..logs.logged_confs import ConfText
    from ..moments.moment import Moment


class ChosenRelease(NamedTuple):
    """A requested release.

    :param release: the one to run.
    :param remark: why it is not the requested one; empty if it is.
    """

    release: str
    remark: str


def taken_release(name: str, *, assume: bool, pre_releases: bool = False) -> ChosenRelease:
    """Return the release that a name stands for.

    :param assume: use the nearest release for an unknown one.
    :param pre_releases: take known pre-releases, too.
    :raises UsageError: it is not known, and nothing may be assumed, or no release is near.
    """
    from ...engine.errors import UsageError  # noqa: PLC0415 -- commands start before they need it
    from ...engine.volcano.releases import (  # noqa: PLC0415
        known_release,
        nearest_release,
        parse_release,
    )

    try:
        parsed = known_release(name) if pre_releases else parse_release(name)
        return ChosenRelease(str(parsed), "")
    except UsageError as fault:
        near = nearest_release(name.strip()) if assume else None
        if near is None:
            raise
        return ChosenRelease(str(near), f"{fault.what}: using {near} instead")


def rejections(
    confs: Sequence[ConfText | None], releases: Sequence[str], *, assume: bool
) -> Iterator[str]:
    """Yield the errors of releases that reject given configurations.

    :param confs: None is the configuration of the log, which is not checked.
    :param assume: such a release runs with its built-in configuration, which the text says.
    :raises UsageError: a release rejects one, and nothing may be assumed.
    """
    from ...engine.errors import UsageError  # noqa: PLC0415
    from ...engine.volcano.session.history import resolve  # noqa: PLC0415
    from .session_answer import conf_of  # noqa: PLC0415

    for conf in filter(None, confs):
        for release in releases:
            for fault in conf_of((conf,), resolve(release)).rejected:
                rejection = f"{release} rejects the configuration: {fault}"
                if not assume:
                    raise UsageError(
                        rejection,
                        now="with --assume it runs with its built-in one, as it does when "
                        "started with this file",
                    )
                yield f"{rejection}; it runs with its built-in one"


def accepted_conf(
    conf: Conf | None,
    releases: Sequence[str],
    *,
    assume: bool,
    remark: Callable[[str], object] | None = None,
) -> ConfText | None:
    """Return a configuration that these releases run with.

    :param assume: a release that rejects it runs with its built-in one.
    :param remark: called with what such a release runs with.
    :raises UsageError: one rejects it, and nothing may be assumed.
    """
    from ..logs.given_confs import conf_text  # noqa: PLC0415

    given = conf_text(conf)
    for text in rejections([given], releases, assume=assume):
        if remark is not None:
            remark(text)
    return given


def rejected_in_log(log: Log, moment: Moment, releases: Sequence[str]) -> Iterator[str]:
    """Yield which configurations of a log releases reject, and what they keep."""
    from ...engine.volcano.session.history import resolve  # noqa: PLC0415
    from ..logs.logged_confs import confs_at  # noqa: PLC0415
    from .session_answer import conf_of  # noqa: PLC0415

    confs = confs_at(log.store, moment)
    for release in releases:
        in_force = conf_of(confs, resolve(release))
        for fault in in_force.rejected:
            yield kept_text(release, fault, in_force.source)


def kept_text(release: str, fault: str, conf: str) -> str:
    """Return that a release rejects a configuration. :param conf: what it keeps."""
    return f"{release} rejects the configuration: {fault}; it keeps the previous one: {conf}"
