"""Names that people give: in full, shortened, or the job's that owns a PodGroup."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...engine.errors import ObjectNotFound, UsageError
from ...engine.events import KINDS, Effect
from ...engine.kubernetes.resources import CLUSTER_SCOPED, GroupKind, plural_of
from ...engine.log.store import Query
from ...engine.state.log_coverage import UnknownCause
from ..coverage.coverage import unknown_at
from ..objects.kind_names import plain_name

if TYPE_CHECKING:
    from ...engine.events import Reference
    from ...engine.state.truth_fold import Entry
    from ..moments.moment import Moment
    from ..truth.log_states import LogStates

PODGROUP: GroupKind = ("scheduling.volcano.sh", "PodGroup")

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_WITH_UID = re.compile(rf"(.*[^-])-({_UID})", re.DOTALL)
_CUTS = (8, 13, 18, 23)
"""The lengths of a uid's beginnings that end with a whole part."""

_LEAST_OF_UID = 4
"""The least characters of a uid that a name needs if nothing else shows that it is shortened."""

_ENDS = ("…", "...")
_SHOWN = 8
_NEVER = "the log never held it"


def shortened(names: Iterable[str]) -> dict[str, str]:
    """Return a short form of each name that ends with a uid, such as ``big-gang-09629e74…``.

    Names stay distinct; :func:`matching` accepts the short forms.
    """
    left = {match[0]: match for match in map(_WITH_UID.fullmatch, sorted(set(names))) if match}
    forms: dict[str, str] = {}
    for cut in _CUTS:
        # Longer forms are only for names that the shorter ones do not distinguish.
        by_form: dict[str, list[str]] = {}
        for name, match in left.items():
            by_form.setdefault(f"{match[1]}-{match[2][:cut]}…", []).append(name)
        alone = {these[0]: form for form, these in by_form.items() if len(these) == 1}
        forms |= alone
        left = {name: match for name, match in left.items() if name not in alone}
    return forms


def stem_of(name: str) -> str:
    """Return a name without the uid at its end: for a job's PodGroup, the job's name."""
    match = _WITH_UID.fullmatch(name)
    return match[1] if match else name


def matching(text: str, names: Collection[str]) -> list[str]:
    """Return the names that a text may stand for, sorted: the text itself, or those it shortens.

    A text that ends with ``…`` (or three dots) stands for any name with that beginning; without, it
    must reach into the uid at the name's end.
    """
    if text in names:
        # A name in full means itself, even if others begin with it.
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
    """Return the names that are a job's name and a uid, as Volcano names PodGroups; sorted."""
    return sorted(name for name in names if name != job and stem_of(name) == job)


def nearest(text: str, names: Collection[str]) -> list[str]:
    """Return at most three names similar to a text, the most similar first."""
    from difflib import get_close_matches  # noqa: PLC0415 -- only a wrong name needs it

    by_stem = {stem_of(name): name for name in sorted(names)}
    close = get_close_matches(text, sorted({*names, *by_stem}), n=3, cutoff=0.6)
    return list(dict.fromkeys(by_stem.get(name, name) for name in close))


def one_of(text: str, found: list[str], kind: str) -> str | None:
    """Return the only name found, or None if there is none.

    :param kind: the kind of the names, for the error.
    :raises UsageError: there are several; lists them.
    """
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(
            f"{text!r} fits {len(found)} {kind}: {', '.join(found[:_SHOWN])}{more}",
            now="write more of the name",
        )
    return found[0] if found else None


def name_at(
    log: LogStates, kind: GroupKind, text: str, namespace: str | None, moment: Moment
) -> str:
    """Return the name of the object that a text stands for at a moment; the text itself if none.

    A name may be complete, shortened, or, for PodGroups, the owner's name.

    :param namespace: None looks in all of them.
    :raises UsageError: several objects may be meant.
    """
    entries = _entries(log, kind, namespace, moment)
    names = {entry.reference.name for entry in entries}
    matches = matching(text, names)
    if not matches and kind == PODGROUP:
        # Owners come last, as they are only in the whole objects, which must be read.
        matches = owned_by(text, names) or _by_owner(log, entries, text, moment)
    return one_of(text, matches, plural_of(*kind)) or text


def name_in_log(log: LogStates, kind: GroupKind, text: str, namespace: str | None) -> str:
    """Return the name that a text stands for among all names in the log, or the text.

    Objects come before names that only log lines contain: those name a PodGroup by its job.

    :raises UsageError: several objects may be meant.
    """
    return one_of(text, _matching_in_log(log, kind, text, namespace), plural_of(*kind)) or text


def _matching_in_log(
    log: LogStates, kind: GroupKind, text: str, namespace: str | None
) -> list[str]:
    known = known_names(log, kind, namespace)
    matches = matching(text, known)
    return owned_by(text, known) if not matches and kind == PODGROUP else matches


