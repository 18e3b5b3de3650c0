"""Rules about all objects: fields that cannot be decoded, wrong amounts, unused names.

A rule is named like its function, and described by the function's docstring.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...engine.kubernetes.objects.decoding_faults import value_words
from ...engine.kubernetes.quantity import parse
from ...engine.model.resource_names import PODS, is_scalar_name
from ...engine.volcano.releases import final_release, landed
from .context import LintContext
from .findings import FILE, FaultEffect, FindingSubject, Issue
from .message_amounts import is_amount
from .object_names import name_faults
from .objects import TYPES, amounts_in

if TYPE_CHECKING:
    from ...engine.volcano.session.behaviours import Behaviours

QUOTAS = ("requests.", "limits.", "count/")
COUNTED = frozenset({"cpu", "memory", PODS, "ephemeral-storage"})


def object_malformed(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object whose fields have other types than the API's: no API server accepts it.

    An amount that is no quantity is ``quantity-malformed``.
    """
    for subject, fault in given.world.faults:
        yield Issue(subject, fault.field, FaultEffect.REFUSED, fault.message, fault.now)


def file_unreadable(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A file, or an object in it, that cannot be read, such as a template: the rest is checked.

    ``lint`` then exits with 2. If nothing else is to be checked, that is its only message.
    """
    for input_ in given.world.unread:
        name = input_.place.file.rpartition("/")[2]
        subject = FindingSubject("", FILE, name, input_.place)
        yield Issue(subject, "", FaultEffect.UNREAD, input_.what, input_.now)


def api_version_unknown(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object of Volcano with an ``apiVersion`` that no release has, or that of another kind.

    So ``scheduling.volcano.sh/v1`` does not exist, and a Queue is in no other group. A Job of
    Kubernetes has no tasks.
    """
    yield from _odd_versions(given, "apiVersion")


def kind_unknown(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object whose kind its group of Volcano does not have, such as ``queue`` or ``Queues``."""
    yield from _odd_versions(given, "kind")


def _odd_versions(given: LintContext, field: str) -> Iterator[Issue]:
    for subject, odd in given.world.odd_versions:
        if odd.field == field:
            yield Issue(subject, field, FaultEffect.REFUSED, odd.message, odd.now)


def object_unnamed(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object without a name."""
    for key, manifest in given.world.manifests.items():
        subject = manifest.subject(given.world.namespace)
        if not subject.name and (key.group, key.kind) in TYPES:
            yield Issue(subject, "metadata.name", FaultEffect.REFUSED, "it has no name")


def object_name_refused(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object of a file with a name, or a namespace, that no API server accepts.

    A name has lower-case letters, digits, ``-`` and ``.``, 253 at most; a namespace has no ``.``,
    and 63 at most. What only Volcano's webhook refuses is ``job-refused-for-name``.
    """
    for key, manifest in given.world.manifests.items():
        if manifest.place is None or (key.group, key.kind) not in TYPES:
            continue
        subject = manifest.subject(given.world.namespace)
        for field, fault, now in name_faults(manifest.document.get("metadata")):
            yield Issue(subject, f"metadata.{field}", FaultEffect.REFUSED, fault, now)


def object_repeated(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An object that is in the files twice: the last one applied stays."""
    for subject, before in given.world.repeated:
        message = f"it is also at {before}; the last one applied stays"
        yield Issue(subject, "", FaultEffect.DIFFERS, message, "keep one of them")


def key_repeated(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A key that a mapping of an object has twice, in an object of any kind: the last one counts.

    kubectl applies such an object without a message.
    """
    for manifest in given.world.written:
        place = manifest.place
        for line, name in manifest.repeated if place is not None else ():
            assert place is not None
            message = f"the key {name[:60]!r} occurs twice in one mapping: the last one counts"
            subject = manifest.subject(given.world.namespace)
            subject = subject._replace(place=place._replace(line=line))
            yield Issue(subject, "", FaultEffect.DIFFERS, message, "keep one of them")


def field_unknown(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A field that its kind has in no release, such as ``parrent``: kubectl refuses the object.

    Other clients write the object, and the API server drops the field. Fields are those of the
    definitions of Volcano's kinds, also in templates of pods. A Pod may have fields of a version of
    Kubernetes that is newer than those that are known.
    """
    for subject, field in given.world.odd_fields:
        if not field.since:
            until = " of Kubernetes up to 1.36" if subject.kind == "Pod" else ""
            yield Issue(
                subject,
                field.path,
                FaultEffect.INVALID,
                f"a {subject.kind}{until} has no field {field.path}{_hint(field.like)}: kubectl "
                "refuses the object, or the field is dropped",
                f"write {field.like}" if field.like else "remove it",
            )


def field_of_later_release(given: LintContext, how: Behaviours) -> Iterator[Issue]:
    """A field, or a kind, that only later releases have: older ones drop or refuse it."""
    for subject, field in given.world.odd_fields:
        if field.since and not _has(how, field.since):
            thing = f"the field {field.path}" if field.path != "kind" else f"a {subject.kind}"
            message = f"there is {thing} since {field.since}"
            path = "" if field.path == "kind" else field.path
            yield Issue(subject, path, FaultEffect.LATER, message, "leave it out of older releases")


def _hint(like: str) -> str:
    return f" (did you mean {like}?)" if like else ""


def _has(how: Behaviours, since: str) -> bool:
    """Return whether a release is not older than another one."""
    return landed(since).reached(final_release(how.release))


def quantity_malformed(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """An amount of a resource that is not a quantity: no API server accepts the object."""
    for key, manifest in given.world.manifests.items():
        for path, amounts in amounts_in(manifest):
            for name, value in amounts.items():
                if not is_amount(value):
                    subject, field = key._replace(place=manifest.place), f"{path}.{name}"
                    fault = f"{field} is {value_words(value)}, not a quantity"
                    now = "write a quantity: 500m, 2, 4Gi"
                    yield Issue(subject, field, FaultEffect.REFUSED, fault, now)


def quantity_negative(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A negative amount: limits and requests of resources cannot be negative."""
    for key, manifest in given.world.manifests.items():
        for path, amounts in amounts_in(manifest):
            for name, value in amounts.items():
                if is_amount(value) and parse(value).number < 0:
                    subject = key._replace(place=manifest.place)
                    message = f"{name} {value} is negative"
                    yield Issue(subject, f"{path}.{name}", FaultEffect.INVALID, message)


def resource_not_counted(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A resource whose name the scheduler does not count, so its amount has no effect.

    It counts ``cpu``, ``memory``, ``pods``, ``ephemeral-storage`` and names with a domain, such as
    ``nvidia.com/gpu``. Names of quotas (``requests.cpu``, ``count/pods``) are correct in a
    PodGroup: Volcano itself writes them there.
    """
    for key, manifest in given.world.manifests.items():
        if key.kind not in {"Queue", "PodGroup"}:
            continue
        for path, amounts in amounts_in(manifest):
            for name in amounts:
                # Volcano writes what pods use as quotas count it (GetPodQuotaUsage).
                if key.kind == "PodGroup" and name.startswith(QUOTAS):
                    continue
                if name not in COUNTED and not is_scalar_name(name):
                    subject = key._replace(place=manifest.place)
                    message = f"the scheduler does not count {name!r}"
                    now = "write cpu, memory, or the name that nodes have, as in nvidia.com/gpu"
                    yield Issue(subject, f"{path}.{name}", FaultEffect.IGNORED, message, now)


def resource_nowhere(given: LintContext, _: Behaviours) -> Iterator[Issue]:
    """A resource that no known node has, in a queue's capability, deserved or guarantee."""
    world = given.world
    total = world.total
    if total is None:
        return
    for key, manifest in world.manifests.items():
        if key.kind != "Queue":
            continue
        for path, amounts in amounts_in(manifest):
            for name in amounts:
                if is_scalar_name(name) and name not in (total.scalars or {}):
                    subject = key._replace(place=manifest.place)
                    message = f"no node has {name}"
                    yield Issue(subject, f"{path}.{name}", FaultEffect.IGNORED, message)
