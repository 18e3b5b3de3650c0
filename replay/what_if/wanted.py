"""The changes of one question, as people write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...engine.errors import UsageError
from ..logs.logged_confs import ConfText
from .changed_names import checked
from .changed_sessions import Variant
from .cluster_changes import AddNodes, Cordon, Delete, WhatIfChange, manifests, named_in, set_field

CHANGED = "changed"
"""The name of the only variant."""


class Wanted(NamedTuple):
    """What is otherwise.

    :param fields: as in ``queue/x.spec.capability.cpu=40``. :param files: with manifests.
    :param nodes: the names of nodes, each of which has so many new ones like it.
    :param namespace: of objects that name none.
    """

    fields: Sequence[str] = ()
    files: Sequence[str] = ()
    nodes: Sequence[str] = ()
    how_many: int = 1
    cordon: Sequence[str] = ()
    uncordon: Sequence[str] = ()
    delete: Sequence[str] = ()
    namespace: str | None = None

    def changes(self) -> Iterator[WhatIfChange]:
        """Yield the changes: manifests first, then fields, nodes, deletions.

        :raises UsageError: one of them has a wrong form, or there is no such kind or field.
        :raises InputError: a file cannot be read, or holds something that is no object.
        """
        yield from checked(manifests(self.files, self.namespace))
        yield from checked(set_field(text, self.namespace) for text in self.fields)
        for text in self.nodes:
            yield AddNodes(_node(text), self.how_many)
        for text in self.cordon:
            yield Cordon(_node(text))
        for text in self.uncordon:
            yield Cordon(_node(text), undo=True)
        for text in self.delete:
            yield Delete(named_in(text, self.namespace))


def variants_of(
    wanted: Wanted,
    conf: ConfText | None,
    release: str | None,
    *,
    each: bool = False,
    none: bool = False,
) -> list[Variant]:
    """Return the sessions to run.

    :param conf: another configuration, that is tried. :param release: another release.
    :param each: every change alone; else all together. :param none: there need be no change.
    :raises UsageError: nothing is changed; or as :meth:`Wanted.changes`.
    """
    changes = tuple(wanted.changes())
    if not changes and conf is None and release is None:
        if none:
            return []
        raise UsageError(
            "nothing is changed",
            now="say what, with --set, --add-node, --cordon, --delete, -f, --try-conf or --release",
        )
    if not each:
        return [Variant(CHANGED, changes, conf, release)]
    variants = [Variant(change.text, (change,)) for change in changes]
    if conf is not None:
        variants.append(Variant(conf.source, conf=conf))
    if release is not None:
        variants.append(Variant(release, release=release))
    return variants


def _node(text: str) -> str:
    return text.removeprefix("like=").removeprefix("node/")
