"""All formats, in the order in which they are tried, and why a document has none."""

from __future__ import annotations

import re
from typing import Final

from .audit import log as audit_log
from .components import cache_dump
from .components import log as scheduler_log
from .lists import json_objects as object_list
from .lists import yaml_objects as yaml_documents
from .lists.excerpts import excerpt_in
from .objects import scheduler_conf
from .printed import WHOLE, printed_for_people
from .reading.formats import Format
from .scenario import external_inputs, scenario
from .watch import stream as watch_stream

FORMATS: Final[tuple[Format, ...]] = (
    audit_log.FORMAT,
    watch_stream.FORMAT,
    scenario.FORMAT,
    external_inputs.FORMAT,
    cache_dump.FORMAT,
    scheduler_conf.FORMAT,
    object_list.FORMAT,
    yaml_documents.FORMAT,
    scheduler_log.FORMAT,
)
"""The more distinctive the beginning of a format, the earlier it is tried."""

_MANIFEST = re.compile(rb'(?m)^[{\s-]*"?(?:apiVersion|kind)"?\s*:')
_SEE = "see docs/how-to for what can be read"
_OTHERS: Final = (
    (
        re.compile(rb"==== START logs for container "),
        "it is the log of a pod that is neither Volcano's scheduler nor its controllers",
        _SEE,
    ),
    (
        re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} "),
        "it is the log of a component other than Volcano's scheduler and controllers",
        _SEE,
    ),
    (
        re.compile(rb"(?:panic|fatal error): |goroutine \d+ \["),
        "it is a panic of a program that is no component of Volcano: its stack names none",
        _SEE,
    ),
    (
        re.compile(rb"# (?:HELP|TYPE) [a-zA-Z_:]+ "),
        "it is a page of metrics: totals, no events",
        _SEE,
    ),
    (
        re.compile(rb"\s*(?:null|\[\s*\]|\{\s*\}|\[\s*null\s*\])\s*\Z"),
        "it is JSON without any object",
        "look whether the command that wrote it found any",
    ),
    (
        re.compile(rb'\{[^{}]*"kind"\s*:\s*"Status"'),
        "it is an error that the API server answered with",
        "read its message, and send the request again",
    ),
)
_CLOUD_AUDIT = re.compile(rb'"(?:@type|type_url)"\s*:\s*"type.googleapis.com/google.cloud.audit\.')
_ENTRIES = (
    "its records are audit entries of Google Cloud (protoPayload): they do not have the form of "
    "kube-apiserver's audit log, and not all writes"
)
_RESPONSES = (
    'take the objects out of them: jq -c \'(if type == "array" then .[] else . end).protoPayload '
    '| select(.methodName | test("delete") | not) | .response '
    '| select(.metadata.resourceVersion?) | del(."@type")\' FILE > objects.json'
)
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")


def recognise(head: bytes, name: str) -> Format | None:
    """Return the format of a document by its first bytes, None if there is none.

    :param name: the document's file name, a hint only.
    """
    for one in FORMATS:
        if one.sniff(head, name):
            return one
    return None


def why_unknown(head: bytes) -> tuple[str, str]:
    """Return for a document without a format: what it seems to be, and what to do."""
    if not head:
        return "it is empty", "look whether the command that wrote it failed"
    if head.startswith(_BYTE_ORDER_MARKS) or _is_utf16(head):
        return (
            "it is UTF-16 text, as PowerShell writes it",
            "write it as UTF-8: kubectl ... | Out-File -Encoding utf8 FILE",
        )
    excerpt = excerpt_in(head)
    if excerpt:
        return f"its objects are excerpts ({excerpt})", WHOLE
    if printed := printed_for_people(head):
        return printed
    if _CLOUD_AUDIT.search(head):
        return _ENTRIES, _RESPONSES
    if b"\0" in head:
        return "it is binary", _SEE
    for pattern, why, now in _OTHERS:
        if pattern.match(head):
            return why, now
    if _MANIFEST.match(head) and b"kind" in head:
        return (
            "its objects have no resourceVersion: a manifest, not what a cluster stored",
            "fetch the objects from the cluster: kubectl get ... -o json",
        )
    return "no format recognises it", _SEE


def _is_utf16(head: bytes) -> bool:
    """Say whether bytes begin like UTF-16 without a byte order mark: every other byte is zero."""
    start = head[:4]
    words = start[::2], start[1::2]
    return b"\0\0" in words and any(
        len(word) == 2 and word.isascii() and min(word) >= 32 for word in words
    )
