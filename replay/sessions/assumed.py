"""What stands in for a release that is not known, or a configuration that is rejected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..moments.scheduler_confs import ConfText


class Taken(NamedTuple):
    """A release that was asked for.

    :param release: the one to be run.
    :param remark: why it is another than was asked for; empty if it is not.
    """

    release: str
    remark: str


def taken_release(name: str, *, assume: bool) -> Taken:
    """Return the release that a name stands for.

    :param assume: take the nearest release for one that is not known.
    :raises UsageError: it is not known, and nothing is to be assumed, or nothing is near.
    """
    from ...engine.errors import UsageError  # noqa: PLC0415 -- commands start before they need it
    from ...engine.volcano.releases import nearest_release, parse_release  # noqa: PLC0415

    try:
        return Taken(str(parse_release(name)), "")
    except UsageError as fault:
        near = nearest_release(name.strip()) if assume else None
        if near is None:
            raise
        return Taken(str(near), f"{fault.what}: {near} is taken for it")


def rejections(
    confs: Sequence[ConfText | None], releases: Sequence[str], *, assume: bool
) -> Iterator[str]:
    """Yield what releases say of configurations that were given and that they would not have.

    :param confs: None is the configuration of the log, which is not looked at.
    :param assume: such a release runs with its built-in configuration, and this says so.
    :raises UsageError: one rejects one, and nothing is to be assumed.
    """
    from ...engine.errors import UsageError  # noqa: PLC0415
    from ...engine.volcano.session.history import resolve  # noqa: PLC0415
    from .session import conf_of  # noqa: PLC0415

    for conf in filter(None, confs):
        for release in releases:
            for fault in conf_of((conf,), resolve(release)).rejected:
                what = f"{release} rejects the configuration: {fault}"
                if not assume:
                    raise UsageError(
                        what,
                        now="with --assume it runs with its built-in one, as it does when it is "
                        "started with this file",
                    )
                yield f"{what}; it runs with its built-in one"