def name_of(
    log: LogStates, kind: GroupKind, text: str, namespace: str | None, moment: Moment
) -> str:
    """Return the name that a text stands for at a moment, or else at any other; or the text.

    :raises UsageError: several objects may be meant.
    """
    name = name_at(log, kind, text, namespace, moment)
    return name if name != text else name_in_log(log, kind, text, namespace)


def known_names(log: LogStates, kind: GroupKind, namespace: str | None) -> list[str]:
    """Return the names of all objects of a kind in the log, sorted.

    :param namespace: None is all; ignored for kinds without namespaces.
    """
    return sorted({reference.name for reference in _known(log, kind, namespace) if reference.uid})


def is_known(log: LogStates, kind: GroupKind, name: str, namespace: str | None) -> bool:
    """Return whether the log contains a name, even if only in a log line."""
    return any(reference.name == name for reference in _known(log, kind, namespace))


def _known(log: LogStates, kind: GroupKind, namespace: str | None) -> list[Reference]:
    place = None if kind in CLUSTER_SCOPED else namespace
    references = log.store.objects_of(*kind, cluster=log.moment().cluster)
    return [reference for reference in references if place is None or reference.namespace == place]


def not_found(
    log: LogStates, kind: GroupKind, name: str, namespace: str | None, moment: Moment
) -> ObjectNotFound:
    """Return the error for an object that does not exist at a moment.

    It says whether the log holds it at another moment or namespace, or else suggests similar names.
    """
    scoped = namespace is not None and kind not in CLUSTER_SCOPED
    place = f" in namespace {namespace}" if scoped else ""
    option = f" -n {namespace}" if scoped else ""
    what = f'{plural_of(*kind)} "{name}" not found{place} at {moment.label}'
    there = _matching_in_log(log, kind, name, namespace)
    # Names without a version come last, as only the log's lines or requests have them.
    if not there and is_known(log, kind, name, namespace):
        there = [name]
    if there:
        commands = [
            f"plinian history {plain_name(*kind)}/{full_name}{option}"
            for full_name in there[:_SHOWN]
        ]
        head = "it exists at another moment; see when:"
        if not any(_has_version(log, kind, full_name, namespace) for full_name in there):
            head = "the log has requests or lines about it, but no version of it; see them:"
        return ObjectNotFound(what, now="\n".join([f"{head} {commands[0]}", *commands[1:]]))
    advice = _near(log, kind, name, namespace)
    if advice:
        return ObjectNotFound(what, now=advice)
    if any(
        unknown.gap.why is UnknownCause.NEVER
        for unknown in unknown_at(log, moment, [kind], namespace)
    ):
        many = plural_of(*kind)
        may_be = f"there may be one: the log holds no complete list of {many}; ingest one"
        return ObjectNotFound(what, now=may_be)
    return ObjectNotFound(what, now=never_known(log, kind, name, namespace))


def _has_version(log: LogStates, kind: GroupKind, name: str, namespace: str | None) -> bool:
    """Return whether the log holds an object, and not only requests about it, as in Metadata."""
    query = Query(objects=(kind,), namespace=namespace or None, name=name)
    return any(
        KINDS[event.event.kind].effect is Effect.VERSION or event.event.revision is not None
        for event in log.store.read(query)
    )


def never_known(log: LogStates, kind: GroupKind, name: str, namespace: str | None) -> str:
    """Return advice for a name that is not in the log: other namespaces, or similar names."""
    many = plural_of(*kind)
    unlike = f"{_NEVER}; list what exists: plinian get {many} -A"
    return _near(log, kind, name, namespace) or unlike


def _near(log: LogStates, kind: GroupKind, name: str, namespace: str | None) -> str:
    """Return where else the name is in the log, or which names are similar; empty if none is."""
    objects = [reference for reference in _known(log, kind, None) if reference.uid]
    elsewhere = {
        reference.namespace
        for reference in objects
        if name in (reference.name, stem_of(reference.name))
    }
    if elsewhere and (kind in CLUSTER_SCOPED or namespace in elsewhere):
        option = "" if kind in CLUSTER_SCOPED else f" -n {namespace}"
        seen = f"plinian history {plain_name(*kind)}/{name}{option}"
        return f"it exists at another moment; see when: {seen}"
    if elsewhere:
        return f"there is one in namespace {' and '.join(sorted(elsewhere))}: choose it with -n"
    close = nearest(name, known_names(log, kind, namespace))
    return f"{_NEVER}; did you mean {' or '.join(close)}?" if close else ""


def _entries(log: LogStates, kind: GroupKind, namespace: str | None, moment: Moment) -> list[Entry]:
    return log.entries(kind, at=moment, namespace=namespace)


def _by_owner(log: LogStates, entries: Iterable[Entry], owner: str, moment: Moment) -> list[str]:
    """Return the names of objects whose ownerReferences contain a name."""
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
