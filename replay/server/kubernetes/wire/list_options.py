"""What a request asks for: its query parameters and the form of the answer, checked."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, NamedTuple

import msgspec

from .....engine.errors import UsageError
from .....engine.kubernetes.expressions.selector_text import parse_selector
from .....engine.kubernetes.expressions.selectors import Selector
from ....objects.field_selectors import SUPPORTED, FieldSelector, parse_field_selector
from .api_resources import EVENT, ApiResource
from .api_status import StatusError
from .event_groups import EVENTS

LAST_REVISION = 2**63 - 1

MOST_CONDITIONS = 200
"""The conditions of a selector: each is compared with each object. One can list many values."""

_LONGEST_FAULT = 500

_EVENT_PATHS: Mapping[str, str] = MappingProxyType(
    {
        "source": "source.component",
        "regarding.": "involvedObject.",
        "reportingController": "reportingComponent",
    }
)
_EVENT_LABEL = re.compile(r"^(?:source(?=[!=])|regarding\.|reportingController(?=[!=]))")


class ObjectShape(StrEnum):
    """The shapes of objects in answers."""

    WHOLE = "whole"
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"


class AnswerForm(NamedTuple):
    """The form of an answer.

    :param version: of ``meta.k8s.io``, for tables and metadata.
    :param include: what a table's rows hold of the object: ``Metadata``, ``Object`` or ``None``.
    """

    shape: ObjectShape = ObjectShape.WHOLE
    version: str = "v1"
    include: str = "Metadata"


def accepted(accept: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the media types that a client accepts, each with its parameters."""
    for choice in accept.split(","):
        media, *parameters = (part.strip() for part in choice.split(";"))
        yield media, dict(parameter.partition("=")[::2] for parameter in parameters)


def form_of(accept: str, include: str) -> AnswerForm:
    """Return the first form that a client accepts and that is served; JSON if there is none.

    Typed clients ask for protobuf and read JSON, so nothing is ever refused for its form.
    """
    for media, named in accepted(accept):
        if media not in {"application/json", "application/*", "*/*"}:
            continue
        shape, version = named.get("as", "").removesuffix("List"), named.get("v", "v1")
        if not shape:
            return AnswerForm()
        if shape in {ObjectShape.TABLE, ObjectShape.METADATA} and version in {"v1", "v1beta1"}:
            return AnswerForm(ObjectShape(shape), version, include or "Metadata")
    return AnswerForm()


class Selection(NamedTuple):
    """Which objects of a resource.

    :param namespace: only in it; empty is everywhere. :param name: only this one; empty is all.
    """

    namespace: str
    labels: Selector
    fields: FieldSelector
    texts: tuple[str, str]
    name: str = ""

    @property
    def key(self) -> tuple[str, str, tuple[str, str]]:
        """What distinguishes it from other selections of a resource."""
        return self.namespace, self.name, self.texts

    @property
    def is_all(self) -> bool:
        """Whether it selects by neither labels nor fields."""
        return not self.labels.requirements and not self.fields.conditions


class PageStart(msgspec.Struct, frozen=True):
    """Where a page of a list begins: after an object, at a revision."""

    revision: Annotated[int, msgspec.Meta(ge=0, le=LAST_REVISION)] = msgspec.field(name="rv")
    after: tuple[str, str] = msgspec.field(name="start")


class ListOptions(NamedTuple):
    """The parameters of a list or a watch.

    :param revision: None if it was not given. :param match: as in ``resourceVersionMatch``.
    """

    selection: Selection
    form: AnswerForm
    revision: int | None
    match: str
    limit: int
    start: PageStart | None
    watch: bool
    bookmarks: bool
    initial: bool
    seconds: float | None


