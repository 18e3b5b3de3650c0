"""Names as people give them: in full, shortened, or that of the job that owns a PodGroup."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind, plural_of
from .kinds import plain_name

if TYPE_CHECKING:
    from ...engine.events import Reference
    from ...engine.state.truth import Entry
    from .log import Log
    from .moment import Moment

PODGROUP: GroupKind = ("scheduling.volcano.sh", "PodGroup")

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WITH_UID = re.compile(rf"(.*[^-])-({_UID})", re.DOTALL)
_CUTS = (8, 13, 18, 23)
"""Characters of a uid after which one of its parts ends."""

_LEAST_OF_UID = 4
"""Characters of a uid that stand for it where nothing else shows that a name is shortened."""

_ENDS = ("…", "...")
_SHOWN = 8


def shortened(names: Iterable[str]) -> dict[str, str]:
    """Return a short form of each name that ends with a uid, such as ``big-gang-09629e74…``.

    As much of the uid is left out as keeps all names apart; ``matching`` takes the short forms.
    """
    left = {match[0]: match for match in map(_WITH_UID.fullmatch, sorted(set(names))) if match}
    found: dict[str, str] = {}
    for cut in _CUTS:
        by_form: dict[str, list[str]] = {}
        for name, match in left.items():
            by_form.setdefault(f"{match[1]}-{match[2][:cut]}…", []).append(name)
        alone = {these[0]: form for form, these in by_form.items() if len(these) == 1}
        found |= alone
        left = {name: match for name, match in left.items() if name not in alone}
    return found


def stem_of(name: str) -> str:
    """Return a name without the uid at its end: of a job's PodGroup, the job's name."""
    match = _WITH_UID.fullmatch(name)
    return match[1] if match else name


def matching(text: str, names: Collection[str]) -> list[str]:
    """Return the names that a text may stand for, sorted: itself, or those that it shortens.

    A text that ends with ``…`` (or three dots) stands for any name that begins so; without, it must
    reach into the uid at the name's end.
    """
    if text in names:
        return [text]
    for end in _ENDS:
        if text.endswith(end) and len(text) > len(end):
            return sorted(name for name in names if name.startswith(text.removesuffix(end)))
    return sorted(
        name
        for name in names
        if name.startswith(text) and len(text) >= len(stem_of(name)) + 1 + _LEAST_OF_UID
    )


def owned_by(job: str, names: Iterable[str]) -> list[str]:
    """Return the names that are a job's with a uid after it, as Volcano names PodGroups; sorted."""
    return sorted(name for name in names if name != job and stem_of(name) == job)


def nearest(text: str, names: Collection[str]) -> list[str]:
    """Return at most three names that are much the same as a text, the nearest first."""
    by_stem = {stem_of(name): name for name in sorted(names)}
    found = get_close_matches(text, sorted({*names, *by_stem}), n=3, cutoff=0.6)
    return list(dict.fromkeys(by_stem.get(name, name) for name in found))


def one_of(text: str, found: list[str], kind: str) -> str | None:
    """Return the only name found, or None if there is none.

    :param kind: what the names are of, for the error.
    :raises UsageError: there are several; lists them.
    """
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(
            f"{text!r} may be each of {len(found)} {kind}: {', '.join(found[:_SHOWN])}{more}",
            now="write more of the name that you mean",
        )
    return found[0] if found else None


def name_at(log: Log, kind: GroupKind, text: str, namespace: str | None, moment: Moment) -> str:
    """Return the name of the object that a text stands for at a moment; the text if there is none.

    A name is taken as it is, shortened, or, of PodGroups, as the name of what owns one.

    :param namespace: None looks in all of them.
    :raises UsageError: several objects may be meant.
    """
    entries = _entries(log, kind, namespace, moment)
    names = {entry.reference.name for entry in entries}
    found = matching(text, names)
    if not found and kind == PODGROUP:
        found = owned_by(text, names) or _by_owner(log, entries, text, moment)
    return one_of(text, found, plural_of(*kind)) or text


