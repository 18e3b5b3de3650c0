"""What questions about a changed cluster have in common."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar

import msgspec

from .fields import (
    CONF,
    NAMED_OBJECT,
    NAMESPACE,
    PROGRESS,
    RELEASE_OF_IMAGE,
    Door,
    Field,
    Names,
    several,
)
from .question import QuestionOfSessions, Remark, taken, unsaid

if TYPE_CHECKING:
    from ..logs.given_confs import Conf
    from ..logs.log import Log, Progress

A = TypeVar("A")

NAMED = Door.PYTHON | Door.API
"""Doors that name what is the original's; the command goes by the order of its options."""


class QuestionOfChanges(QuestionOfSessions[A], Generic[A], frozen=True, kw_only=True):
    """A question about a cluster as it was at a moment, and with something changed."""

    namespace: Annotated[str | None, NAMESPACE] = None
    fields: Annotated[
        Names,
        Field(
            "Another value of a field, as in queue/x.spec.capability.cpu=40; null takes it away.",
            "KIND/NAME.FIELD=VALUE",
            name="set",
        ),
    ] = ()
    files: Annotated[
        str | PathLike[str] | Sequence[str | PathLike[str]],
        Field(
            "Manifests: objects that exist get these fields, others are created; - is standard "
            "input.",
            "FILE",
            short="f",
            name="filename",
            only=Door.COMMAND | Door.PYTHON,
        ),
    ] = ()
    add_nodes: Annotated[
        Names, Field("An empty node like one that exists.", "like=NODE", name="add_node")
    ] = ()
    count: Annotated[
        int, Field("How many nodes each --add-node adds.", "N", least=1, most=10_000)
    ] = 1
    cordon: Annotated[Names, Field("The node takes no more pods.", "NODE")] = ()
    uncordon: Annotated[Names, Field("The node takes pods again.", "NODE")] = ()
    delete: Annotated[
        Names,
        Field(
            "The object does not exist; with a job or a PodGroup also its pods.",
            "KIND/NAME",
            form=NAMED_OBJECT,
        ),
    ] = ()
    conf: Annotated[Conf | None, CONF._replace(only=NAMED)] = None
    try_conf: Annotated[
        Conf | None, Field("Try this volcano-scheduler.conf, whatever else is changed.", "FILE")
    ] = None
    release: Annotated[str | None, RELEASE_OF_IMAGE._replace(only=NAMED)] = None
    try_release: Annotated[
        str | None, Field("Another release, compared with release.", only=NAMED)
    ] = None
    each: Annotated[bool, Field("Try each change alone, with a column for each.")] = False
    progress: Annotated[Progress | None, PROGRESS] = None
    variants: Sequence[Any] = ()
    """What is tried, once the question is prepared."""

    must_change: ClassVar[bool] = True

    def prepared(self, log: Log, remark: Remark = unsaid) -> Self:
        """Return the question with its moment, releases, configurations and variants."""
        from ..logs.given_confs import conf_texts  # noqa: PLC0415 -- doors read the fields only
        from ..sessions.assumed import accepted_conf  # noqa: PLC0415
        from ..what_if.wanted import Wanted, variants_of  # noqa: PLC0415

        conf, try_conf = conf_texts([self.conf, self.try_conf])
        other = self.try_release and taken(self.try_release, remark, assume=self.assume)
        files = [self.files] if isinstance(self.files, str | PathLike) else self.files
        wanted = Wanted(
            fields=several(self.fields),
            files=[str(path) for path in files],
            nodes=several(self.add_nodes),
            how_many=self.count,
            cordon=several(self.cordon),
            uncordon=several(self.uncordon),
            delete=several(self.delete),
            namespace=self.namespace,
        )
        variants = variants_of(wanted, try_conf, other, each=self.each, none=not self.must_change)
        ready = super().prepared(log, remark)
        # Another release must accept the configuration of the original, too.
        tried = try_conf or (conf if other else None)
        accepted_conf(tried, [other or ready.as_release], assume=self.assume, remark=remark)
        return msgspec.structs.replace(ready, conf=conf, variants=tuple(variants))

    def remarks(self, log: Log) -> Sequence[str]:
        """Return which changes no session reads, and which resources nothing has."""
        from ..what_if.changed_names import remarks  # noqa: PLC0415 -- doors read the fields only

        changes = (change for variant in self.variants for change in variant.changes)
        return remarks(log, log.moment(self.at), changes)

    def beginning(self, begins: str, at: str, conf: str) -> str:
        """Return what the original is, as a note: where it begins, and with which configuration."""
        assumed = "" if self.release else ", assumed because no release was named"
        return f"original: {begins} {at} as {self.as_release}{assumed}, with {conf}"