def asked_of(
    resource: ApiResource, namespace: str, query: Mapping[str, str], accept: str
) -> ListOptions:
    """Return what a request asks of a resource.

    :raises StatusError: a parameter is wrong.
    """
    match = query.get("resourceVersionMatch", "")
    revision = _revision(query.get("resourceVersion", ""))
    watch = _flag(query, "watch")
    token = query.get("continue", "")
    _check_match(match, revision, watch=watch, token=token, query=query)
    return ListOptions(
        selection=_selection(resource, namespace, query),
        form=form_of(accept, query.get("includeObject", "")),
        revision=revision,
        match=match,
        limit=_number(query, "limit"),
        start=_start(token) if token else None,
        watch=watch,
        bookmarks=_flag(query, "allowWatchBookmarks"),
        initial=_flag(query, "sendInitialEvents"),
        seconds=float(_number(query, "timeoutSeconds")) or None,
    )


def _check_match(
    match: str, revision: int | None, *, watch: bool, token: str, query: Mapping[str, str]
) -> None:
    """Refuse what an API server refuses.

    Source: k8s.io/apimachinery pkg/apis/meta/internalversion/validation; of ``continue`` with a
    revision, k8s.io/apiserver pkg/storage/etcd3.
    """
    if match and match not in {"Exact", "NotOlderThan"}:
        raise StatusError(400, f"resourceVersionMatch: unsupported value {match!r}")
    if _flag(query, "sendInitialEvents"):
        if not watch or match != "NotOlderThan":
            raise StatusError(
                422, "sendInitialEvents is for a watch with resourceVersionMatch=NotOlderThan"
            )
        return
    if watch and match:
        raise StatusError(422, "resourceVersionMatch is forbidden for watch")
    if match and (token or revision is None):
        raise StatusError(400, "resourceVersionMatch needs a resourceVersion, and no continue")
    if match == "Exact" and not revision:
        raise StatusError(400, 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')
    if token and revision and not watch:
        raise StatusError(400, "specifying resource version is not allowed when using continue")


def _selection(resource: ApiResource, namespace: str, query: Mapping[str, str]) -> Selection:
    texts = query.get("labelSelector", ""), query.get("fieldSelector", "")
    try:
        labels = parse_selector(texts[0])
        fields = parse_field_selector(_paths(resource, texts[1]))
    except UsageError as fault:
        raise StatusError(400, fault.what[:_LONGEST_FAULT]) from fault
    if max(len(labels.requirements), len(fields.conditions)) > MOST_CONDITIONS:
        raise StatusError(400, f"a selector has at most {MOST_CONDITIONS} conditions")
    known = ("metadata.name", "metadata.namespace", *selectable(resource))
    for condition in fields.conditions:
        if condition.field not in known:
            shown = condition.field[:_LONGEST_FAULT]
            raise StatusError(400, f"field label not supported: {shown}")
    return Selection(namespace, labels, fields, texts)


def selectable(resource: ApiResource) -> Sequence[str]:
    """Return the fields of a kind that a field selector may name, besides name and namespace."""
    if resource.pair in EVENTS:
        return [*SUPPORTED[EVENT], "source.component"]
    return [*SUPPORTED.get(resource.pair, ()), *resource.selectable]


def _paths(resource: ApiResource, text: str) -> str:
    """Return a field selector with the places of fields in ``v1`` in place of their labels."""
    if resource.pair not in EVENTS:
        return text
    return ",".join(
        _EVENT_LABEL.sub(lambda label: _EVENT_PATHS[label[0]], term) for term in text.split(",")
    )


def _flag(query: Mapping[str, str], name: str) -> bool:
    return query.get(name, "") not in {"", "0", "false", "False"}


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "") or "0"
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise StatusError(400, f"{name}: invalid value {text[:40]!r}: it must be a number")
    return int(text)


def _revision(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > LAST_REVISION:
        raise StatusError(400, f"resourceVersion: invalid value {text[:40]!r}")
    return int(text)


def token_of(start: PageStart) -> str:
    """Return a page's beginning for ``continue``."""
    return base64.urlsafe_b64encode(msgspec.json.encode(start)).decode().rstrip("=")


def _start(token: str) -> PageStart:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        return msgspec.json.decode(text, type=PageStart)
    except (ValueError, binascii.Error, msgspec.MsgspecError) as fault:
        raise StatusError(400, "continue key is not valid: it was not made here") from fault
