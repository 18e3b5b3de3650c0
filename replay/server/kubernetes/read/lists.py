"""Lists and single objects: which objects, at which revision, in which form.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from .....engine.errors import PointTooEarly
from .....engine.kubernetes.expressions.selectors import matcher
from .....engine.kubernetes.resources import CLUSTER_SCOPED
from .....engine.state.clock import UNDATED
from .....engine.state.truth_fold import Entry
from ..wire.api_resources import EVENT, NEW_EVENT, ApiResource
from ..wire.api_status import expired, not_found, too_large
from ..wire.list_options import AnswerForm, ListOptions, ObjectShape, PageStart, Selection, token_of
from .cluster_state import ClusterState, in_parts, name_of
from .forms import Shaper

AT_ONCE = 1000
"""Objects that are encoded in one go, and written before the next are."""


_LARGE_PAGE, _TABLE_FACTOR = 500, 10
"""A table's pages after the first are so many times longer, if a client asks for large ones."""


class ListPage(NamedTuple):
    """The objects of a list, and its metadata."""

    state: ClusterState
    resource: ApiResource
    form: AnswerForm
    entries: Sequence[Entry]
    metadata: Mapping[str, object]
    selection: Selection

    @property
    def key(self) -> Hashable:
        """What the encoded items depend on."""
        names = (name_of(self.entries[0]), len(self.entries)) if self.entries else ()
        return self.state.key, self.resource.key, self.form, self.selection.key, names

    def parts(self) -> Iterator[ListPage]:
        """Yield the page a part at a time."""
        for part in in_parts(self.entries, AT_ONCE):
            yield self._replace(entries=part)

    def items(self, state: ClusterState) -> bytes:
        """Return the objects as items of the list.

        :param state: the same state, in the thread that asks.
        """
        bodies = state.bodies(self.entries, self.resource)
        shaper = shaper_of(self.form, self.resource, state)
        return b",".join(shaper.items(self.entries, bodies))

    def begin(self) -> bytes:
        """Return what stands before the first item."""
        return Shaper(self.form, self.resource, UNDATED).begin(self.metadata)


def shaper_of(form: AnswerForm, resource: ApiResource, state: ClusterState) -> Shaper:
    """Return what puts the objects of a state in a form; only tables show ages."""
    when = state.when if form.shape is ObjectShape.TABLE else UNDATED
    return Shaper(form, resource, when, state.shift)


def page_of(state: ClusterState, resource: ApiResource, asked: ListOptions) -> ListPage:
    """Return what a list holds.

    :raises StatusError: it asks for a revision of the future, or one that the log does not know.
    """
    state, after = _state_for(state, asked)
    entries = selected(state, resource, asked.selection)
    if after is not None:
        entries = entries[bisect_right(entries, after, key=name_of) :]
    revision = state.revision
    metadata: dict[str, object] = {"resourceVersion": str(revision)}
    limit = _limit(asked)
    if limit and len(entries) > limit:
        left = len(entries) - limit
        entries = entries[:limit]
        metadata["continue"] = token_of(PageStart(revision, name_of(entries[-1])))
        # Of a selection an API server does not count what remains.
        if asked.selection.is_all:
            metadata["remainingItemCount"] = left
    return ListPage(state, resource, asked.form, entries, metadata, asked.selection)


def _limit(asked: ListOptions) -> int:
    """Return how many objects a page may hold; 0 is all.

    kubectl waits 0.2 s before each page after the tenth, so a large table would take it long. The
    API lets a server ignore the limit.
    """
    goes_on = asked.start is not None and asked.limit >= _LARGE_PAGE
    is_long = goes_on and asked.form.shape is ObjectShape.TABLE
    return asked.limit * _TABLE_FACTOR if is_long else asked.limit


def _state_for(
    state: ClusterState, asked: ListOptions
) -> tuple[ClusterState, tuple[str, str] | None]:
    """Return the state that a list is of, and after which object it begins."""
    if asked.start is not None:
        if asked.start.revision > state.revision:
            raise expired("the continue key is of a later moment than the one that is served")
        return _at(state, asked.start.revision), asked.start.after
    revision = asked.revision or 0
    if revision > state.revision:
        raise too_large(revision, state.revision)
    # A limit with a revision means exactly that revision, if nothing else is said.
    exact = asked.match == "Exact" or (asked.limit and revision and not asked.match)
    return (_at(state, revision) if exact else state), None


def _at(state: ClusterState, revision: int) -> ClusterState:
    try:
        return state.at(revision)
    except PointTooEarly as fault:
        raise expired(f"The provided resource version is too old: {fault.what}") from fault


def selected(
    state: ClusterState,
    resource: ApiResource,
    selection: Selection,
    entries: Sequence[Entry] | None = None,
) -> list[Entry]:
    """Return the objects of a resource that are selected, by namespace and name.

    :param entries: of which objects; None is all of the state.
    """
    chosen = list(state.of(resource.pair) if entries is None else entries)
    if selection.namespace and resource.pair not in CLUSTER_SCOPED:
        chosen = [entry for entry in chosen if entry.reference.namespace == selection.namespace]
    if selection.name:
        chosen = [entry for entry in chosen if entry.reference.name == selection.name]
    if selection.labels.requirements:
        matches = matcher(selection.labels)
        chosen = [entry for entry in chosen if matches(entry.fact.labels)]
    if not selection.fields.conditions:
        return chosen
    return selection.fields.select(
        chosen, lambda entries: _documents(state, resource, entries), strict=False
    )


def _documents(
    state: ClusterState, resource: ApiResource, entries: Sequence[Entry]
) -> Iterator[dict[str, Any]]:
    """Yield objects for field selectors; those of events name the fields of ``v1``."""
    if resource.pair == NEW_EVENT:
        resource = state.catalog.find("", "v1", "events") or resource
        assert resource.pair == EVENT, "every cluster has it"
    for part in in_parts(entries, AT_ONCE):
        yield from map(msgspec.json.decode, state.bodies(part, resource))


def object_of(
    state: ClusterState, resource: ApiResource, namespace: str, name: str, form: AnswerForm
) -> bytes:
    """Return one object.

    :raises StatusError: there is none.
    """
    entry = state.find(resource.pair, (namespace, name))
    if entry is None:
        raise not_found(resource, name)
    (body,) = state.bodies([entry], resource)
    return shaper_of(form, resource, state).one(entry, body)