def name_ever(log: Log, kind: GroupKind, text: str, namespace: str | None) -> str:
    """Return the name that a text stands for among all that the log ever knew, or the text.

    Objects come before what only lines of logs name: those call a PodGroup by its job.

    :raises UsageError: several objects may be meant.
    """
    return one_of(text, _ever(log, kind, text, namespace), plural_of(*kind)) or text


def _ever(log: Log, kind: GroupKind, text: str, namespace: str | None) -> list[str]:
    known = known_names(log, kind, namespace)
    found = matching(text, known)
    return owned_by(text, known) if not found and kind == PODGROUP else found


def name_of(log: Log, kind: GroupKind, text: str, namespace: str | None, moment: Moment) -> str:
    """Return the name of what a text stands for at a moment, or else at any; or the text.

    :raises UsageError: several objects may be meant.
    """
    name = name_at(log, kind, text, namespace, moment)
    return name if name != text else name_ever(log, kind, text, namespace)


def known_names(log: Log, kind: GroupKind, namespace: str | None) -> list[str]:
    """Return the names of all objects of a kind that the log ever knew, sorted.

    :param namespace: None is all of them; means nothing to kinds without one.
    """
    return sorted({one.name for one in _known(log, kind, namespace) if one.uid})


def is_known(log: Log, kind: GroupKind, name: str, namespace: str | None) -> bool:
    """Say whether the log ever told of a name, be it only in the line of a log."""
    return any(one.name == name for one in _known(log, kind, namespace))


def _known(log: Log, kind: GroupKind, namespace: str | None) -> list[Reference]:
    place = None if kind in CLUSTER_SCOPED else namespace
    references = log.store.objects_of(*kind, cluster=log.moment().cluster)
    return [one for one in references if place is None or one.namespace == place]


def not_found(
    log: Log, kind: GroupKind, name: str, namespace: str | None, moment: Moment
) -> ObjectNotFound:
    """Return the error for an object that does not exist at a moment.

    It tells whether the log knows it of another moment or namespace, else names much the same.
    """
    scoped = namespace is not None and kind not in CLUSTER_SCOPED
    place = f" in namespace {namespace}" if scoped else ""
    option = f" -n {namespace}" if scoped else ""
    what = f'{plural_of(*kind)} "{name}" not found{place} at {moment.label}'
    there = _ever(log, kind, name, namespace)
    if not there and is_known(log, kind, name, namespace):
        there = [name]
    if there:
        told = [f"plinian history {plain_name(*kind)}/{one}{option}" for one in there[:_SHOWN]]
        head = "it was there at another time; this tells when:"
        return ObjectNotFound(what, now="\n".join([f"{head} {told[0]}", *told[1:]]))
    return ObjectNotFound(what, now=never_known(log, kind, name, namespace))


def never_known(log: Log, kind: GroupKind, name: str, namespace: str | None) -> str:
    """Return what to do about a name that the log never knew: where it is, or what is near."""
    objects = [one for one in _known(log, kind, None) if one.uid]
    elsewhere = sorted({one.namespace for one in objects if name in (one.name, stem_of(one.name))})
    if elsewhere:
        return f"there is one in namespace {' and '.join(elsewhere)}: choose it with -n"
    close = nearest(name, known_names(log, kind, namespace))
    guess = f"did you mean {' or '.join(close)}?" if close else ""
    many = plural_of(*kind)
    return f"the log never held it; {guess or f'plinian get {many} -A lists what there is'}"


def _entries(log: Log, kind: GroupKind, namespace: str | None, moment: Moment) -> list[Entry]:
    return log.entries(kind, at=moment, namespace=namespace)


def _by_owner(log: Log, entries: Iterable[Entry], owner: str, moment: Moment) -> list[str]:
    """Return the names of objects that have an owner of a name, by their owner references."""
    documents = log.documents(list(entries), branch=moment.branch)
    return sorted(
        document["metadata"]["name"]
        for document in documents
        if owner in _owners(document.get("metadata") or {})
    )


def _owners(metadata: Mapping[str, Any]) -> Iterator[str]:
    for owner in metadata.get("ownerReferences") or ():
        if isinstance(owner, Mapping):
            yield str(owner.get("name") or "")
