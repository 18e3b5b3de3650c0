"""Names of fields and resources in changes: one that does not exist changes nothing in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from ...engine.cache.projector import WATCHED
from ...engine.errors import UsageError
from ...engine.model.resource_names import PODS, is_scalar_name
from ..answers.cluster_resources import no_such_resource, resources_in, there_are
from ..lint.lint_fields import unknown_fields
from ..lint.objects import Manifest, amounts_in
from ..logs.log import Log
from ..moments.moment import Moment
from ..objects.kind_names import ObjectName
from ..simulate.changed_scenario import Patch, parse_patch
from .changed_world import Document
from .cluster_changes import Apply, SetField, WhatIfChange
from .typed_fields import fields_of, inspected, value_of


class UnreadField(NamedTuple):
    """A field that no session reads.

    :param field: its path up to the first name that is not read.
    :param similar: the path of a field with a similar name that is read; empty if there is none.
    :param known: the names of the fields that are read there.
    """

    kind: str
    field: str
    similar: str
    known: tuple[str, ...] = ()

    @property
    def before(self) -> str:
        """The path before the name that is not read."""
        head, dot, _ = self.field.rpartition(".")
        return head + dot

    @property
    def text(self) -> str:
        """A sentence about it."""
        similar = f"; did you mean {self.similar}?" if self.similar else ""
        return f"no session reads {self.field} of a {self.kind}, so it changes nothing{similar}"


def unread_texts(changes: Iterable[WhatIfChange]) -> tuple[str, ...]:
    """Return a sentence for each field that is changed and that no session reads."""
    unread_fields = (unread_of(change) for change in changes if isinstance(change, SetField))
    return tuple(dict.fromkeys(unread.text for unread in unread_fields if unread is not None))


def unread_of(change: SetField) -> UnreadField | None:
    """Return the field of a change if no session reads it; None if one does.

    Of kinds that the scheduler does not watch, nothing is said: controllers may read them.
    """
    kind = WATCHED.get((change.named.group, change.named.kind))
    if kind is None:
        return None
    field_type: Any = inspected(kind)
    for number, name in enumerate(change.path):
        fields = fields_of(field_type)
        if fields is not None and name not in fields:
            return _unread(change, number, [*fields])
        # What has no fields is a map, as labels are: any key may stand there.
        field_type = value_of(field_type) if fields is None else fields[name]
        if field_type is None:
            return _unread(change, number, [])
    return None


def _unread(change: SetField, number: int, known: Sequence[str]) -> UnreadField:
    before = change.path[:number]
    near = get_close_matches(change.path[number], known, n=1)
    similar = ".".join((*before, *near)) if near else ""
    field = ".".join(change.path[: number + 1])
    return UnreadField(change.named.kind, field, similar, tuple(sorted(known)))


_COUNTED = frozenset({"cpu", "memory", PODS, "ephemeral-storage"})


def checked(changes: Iterable[WhatIfChange]) -> Iterator[WhatIfChange]:
    """Yield changes whose fields exist.

    :raises UsageError: a kind has no such field; the error lists those that it has there.
    """
    for change in changes:
        if isinstance(change, SetField):
            check_fields(change.named, change.document)
            unread_field = unread_of(change)
            if unread_field is not None and unread_field.similar:
                what = f"a {unread_field.kind} has no field {unread_field.field}"
                last = unread_field.field.removeprefix(unread_field.before)
                raise UsageError(
                    what, now=there_are(last, unread_field.known, before=unread_field.before)
                )
        elif isinstance(change, Apply):
            named = Manifest(change.document, None).group_kind
            check_fields(ObjectName(*named, ""), change.document)
        yield change


def checked_patches(texts: Iterable[str]) -> list[Patch]:
    """Return the patches of scenarios that texts stand for.

    :raises UsageError: one has another form, or its kind has no such field.
    """
    patches = [parse_patch(text) for text in texts]
    for patch in patches:
        check_fields(patch.named, patch.change)
    return patches


def check_fields(named: ObjectName, document: Document) -> None:
    """Refuse a part of an object with a field that its kind does not have.

    :raises UsageError: there is one; the error lists the fields that there are in its place.
    """
    for field in unknown_fields(named.group, named.kind, document):
        before = field.path[: len(field.path) - len(field.name)]
        what = f"a {named.kind} has no field {field.path}"
        raise UsageError(what, now=there_are(field.name, field.there, before=before))


def remarks(log: Log, moment: Moment, changes: Iterable[WhatIfChange]) -> tuple[str, ...]:
    """Return a sentence for each change that changes nothing, or names a resource not there.

    :raises UsageError: sessions do not count a resource of that name.
    """
    listed = list(changes)
    named = [change for change in listed if isinstance(change, SetField | Apply)]
    wanted = dict.fromkeys(name for change in named for name in _resources(change))
    # Only a rare resource needs the state of the cluster: all clusters have the counted ones.
    known = resources_in(log.truth(moment)) if wanted.keys() - _COUNTED else frozenset[str]()
    texts = list(unread_texts(listed))
    for name in wanted:
        if name in known or name in _COUNTED:
            continue
        advice = there_are(name, known)
        if not is_scalar_name(name):
            raise UsageError(f"sessions do not count a resource {name!r}", now=advice)
        texts.append(f"{no_such_resource(name)}; {advice}")
    return tuple(dict.fromkeys(texts))


def _resources(change: SetField | Apply) -> Iterator[str]:
    """Yield the resources that a change names."""
    document = change.document
    if isinstance(change, SetField):
        # Where amounts are depends on the kind, so the field needs a whole object around it.
        group = f"{change.named.group}/v1" if change.named.group else "v1"
        document = {"apiVersion": group, "kind": change.named.kind, **document}
    for _, amounts in amounts_in(Manifest(document, None)):
        yield from amounts
